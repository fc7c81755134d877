//! `hermes sessions search`

use std::io::Write;
use std::sync::Arc;

use hermes_core::{Compared, Embedder};
use hermes_store::{Hit, SearchFilter, SearchOrder, Store, fuse};
use hermes_tools::FillError;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::sessions::{SearchArgs, SortOrder};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::{Output, Style, one_line};
use crate::recall;
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
    let store = context.conversations()?;
    let mut hits = store
        .search(&query, filter.clone(), order, args.limit)
        .wait()?;
    if args.semantic {
        let alike = alike(&query, filter, args.limit, &store, context)?;
        hits.hits = fuse([hits.hits, alike]);
        hits.hits.truncate(args.limit);
    }
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
        print_hit(hit, context, output)?;
    }
    Ok(())
}

fn print_hit(hit: &Hit, context: &Context, output: &mut Output) -> Outcome {
    let title = hit.title.as_deref().unwrap_or("untitled");
    let heading = format!(
        "{} · {} · {} · {title}",
        hit.session,
        when::show(hit.timestamp, context.zone()),
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
    Ok(())
}

/// The model that says what texts mean; without one there is nothing to compare.
pub(super) fn embedder(context: &Context) -> Outcome<Arc<dyn Embedder>> {
    let config = context.settings()?.config;
    recall::embedder(context, &config, context.home()?).ok_or_else(|| {
        Complaint::bad_request("no embedding model is set")
            .hint("hermes config set sessions.embedding_model FILE names a GGUF file of one")
    })
}

/// Messages that mean something like the query. Those that were never looked at are mentioned.
fn alike(
    query: &str,
    filter: SearchFilter,
    limit: usize,
    store: &Store,
    context: &Context,
) -> Outcome<Vec<Hit>> {
    let embedder = embedder(context)?;
    let model = embedder.model().map_err(FillError::from)?;
    let missing = store.embeddings_missing(&model).wait()?;
    if missing > 0 {
        writeln!(
            std::io::stderr().lock(),
            "note: {missing} messages are not compared yet; hermes sessions index sees to it"
        )?;
    }
    let (texts, stop) = (vec![query.to_owned()], CancellationToken::new());
    let vectors = super::runtime()?.block_on(embedder.embed(texts, Compared::Question, &stop));
    let vector = vectors.map_err(FillError::from)?.pop().unwrap_or_default();
    if vector.is_empty() {
        return Ok(Vec::new());
    }
    let found = store.search_alike(&model, vector, query, filter, limit);
    Ok(found.wait()?.hits)
}
