//! How sessions hang together: continuations, branches, delegates, and what to resume.

use hermes_core::SessionId;
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::StoreError;
use crate::store::Store;
use crate::title;
use crate::worker::Pending;

/// What the ids of prompts in the background begin with.
pub const BACKGROUND: &str = "bg_";
/// Chains longer than this are damaged data, not conversations.
const MOST_HOPS: usize = 100;

impl Store {
    /// The session that `wanted` means: an id, the unique start of one, or a title; always the end of
    /// its chain of continuations, where the conversation can go on.
    pub fn resolve(&self, wanted: &str) -> Pending<SessionId> {
        let wanted = wanted.trim().to_owned();
        self.read(move |connection| tip(connection, &find(connection, &wanted)?))
    }

    /// As `resolve`, but the very session that was named, not where it went on.
    pub fn resolve_exact(&self, wanted: &str) -> Pending<SessionId> {
        let wanted = wanted.trim().to_owned();
        self.read(move |connection| find(connection, &wanted))
    }

    /// The conversation last active, of one source or of all, at the end of its chain. What programs and prompts in
    /// the background said is taken up only by name.
    pub fn latest(&self, source: Option<&str>) -> Pending<Option<SessionId>> {
        let source = source.map(ToOwned::to_owned);
        self.read(move |connection| {
            let found: Option<String> = connection
                .query_row(
                    "SELECT id FROM sessions WHERE (?1 IS NULL OR source = ?1) AND archived = 0 \
                     AND relation IS NOT 'delegate' AND (source IS ?1 OR source <> 'tool') \
                     AND instr(id, ?2) <> 1 AND message_count > 0 ORDER BY last_active_at DESC LIMIT 1",
                    params![source, BACKGROUND],
                    |row| row.get(0),
                )
                .optional()?;
            found.map(|id| tip(connection, &session_id(id)?)).transpose()
        })
    }

    /// Every session of the conversation, oldest first: the root and its continuations up to the tip.
    pub fn lineage(&self, session: &SessionId) -> Pending<Vec<SessionId>> {
        let session = session.clone();
        self.read(move |connection| {
            let mut chain = ancestors(connection, &session)?;
            chain.reverse();
            chain.push(session.clone());
            let mut place = session;
            while chain.len() < MOST_HOPS {
                match continuation(connection, &place)? {
                    Some(next) if !chain.contains(&next) => {
                        chain.push(next.clone());
                        place = next;
                    }
                    _ => break,
                }
            }
            Ok(chain)
        })
    }

    /// For each session the one all of it began with, whether it was continued, branched off or delegated.
    pub fn roots(&self, sessions: Vec<SessionId>) -> Pending<Vec<SessionId>> {
        self.read(move |connection| {
            let roots = sessions.iter();
            roots.map(|session| root(connection, session)).collect()
        })
    }
}

/// The top of all parents. In a circle nobody is: then it is the one that sorts first.
fn root(connection: &Connection, session: &SessionId) -> Result<SessionId, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT p.id FROM sessions s JOIN sessions p ON p.id = s.parent_session_id WHERE s.id = ?",
    )?;
    let mut chain = vec![session.clone()];
    while let Some(place) = chain.last().filter(|_| chain.len() < MOST_HOPS) {
        let parent: Option<String> = statement
            .query_row([place.as_str()], |row| row.get(0))
            .optional()?;
        let Some(parent) = parent else { break };
        let parent = session_id(parent)?;
        if let Some(first) = chain.iter().position(|known| *known == parent) {
            let circle = chain.iter().skip(first);
            return Ok(circle.min().unwrap_or(session).clone());
        }
        chain.push(parent);
    }
    Ok(chain.pop().unwrap_or_else(|| session.clone()))
}

fn find(connection: &Connection, wanted: &str) -> Result<SessionId, StoreError> {
    let missing = || StoreError::NoSuchSession {
        wanted: wanted.to_owned(),
    };
    if wanted.is_empty() {
        return Err(missing());
    }
    let exact: Option<String> = connection
        .query_row("SELECT id FROM sessions WHERE id = ?", [wanted], |row| {
            row.get(0)
        })
        .optional()?;
    if let Some(id) = exact {
        return session_id(id);
    }
    if let Some(id) = by_title(connection, wanted)? {
        return session_id(id);
    }
    let mut candidates = by_prefix(connection, wanted)?;
    match candidates.len() {
        0 => Err(missing()),
        1 => session_id(candidates.remove(0)),
        _ => Err(StoreError::Ambiguous {
            wanted: wanted.to_owned(),
            candidates,
        }),
    }
}

/// The newest numbered continuation of a title, or the session with the very title.
fn by_title(connection: &Connection, wanted: &str) -> Result<Option<String>, StoreError> {
    let numbered = title::numbered(connection, wanted)?;
    if let Some((_, id)) = numbered.into_iter().max() {
        return Ok(Some(id));
    }
    Ok(connection
        .query_row("SELECT id FROM sessions WHERE title = ?", [wanted], |row| {
            row.get(0)
        })
        .optional()?)
}

/// Up to five ids that start with the text.
fn by_prefix(connection: &Connection, wanted: &str) -> Result<Vec<String>, StoreError> {
    // The upper bound of a prefix range: nothing in an id sorts behind it.
    let end = format!("{wanted}\u{10ffff}");
    let mut statement = connection
        .prepare_cached("SELECT id FROM sessions WHERE id >= ? AND id < ? ORDER BY id LIMIT 5")?;
    let rows = statement.query_map([wanted, &end], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Where the conversation of a session goes on. In a circle that is nowhere: the session itself.
pub(crate) fn tip(connection: &Connection, start: &SessionId) -> Result<SessionId, StoreError> {
    let mut place = start.clone();
    for _ in 0..MOST_HOPS {
        match continuation(connection, &place)? {
            // A session has one parent, so the way back into a circle leads through its start.
            Some(next) if next == *start => return Ok(next),
            Some(next) => place = next,
            None => break,
        }
    }
    Ok(place)
}

/// The continuation of one session: one that went on itself, else an open one, else the latest.
pub(crate) fn continuation(
    connection: &Connection,
    session: &SessionId,
) -> Result<Option<SessionId>, StoreError> {
    let found: Option<String> = connection
        .prepare_cached(
            "SELECT id FROM sessions WHERE parent_session_id = ? AND relation = 'compaction' AND source <> 'tool' \
             ORDER BY end_reason IS 'compression' DESC, ended_at IS NULL DESC, last_active_at DESC, id DESC LIMIT 1",
        )?
        .query_row([session.as_str()], |row| row.get(0))
        .optional()?;
    found.map(session_id).transpose()
}

/// The earlier parts of the same conversation, nearest first. Parts that are each other's parents have
/// no first one and are left out.
pub(crate) fn ancestors(
    connection: &Connection,
    session: &SessionId,
) -> Result<Vec<SessionId>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT parent_session_id FROM sessions WHERE id = ? AND relation = 'compaction' AND parent_session_id IS NOT NULL",
    )?;
    let mut chain: Vec<SessionId> = Vec::new();
    let mut place = session.clone();
    while chain.len() < MOST_HOPS {
        let parent: Option<String> = statement
            .query_row([place.as_str()], |row| row.get(0))
            .optional()?;
        let Some(parent) = parent else { break };
        place = session_id(parent)?;
        if place == *session {
            return Ok(Vec::new());
        }
        if let Some(first) = chain.iter().position(|known| *known == place) {
            chain.truncate(first);
            break;
        }
        chain.push(place.clone());
    }
    Ok(chain)
}

pub(crate) fn session_id(text: String) -> Result<SessionId, StoreError> {
    SessionId::try_from(text).map_err(|error| StoreError::BadRow {
        table: "sessions",
        row: String::new(),
        detail: error.to_string(),
    })
}
