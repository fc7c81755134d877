//! `hermes sessions search`

use hermes_store::{SearchFilter, SearchOrder};
use serde_json::json;

use crate::args::sessions::{SearchArgs, SortOrder};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, Style};
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
        return Ok(output.line(format!("Nothing found for {query}."))?);
    }
    for hit in hits {
        let title = hit.title.as_deref().unwrap_or("untitled");
        let heading = format!(
            "{} · {} · {} · {title}",
            hit.session,
            when::show(hit.timestamp),
            hit.role
        );
        let heading = output.paint(Style::Faint, &heading);
        output.line(heading)?;
        let snippet: String = hit
            .snippet
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let (marked, plain) = (output.paint(Style::Strong, "\u{1}"), "\u{1}".to_owned());
        let shown = match marked.split_once('\u{1}') {
            Some((on, off)) if marked != plain => snippet.replace(">>>", on).replace("<<<", off),
            _ => snippet,
        };
        output.line(format!("  {shown}"))?;
    }
    Ok(())
}
