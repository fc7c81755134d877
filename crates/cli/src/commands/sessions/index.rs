//! `hermes sessions index`: the vectors that searching by meaning needs.

use std::io::Write as _;

use hermes_core::SystemRandom;
use hermes_tools::{FillError, fill_embeddings};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::search::embedder;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::number;
use crate::output::Output;
use crate::recall::holder;

pub(crate) fn index(json: bool, context: &Context, output: &mut Output) -> Outcome {
    let embedder = embedder(context)?;
    let store = context.conversations()?;
    let model = embedder.model().map_err(FillError::from)?;
    let missing = store.embeddings_missing(&model).wait()?;
    let bar = ProgressBar::with_draw_target(Some(missing), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} messages, {eta} left") {
        bar.set_style(style);
    }
    let cancel = CancellationToken::new();
    let holder = holder(&SystemRandom);
    let filled = super::runtime()?.block_on(async {
        let mut work = Box::pin(fill_embeddings(
            &store,
            &*embedder,
            &holder,
            &cancel,
            |made| bar.set_position(made),
        ));
        loop {
            tokio::select! {
                done = &mut work => return done,
                // The work ends by itself soon after.
                _ = tokio::signal::ctrl_c() => cancel.cancel(),
            }
        }
    });
    bar.finish_and_clear();
    let filled = filled?;
    let left = store.embeddings_missing(&model).wait()?;
    if json {
        output.json(&json!({ "model": model, "made": filled.made, "missing": left }))?;
    } else if filled.elsewhere {
        output.line("Another program is making the vectors.")?;
    } else {
        let made = number::of(filled.made, "message");
        output.line(format!("{made} indexed with {model}, {left} to go"))?;
    }
    if cancel.is_cancelled() {
        writeln!(std::io::stderr(), "stopped; the next run goes on from here")?;
        return Err(Complaint::Code(130));
    }
    Ok(())
}
