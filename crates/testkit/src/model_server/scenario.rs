//! The script a server follows, in code or from a file.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};

use super::reply::{Reply, echo};
use super::step::Step;

const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// An ordered list of steps. A request takes the first unused step whose matcher accepts it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Names the models route lists.
    #[serde(default = "default_models")]
    pub models: Vec<String>,
    /// What is answered, in order.
    #[serde(default)]
    pub steps: Vec<Step>,
}

impl Scenario {
    /// Starts an empty script that lists the model `scripted`.
    pub fn new() -> Self {
        Self {
            models: default_models(),
            steps: Vec::new(),
        }
    }

    /// Repeats whatever the user says, for ever.
    pub fn echo() -> Self {
        Self::new().reply(Step::new(echo()).repeat())
    }

    /// Appends a step: a reply from a builder such as [`super::text`], or a whole [`Step`].
    pub fn reply(mut self, step: impl Into<Step>) -> Self {
        self.steps.push(step.into());
        self
    }

    /// Replaces the names the models route lists.
    pub fn models(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.models = names.into_iter().map(Into::into).collect();
        self
    }

    /// Reads a scenario file.
    pub fn from_file(path: impl AsRef<Path>) -> anyhow::Result<Self> {
        let path = path.as_ref();
        let size = fs::metadata(path)
            .with_context(|| format!("could not open the scenario {}", path.display()))?
            .len();
        ensure!(
            size <= MAX_FILE_BYTES,
            "scenario {} has {size} bytes, more than {MAX_FILE_BYTES}",
            path.display()
        );
        let text = fs::read_to_string(path)
            .with_context(|| format!("could not read the scenario {}", path.display()))?;
        serde_json::from_str(&text)
            .with_context(|| format!("{} is not a valid scenario", path.display()))
    }

    /// Finds what could not be put on the wire, before a client trips over it.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        for (index, step) in self.steps.iter().enumerate() {
            let status = match &step.reply {
                Reply::Error(failure) => failure.status,
                Reply::Bytes(raw) => raw.status,
                Reply::Answer(_) | Reply::Frames(_) | Reply::Echo => 200,
            };
            StatusCode::from_u16(status)
                .with_context(|| format!("step {index}: {status} is not an HTTP status"))?;
            for (name, value) in step.headers.iter() {
                name.parse::<HeaderName>()
                    .with_context(|| format!("step {index}: {name:?} is not a header name"))?;
                value
                    .parse::<HeaderValue>()
                    .with_context(|| format!("step {index}: header {name} has a bad value"))?;
            }
        }
        Ok(())
    }
}

impl Default for Scenario {
    fn default() -> Self {
        Self::new()
    }
}

fn default_models() -> Vec<String> {
    vec!["scripted".to_owned()]
}
