//! What the model is told when a server gave no answer.

use std::time::Duration;

use hermes_secrets::Redactor;
use serde_json::{Value as Json, json};

use crate::clean::clean;

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// Something failed that has no form of its own.
    Failed {
        /// What kind of failure, in a word.
        kind: String,
        /// What was seen.
        text: String,
    },
    /// A person stopped the call.
    Interrupted,
    /// The server failed several times in a row and is left alone for a while.
    Unreachable {
        /// How many times.
        failures: u32,
        /// How long nothing is sent.
        retry_in: Duration,
    },
    /// There is no session; one is being opened.
    Reconnecting {
        /// Why there is none, in our own words, as far as it is known.
        why: Option<String>,
        /// How long that may take.
        wait: Duration,
    },
    /// There is no session, and trying to open one has just failed.
    Down {
        /// Why, in our own words, as far as it is known.
        why: Option<String>,
        /// When it is tried again by itself.
        retry_in: Duration,
    },
    /// Only a person can help, by signing in.
    NeedsReauth {
        /// Why.
        why: String,
        /// What the person can do, as the end of a sentence.
        how: String,
    },
    /// There is no such server.
    NotConnected,
    /// It failed after the call was sent, so it may have been carried out.
    OutcomeUnknown {
        /// What kind of failure, in a word.
        kind: String,
        /// What was seen.
        text: String,
    },
}

impl Trouble {
    /// The object the model gets.
    pub(super) fn render(&self, server: &str, redactor: &Redactor) -> Json {
        match self {
            Self::Failed { kind, text } => {
                let text = clean(redactor, text);
                let sentence = match (kind.as_str(), text.trim()) {
                    ("", "") => "no reason was given".to_owned(),
                    (kind, "") => kind.to_owned(),
                    ("", text) => text.to_owned(),
                    (kind, text) => format!("{kind}: {text}"),
                };
                json!({ "error": format!("MCP call failed: {sentence}") })
            }
            Self::Interrupted => {
                json!({ "error": "MCP call interrupted: the user stopped it" })
            }
            Self::Unreachable { failures, retry_in } => json!({ "error": format!(
                "MCP server '{server}' is unreachable after {failures} failures in a row. It is tried \
                 again in ~{}s; do not retry before then, use other tools or ask the user to check it",
                seconds(*retry_in)
            ) }),
            Self::Reconnecting { why, wait } => json!({ "error": format!(
                "MCP server '{server}' has no live connection{}; a reconnect is under way. Wait about \
                 {}s before trying again",
                because(why.as_deref()),
                seconds(*wait)
            ) }),
            Self::Down { why, retry_in } => json!({ "error": format!(
                "MCP server '{server}' cannot be connected{}. The next reconnect is tried in ~{}s; use other \
                 tools or ask the user to check it with `hermes mcp test {server}`",
                because(why.as_deref()),
                seconds(*retry_in)
            ) }),
            Self::NeedsReauth { why, how } => json!({
                "error": format!(
                    "MCP server '{server}' does not let us in ({}). The user has to {how}; do not retry \
                     before that",
                    clean(redactor, why)
                ),
                "needs_reauth": true,
                "server": server,
            }),
            Self::NotConnected => {
                json!({ "error": format!("MCP server '{server}' is not connected") })
            }
            Self::OutcomeUnknown { kind, text } => json!({
                "error": format!(
                    "MCP call failed: {kind}: {}. MCP server '{server}' had been sent the call, which may or \
                     may not have taken effect; check before repeating it",
                    clean(redactor, text)
                ),
                "outcome_unknown": true,
                "server": server,
            }),
        }
    }
}

/// A reason as part of a sentence.
fn because(why: Option<&str>) -> String {
    why.map_or_else(String::new, |why| format!(" ({why})"))
}

/// Whole seconds, at least one.
fn seconds(time: Duration) -> u64 {
    time.as_secs_f64().ceil().max(1.0) as u64
}
