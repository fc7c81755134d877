//! How a credential stands, and what a failed call does to that.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::document::Row;
use super::row;
use crate::classify::{Fault, Reason};

/// How long a credential rests that was not accepted.
const REFUSED: Duration = Duration::from_secs(300);
/// How long one rests that is limited or not paid for.
const LIMITED: Duration = Duration::from_secs(3_600);
/// After this long a dead credential that was added by hand is forgotten.
const FORGET: Duration = Duration::from_secs(24 * 3_600);

/// Words of a refusal that no waiting cures.
const FINAL: &[&str] = &[
    "token_revoked",
    "token_invalidated",
    "token has been revoked",
    "token has been invalidated",
    "invalid_grant",
    "refresh_token_reused",
    "refresh_token_expired",
    "refresh_token_invalidated",
    "unauthorized_client",
];

/// How a credential stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is known against it.
    Good,
    /// It is left alone for a while.
    Resting {
        /// Since when.
        since: Timestamp,
        /// Until when.
        until: Timestamp,
        /// The status of the refusal.
        code: u16,
    },
    /// It will not work again.
    Dead {
        /// Since when.
        since: Timestamp,
    },
}

impl Standing {
    /// What a failed call does to the credential it was made with; `None` when the failure says
    /// nothing about the credential.
    pub(super) fn after(fault: &Fault, now: Timestamp) -> Option<Self> {
        let (code, rest) = match fault.reason {
            Reason::Auth if is_final(&fault.message) => return Some(Self::Dead { since: now }),
            Reason::Auth => (401, REFUSED),
            Reason::Billing => (402, LIMITED),
            Reason::RateLimit | Reason::UsageLimit | Reason::LongContextTier => (429, LIMITED),
            Reason::ContentPolicyBlocked
            | Reason::ThinkingSignature
            | Reason::LongContextBeta
            | Reason::BetaRejected
            | Reason::EncryptedUnsupported
            | Reason::ReasoningRejected
            | Reason::SummariesRejected
            | Reason::GrammarRejected
            | Reason::Forbidden
            | Reason::UpstreamRateLimit
            | Reason::ProviderPolicyBlocked
            | Reason::ModelNotFound
            | Reason::PayloadTooLarge
            | Reason::Overloaded
            | Reason::MultimodalToolContent
            | Reason::ImageTooLarge
            | Reason::ImagesRejected
            | Reason::ToolsRejected
            | Reason::EncryptedReasoning
            | Reason::MaxTokensKey
            | Reason::TemperatureRejected
            | Reason::StreamingRejected
            | Reason::FormatError
            | Reason::LocalModel
            | Reason::ServerError
            | Reason::ContextOverflow
            | Reason::OutputCap
            | Reason::Timeout
            | Reason::SslCert
            | Reason::InvalidAnswer
            | Reason::Misconfigured
            | Reason::Cancelled
            | Reason::Unknown => return None,
        };
        let rest = fault
            .retry_after
            .filter(|wait| !wait.is_zero())
            .unwrap_or(rest);
        Some(Self::Resting {
            since: now,
            until: now.checked_add(rest).unwrap_or(Timestamp::MAX),
            code: fault.status.unwrap_or(code),
        })
    }

    /// Whether the credential may be used now.
    pub(super) fn is_ready(self, now: Timestamp) -> bool {
        match self {
            Self::Good => true,
            Self::Resting { until, .. } => until <= now,
            Self::Dead { .. } => false,
        }
    }

    pub(super) fn is_dead(self) -> bool {
        matches!(self, Self::Dead { .. })
    }

    pub(super) fn read(row: &Row) -> Self {
        let since = row::time(row, "last_status_at");
        match row::text(row, "last_status") {
            Some("exhausted") => {
                let code = row
                    .get("last_error_code")
                    .and_then(Json::as_u64)
                    .and_then(|code| u16::try_from(code).ok())
                    .unwrap_or(429);
                let rest = if code == 401 { REFUSED } else { LIMITED };
                let since = since.unwrap_or(Timestamp::UNIX_EPOCH);
                Self::Resting {
                    since,
                    until: row::time(row, "last_error_reset_at")
                        .or_else(|| since.checked_add(rest).ok())
                        .unwrap_or(since),
                    code,
                }
            }
            Some("dead") => Self::Dead {
                since: since.unwrap_or(Timestamp::UNIX_EPOCH),
            },
            _ => Self::Good,
        }
    }

    pub(super) fn write(self, row: &mut Row) {
        let (status, since, code, until) = match self {
            Self::Good => ("ok", Json::Null, Json::Null, Json::Null),
            Self::Resting { since, until, code } => (
                "exhausted",
                row::seconds(since),
                json!(code),
                row::seconds(until),
            ),
            Self::Dead { since } => ("dead", row::seconds(since), Json::Null, Json::Null),
        };
        row.insert("last_status".to_owned(), json!(status));
        row.insert("last_status_at".to_owned(), since);
        row.insert("last_error_code".to_owned(), code);
        row.insert("last_error_reset_at".to_owned(), until);
    }
}

/// Whether the words say that the credential is gone for good.
pub(super) fn is_final(words: &str) -> bool {
    let words = words.to_lowercase();
    FINAL.iter().any(|word| words.contains(word))
}

/// Whether a row was added by hand and has been dead for so long that nobody needs it.
pub(super) fn is_forgotten(row: &Row, now: Timestamp) -> bool {
    let by_hand = row::text(row, "source").is_some_and(|source| source.starts_with("manual"));
    match Standing::read(row) {
        Standing::Dead { since } if by_hand => {
            since > Timestamp::UNIX_EPOCH
                && since.checked_add(FORGET).is_ok_and(|until| until <= now)
        }
        _ => false,
    }
}
