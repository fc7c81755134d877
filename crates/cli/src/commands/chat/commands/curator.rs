//! `/curator …`: what `hermes curator` does.

use clap::Parser;

use super::{Next, Order, within};
use crate::args::curator::CuratorArgs;
use crate::commands::curator::carry_out;
use crate::commands::skills::Asking;
use crate::complaint::Outcome;
use crate::output::Output;

const HINT: &str = "/curator status, run, pause, resume, pin NAME, archive NAME, restore NAME";

/// What stands behind the command.
#[derive(Debug, Parser)]
#[command(name = "/curator", no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(flatten)]
    args: CuratorArgs,
}

pub(super) async fn curator(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let words = within::words(order);
    let line: Line = within::parsed(&words, HINT)?;
    within::run(order, &words, output, |context, output| {
        carry_out(line.args, Asking::Elsewhere, context, output)
    })
    .await
}
