//! Questions that wait for a yes or a no, for other processes to see and answer.

use std::time::Duration;

use hermes_core::{Reach, SessionId};
use rusqlite::{OptionalExtension, Row};

use crate::decisions::DecisionOutcome;
use crate::store::Store;
use crate::worker::Pending;

/// How long a question is kept once its time is over.
const KEPT: Duration = Duration::from_secs(60 * 60);
/// Most rows one listing gives.
const MOST_LISTED: u32 = 200;
/// What is read of a question: first when it is now, then since when a session that waits must have said so.
const COLUMNS: &str = "id, session_id, action, reasons, reach, asked_at, until, answer, answered_by, outcome, \
     outcome IS NULL AND until > ?1 AND waited_at > ?2";

/// How long a question is open that its session has not asked for again: the session was killed.
pub const PERMISSION_LIFE: Duration = Duration::from_secs(15);

/// A question before it is asked.
#[derive(Debug, Clone)]
pub struct NewPermission {
    /// Its number, which nobody else has.
    pub id: i64,
    pub session: SessionId,
    /// What is to be done.
    pub action: String,
    /// Every reason why it is asked.
    pub reasons: Vec<String>,
    /// How far a yes may reach.
    pub reach: Reach,
    /// How long the session waits.
    pub life: Duration,
}

/// A question that was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Permission {
    pub id: i64,
    /// The conversation, by its id: it may be deleted by now.
    pub session: String,
    pub action: String,
    pub reasons: Vec<String>,
    pub reach: Reach,
    /// Seconds since 1970.
    pub asked_at: f64,
    /// When the session stops waiting, in seconds since 1970.
    pub until: f64,
    /// What another process said, and who that was.
    pub answer: Option<(DecisionOutcome, String)>,
    /// What the session heard at last, from anybody.
    pub outcome: Option<DecisionOutcome>,
    /// Whether the session waited for an answer when this was read.
    pub is_waited_for: bool,
}

impl Store {
    /// Writes down a question for other processes, once however often it is asked. Those that are long over go.
    pub fn ask_permission(&self, asked: NewPermission) -> Pending<()> {
        let now = self.now();
        let action = self.clean(asked.action);
        let reasons = self.clean(asked.reasons.join("\n"));
        self.write(move |connection| {
            connection
                .prepare_cached("DELETE FROM permissions WHERE until < ?")?
                .execute([now - KEPT.as_secs_f64()])?;
            connection
                .prepare_cached(
                    "INSERT INTO permissions \
                     (id, session_id, action, reasons, reach, asked_at, until, waited_at) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?6) ON CONFLICT (id) DO NOTHING",
                )?
                .execute((
                    asked.id,
                    asked.session.as_str(),
                    action,
                    reasons,
                    word(asked.reach),
                    now,
                    now + asked.life.as_secs_f64(),
                ))?;
            Ok(())
        })
    }

    /// Says that the session still waits.
    pub fn wait_for_permission(&self, id: i64) -> Pending<()> {
        let now = self.now();
        self.write(move |connection| {
            connection
                .prepare_cached("UPDATE permissions SET waited_at = ?2 WHERE id = ?1")?
                .execute((id, now))?;
            Ok(())
        })
    }

    /// Answers a question for the session to take. `false` when nobody waits for an answer any more.
    pub fn answer_permission(&self, id: i64, answer: DecisionOutcome, by: &str) -> Pending<bool> {
        let (by, now) = (by.to_owned(), self.now());
        self.write(move |connection| {
            let answered = connection
                .prepare_cached(
                    "UPDATE permissions SET answer = ?2, answered_by = ?3 \
                     WHERE id = ?1 AND answer IS NULL AND outcome IS NULL AND until > ?4 \
                     AND waited_at > ?5",
                )?
                .execute((id, answer.word(), by, now, lately(now)))?;
            Ok(answered == 1)
        })
    }

    /// Says that nobody waits for an answer any more, and what it was; nothing when nobody answered.
    pub fn end_permission(&self, id: i64, outcome: Option<DecisionOutcome>) -> Pending<()> {
        let now = self.now();
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "UPDATE permissions SET outcome = ?2, until = min(until, ?3) WHERE id = ?1",
                )?
                .execute((id, outcome.map(DecisionOutcome::word), now))?;
            Ok(())
        })
    }

    /// A question by its number.
    pub fn permission(&self, id: i64) -> Pending<Option<Permission>> {
        let now = self.now();
        self.read(move |connection| {
            let sql = format!("SELECT {COLUMNS} FROM permissions WHERE id = ?3");
            let mut query = connection.prepare_cached(&sql)?;
            let row = query.query_row((now, lately(now), id), read);
            Ok(row.optional()?)
        })
    }

    /// Questions that wait for an answer, oldest first.
    pub fn open_permissions(&self) -> Pending<Vec<Permission>> {
        let now = self.now();
        self.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM permissions \
                 WHERE answer IS NULL AND outcome IS NULL AND until > ?1 AND waited_at > ?2 \
                 ORDER BY asked_at, id LIMIT ?3"
            );
            let mut query = connection.prepare_cached(&sql)?;
            let rows = query.query_map((now, lately(now), MOST_LISTED), read)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

fn read(row: &Row<'_>) -> Result<Permission, rusqlite::Error> {
    let (reasons, reach): (String, String) = (row.get(3)?, row.get(4)?);
    let (answer, by): (Option<String>, Option<String>) = (row.get(7)?, row.get(8)?);
    let outcome: Option<String> = row.get(9)?;
    Ok(Permission {
        id: row.get(0)?,
        session: row.get(1)?,
        action: row.get(2)?,
        reasons: reasons.lines().map(str::to_owned).collect(),
        // A word of a newer version reaches no further than we can tell.
        reach: [Reach::Session, Reach::Always]
            .into_iter()
            .find(|known| word(*known) == reach)
            .unwrap_or(Reach::Once),
        asked_at: row.get(5)?,
        until: row.get(6)?,
        answer: answer.map(|word| (DecisionOutcome::read(&word), by.unwrap_or_default())),
        outcome: outcome.map(|word| DecisionOutcome::read(&word)),
        is_waited_for: row.get(10)?,
    })
}

/// Since when a session that waits must have said so.
fn lately(now: f64) -> f64 {
    now - PERMISSION_LIFE.as_secs_f64()
}

fn word(reach: Reach) -> &'static str {
    match reach {
        Reach::Once => "once",
        Reach::Session => "session",
        Reach::Always => "always",
    }
}
