//! What a subcommand does, without leaving the conversation.

use clap::Parser;

use super::{Next, Order, aside};
use crate::commands::chat::ask::Ask;
use crate::commands::skills::Ended;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

/// The words behind a command.
pub(super) fn words(order: &Order<'_>) -> Vec<String> {
    let words = order.arguments.split_whitespace();
    words.map(str::to_owned).collect()
}

/// The words as the arguments of a subcommand; `hint` says what can be typed.
pub(super) fn parsed<Line: Parser>(words: &[String], hint: &str) -> Outcome<Line> {
    Line::try_parse_from(words).map_err(|error| {
        let text = error.render().to_string();
        let first = text.lines().next().unwrap_or_default();
        let first = first.trim_start_matches("error: ").to_owned();
        Complaint::bad_request(first).hint(hint)
    })
}

/// Runs it where it may wait, prints what it prints, and asks when it needs a yes. What the conversation knows of
/// skills may be out of date then.
pub(super) async fn run(
    order: &Order<'_>,
    words: &[String],
    output: &mut Output,
    work: impl FnOnce(&Context, &mut Output) -> Outcome<Ended> + Send + 'static,
) -> Outcome<Next> {
    let (text, ended) = aside::run(order.context, |context| {
        let mut kept = Output::kept();
        let ended = work(context, &mut kept)?;
        Ok((kept.text(), ended))
    })
    .await?;
    order.conversation.house.hands.skills().library.forget();
    output.line(text.trim_end())?;
    Ok(match ended {
        Ended::Done => Next::Nothing,
        Ended::NeedsYes => Next::Ask(Ask::Confirm {
            title: "Go on".to_owned(),
            text: "Nothing was changed yet.".to_owned(),
            yes: format!("/{} {} --yes", order.command.name, words.join(" ")),
            always: None,
        }),
    })
}
