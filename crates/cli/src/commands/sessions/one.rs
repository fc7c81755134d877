//! `hermes sessions rename` and `hermes sessions delete`

use crate::commands::ask;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, one_line};

pub(crate) fn rename(wanted: &str, title: &str, context: &Context, output: &mut Output) -> Outcome {
    let store = context.conversations()?;
    let session = store.resolve(wanted).wait()?;
    let title = store.rename(&session, title).wait()?;
    Ok(output.line(one_line(&format!("{session} is now called {title}")))?)
}

pub(crate) fn delete(wanted: &str, yes: bool, context: &Context, output: &mut Output) -> Outcome {
    let store = context.conversations()?;
    let session = store.resolve_exact(wanted).wait()?;
    if !yes {
        let row = store.session(&session).wait()?;
        let title = row
            .and_then(|row| row.title)
            .map(|title| format!(" ({title})"))
            .unwrap_or_default();
        ask::confirm(&one_line(&format!("Delete {session}{title} for good")))?;
    }
    store.delete_session(&session).wait()?;
    Ok(output.line(format!("{session} deleted"))?)
}
