//! What model calls used and cost: one row for each call.

use hermes_core::{CostStatus, SessionId, Usage};

use crate::store::Store;
use crate::worker::Pending;

/// One model call, after it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    pub session: Option<SessionId>,
    /// Empty for the conversation, else the helper task it was made for.
    pub task: String,
    pub provider: String,
    pub model: String,
    pub base_url: String,
    pub billing_mode: String,
    pub usage: Usage,
    pub estimated_cost_usd: Option<f64>,
    pub actual_cost_usd: Option<f64>,
    pub cost_status: CostStatus,
    pub cost_source: String,
    pub pricing_version: String,
    pub started_at: f64,
    pub ended_at: f64,
    /// `ok`, or the kind of failure.
    pub outcome: String,
}

impl Store {
    /// Writes a call to the ledger and adds it to its session's counters, in one step.
    ///
    /// An unknown price stays unknown: it is never added as zero.
    pub fn record_call(&self, call: ModelCall) -> Pending<()> {
        self.write(move |connection| {
            let usage = call.usage;
            connection
                .prepare_cached(
                    "INSERT INTO model_calls (session_id, task, model, billing_provider, billing_base_url, billing_mode, \
                       input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, \
                       estimated_cost_usd, actual_cost_usd, cost_status, cost_source, pricing_version, started_at, \
                       ended_at, outcome) \
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                )?
                .execute(rusqlite::params![
                    call.session.as_ref().map(SessionId::as_str),
                    call.task,
                    call.model,
                    call.provider,
                    call.base_url,
                    call.billing_mode,
                    usage.input_tokens,
                    usage.output_tokens,
                    usage.cache_read_tokens,
                    usage.cache_write_tokens,
                    usage.reasoning_tokens,
                    call.estimated_cost_usd,
                    call.actual_cost_usd,
                    call.cost_status.word(),
                    call.cost_source,
                    call.pricing_version,
                    call.started_at,
                    call.ended_at,
                    call.outcome,
                ])?;
            let Some(session) = &call.session else { return Ok(()) };
            connection
                .prepare_cached(
                    "UPDATE sessions SET api_call_count = api_call_count + 1, \
                       input_tokens = input_tokens + ?2, output_tokens = output_tokens + ?3, \
                       cache_read_tokens = cache_read_tokens + ?4, cache_write_tokens = cache_write_tokens + ?5, \
                       reasoning_tokens = reasoning_tokens + ?6, \
                       estimated_cost_usd = CASE WHEN ?7 IS NULL THEN estimated_cost_usd \
                         ELSE coalesce(estimated_cost_usd, 0) + ?7 END, \
                       actual_cost_usd = CASE WHEN ?8 IS NULL THEN actual_cost_usd \
                         ELSE coalesce(actual_cost_usd, 0) + ?8 END, \
                       cost_status = ?9, cost_source = ?10, pricing_version = ?11, \
                       billing_provider = ?12, billing_base_url = ?13, billing_mode = ?14 \
                     WHERE id = ?1",
                )?
                .execute(rusqlite::params![
                    session.as_str(),
                    usage.input_tokens,
                    usage.output_tokens,
                    usage.cache_read_tokens,
                    usage.cache_write_tokens,
                    usage.reasoning_tokens,
                    call.estimated_cost_usd,
                    call.actual_cost_usd,
                    call.cost_status.word(),
                    call.cost_source,
                    call.pricing_version,
                    call.provider,
                    call.base_url,
                    call.billing_mode,
                ])?;
            Ok(())
        })
    }
}
