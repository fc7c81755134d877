//! One row of the ledger for one answer.

use hermes_core::{CostStatus, SessionId};
use hermes_llm::{Answer, Route};
use hermes_store::ModelCall;
use jiff::Timestamp;

/// What an answer used and cost. `task` is empty for the conversation itself.
pub fn entry(
    session: &SessionId,
    task: &str,
    route: &Route,
    answer: &Answer,
    started: Timestamp,
    ended: Timestamp,
) -> ModelCall {
    let cost = hermes_llm::metadata::cost(&answer.usage, route, answer.cache, answer.cost_usd);
    let estimated = cost.usd.filter(|_| cost.status == CostStatus::Estimated);
    let seconds = |time: Timestamp| time.as_duration().as_secs_f64();
    ModelCall {
        session: Some(session.clone()),
        task: task.to_owned(),
        provider: route.provider.clone(),
        model: route.model.clone(),
        base_url: route.address_text(),
        billing_mode: String::new(),
        usage: answer.usage,
        estimated_cost_usd: estimated,
        actual_cost_usd: answer.cost_usd,
        cost_status: cost.status,
        cost_source: cost.source,
        pricing_version: String::new(),
        started_at: seconds(started),
        ended_at: seconds(ended),
        outcome: "ok".to_owned(),
    }
}
