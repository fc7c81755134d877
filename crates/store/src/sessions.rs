//! The life of a session: begun, ended, taken up again, deleted.

use hermes_core::SessionId;
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::blobs::hex;
use crate::error::StoreError;
use crate::filter::SessionFilter;
use crate::record::{Relation, SESSION_COLUMNS, Session};
use crate::store::Store;
use crate::worker::Pending;

/// What is known when a session begins.
#[derive(Debug, Clone)]
pub struct NewSession {
    pub id: SessionId,
    /// Where it comes from: `cli`, `telegram`, `cron`, …
    pub source: String,
    pub user_id: Option<String>,
    pub chat_id: Option<String>,
    pub chat_type: Option<String>,
    pub thread_id: Option<String>,
    pub display_name: Option<String>,
    pub parent: Option<(SessionId, Relation)>,
    pub model: Option<String>,
    pub model_config: Option<Json>,
    pub system_prompt: Option<String>,
    pub cwd: Option<String>,
    pub git_branch: Option<String>,
    pub git_repo_root: Option<String>,
}

impl NewSession {
    /// A session about which nothing else is known yet.
    pub fn new(id: SessionId, source: impl Into<String>) -> Self {
        Self {
            id,
            source: source.into(),
            user_id: None,
            chat_id: None,
            chat_type: None,
            thread_id: None,
            display_name: None,
            parent: None,
            model: None,
            model_config: None,
            system_prompt: None,
            cwd: None,
            git_branch: None,
            git_repo_root: None,
        }
    }
}

impl Store {
    /// Begins a session. For an id that exists, only what is still unknown is filled in.
    pub fn create_session(&self, session: NewSession) -> Pending<()> {
        let now = self.now();
        let prompt = session
            .system_prompt
            .clone()
            .map(|prompt| self.clean(prompt));
        self.write(move |connection| insert(connection, &session, prompt.as_deref(), now))
    }

    /// Ends a session; the first reason given stays.
    pub fn end_session(&self, session: &SessionId, reason: &str) -> Pending<()> {
        let (session, reason, now) = (session.clone(), reason.to_owned(), self.now());
        self.write(move |connection| end(connection, &session, &reason, now))
    }

    /// Takes an ended session up again.
    pub fn reopen_session(&self, session: &SessionId) -> Pending<()> {
        let session = session.clone();
        self.write(move |connection| {
            connection.execute(
                "UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ?",
                [session.as_str()],
            )?;
            Ok(())
        })
    }

    /// One session, or `None`.
    pub fn session(&self, session: &SessionId) -> Pending<Option<Session>> {
        let session = session.clone();
        self.read(move |connection| get(connection, &session))
    }

    /// The system prompt a session was begun with.
    pub fn system_prompt(&self, session: &SessionId) -> Pending<Option<String>> {
        let session = session.clone();
        self.read(move |connection| {
            Ok(connection
                .query_row(
                    "SELECT body FROM texts JOIN sessions ON hash = system_prompt_hash WHERE id = ?",
                    [session.as_str()],
                    |row| row.get(0),
                )
                .optional()?)
        })
    }

    /// Replaces the system prompt, because another model answers from now on.
    pub fn set_system_prompt(
        &self,
        session: &SessionId,
        prompt: String,
        model: String,
    ) -> Pending<()> {
        let (session, prompt) = (session.clone(), self.clean(prompt));
        self.write(move |connection| {
            let hash = keep_text(connection, &prompt)?;
            connection.execute(
                "UPDATE sessions SET system_prompt_hash = ?2, model = ?3 WHERE id = ?1",
                (session.as_str(), hash, model),
            )?;
            Ok(())
        })
    }

    /// Deletes a session and the delegates below it; other children stay, without a parent.
    pub fn delete_session(&self, session: &SessionId) -> Pending<usize> {
        let session = session.clone();
        self.write(move |connection| delete(connection, &[session.as_str().to_owned()]))
    }

    /// Deletes every session a filter picks and answers how many there were.
    pub fn prune(&self, filter: SessionFilter) -> Pending<usize> {
        self.write(move |connection| {
            let ids = filter.ids(connection)?;
            delete(connection, &ids)
        })
    }

    /// Puts every session a filter picks out of sight, and answers how many there were.
    pub fn archive(&self, filter: SessionFilter) -> Pending<usize> {
        self.write(move |connection| {
            let mut changed = 0;
            for id in filter.ids(connection)? {
                changed += connection.execute(
                    "UPDATE sessions SET archived = 1 WHERE id = ? AND archived = 0",
                    [id],
                )?;
            }
            Ok(changed)
        })
    }

    /// The sessions a filter picks, newest activity first.
    pub fn sessions(&self, filter: SessionFilter) -> Pending<Vec<Session>> {
        self.read(move |connection| filter.sessions(connection))
    }
}

pub(crate) fn get(
    connection: &Connection,
    session: &SessionId,
) -> Result<Option<Session>, StoreError> {
    let sql = format!("SELECT {SESSION_COLUMNS} FROM sessions s WHERE s.id = ?");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([session.as_str()])?;
    rows.next()?.map(Session::read).transpose()
}

pub(crate) fn insert(
    connection: &Connection,
    session: &NewSession,
    prompt: Option<&str>,
    now: f64,
) -> Result<(), StoreError> {
    let hash = prompt
        .map(|prompt| keep_text(connection, prompt))
        .transpose()?;
    let parent = session.parent.as_ref();
    connection.execute(
        "INSERT INTO sessions (id, source, user_id, chat_id, chat_type, thread_id, display_name, \
           parent_session_id, relation, model, model_config, system_prompt_hash, cwd, git_branch, git_repo_root, \
           started_at, last_active_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?16) \
         ON CONFLICT (id) DO UPDATE SET \
           user_id = coalesce(user_id, excluded.user_id), \
           chat_id = coalesce(chat_id, excluded.chat_id), \
           chat_type = coalesce(chat_type, excluded.chat_type), \
           thread_id = coalesce(thread_id, excluded.thread_id), \
           display_name = coalesce(display_name, excluded.display_name), \
           parent_session_id = coalesce(parent_session_id, excluded.parent_session_id), \
           relation = coalesce(relation, excluded.relation), \
           model = coalesce(model, excluded.model), \
           model_config = coalesce(model_config, excluded.model_config), \
           system_prompt_hash = coalesce(system_prompt_hash, excluded.system_prompt_hash), \
           cwd = coalesce(cwd, excluded.cwd), \
           git_branch = coalesce(git_branch, excluded.git_branch), \
           git_repo_root = coalesce(git_repo_root, excluded.git_repo_root)",
        rusqlite::params![
            session.id.as_str(),
            session.source,
            session.user_id,
            session.chat_id,
            session.chat_type,
            session.thread_id,
            session.display_name,
            parent.map(|(id, _)| id.as_str()),
            parent.map(|(_, relation)| relation.word()),
            session.model,
            session.model_config.as_ref().map(Json::to_string),
            hash,
            session.cwd,
            session.git_branch,
            session.git_repo_root,
            now,
        ],
    )?;
    Ok(())
}

/// Begins a session that goes on from another one: in the same place, with the same model and prompt.
pub(crate) fn go_on(
    connection: &Connection,
    parent: &SessionId,
    child: &SessionId,
    relation: Relation,
    now: f64,
) -> Result<(), StoreError> {
    let made = connection.execute(
        "INSERT INTO sessions (id, source, user_id, chat_id, chat_type, thread_id, display_name, \
           parent_session_id, relation, model, model_config, system_prompt_hash, cwd, git_branch, git_repo_root, \
           started_at, last_active_at) \
         SELECT ?2, source, user_id, chat_id, chat_type, thread_id, display_name, \
           id, ?3, model, model_config, system_prompt_hash, cwd, git_branch, git_repo_root, ?4, ?4 \
         FROM sessions WHERE id = ?1",
        (parent.as_str(), child.as_str(), relation.word(), now),
    )?;
    if made == 0 {
        return Err(StoreError::NoSuchSession {
            wanted: parent.to_string(),
        });
    }
    Ok(())
}

/// Ends a session; the first reason given stays.
pub(crate) fn end(
    connection: &Connection,
    session: &SessionId,
    reason: &str,
    now: f64,
) -> Result<(), StoreError> {
    connection.execute(
        "UPDATE sessions SET ended_at = ?2, end_reason = ?3 WHERE id = ?1 AND ended_at IS NULL",
        (session.as_str(), now, reason),
    )?;
    Ok(())
}

/// Keeps a text that many sessions share once, and answers its hash.
pub(crate) fn keep_text(connection: &Connection, body: &str) -> Result<String, StoreError> {
    let hash = hex(&Sha256::digest(body.as_bytes()));
    connection
        .prepare_cached("INSERT OR IGNORE INTO texts (hash, body) VALUES (?, ?)")?
        .execute((&hash, body))?;
    Ok(hash)
}

fn delete(connection: &Connection, ids: &[String]) -> Result<usize, StoreError> {
    let mut doomed = ids.to_vec();
    let mut next = 0;
    let mut delegates = connection.prepare_cached(
        "SELECT id FROM sessions WHERE parent_session_id = ? AND relation = 'delegate'",
    )?;
    while let Some(id) = doomed.get(next).cloned() {
        let rows = delegates.query_map([id], |row| row.get::<_, String>(0))?;
        for child in rows {
            let child = child?;
            if !doomed.contains(&child) {
                doomed.push(child);
            }
        }
        next += 1;
    }
    let mut deleted = 0;
    for id in &doomed {
        connection
            .prepare_cached(
                "DELETE FROM search WHERE rowid IN (SELECT id FROM messages WHERE session_id = ?)",
            )?
            .execute([id])?;
        // A child keeps what it was; only the pointer goes.
        let removed = connection
            .prepare_cached("DELETE FROM sessions WHERE id = ?")?
            .execute([id])?;
        if ids.contains(id) {
            deleted += removed;
        }
    }
    Ok(deleted)
}
