//! `hermes insights`

mod document;
mod layout;
mod page;
mod plot;
mod words;

use hermes_store::Period;

use crate::args::report::InsightsArgs;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;
use layout::Layout;
use page::Page;

const DAY: f64 = 86_400.0;

pub(crate) fn run(args: &InsightsArgs, context: &Context, output: &mut Output) -> Outcome {
    let now = context.clock().now().as_duration().as_secs_f64();
    let zone = context.zone();
    let period = Period {
        since: now - f64::from(args.days) * DAY,
        source: args.source.clone(),
        zone: zone.clone(),
    };
    let found = context.conversations()?.insights(period).wait()?;
    if args.json {
        return Ok(output.json(&document::document(args, &found, now, zone))?);
    }
    let page = Page {
        days: args.days,
        source: args.source.as_deref(),
        zone,
        layout: Layout::of(&context.environment, output),
    };
    Ok(page.print(&found, output)?)
}
