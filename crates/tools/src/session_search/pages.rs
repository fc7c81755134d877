//! Reading on in one conversation, and the latest ones.

use std::sync::Arc;

use hermes_core::{MessageId, SessionId, ToolError};
use hermes_store::{Listing, Session, StoreError, ViewFilter};
use serde_json::{Value as Json, json};

use super::request::Scroll;
use super::shapes::{add, messages, meta, time};
use super::shelf::Shelf;
use super::{HIDDEN_SOURCES, LAST_SOURCE, SearchServices, told};
use crate::arguments::refuse;

/// What is shown of a conversation that is read.
const FIRST: usize = 20;
const LAST: usize = 10;
/// Characters of each message.
const CHARACTERS: usize = 2_000;
/// Conversations looked at for a list, because runs by the clock come last in it.
const LISTED_AT_LEAST: usize = 50;

/// Messages around one.
pub(super) async fn scroll(shelf: &Shelf, asked: &Scroll) -> Result<Json, ToolError> {
    let store = shelf.store();
    let mut session = named(shelf, &asked.session).await?;
    let mut warning = None;
    let holder = store.session_of(asked.message).await;
    match holder.map_err(|error| told(&error))? {
        Some(holder) if holder == session.id => {}
        Some(holder) if same_root(shelf, &holder, &session.id).await? => {
            warning = Some(format!(
                "message {} is in {holder}, another part of that conversation; this is read there",
                asked.message.0
            ));
            session = by_id(shelf, &holder).await?;
        }
        Some(_) | None => return Err(no_message(asked.message, &session.id)),
    }
    let filter = ViewFilter {
        roles: asked.roles.clone(),
        ..all_rows(shelf)
    };
    let around = store
        .around(&session.id, asked.message, asked.window, filter)
        .await
        .map_err(|error| told(&error))?
        .ok_or_else(|| no_message(asked.message, &session.id))?;
    let mut answer = json!({
        "success": true,
        "mode": "scroll",
        "session_id": session.id,
        "around_message_id": asked.message,
        "session_meta": meta(&session, shelf.zone()),
        "window": asked.window,
        "messages": messages(&around.rows, Some(asked.message), shelf.zone()),
        "messages_before": around.before,
        "messages_after": around.after,
    });
    let warning = warning.or_else(|| partly_seen(shelf, &session));
    add(&mut answer, [("warning", warning.map(Json::String))]);
    Ok(answer)
}

/// The beginning and the end of a conversation. One that nobody here knows is looked for in all profiles, unless
/// one was named.
pub(super) async fn read(
    services: &Arc<SearchServices>,
    shelf: &Shelf,
    wanted: &str,
    profile_named: bool,
) -> Result<Json, ToolError> {
    match named(shelf, wanted).await {
        Ok(session) => read_one(shelf, session).await,
        Err(unknown) if profile_named => Err(unknown),
        Err(unknown) => {
            let Some(other) = Shelf::holding(services, wanted).await else {
                return Err(unknown);
            };
            let session = named(&other, wanted).await?;
            let answer = read_one(&other, session).await?;
            match other.undisturbed() {
                true => Ok(other.signed(answer)),
                false => Err(refuse("that profile is being written to; try again")),
            }
        }
    }
}

async fn read_one(shelf: &Shelf, session: Session) -> Result<Json, ToolError> {
    let ends = shelf
        .store()
        .ends(&session.id, FIRST, LAST, all_rows(shelf))
        .await
        .map_err(|error| told(&error))?;
    let shown = ends.first.len() + ends.last.len();
    let mut rows = messages(&ends.first, None, shelf.zone());
    rows.extend(messages(&ends.last, None, shelf.zone()));
    let truncated = ends.count > shown as u64;
    let mut answer = json!({
        "success": true,
        "mode": "read",
        "session_id": session.id,
        "session_meta": meta(&session, shelf.zone()),
        "message_count": ends.count,
        "truncated": truncated,
        "messages": rows,
    });
    let left_out = truncated.then(|| {
        let from = ends.first.last().map_or(0, |row| row.id.0);
        json!(format!(
            "{} messages behind {from} are left out; around_message_id shows them",
            ends.count - shown as u64
        ))
    });
    let warning = partly_seen(shelf, &session).map(Json::String);
    add(&mut answer, [("left_out", left_out), ("warning", warning)]);
    Ok(answer)
}

/// The latest conversations; runs by the clock come behind those with people.
pub(super) async fn browse(shelf: &Shelf, limit: usize) -> Result<Json, ToolError> {
    let store = shelf.store();
    let listing = Listing {
        hidden_sources: HIDDEN_SOURCES.map(str::to_owned).to_vec(),
        limit: LISTED_AT_LEAST.max(limit),
        ..Listing::default()
    };
    let mut listed = store.list(listing).await.map_err(|error| told(&error))?;
    listed.retain(|one| Some(&one.session.id) != shelf.seen_by());
    listed.sort_by_key(|one| one.session.source == LAST_SOURCE);
    listed.truncate(limit);
    let results: Vec<Json> = listed
        .iter()
        .map(|one| {
            let session = &one.session;
            json!({
                "session_id": session.id,
                "title": session.title,
                "source": session.source,
                "started_at": time(session.started_at, shelf.zone()),
                "last_active": time(session.last_active_at, shelf.zone()),
                "message_count": session.message_count,
                "preview": one.preview,
            })
        })
        .collect();
    Ok(json!({
        "success": true,
        "mode": "browse",
        "count": results.len(),
        "results": results,
    }))
}

/// The conversation of an id, the start of one, or a title.
async fn named(shelf: &Shelf, wanted: &str) -> Result<Session, ToolError> {
    match shelf.store().resolve_exact(wanted).await {
        Ok(id) => by_id(shelf, &id).await,
        Err(StoreError::NoSuchSession { .. }) => Err(refuse(format!(
            "there is no conversation {wanted}; a query finds those there are"
        ))),
        Err(other) => Err(told(&other)),
    }
}

async fn by_id(shelf: &Shelf, id: &SessionId) -> Result<Session, ToolError> {
    let found = shelf.store().session(id).await;
    found
        .map_err(|error| told(&error))?
        .ok_or_else(|| refuse(format!("there is no conversation {id}")))
}

async fn same_root(shelf: &Shelf, one: &SessionId, other: &SessionId) -> Result<bool, ToolError> {
    let both = vec![one.clone(), other.clone()];
    let roots = shelf.store().roots(both).await;
    let roots = roots.map_err(|error| told(&error))?;
    Ok(roots.first() == roots.last())
}

fn all_rows(shelf: &Shelf) -> ViewFilter {
    ViewFilter {
        roles: Vec::new(),
        with_text: false,
        unseen_by: shelf.seen_by().cloned(),
        characters: CHARACTERS,
    }
}

/// In the conversation that asks, only what it lost is shown.
fn partly_seen(shelf: &Shelf, session: &Session) -> Option<String> {
    (shelf.seen_by() == Some(&session.id)).then(|| {
        "this is the conversation you are in; messages that are still before you are left out"
            .to_owned()
    })
}

fn no_message(message: MessageId, session: &SessionId) -> ToolError {
    refuse(format!(
        "conversation {session} has no message {}; ids are in the results of a query",
        message.0
    ))
}
