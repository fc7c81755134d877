//! What was learned and unlearned: one row for each change to memory and skills.
//!
//! A row is durable before the file it tells of is replaced. A crash in between leaves a row whose change
//! never happened; whoever takes a change back therefore looks at the file as it is now.

use rusqlite::{OptionalExtension, Row};
use sha2::{Digest, Sha256};

use crate::store::Store;
use crate::worker::Pending;

/// Most rows one listing gives.
const MOST_LISTED: u32 = 10_000;
/// Rows that are kept; the oldest go when there are more.
const MOST_KEPT: i64 = 20_000;
/// Most characters of a summary.
const MOST_OF_SUMMARY: usize = 400;

/// Who made a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalOrigin {
    /// The agent, in a conversation.
    Foreground,
    /// The agent, looking back at a conversation.
    BackgroundReview,
    /// The agent, tidying skills up.
    Curator,
    /// A person, by a command.
    User,
}

impl JournalOrigin {
    /// Its name in rows and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Foreground => "foreground",
            Self::BackgroundReview => "background_review",
            Self::Curator => "curator",
            Self::User => "user",
        }
    }

    /// A word we do not know was written by a newer version; it is the agent's as far as we can tell.
    fn read(word: &str) -> Self {
        [Self::BackgroundReview, Self::Curator, Self::User]
            .into_iter()
            .find(|origin| origin.word() == word)
            .unwrap_or(Self::Foreground)
    }
}

/// A change that is about to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJournalEntry {
    pub origin: JournalOrigin,
    /// The conversation it is made in.
    pub session: Option<String>,
    /// What is changed: `memory`, `user`, `skill:NAME`.
    pub subject: String,
    /// The file.
    pub path: Option<String>,
    /// What goes.
    pub before: Option<String>,
    /// What comes.
    pub after: Option<String>,
    /// In one line, for people.
    pub summary: String,
}

/// A change that was made, unless a crash came between its row and its file.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct JournalEntry {
    pub id: i64,
    /// Seconds since 1970.
    pub at: f64,
    pub origin: JournalOrigin,
    pub session: Option<String>,
    pub subject: String,
    pub path: Option<String>,
    pub before: Option<String>,
    pub after: Option<String>,
    pub summary: String,
    /// When it was taken back.
    pub undone_at: Option<f64>,
    /// The hash of `before` as it was; none in rows of earlier versions.
    #[serde(skip)]
    before_sha256: Option<String>,
}

impl JournalEntry {
    /// Whether `before` is what was there, to the letter: it is not where a known secret was masked.
    pub fn tells_all_of_before(&self) -> bool {
        match (&self.before, &self.before_sha256) {
            (Some(before), Some(hash)) => sha256(before) == *hash,
            (None, _) | (_, None) => true,
        }
    }
}

fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Which changes are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalFilter {
    pub origin: Option<JournalOrigin>,
    /// A subject, or the beginning of several when it ends with a colon, such as `skill:`.
    pub subject: Option<String>,
    /// Leaves out what was taken back.
    pub standing: bool,
}

impl Store {
    /// Writes a change down. Wait for it before the file is replaced; answers with the id of the row.
    pub fn append_journal(&self, entry: NewJournalEntry) -> Pending<i64> {
        let now = self.now();
        // Known secrets stay out of the database, whatever file they were found in.
        let exact = entry.before.as_deref().map(sha256);
        let before = entry.before.map(|text| self.clean(text));
        let after = entry.after.map(|text| self.clean(text));
        let summary: String = entry.summary.chars().take(MOST_OF_SUMMARY).collect();
        let summary = self.clean(summary);
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO journal (at, origin, session_id, subject, path, before, after, summary, \
                       before_sha256) \
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                )?
                .execute(rusqlite::params![
                    now,
                    entry.origin.word(),
                    entry.session,
                    entry.subject,
                    entry.path,
                    before,
                    after,
                    summary,
                    exact,
                ])?;
            let id = connection.last_insert_rowid();
            connection
                .prepare_cached("DELETE FROM journal WHERE id <= ?")?
                .execute([id - MOST_KEPT])?;
            Ok(id)
        })
    }

    /// The latest changes, newest first.
    pub fn journal(&self, filter: JournalFilter, most: u32) -> Pending<Vec<JournalEntry>> {
        let origin = filter.origin.map(JournalOrigin::word);
        let (subject, family) = match filter.subject {
            Some(family) if family.ends_with(':') => (None, Some(family)),
            subject => (subject, None),
        };
        self.read(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT id, at, origin, session_id, subject, path, before, after, summary, undone_at, \
                   before_sha256 \
                 FROM journal WHERE (?1 IS NULL OR origin = ?1) AND (?2 IS NULL OR subject = ?2) \
                   AND (?3 IS NULL OR substr(subject, 1, length(?3)) = ?3) \
                   AND (NOT ?4 OR undone_at IS NULL) \
                 ORDER BY id DESC LIMIT ?5",
            )?;
            let asked = (origin, subject, family, filter.standing, most.min(MOST_LISTED));
            let rows = query.query_map(asked, read)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// One change by its id.
    pub fn journal_entry(&self, id: i64) -> Pending<Option<JournalEntry>> {
        self.read(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT id, at, origin, session_id, subject, path, before, after, summary, undone_at, \
                   before_sha256 \
                 FROM journal WHERE id = ?",
            )?;
            Ok(query.query_row([id], read).optional()?)
        })
    }

    /// Marks a change as taken back. Answers `false` when it was already, or is not there.
    pub fn mark_undone(&self, id: i64) -> Pending<bool> {
        let now = self.now();
        self.write(move |connection| {
            let marked = connection
                .prepare_cached(
                    "UPDATE journal SET undone_at = ?1 WHERE id = ?2 AND undone_at IS NULL",
                )?
                .execute((now, id))?;
            Ok(marked == 1)
        })
    }
}

fn read(row: &Row<'_>) -> Result<JournalEntry, rusqlite::Error> {
    let origin: String = row.get(2)?;
    Ok(JournalEntry {
        id: row.get(0)?,
        at: row.get(1)?,
        origin: JournalOrigin::read(&origin),
        session: row.get(3)?,
        subject: row.get(4)?,
        path: row.get(5)?,
        before: row.get(6)?,
        after: row.get(7)?,
        summary: row.get(8)?,
        undone_at: row.get(9)?,
        before_sha256: row.get(10)?,
    })
}
