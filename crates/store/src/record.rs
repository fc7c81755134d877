//! Rows as the rest of the program sees them.

use hermes_core::{CostStatus, MessageId, Role, SessionId, Usage};
use rusqlite::Row;
use serde_json::Value as Json;

use crate::error::StoreError;

/// What a child session is to its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// The same conversation, continued after its history was shortened.
    Compaction,
    /// A copy the user went on in.
    Branch,
    /// A sub-agent's work.
    Delegate,
}

impl Relation {
    pub fn word(self) -> &'static str {
        match self {
            Self::Compaction => "compaction",
            Self::Branch => "branch",
            Self::Delegate => "delegate",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        [Self::Compaction, Self::Branch, Self::Delegate]
            .into_iter()
            .find(|relation| relation.word() == word)
    }
}

/// Whether a message is part of what the model sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// In the conversation.
    Active,
    /// Replaced by a summary; still found by search.
    Compacted,
    /// Taken back by the user; neither seen nor found.
    Rewound,
}

impl Visibility {
    pub(crate) fn from_flags(active: bool, compacted: bool) -> Self {
        match (active, compacted) {
            (true, _) => Self::Active,
            (false, true) => Self::Compacted,
            (false, false) => Self::Rewound,
        }
    }

    pub(crate) fn flags(self) -> (bool, bool) {
        match self {
            Self::Active => (true, false),
            Self::Compacted => (false, true),
            Self::Rewound => (false, false),
        }
    }
}

/// A conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    pub id: SessionId,
    pub source: String,
    pub user_id: Option<String>,
    pub chat_id: Option<String>,
    pub chat_type: Option<String>,
    pub thread_id: Option<String>,
    pub display_name: Option<String>,
    pub parent: Option<SessionId>,
    pub relation: Option<Relation>,
    pub title: Option<String>,
    pub model: Option<String>,
    pub model_config: Option<Json>,
    pub cwd: Option<String>,
    pub git_branch: Option<String>,
    pub git_repo_root: Option<String>,
    pub started_at: f64,
    pub ended_at: Option<f64>,
    pub end_reason: Option<String>,
    pub last_active_at: f64,
    pub archived: bool,
    pub rewind_count: u32,
    pub message_count: u64,
    pub tool_call_count: u64,
    pub api_call_count: u64,
    pub usage: Usage,
    pub billing_provider: Option<String>,
    pub billing_base_url: Option<String>,
    pub billing_mode: Option<String>,
    pub estimated_cost_usd: Option<f64>,
    pub actual_cost_usd: Option<f64>,
    pub cost_status: Option<String>,
    pub cost_source: Option<String>,
    pub pricing_version: Option<String>,
    /// What an imported session carried beyond this, by the reference's names.
    pub extra: Option<Json>,
}

/// The columns `Session::read` expects, in its order, for a query over `sessions s`.
pub(crate) const SESSION_COLUMNS: &str = "s.id, s.source, s.user_id, s.chat_id, s.chat_type, s.thread_id, \
     s.display_name, s.parent_session_id, s.relation, s.title, s.model, s.model_config, s.cwd, s.git_branch, \
     s.git_repo_root, s.started_at, s.ended_at, s.end_reason, s.last_active_at, s.archived, s.rewind_count, \
     s.message_count, s.tool_call_count, s.api_call_count, s.input_tokens, s.output_tokens, \
     s.cache_read_tokens, s.cache_write_tokens, s.reasoning_tokens, s.billing_provider, s.billing_base_url, \
     s.billing_mode, s.estimated_cost_usd, s.actual_cost_usd, s.cost_status, s.cost_source, \
     s.pricing_version, s.extra";

impl Session {
    pub(crate) fn read(row: &Row<'_>) -> Result<Self, StoreError> {
        let id: String = row.get(0)?;
        let parent: Option<String> = row.get(7)?;
        let relation: Option<String> = row.get(8)?;
        Ok(Self {
            source: row.get(1)?,
            user_id: row.get(2)?,
            chat_id: row.get(3)?,
            chat_type: row.get(4)?,
            thread_id: row.get(5)?,
            display_name: row.get(6)?,
            parent: parent
                .map(|parent| session_id(parent, "sessions"))
                .transpose()?,
            relation: relation.as_deref().and_then(Relation::from_word),
            title: row.get(9)?,
            model: row.get(10)?,
            model_config: json(row.get(11)?, "sessions", &id)?,
            cwd: row.get(12)?,
            git_branch: row.get(13)?,
            git_repo_root: row.get(14)?,
            started_at: row.get(15)?,
            ended_at: row.get(16)?,
            end_reason: row.get(17)?,
            last_active_at: row.get(18)?,
            archived: row.get(19)?,
            rewind_count: row.get(20)?,
            message_count: row.get(21)?,
            tool_call_count: row.get(22)?,
            api_call_count: row.get(23)?,
            usage: Usage {
                input_tokens: row.get(24)?,
                output_tokens: row.get(25)?,
                cache_read_tokens: row.get(26)?,
                cache_write_tokens: row.get(27)?,
                reasoning_tokens: row.get(28)?,
            },
            billing_provider: row.get(29)?,
            billing_base_url: row.get(30)?,
            billing_mode: row.get(31)?,
            estimated_cost_usd: row.get(32)?,
            actual_cost_usd: row.get(33)?,
            cost_status: row.get(34)?,
            cost_source: row.get(35)?,
            pricing_version: row.get(36)?,
            extra: json(row.get(37)?, "sessions", &id)?,
            id: session_id(id, "sessions")?,
        })
    }

    /// What is known of the cost. A call has one of the two: what its provider said it cost, or what it should have by
    /// the price list.
    pub fn cost_usd(&self) -> Option<f64> {
        match (self.actual_cost_usd, self.estimated_cost_usd) {
            (Some(actual), Some(estimated)) => Some(actual + estimated),
            (actual, estimated) => actual.or(estimated),
        }
    }

    /// Whether the price of some call is not known, so that the whole cost more than what is known of it.
    pub fn costs_more(&self) -> bool {
        self.cost_status.as_deref() == Some(CostStatus::Unknown.word())
    }
}

/// One row of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub id: MessageId,
    pub session: SessionId,
    /// The role as stored; rows of other programs may hold words that are no `Role`.
    pub role: String,
    pub content: Option<String>,
    pub parts: Option<Json>,
    pub tool_call_id: Option<String>,
    pub tool_calls: Option<Json>,
    pub tool_name: Option<String>,
    pub timestamp: f64,
    pub token_count: Option<u64>,
    pub finish_reason: Option<String>,
    pub reasoning: Option<String>,
    pub raw: Option<Json>,
    pub platform_message_id: Option<String>,
    pub visibility: Visibility,
    pub extra: Option<Json>,
}

/// The columns `Record::read` expects, in its order, for a query over `messages m`.
pub(crate) const RECORD_COLUMNS: &str = "m.id, m.session_id, m.role, m.content, m.parts, m.tool_call_id, \
     m.tool_calls, m.tool_name, m.timestamp, m.token_count, m.finish_reason, m.reasoning, m.raw, \
     m.platform_message_id, m.active, m.compacted, m.extra";

impl Record {
    pub(crate) fn read(row: &Row<'_>) -> Result<Self, StoreError> {
        let id: i64 = row.get(0)?;
        let name = id.to_string();
        let (active, compacted) = (row.get(14)?, row.get(15)?);
        Ok(Self {
            id: MessageId(id),
            session: session_id(row.get(1)?, "messages")?,
            role: row.get(2)?,
            content: row.get(3)?,
            parts: json(row.get(4)?, "messages", &name)?,
            tool_call_id: row.get(5)?,
            tool_calls: json(row.get(6)?, "messages", &name)?,
            tool_name: row.get(7)?,
            timestamp: row.get(8)?,
            token_count: row.get(9)?,
            finish_reason: row.get(10)?,
            reasoning: row.get(11)?,
            raw: json(row.get(12)?, "messages", &name)?,
            platform_message_id: row.get(13)?,
            visibility: Visibility::from_flags(active, compacted),
            extra: json(row.get(16)?, "messages", &name)?,
        })
    }

    /// The role, when it is one of ours.
    pub fn role(&self) -> Option<Role> {
        Role::from_word(&self.role)
    }
}

fn session_id(text: String, table: &'static str) -> Result<SessionId, StoreError> {
    SessionId::try_from(text).map_err(|error| StoreError::BadRow {
        table,
        row: String::new(),
        detail: error.to_string(),
    })
}

fn json(text: Option<String>, table: &'static str, row: &str) -> Result<Option<Json>, StoreError> {
    text.map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|error| StoreError::BadRow {
            table,
            row: row.to_owned(),
            detail: error.to_string(),
        })
}
