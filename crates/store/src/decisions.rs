//! Who allowed or refused what: one row for each action that was judged and not plainly harmless.

use hermes_core::{CallId, SessionId};
use rusqlite::Row;

use crate::store::Store;
use crate::worker::Pending;

/// Most rows one listing gives.
const MOST_LISTED: u32 = 10_000;

/// One decision.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Decision {
    /// The conversation, by its id: it may be deleted by now.
    pub session: String,
    pub call: CallId,
    /// Seconds since 1970.
    pub at: f64,
    /// The tool that wanted to act.
    pub tool: String,
    /// What it wanted to do; secrets are masked before it comes here.
    pub action: String,
    /// Where: `local`, `docker`, ….
    pub place: String,
    /// Everything that was found in it.
    pub categories: Vec<String>,
    pub outcome: DecisionOutcome,
    /// A person's name, a rule, a model, or the runtime itself.
    pub decided_by: String,
    /// Why, in one line.
    pub reason: String,
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionOutcome {
    /// It ran, this time.
    Once,
    /// The like of it runs for the rest of the session.
    Session,
    /// The like of it runs from now on.
    Always,
    /// It did not run.
    Refused,
}

impl DecisionOutcome {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Always => "always",
            Self::Refused => "refused",
        }
    }

    /// A word we do not know was written by a newer version; nothing ran as far as we can tell.
    pub(crate) fn read(word: &str) -> Self {
        [Self::Once, Self::Session, Self::Always]
            .into_iter()
            .find(|outcome| outcome.word() == word)
            .unwrap_or(Self::Refused)
    }
}

impl Store {
    /// Writes a decision. Wait for it before acting on it.
    pub fn record_decision(&self, decision: Decision) -> Pending<()> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO decisions (session_id, call_id, at, tool, action, place, categories, outcome, \
                       decided_by, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                )?
                .execute(rusqlite::params![
                    decision.session,
                    decision.call.0,
                    decision.at,
                    decision.tool,
                    decision.action,
                    decision.place,
                    decision.categories.join("\n"),
                    decision.outcome.word(),
                    decision.decided_by,
                    decision.reason,
                ])?;
            Ok(())
        })
    }

    /// The latest decisions, newest first, of one session or of all.
    pub fn decisions(&self, session: Option<&SessionId>, most: u32) -> Pending<Vec<Decision>> {
        let session = session.map(|id| id.as_str().to_owned());
        self.read(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT session_id, call_id, at, tool, action, place, categories, outcome, decided_by, reason \
                 FROM decisions WHERE ?1 IS NULL OR session_id = ?1 ORDER BY id DESC LIMIT ?2",
            )?;
            let rows = query.query_map((session, most.min(MOST_LISTED)), read)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

fn read(row: &Row<'_>) -> Result<Decision, rusqlite::Error> {
    let categories: String = row.get(6)?;
    let outcome: String = row.get(7)?;
    Ok(Decision {
        session: row.get(0)?,
        call: CallId(row.get(1)?),
        at: row.get(2)?,
        tool: row.get(3)?,
        action: row.get(4)?,
        place: row.get(5)?,
        categories: categories.lines().map(str::to_owned).collect(),
        outcome: DecisionOutcome::read(&outcome),
        decided_by: row.get(8)?,
        reason: row.get(9)?,
    })
}
