//! The script a server follows, in code or from a file.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};

use super::record::RecordedRequest;
use super::reply::{Reply, echo};
use super::step::Step;

const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// An ordered list of steps. A request takes the first unused step whose matcher accepts it, whatever
/// protocol it comes by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Names the models route lists.
    #[serde(default = "default_models")]
    pub models: Vec<String>,
    /// What is answered, in order.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// Paths with a script of their own; they go before everything else.
    #[serde(default)]
    pub routes: Vec<Route>,
    /// Refuses model requests that a strict vendor would refuse, with status 400 and the reasons.
    #[serde(default = "strict_by_default")]
    pub strict: bool,
    /// Keys that a strict server takes although the protocol does not know them, at any place.
    #[serde(default)]
    pub extra_keys: Vec<String>,
}

/// One path of a vendor beside its model, such as a token endpoint, with its replies in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// HTTP method.
    #[serde(default = "get")]
    pub method: String,
    /// Path from the root; with a `?`, the query must be the same too.
    pub path: String,
    /// What is answered, in order, chosen as among the steps of the scenario.
    pub replies: Vec<Step>,
}

impl Route {
    pub(super) fn accepts(&self, request: &RecordedRequest) -> bool {
        let path = if self.path.contains('?') {
            request.path.as_str()
        } else {
            request.path.split('?').next().unwrap_or_default()
        };
        self.method.eq_ignore_ascii_case(&request.method) && self.path == path
    }
}

impl Scenario {
    /// Starts an empty script that lists the model `scripted`.
    pub fn new() -> Self {
        Self {
            models: default_models(),
            steps: Vec::new(),
            routes: Vec::new(),
            strict: strict_by_default(),
            extra_keys: Vec::new(),
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

    /// Scripts a path of its own. Replies are used up in order; give the last one [`Step::repeat`] to
    /// keep it.
    pub fn route(
        mut self,
        method: impl Into<String>,
        path: impl Into<String>,
        replies: impl IntoIterator<Item = impl Into<Step>>,
    ) -> Self {
        self.routes.push(Route {
            method: method.into(),
            path: path.into(),
            replies: replies.into_iter().map(Into::into).collect(),
        });
        self
    }

    /// Takes requests that a strict vendor would refuse.
    pub fn lenient(mut self) -> Self {
        self.strict = false;
        self
    }

    /// Stays strict, but takes these keys too: extensions of the vendor that is being played.
    pub fn extra_keys(mut self, keys: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.extra_keys.extend(keys.into_iter().map(Into::into));
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
            check_step(step).with_context(|| format!("step {index}"))?;
        }
        for route in &self.routes {
            let place = || format!("route {} {}", route.method, route.path);
            ensure!(
                route.path.starts_with('/'),
                "{}: a path begins with a slash",
                place()
            );
            for (index, step) in route.replies.iter().enumerate() {
                check_step(step).with_context(|| format!("{}: reply {index}", place()))?;
                ensure!(
                    !matches!(step.reply, Reply::Answer(_) | Reply::Echo),
                    "{}: reply {index}: only a model can give an answer",
                    place()
                );
            }
        }
        Ok(())
    }
}

fn check_step(step: &Step) -> anyhow::Result<()> {
    let status = match &step.reply {
        Reply::Error(failure) => failure.status,
        Reply::Bytes(raw) => raw.status,
        Reply::Answer(_) | Reply::Frames(_) | Reply::Json(_) | Reply::Echo => 200,
    };
    StatusCode::from_u16(status).with_context(|| format!("{status} is not an HTTP status"))?;
    for (name, value) in &step.headers {
        name.parse::<HeaderName>()
            .with_context(|| format!("{name:?} is not a header name"))?;
        value
            .parse::<HeaderValue>()
            .with_context(|| format!("header {name} has a bad value"))?;
    }
    Ok(())
}

impl Default for Scenario {
    fn default() -> Self {
        Self::new()
    }
}

fn default_models() -> Vec<String> {
    vec!["scripted".to_owned()]
}

fn strict_by_default() -> bool {
    true
}

fn get() -> String {
    "GET".to_owned()
}
