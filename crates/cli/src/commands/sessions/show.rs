//! `hermes sessions show`

use hermes_store::{Record, Visibility};
use jiff::tz::TimeZone;
use serde_json::json;

use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, Style, printable};
use crate::when;

pub(crate) fn show(
    wanted: &str,
    all: bool,
    json: bool,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let store = context.conversations()?;
    let id = store.resolve(wanted).wait()?;
    let session = store.session(&id).wait()?;
    let records = if all {
        store.all_records(&id).wait()?
    } else {
        store.history(&id).wait()?
    };
    if json {
        let messages: Vec<_> = records.iter().map(message_json).collect();
        let session = session.map(|session| {
            json!({
                "session_id": session.id,
                "title": session.title,
                "source": session.source,
                "model": session.model,
                "cwd": session.cwd,
                "parent_session_id": session.parent,
                "relation": session.relation.map(hermes_store::Relation::word),
                "started_at": when::iso(session.started_at),
                "ended_at": session.ended_at.map(when::iso),
                "end_reason": session.end_reason,
                "message_count": session.message_count,
                "usage": session.usage,
                "estimated_cost_usd": session.estimated_cost_usd,
                "actual_cost_usd": session.actual_cost_usd,
                "messages": messages,
            })
        });
        return Ok(output.json(&session)?);
    }
    if let Some(session) = session {
        let title = session.title.as_deref().unwrap_or("untitled");
        output.line(output.paint(Style::Strong, &printable(title)))?;
        let model = session.model.as_deref().unwrap_or("no model");
        let line = format!(
            "{} · {} · {model} · begun {}",
            session.id,
            session.source,
            when::show(session.started_at, context.zone())
        );
        output.line(printable(&line))?;
    }
    for record in &records {
        output.line("")?;
        print_record(record, context.zone(), output)?;
    }
    Ok(())
}

fn print_record(record: &Record, zone: &TimeZone, output: &mut Output) -> Outcome {
    let mut heading = format!("{} · {}", record.role, when::show(record.timestamp, zone));
    if let Some(tool) = &record.tool_name {
        heading.push_str(&format!(" · {tool}"));
    }
    match record.visibility {
        Visibility::Active => {}
        Visibility::Compacted => heading.push_str(" · compacted"),
        Visibility::Rewound => heading.push_str(" · taken back"),
    }
    output.line(output.paint(Style::Faint, &printable(&heading)))?;
    if let Some(content) = record
        .content
        .as_deref()
        .filter(|content| !content.is_empty())
    {
        output.line(printable(content))?;
    }
    for call in record.to_message().tool_calls() {
        output.line(printable(&format!("→ {} {}", call.name, call.arguments)))?;
    }
    Ok(())
}

fn message_json(record: &Record) -> serde_json::Value {
    json!({
        "message_id": record.id,
        "role": record.role,
        "content": record.content,
        "tool_name": record.tool_name,
        "tool_call_id": record.tool_call_id,
        "tool_calls": record.tool_calls,
        "reasoning": record.reasoning,
        "timestamp": when::iso(record.timestamp),
        "state": match record.visibility {
            Visibility::Active => "active",
            Visibility::Compacted => "compacted",
            Visibility::Rewound => "rewound",
        },
    })
}
