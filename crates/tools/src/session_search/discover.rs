//! Conversations that hold what is searched for.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hermes_core::{MessageId, SessionId, ToolContext, ToolError};
use hermes_store::{Excerpt, Hit, SearchFilter, SearchOrder, Session, ViewFilter, fuse};
use serde_json::{Value as Json, json};

use super::request::Discover;
use super::shapes::{add, messages, when};
use super::shelf::Shelf;
use super::{HIDDEN_SOURCES, LAST_SOURCE, SearchServices, meaning, summary, told};

/// Messages looked at, of all conversations together.
const SCANNED: usize = 300;
/// Messages that are found by what they mean; further ones are too unlike to count.
const ALIKE: usize = 50;
/// Titles that match at most; the first of a conversation that is not this one is shown.
const TITLES: usize = 10;
/// Messages on each side of a hit, and of the beginning and the end of its conversation.
const WINDOW: usize = 5;
const BOOKEND: usize = 3;
/// Characters of messages around a hit, and of those at the ends.
const NEAR_CHARACTERS: usize = 1_000;
const END_CHARACTERS: usize = 500;

/// A conversation that was found.
pub(super) struct Found {
    pub(super) session: Session,
    root: SessionId,
    /// The message that was found; none when only the title matches.
    pub(super) hit: Option<Hit>,
    by_title: bool,
}

/// What a search found, and what is to be said about the search itself.
struct Results {
    found: Vec<Found>,
    searched: usize,
    notes: Vec<String>,
}

/// Finds conversations, one for each that others were continued, branched off or delegated from.
pub(super) async fn discover(
    services: &Arc<SearchServices>,
    shelf: &Shelf,
    asked: &Discover,
    context: &ToolContext,
) -> Result<Json, ToolError> {
    let results = search(services, shelf, asked, context).await?;
    let entries = match asked.summarize {
        true => {
            summary::entries(
                shelf,
                &asked.query,
                &results.found,
                services.summaries,
                context,
            )
            .await?
        }
        false => {
            let mut entries = Vec::with_capacity(results.found.len());
            for found in &results.found {
                entries.push(entry(shelf, found, &asked.roles).await?);
            }
            entries
        }
    };
    let mut answer = json!({
        "success": true,
        "mode": "discover",
        "query": asked.query,
        "count": entries.len(),
        "results": entries,
        "sessions_searched": results.searched,
    });
    let notes = (!results.notes.is_empty()).then(|| json!(results.notes));
    add(&mut answer, [("notes", notes)]);
    Ok(answer)
}

async fn search(
    services: &Arc<SearchServices>,
    shelf: &Shelf,
    asked: &Discover,
    context: &ToolContext,
) -> Result<Results, ToolError> {
    let (store, query) = (shelf.store(), asked.query.as_str());
    let mut notes = Vec::new();
    let filter = SearchFilter {
        hidden_sources: HIDDEN_SOURCES.map(str::to_owned).to_vec(),
        roles: asked.roles.clone(),
        unseen_by: shelf.seen_by().cloned(),
        ..SearchFilter::default()
    };
    let by_words = store
        .search(query, filter.clone(), asked.order, SCANNED)
        .await
        .map_err(|error| told(&error))?;
    if by_words.stopped_early {
        notes.push("very many messages come near this; the oldest were not looked at".to_owned());
    }
    let mut hits = by_words.hits;
    if let Some(embedder) = &services.embedder
        && asked.order == SearchOrder::Relevance
    {
        match meaning::alike(store, &**embedder, query, filter, ALIKE, &context.cancel).await {
            Ok(alike) => hits = fuse([hits, alike.hits]),
            Err(why) => notes.push(format!("searched by words only: {why}")),
        }
    }
    let (mut found, searched) = by_root(shelf, hits).await?;
    if let Some(titled) = titled(shelf, query, &found).await? {
        found.retain(|one| one.root != titled.root);
        match titled.session.source == LAST_SOURCE {
            true => found.push(titled),
            false => found.insert(0, titled),
        }
    }
    found.truncate(asked.limit);
    Ok(Results {
        found,
        searched,
        notes,
    })
}

/// The best hit of each conversation in the order of the hits, runs by the clock behind all others; and how many
/// conversations there are hits in.
async fn by_root(shelf: &Shelf, hits: Vec<Hit>) -> Result<(Vec<Found>, usize), ToolError> {
    let store = shelf.store();
    let mut sessions: Vec<SessionId> = Vec::new();
    let mut known = HashSet::new();
    for hit in &hits {
        if known.insert(hit.session.clone()) {
            sessions.push(hit.session.clone());
        }
    }
    let roots = store.roots(sessions.clone()).await;
    let roots = roots.map_err(|error| told(&error))?;
    let roots: HashMap<SessionId, SessionId> = sessions.into_iter().zip(roots).collect();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for hit in hits {
        let root = roots.get(&hit.session).unwrap_or(&hit.session).clone();
        if !seen.insert(root.clone()) {
            continue;
        }
        let session = store.session(&hit.session).await;
        if let Some(session) = session.map_err(|error| told(&error))? {
            found.push(Found {
                session,
                root,
                hit: Some(hit),
                by_title: false,
            });
        }
    }
    found.sort_by_key(|one| one.session.source == LAST_SOURCE);
    Ok((found, seen.len()))
}

/// The conversation whose title is searched for. A message of it that was found as well is shown with it. The
/// conversation that asks knows its own title.
async fn titled(shelf: &Shelf, query: &str, found: &[Found]) -> Result<Option<Found>, ToolError> {
    let store = shelf.store();
    let hidden = HIDDEN_SOURCES.map(str::to_owned).to_vec();
    let titled = store.titled(query, hidden, TITLES).await;
    let titled = titled.map_err(|error| told(&error))?;
    let mut ids: Vec<SessionId> = titled.iter().map(|one| one.id.clone()).collect();
    ids.extend(shelf.seen_by().cloned());
    let mut roots = store.roots(ids).await.map_err(|error| told(&error))?;
    let own = shelf.seen_by().and_then(|_| roots.pop());
    let first = titled
        .into_iter()
        .zip(roots)
        .find(|(_, root)| Some(root) != own.as_ref());
    let Some((session, root)) = first else {
        return Ok(None);
    };
    let with_hit = found.iter().find(|one| one.root == root);
    Ok(Some(match with_hit {
        Some(one) => Found {
            session: one.session.clone(),
            root,
            hit: one.hit.clone(),
            by_title: true,
        },
        None => Found {
            session,
            root,
            hit: None,
            by_title: true,
        },
    }))
}

async fn entry(shelf: &Shelf, found: &Found, roles: &[String]) -> Result<Json, ToolError> {
    let store = shelf.store();
    let id = &found.session.id;
    let view = |characters: usize| ViewFilter {
        roles: roles.to_vec(),
        with_text: true,
        unseen_by: shelf.seen_by().cloned(),
        characters,
    };
    let ends = store.ends(id, BOOKEND, BOOKEND, view(END_CHARACTERS)).await;
    let ends = ends.map_err(|error| told(&error))?;
    let anchor = match &found.hit {
        Some(hit) => Some(hit.message),
        None => ends.first.first().map(|row| row.id),
    };
    let (mut rows, mut before, mut after) = (Vec::new(), 0, ends.count);
    if let Some(anchor) = anchor {
        let around = store
            .around(id, anchor, WINDOW, view(NEAR_CHARACTERS))
            .await;
        if let Some(around) = around.map_err(|error| told(&error))? {
            (rows, before, after) = (around.rows, around.before, around.after);
        }
    }
    // What stands around the hit is not told twice.
    let shown: HashSet<MessageId> = rows.iter().map(|row| row.id).collect();
    let other = |ends: Vec<Excerpt>| -> Vec<Excerpt> {
        let ends = ends.into_iter();
        ends.filter(|row| !shown.contains(&row.id)).collect()
    };
    let title = found.session.title.clone();
    let mut entry = json!({
        "session_id": id,
        "when": when(found.session.started_at, shelf.zone()),
        "source": found.session.source,
        "model": found.session.model,
        "title": title,
        "matched_role": match (&found.hit, found.by_title) {
            (Some(hit), false) => hit.role.as_str(),
            (_, true) | (None, _) => "session_title",
        },
        "match_message_id": anchor,
        "snippet": found.hit.as_ref().map_or(title, |hit| Some(hit.snippet.clone())),
        "bookend_start": messages(&other(ends.first), None, shelf.zone()),
        "messages": messages(&rows, anchor, shelf.zone()),
        "bookend_end": messages(&other(ends.last), None, shelf.zone()),
        "messages_before": before,
        "messages_after": after,
    });
    let parent = (found.root != *id).then(|| json!(found.root));
    add(&mut entry, [("parent_session_id", parent)]);
    Ok(entry)
}
