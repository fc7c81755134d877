//! Servers that can be installed by name: descriptions that come with the program.

use std::collections::BTreeMap;

use hermes_config::Document;
use hermes_core::FailureKind;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;
use crate::table::Table;

/// The newest form of a description that is understood.
const VERSION: u32 = 1;

const FILES: &[&str] = &[
    include_str!("catalog/blender.yaml"),
    include_str!("catalog/linear.yaml"),
    include_str!("catalog/n8n.yaml"),
    include_str!("catalog/unreal-engine.yaml"),
];

/// A server that can be installed.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Manifest {
    manifest_version: u32,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) source: String,
    pub(super) transport: Transport,
    #[serde(default)]
    pub(super) install: Option<Git>,
    #[serde(default)]
    pub(super) auth: Auth,
    #[serde(default)]
    pub(super) tools: Tools,
    #[serde(default)]
    pub(super) post_install: String,
}

/// How it is reached.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Transport {
    Stdio {
        command: String,
        #[serde(default)]
        args: Vec<String>,
        #[serde(default)]
        env: BTreeMap<String, String>,
    },
    Http {
        url: String,
    },
}

/// Where its program is fetched from.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Git {
    pub(super) url: String,
}

/// What it needs to know who asks.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Auth {
    #[serde(rename = "type", default)]
    pub(super) kind: AuthKind,
    #[serde(default)]
    pub(super) env: Vec<Variable>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AuthKind {
    #[default]
    None,
    ApiKey,
    Oauth,
}

/// A value it needs.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) prompt: String,
    #[serde(default)]
    pub(super) required: bool,
    #[serde(default)]
    pub(super) secret: bool,
    #[serde(default)]
    pub(super) default: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Tools {
    /// The tools to offer at first; all when empty.
    #[serde(default)]
    pub(super) default_enabled: Vec<String>,
}

impl Manifest {
    fn read(text: &str) -> Outcome<Self> {
        let broken = |error: String| {
            Complaint::new(
                FailureKind::Damaged,
                format!("a description of the catalog: {error}"),
            )
        };
        let document = Document::new(text).map_err(|error| broken(error.to_string()))?;
        let value = document
            .value()
            .map_err(|error| broken(error.to_string()))?;
        serde_json::from_value(value.value.to_json()).map_err(|error| broken(error.to_string()))
    }

    /// Whether this program understands it.
    pub(super) fn is_readable(&self) -> bool {
        self.manifest_version <= VERSION
    }

    fn transport_word(&self) -> &'static str {
        match self.transport {
            Transport::Stdio { .. } => "stdio",
            Transport::Http { .. } => "http",
        }
    }
}

pub(super) fn all() -> Outcome<Vec<Manifest>> {
    FILES.iter().map(|text| Manifest::read(text)).collect()
}

/// One by its name, which may begin with `official/`.
pub(super) fn find(name: &str) -> Outcome<Manifest> {
    let name = name.strip_prefix("official/").unwrap_or(name);
    let all = all()?;
    if let Some(found) = all.iter().find(|one| one.name == name) {
        return Ok(found.clone());
    }
    let hint = match hermes_config::nearest(name, all.iter().map(|one| one.name.as_str())) {
        Some(near) => format!("did you mean {near}?"),
        None => "hermes mcp catalog lists them; hermes mcp add adds any other".to_owned(),
    };
    let complaint = Complaint::new(
        FailureKind::NotFound,
        format!("the catalog has no server {name}"),
    );
    Err(complaint.hint(hint))
}

pub(super) fn run(as_json: bool, context: &Context, output: &mut Output) -> Outcome {
    let loaded = context.settings()?;
    let all = all()?;
    let installed = |name: &str| loaded.config.mcp_servers.contains_key(name);
    if as_json {
        let rows: Vec<Json> = all
            .iter()
            .map(|one| {
                json!({
                    "name": one.name,
                    "description": one.description,
                    "source": one.source,
                    "transport": one.transport_word(),
                    "installed": installed(&one.name),
                    "readable": one.is_readable(),
                })
            })
            .collect();
        return Ok(output.json(&json!({ "servers": rows }))?);
    }
    let mut table = Table::new(["SERVER", "TRANSPORT", "INSTALLED", "WHAT IT DOES"]);
    for one in &all {
        let about = match one.is_readable() {
            true => one.description.clone(),
            false => "needs a newer Hermes".to_owned(),
        };
        table.row([
            one.name.clone(),
            one.transport_word().to_owned(),
            if installed(&one.name) { "yes" } else { "no" }.to_owned(),
            about,
        ]);
    }
    table.print(output)?;
    Ok(output.line("hermes mcp install NAME installs one.")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_description_can_be_read() {
        let all = all().unwrap();
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["blender", "linear", "n8n", "unreal-engine"]);
        assert!(all.iter().all(Manifest::is_readable));
        assert_eq!(find("official/linear").unwrap().auth.kind, AuthKind::Oauth);
    }
}
