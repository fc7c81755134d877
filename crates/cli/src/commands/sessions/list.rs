//! `hermes sessions list`

use hermes_store::{Listed, Listing, SessionFilter};
use serde_json::json;

use crate::args::sessions::ListArgs;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, one_line};
use crate::table::{Table, cut};
use crate::when;

pub(crate) fn list(args: &ListArgs, context: &Context, output: &mut Output) -> Outcome {
    let listing = Listing {
        filter: SessionFilter {
            source: args.source.clone(),
            cwd: args.workspace.clone(),
            ..SessionFilter::default()
        },
        hidden_sources: vec!["tool".to_owned()],
        limit: args.limit,
    };
    let store = context.conversations()?;
    let listed = store.list(listing).wait()?;
    if args.json {
        let rows: Vec<_> = listed.iter().map(row_json).collect();
        return Ok(output.json(&rows)?);
    }
    if listed.is_empty() {
        return Ok(output.line(none_listed(args, &store.sources().wait()?))?);
    }
    let mut table = Table::new([
        "Last active",
        "Source",
        "Messages",
        "Title or first words",
        "Id",
    ]);
    for Listed {
        session, preview, ..
    } in &listed
    {
        let name = session.title.as_deref().unwrap_or(preview);
        table.row([
            when::since(session.last_active_at, context.clock().as_ref()),
            session.source.clone(),
            session.message_count.to_string(),
            cut(if name.is_empty() { "—" } else { name }, 48),
            session.id.to_string(),
        ]);
    }
    Ok(table.print(output)?)
}

/// Why the list is empty: nothing is there, or nothing that was asked for.
fn none_listed(args: &ListArgs, sources: &[String]) -> String {
    let mut asked = Vec::new();
    if let Some(source) = &args.source {
        asked.push(format!("from {source}"));
    }
    if let Some(workspace) = &args.workspace {
        asked.push(format!("in {workspace}"));
    }
    if sources.is_empty() || asked.is_empty() {
        return "No conversations yet.".to_owned();
    }
    let asked = asked.join(" ");
    let known = sources.join(", ");
    one_line(&format!(
        "No conversation {asked}. There are some from {known}."
    ))
}

fn row_json(listed: &Listed) -> serde_json::Value {
    let session = &listed.session;
    json!({
        "session_id": session.id,
        "root_session_id": listed.root,
        "title": session.title,
        "preview": listed.preview,
        "source": session.source,
        "model": session.model,
        "cwd": session.cwd,
        "started_at": when::iso(session.started_at),
        "last_active_at": when::iso(session.last_active_at),
        "ended_at": session.ended_at.map(when::iso),
        "end_reason": session.end_reason,
        "message_count": session.message_count,
        "tool_call_count": session.tool_call_count,
        "archived": session.archived,
    })
}
