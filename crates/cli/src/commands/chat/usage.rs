//! What a run used, for programs that started it. Written whether it went well or not, and before it begins.

use std::path::Path;

use hermes_core::TurnEnd;
use serde_json::json;

use super::events::Ending;
use crate::complaint::{Complaint, Outcome};

/// Written before anything is asked: where it cannot be, nothing is spent, and a run that is killed has said so.
pub(super) fn begin(path: &Path) -> Outcome {
    write(path, &Err(Complaint::Code(1)))
}

pub(super) fn write(path: &Path, ending: &Outcome<Ending>) -> Outcome {
    let failure = match ending {
        Ok(ending) => match &ending.why {
            TurnEnd::Failed { message, .. } => Some(message.clone()),
            TurnEnd::Interrupted => Some("interrupted".to_owned()),
            TurnEnd::Empty => Some(super::SILENT.to_owned()),
            TurnEnd::Done | TurnEnd::Budget => None,
        },
        Err(Complaint::Failed(failure)) => Some(failure.message.clone()),
        Err(_) => Some("the run ended early".to_owned()),
    };
    let used = ending.as_ref().ok();
    let spent = used.map(|ending| ending.spent.clone()).unwrap_or_default();
    let usage = spent.usage;
    let mut report = json!({
        "estimated_cost_usd": spent.cost_usd,
        "cost_status": spent.status.word(),
        "cost_source": spent.source,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "total_tokens": usage.total(),
        "api_calls": spent.calls,
        "model": used.map(|ending| &ending.model),
        "provider": used.map(|ending| &ending.provider),
        "session_id": used.map(|ending| &ending.session),
        "completed": failure.is_none(),
        "failed": failure.is_some(),
        "service_tier": used.and_then(|ending| ending.service_tier.as_deref()),
    });
    if let (Some(failure), Some(report)) = (failure, report.as_object_mut()) {
        report.insert("failure".to_owned(), failure.into());
    }
    hermes_config::replace_file(path, format!("{report:#}\n").as_bytes())?;
    Ok(())
}
