//! `hermes sessions prune` and `hermes sessions archive`

use hermes_store::{Session, SessionFilter};
use jiff::tz::TimeZone;

use super::filter::session_filter;
use crate::args::sessions::{BulkArgs, FilterArgs};
use crate::commands::ask;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::number;
use crate::output::{Output, one_line};
use crate::when;

pub(crate) fn prune(
    filter: &FilterArgs,
    bulk: &BulkArgs,
    include_archived: bool,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let filter = SessionFilter {
        ended_only: true,
        include_archived,
        ..session_filter(filter, context)?
    };
    let Some(filter) = confirmed(filter, bulk, "Delete", context, output)? else {
        return Ok(());
    };
    let deleted = context.conversations()?.prune(filter).wait()?;
    Ok(output.line(format!("{deleted} deleted"))?)
}

pub(crate) fn archive(
    filter: &FilterArgs,
    bulk: &BulkArgs,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let filter = session_filter(filter, context)?;
    let Some(filter) = confirmed(filter, bulk, "Archive", context, output)? else {
        return Ok(());
    };
    let archived = context.conversations()?.archive(filter).wait()?;
    Ok(output.line(format!("{archived} archived"))?)
}

/// Shows what is meant and asks; `None` when there is nothing to do or it was only a rehearsal.
fn confirmed(
    filter: SessionFilter,
    bulk: &BulkArgs,
    verb: &str,
    context: &Context,
    output: &mut Output,
) -> Outcome<Option<SessionFilter>> {
    if filter.is_empty() {
        return Err(Complaint::bad_request(format!(
            "{} everything is not done by accident",
            verb.to_lowercase()
        ))
        .hint("say which conversations, for example --older-than 90d"));
    }
    let sessions = context.conversations()?.sessions(filter.clone()).wait()?;
    if sessions.is_empty() {
        output.line("no conversation fits")?;
        return Ok(None);
    }
    if bulk.dry_run || !bulk.yes {
        for session in &sessions {
            output.line(describe(session, context.zone()))?;
        }
    }
    if bulk.dry_run {
        output.line(format!(
            "{} would be meant; nothing was changed",
            sessions.len()
        ))?;
        return Ok(None);
    }
    if !bulk.yes {
        output.flush()?;
        ask::confirm(&format!(
            "{verb} {}",
            number::of(sessions.len(), "conversation")
        ))?;
    }
    Ok(Some(filter))
}

fn describe(session: &Session, zone: &TimeZone) -> String {
    let title = session.title.as_deref().unwrap_or("untitled");
    let messages = session.message_count;
    one_line(&format!(
        "{}  {}  {messages} messages  {title}",
        session.id,
        when::show(session.last_active_at, zone)
    ))
}
