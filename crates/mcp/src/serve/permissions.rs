//! What sessions of this home wait for a yes for, and answers to it from here.

use std::time::Duration;

use hermes_core::{Reach, SessionId};
use hermes_store::{DecisionOutcome, Permission, Store};
use serde_json::{Value as Json, json};

use super::conversations::{time, unreadable};

/// How long the session may take to hear an answer; it looks several times a second.
const HEARD_WITHIN: Duration = Duration::from_secs(5);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// A decision, in the words of clients.
#[derive(Clone, Copy)]
pub(super) enum Answer {
    Once,
    Always,
    Deny,
}

impl Answer {
    pub(super) const WORDS: [&'static str; 3] = ["allow-once", "allow-always", "deny"];

    fn read(word: &str) -> Result<Self, String> {
        [Self::Once, Self::Always, Self::Deny]
            .into_iter()
            .find(|answer| answer.word() == word)
            .ok_or_else(|| format!("decision must be one of {}", Self::WORDS.join(", ")))
    }

    fn word(self) -> &'static str {
        let [once, always, deny] = Self::WORDS;
        match self {
            Self::Once => once,
            Self::Always => always,
            Self::Deny => deny,
        }
    }

    fn outcome(self) -> DecisionOutcome {
        match self {
            Self::Once => DecisionOutcome::Once,
            Self::Always => DecisionOutcome::Always,
            Self::Deny => DecisionOutcome::Refused,
        }
    }

    /// What can be said to a question.
    fn possible(reach: Reach) -> Vec<&'static str> {
        let all = [Self::Once, Self::Always, Self::Deny].into_iter();
        let possible = all.filter(|answer| answer.fits(reach));
        possible.map(Self::word).collect()
    }

    fn fits(self, reach: Reach) -> bool {
        match self {
            Self::Once | Self::Deny => true,
            Self::Always => reach == Reach::Always,
        }
    }
}

/// The board of open questions. What goes wrong is a text for the client.
#[derive(Clone)]
pub(super) struct Permissions {
    store: Store,
}

impl Permissions {
    pub(super) fn new(store: Store) -> Self {
        Self { store }
    }

    /// Everything that waits for an answer, oldest first.
    pub(super) async fn open(&self) -> Result<Json, String> {
        let open = self.store.open_permissions().await.map_err(unreadable)?;
        let mut approvals = Vec::new();
        for one in &open {
            approvals.push(described(&self.store, one).await);
        }
        Ok(json!({ "count": approvals.len(), "approvals": approvals }))
    }

    /// Answers one, and says so when the session has heard it.
    pub(super) async fn respond(
        &self,
        id: &str,
        decision: &str,
        client: &str,
    ) -> Result<Json, String> {
        let answer = Answer::read(decision)?;
        let number = id.parse().map_err(|_| absent(id))?;
        let asked = self.store.permission(number).await.map_err(unreadable)?;
        let asked = asked.ok_or_else(|| absent(id))?;
        if !answer.fits(asked.reach) {
            let possible = Answer::possible(asked.reach).join(", ");
            return Err(format!("approval {id} can be answered with {possible}"));
        }
        let by = format!("{client} through hermes mcp serve");
        let answered = self
            .store
            .answer_permission(number, answer.outcome(), &by)
            .await;
        if !answered.map_err(unreadable)? {
            return Err(format!("approval {id} is not open any more"));
        }
        match tokio::time::timeout(HEARD_WITHIN, self.ended(number)).await {
            Ok(ended) => match ended? {
                outcome if outcome == answer.outcome() => {
                    Ok(json!({ "resolved": true, "id": id, "decision": decision }))
                }
                // Somebody at the session was a moment earlier.
                other => Err(format!(
                    "approval {id} was answered by somebody else: {}",
                    word(other)
                )),
            },
            Err(_) => Err(unheard(number)),
        }
    }

    async fn ended(&self, id: i64) -> Result<DecisionOutcome, String> {
        loop {
            let asked = self.store.permission(id).await.map_err(unreadable)?;
            let asked = asked.ok_or_else(|| unheard(id))?;
            match asked.outcome {
                Some(outcome) => return Ok(outcome),
                None if asked.is_waited_for => tokio::time::sleep(LOOK).await,
                None => return Err(unheard(id)),
            }
        }
    }
}

fn absent(id: &str) -> String {
    format!("there is no open approval {id}; permissions_list_open names them")
}

fn unheard(id: i64) -> String {
    format!(
        "nobody heard the answer to approval {id}: the session that asked is gone or waits no more"
    )
}

/// What was decided, in the words of clients.
pub(super) fn word(outcome: DecisionOutcome) -> &'static str {
    match outcome {
        DecisionOutcome::Once => Answer::Once.word(),
        DecisionOutcome::Session => "allow-session",
        DecisionOutcome::Always => Answer::Always.word(),
        DecisionOutcome::Refused => Answer::Deny.word(),
    }
}

/// The first session of the conversation that a question belongs to.
pub(super) async fn conversation(store: &Store, asked: &Permission) -> String {
    let Ok(session) = SessionId::try_from(asked.session.clone()) else {
        return asked.session.clone();
    };
    let chain = store.lineage(&session).await.unwrap_or_default();
    chain.first().unwrap_or(&session).to_string()
}

async fn described(store: &Store, asked: &Permission) -> Json {
    json!({
        "id": asked.id.to_string(),
        "session_key": conversation(store, asked).await,
        "session_id": asked.session,
        "action": asked.action,
        "reasons": asked.reasons,
        "decisions": Answer::possible(asked.reach),
        "created_at": time(asked.asked_at),
        "expires_at": time(asked.until),
    })
}
