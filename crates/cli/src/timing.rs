//! Limits that variables set for one run: how long to wait for a model and for tools, how often to ask again.

use std::time::Duration;

use hermes_config::{Environment, Variable};
use hermes_core::FailureKind;
use hermes_llm::PatienceSettings;

use crate::complaint::{Complaint, Outcome};

/// How long tools may run side by side, unless a variable says otherwise.
const TOOLS_SIDE_BY_SIDE: Duration = Duration::from_secs(420);

/// The limits of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    /// Of a call to a model; how long a model nearby may be silent is a setting.
    pub(crate) patience: PatienceSettings,
    /// Of tools that run side by side; `None` is none.
    pub(crate) tools: Option<Duration>,
}

impl Timing {
    /// What the variables say. One that cannot be used is named, not passed over.
    pub(crate) fn read(environment: &Environment) -> Outcome<Self> {
        let seconds = |variable: &Variable| seconds(environment, variable);
        let usual = PatienceSettings::default();
        let positive = |variable: &Variable| Ok::<_, Complaint>(seconds(variable)?.flatten());
        Ok(Self {
            patience: PatienceSettings {
                stale: positive(&Variable::HERMES_STREAM_STALE_TIMEOUT)?,
                read: positive(&Variable::HERMES_STREAM_READ_TIMEOUT)?,
                whole: positive(&Variable::HERMES_API_CALL_STALE_TIMEOUT)?,
                total: positive(&Variable::HERMES_API_TIMEOUT)?.unwrap_or(usual.total),
                most_stalls: match count(environment, &Variable::HERMES_STREAM_STALE_GIVEUP)? {
                    // Never.
                    Some(0) => u32::MAX,
                    Some(set) => set,
                    None => usual.most_stalls,
                },
                retries: count(environment, &Variable::HERMES_STREAM_RETRIES)?,
                ..usual
            },
            tools: seconds(&Variable::HERMES_CONCURRENT_TOOL_TIMEOUT_S)?
                .unwrap_or(Some(TOOLS_SIDE_BY_SIDE)),
        })
    }
}

/// Seconds, of which zero and less mean that there is no limit.
fn seconds(environment: &Environment, variable: &Variable) -> Outcome<Option<Option<Duration>>> {
    let Some(text) = environment.filled(variable) else {
        return Ok(None);
    };
    let number = text.trim().parse::<f64>().ok();
    let number = number.filter(|number| number.is_finite());
    let number = number.ok_or_else(|| unusable(variable, text, "a number of seconds"))?;
    if number <= 0.0 {
        return Ok(Some(None));
    }
    let set = Duration::try_from_secs_f64(number);
    set.map(|set| Some(Some(set)))
        .map_err(|_| unusable(variable, text, "a number of seconds"))
}

fn count(environment: &Environment, variable: &Variable) -> Outcome<Option<u32>> {
    let Some(text) = environment.filled(variable) else {
        return Ok(None);
    };
    let number = text.trim().parse();
    number
        .map(Some)
        .map_err(|_| unusable(variable, text, "a whole number"))
}

fn unusable(variable: &Variable, text: &str, wanted: &str) -> Complaint {
    let name = variable.name;
    Complaint::new(
        FailureKind::BadInput,
        format!("{name} is `{text}`, which is not {wanted}"),
    )
    .hint(format!(
        "correct {name} in the environment or in .env, or take it out"
    ))
}
