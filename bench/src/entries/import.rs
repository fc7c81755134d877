//! Taking over the reference's history.

mod state;

use std::ops::ControlFlow;
use std::time::Instant;

use crate::bench::{Bench, Context};
use crate::corpus::{Plan, SEED, open};
use crate::figure::Figure;

pub(crate) const BENCH: Bench = Bench {
    name: "import",
    about: "a state.db of the reference with 100,000 messages, imported once and then again",
    run,
};

fn run(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let messages = context.count(100_000, 10_000);
    let folder = tempfile::tempdir_in(&context.data)?;
    let source = folder.path().join("state.db");
    context.tell("  writing a state.db");
    state::write(&source, &Plan::new(SEED, messages)?)?;
    let store = open(folder.path())?;
    let started = Instant::now();
    let imported = store.import_reference(&source, |_| ControlFlow::Continue(()))?;
    let first = started.elapsed();
    anyhow::ensure!(
        imported.messages == messages as u64,
        "{} of {messages} messages were imported",
        imported.messages
    );
    let started = Instant::now();
    let again = store.import_reference(&source, |_| ControlFlow::Continue(()))?;
    let second = started.elapsed();
    anyhow::ensure!(
        again.messages == 0,
        "{} messages were imported twice",
        again.messages
    );
    Ok(vec![
        Figure::new(
            "first import",
            messages as f64 / first.as_secs_f64(),
            "messages/s",
        )
        .at_least(10_000.0),
        Figure::new("first import, all of it", first.as_secs_f64(), "s"),
        Figure::new("again, nothing new", second.as_secs_f64() * 1e3, "ms"),
    ])
}
