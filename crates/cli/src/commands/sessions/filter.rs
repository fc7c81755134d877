//! From flags to the sessions they mean.

use hermes_store::{Bounds, SessionFilter};

use crate::args::sessions::FilterArgs;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::when;

pub(crate) fn session_filter(args: &FilterArgs, context: &Context) -> Outcome<SessionFilter> {
    let moment = |text: &Option<String>| {
        text.as_deref()
            .map(|text| when::parse(text, context.clock().as_ref()))
            .transpose()
    };
    let latest = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
    let earliest = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::min);
    Ok(SessionFilter {
        active_before: earliest(moment(&args.older_than)?, moment(&args.before)?),
        active_after: latest(moment(&args.newer_than)?, moment(&args.after)?),
        source: args.source.clone(),
        title: args.title.clone(),
        end_reason: args.end_reason.clone(),
        cwd: args.cwd.clone(),
        model: args.model.clone(),
        provider: args.provider.clone(),
        user: args.user.clone(),
        chat_id: args.chat_id.clone(),
        chat_type: args.chat_type.clone(),
        branch: args.branch.clone(),
        messages: Bounds {
            least: args.min_messages,
            most: args.max_messages,
        },
        tokens: Bounds {
            least: args.min_tokens,
            most: args.max_tokens,
        },
        tool_calls: Bounds {
            least: args.min_tool_calls,
            most: args.max_tool_calls,
        },
        cost: Bounds {
            least: args.min_cost,
            most: args.max_cost,
        },
        ..SessionFilter::default()
    })
}
