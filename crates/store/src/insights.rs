//! What was used over a period: sessions, tokens, costs, tools, and when.
//!
//! Everything is added up by SQLite; what comes back grows with the number of models, platforms and
//! tools, not with the number of messages.

mod activity;
mod glance;
mod learned;
mod skills;
mod tools;
mod top;
mod totals;
mod usage;

use hermes_core::Usage;
use jiff::tz::TimeZone;
use rusqlite::types::Value as Sql;

pub use activity::Activity;
pub use glance::Glance;
pub use learned::{Learned, LearnedChange};
pub use skills::SkillUse;
pub use tools::ToolUse;
pub use top::{TopRecord, TopSession};
pub use totals::{Overview, PlatformUse};
pub use usage::{Cost, ModelUse};

use crate::store::Store;
use crate::worker::Pending;

/// Which sessions a report is about.
#[derive(Debug, Clone)]
pub struct Period {
    /// Sessions that began at this time or later.
    pub since: f64,
    /// Only sessions of this source.
    pub source: Option<String>,
    /// Where days and hours begin.
    pub zone: TimeZone,
}

/// What was used over a period.
#[derive(Debug, Clone, PartialEq)]
pub struct Insights {
    pub overview: Overview,
    /// Most tokens first.
    pub models: Vec<ModelUse>,
    /// Most sessions first.
    pub platforms: Vec<PlatformUse>,
    /// Most calls first.
    pub tools: Vec<ToolUse>,
    /// Most used first.
    pub skills: Vec<SkillUse>,
    pub activity: Activity,
    /// One for each kind of record that somebody holds.
    pub top_sessions: Vec<TopSession>,
    pub learned: Learned,
}

impl Store {
    /// Adds up a period; reads every message of its sessions, so not for a start path.
    pub fn insights(&self, period: Period) -> Pending<Insights> {
        self.read(move |connection| {
            let models = usage::models(connection, &period)?;
            let mut overview = totals::overview(connection, &period)?;
            for model in &models {
                overview.usage += model.usage;
                overview.cost.add(&model.cost);
            }
            usage::count_costless(connection, &period, &mut overview)?;
            Ok(Insights {
                overview,
                models,
                platforms: totals::platforms(connection, &period)?,
                tools: tools::tools(connection, &period)?,
                skills: skills::skills(connection, &period)?,
                activity: activity::activity(connection, &period)?,
                top_sessions: top::top(connection, &period)?,
                learned: learned::learned(connection, &period)?,
            })
        })
    }
}

/// The sessions of a period, to stand in front of a query with the values of [`Period::values`].
///
/// Messages are joined with `CROSS JOIN`, which SQLite takes as the order: a short period then reads only
/// its own messages and not the whole table.
const CHOSEN: &str = "WITH chosen AS \
    (SELECT * FROM sessions WHERE started_at >= ?1 AND (?2 IS NULL OR source = ?2))";

/// Tokens of a session without reasoning, which is part of the output.
const TOKENS: &str = "(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)";

impl Period {
    fn values(&self) -> [Sql; 2] {
        let source = self.source.clone().map_or(Sql::Null, Sql::Text);
        [Sql::Real(self.since), source]
    }
}

/// Five columns of tokens, beginning at `first`.
fn usage_at(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Usage> {
    Ok(Usage {
        input_tokens: row.get(first)?,
        output_tokens: row.get(first + 1)?,
        cache_read_tokens: row.get(first + 2)?,
        cache_write_tokens: row.get(first + 3)?,
        reasoning_tokens: row.get(first + 4)?,
    })
}
