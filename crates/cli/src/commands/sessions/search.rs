//! `hermes sessions search`

use std::io::Write;

use hermes_store::{SearchFilter, SearchOrder};
use serde_json::json;

use crate::args::sessions::{SearchArgs, SortOrder};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, Style, one_line};
use crate::when;

pub(crate) fn search(args: &SearchArgs, context: &Context, output: &mut Output) -> Outcome {
    let filter = SearchFilter {
        sources: args.source.iter().cloned().collect(),
        roles: args.role.iter().cloned().collect(),
        ..SearchFilter::default()
    };
    let order = match args.sort {
        SortOrder::Relevance => SearchOrder::Relevance,
        SortOrder::Newest => SearchOrder::Newest,
        SortOrder::Oldest => SearchOrder::Oldest,
    };
    let query = args.query.join(" ");
    let hits = context
        .conversations()?
        .search(&query, filter, order, args.limit)
        .wait()?;
    if hits.stopped_early {
        writeln!(
            std::io::stderr().lock(),
            "note: so many messages come near this that the oldest were not looked at; narrow it with --source, --role or more words"
        )?;
    }
    if args.json {
        let rows: Vec<_> = hits
            .iter()
            .map(|hit| {
                json!({
                    "session_id": hit.session,
                    "message_id": hit.message,
                    "role": hit.role,
                    "snippet": hit.snippet,
                    "score": hit.score,
                    "title": hit.title,
                    "started_at": when::iso(hit.started_at),
                })
            })
            .collect();
        return Ok(output.json(&rows)?);
    }
    if hits.is_empty() {
        return Ok(output.line(format!("Nothing found for {}.", one_line(&query)))?);
    }
    for hit in &*hits {
        let title = hit.title.as_deref().unwrap_or("untitled");
        let heading = format!(
            "{} · {} · {} · {title}",
            hit.session,
            when::show(hit.timestamp),
            hit.role
        );
        let heading = output.paint(Style::Faint, &one_line(&heading));
        output.line(heading)?;
        let snippet = one_line(&hit.snippet);
        let (marked, plain) = (output.paint(Style::Strong, "\u{1}"), "\u{1}".to_owned());
        let shown = match marked.split_once('\u{1}') {
            Some((on, off)) if marked != plain => snippet.replace(">>>", on).replace("<<<", off),
            _ => snippet,
        };
        output.line(format!("  {shown}"))?;
    }
    Ok(())
}
