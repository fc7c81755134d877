//! `/skills …` about skills of others: what `hermes skills` does.

use clap::Parser;

use super::{Next, Order, skills as own, within};
use crate::args::skills::SkillsArgs;
use crate::commands::skills::{Asking, carry_out};
use crate::complaint::Outcome;
use crate::output::Output;

/// What is about the skills that are here, and changes of them that wait.
const OWN: [&str; 7] = [
    "list", "find", "pending", "diff", "approve", "reject", "approval",
];
const HINT: &str = "/skills search WORDS, /skills install NAME, /skills list";

/// What stands behind the command.
#[derive(Debug, Parser)]
#[command(name = "/skills", no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(flatten)]
    args: SkillsArgs,
}

pub(super) async fn skills(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let words = within::words(order);
    let first = words.first().map(String::as_str);
    if first.is_none_or(|first| OWN.contains(&first)) {
        own::skills(order, output).await?;
        return Ok(Next::Nothing);
    }
    let line: Line = within::parsed(&words, HINT)?;
    within::run(order, &words, output, |context, output| {
        carry_out(line.args, Asking::Elsewhere, context, output)
    })
    .await
}
