//! Running what a subcommand does, without a stop for whoever waits at the terminal.

use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

/// Runs it on a thread of its own, where it may wait for the store, and prints what it prints.
pub(super) async fn print(
    context: &Context,
    output: &mut Output,
    work: impl FnOnce(&Context, &mut Output) -> Outcome + Send + 'static,
) -> Outcome {
    let width = output.width();
    let text = run(context, move |context| {
        let mut kept = Output::kept_in(width);
        work(context, &mut kept).map(|()| kept.text())
    })
    .await?;
    Ok(output.line(text.trim_end())?)
}

/// Runs it on a thread of its own.
pub(super) async fn run<T: Send + 'static>(
    context: &Context,
    work: impl FnOnce(&Context) -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let context = context.clone();
    let done = tokio::task::spawn_blocking(move || work(&context)).await;
    done.unwrap_or_else(|_| Err(Complaint::bad_request("the command broke off")))
}
