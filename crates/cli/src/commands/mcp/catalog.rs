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

/// A description, as far as this program understands it.
pub(super) enum Described {
    Known(Box<Manifest>),
    /// It is written for a later version.
    Newer(Newer),
}

/// What can be told of a description of a later version.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Newer {
    manifest_version: u32,
    pub(super) name: String,
}

/// A server that can be installed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    #[serde(rename = "manifest_version")]
    _version: u32,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) source: String,
    pub(super) transport: Transport,
    #[serde(default)]
    pub(super) install: Option<Install>,
    #[serde(default)]
    pub(super) auth: Auth,
    #[serde(default)]
    pub(super) tools: Tools,
    #[serde(default)]
    pub(super) post_install: String,
}

/// How it is reached.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Transport {
    Stdio {
        command: String,
        #[serde(default)]
        args: Vec<String>,
        #[serde(default)]
        env: BTreeMap<String, String>,
        /// Of the package that `npx`, `uvx` or `pipx` fetches.
        #[serde(default)]
        version: Option<String>,
    },
    Http {
        url: String,
    },
}

/// Where its program is fetched from.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Install {
    Git {
        url: String,
        /// A commit, a tag or a branch.
        #[serde(rename = "ref", default)]
        reference: Option<String>,
        /// What makes it ready to run, line by line.
        #[serde(default)]
        bootstrap: Vec<String>,
    },
}

/// What it needs to know who asks.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Auth {
    #[serde(rename = "type", default)]
    pub(super) kind: AuthKind,
    #[serde(default)]
    pub(super) env: Vec<Variable>,
    /// Whose account it is.
    #[serde(default)]
    pub(super) provider: Option<String>,
    /// The rights to ask for.
    #[serde(default)]
    pub(super) scopes: Vec<String>,
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
#[serde(deny_unknown_fields)]
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
#[serde(deny_unknown_fields)]
pub(super) struct Tools {
    /// The tools to offer at first; all when empty.
    #[serde(default)]
    pub(super) default_enabled: Vec<String>,
}

impl Described {
    pub(super) fn read(text: &str) -> Outcome<Self> {
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
        let value = value.value.to_json();
        // The version comes first: what it says beyond that may have changed with it.
        let about = Newer::deserialize(&value).map_err(|error| broken(error.to_string()))?;
        if about.manifest_version > VERSION {
            return Ok(Self::Newer(about));
        }
        let known = serde_json::from_value(value)
            .map_err(|error| broken(format!("{}: {error}", about.name)))?;
        Ok(Self::Known(known))
    }

    fn name(&self) -> &str {
        match self {
            Self::Known(manifest) => &manifest.name,
            Self::Newer(newer) => &newer.name,
        }
    }

    fn row(&self, installed: bool) -> Json {
        match self {
            Self::Known(one) => json!({
                "name": one.name,
                "description": one.description,
                "source": one.source,
                "transport": one.transport.word(),
                "provider": one.auth.provider,
                "installed": installed,
                "readable": true,
            }),
            Self::Newer(newer) => json!({
                "name": newer.name,
                "installed": installed,
                "readable": false,
            }),
        }
    }
}

impl Transport {
    fn word(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Http { .. } => "http",
        }
    }
}

pub(super) fn all() -> Outcome<Vec<Described>> {
    FILES.iter().map(|text| Described::read(text)).collect()
}

/// One by its name, which may begin with `official/`.
pub(super) fn find(name: &str) -> Outcome<Manifest> {
    named(name, all()?)
}

fn named(name: &str, all: Vec<Described>) -> Outcome<Manifest> {
    let name = name.strip_prefix("official/").unwrap_or(name);
    let hint = match hermes_config::nearest(name, all.iter().map(Described::name)) {
        Some(near) => format!("did you mean {near}?"),
        None => "hermes mcp catalog lists them; hermes mcp add adds any other".to_owned(),
    };
    match all.into_iter().find(|one| one.name() == name) {
        Some(Described::Known(manifest)) => Ok(*manifest),
        Some(Described::Newer(newer)) => Err(Complaint::new(
            FailureKind::Unavailable,
            format!("{} needs a newer Hermes", newer.name),
        )
        .hint("update Hermes, or add the server with hermes mcp add")),
        None => {
            let complaint = Complaint::new(
                FailureKind::NotFound,
                format!("the catalog has no server {name}"),
            );
            Err(complaint.hint(hint))
        }
    }
}

pub(super) fn run(as_json: bool, context: &Context, output: &mut Output) -> Outcome {
    show(&all()?, as_json, context, output)
}

fn show(all: &[Described], as_json: bool, context: &Context, output: &mut Output) -> Outcome {
    let loaded = context.settings()?;
    let installed = |name: &str| loaded.config.mcp_servers.contains_key(name);
    if as_json {
        let rows = all.iter().map(|one| one.row(installed(one.name())));
        let rows: Vec<Json> = rows.collect();
        return Ok(output.json(&json!({ "servers": rows }))?);
    }
    let mut table = Table::new(["SERVER", "TRANSPORT", "INSTALLED", "WHAT IT DOES"]);
    for one in all {
        let (transport, about) = match one {
            Described::Known(manifest) => {
                (manifest.transport.word(), manifest.description.as_str())
            }
            Described::Newer(_) => ("", "needs a newer Hermes"),
        };
        let there = if installed(one.name()) { "yes" } else { "no" };
        table.row([one.name(), transport, there, about].map(str::to_owned));
    }
    table.print(output)?;
    Ok(output.line("hermes mcp install NAME installs one.")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(one: &Described) -> &Manifest {
        match one {
            Described::Known(manifest) => manifest,
            Described::Newer(newer) => panic!("{newer:?}"),
        }
    }

    // MCP-78
    #[test]
    fn every_description_can_be_read_and_names_what_it_fetches() {
        let all = all().unwrap();
        let names: Vec<&str> = all.iter().map(|one| known(one).name.as_str()).collect();
        assert_eq!(names, ["blender", "linear", "n8n", "unreal-engine"]);
        assert_eq!(find("official/linear").unwrap().auth.kind, AuthKind::Oauth);
        for one in all.iter().map(known) {
            if let Some(Install::Git { reference, .. }) = &one.install {
                assert!(reference.is_some(), "{} is whatever it is today", one.name);
            } else if let Transport::Stdio { version, .. } = &one.transport {
                assert!(version.is_some(), "{} is whatever it is today", one.name);
            }
        }
    }

    // MCP-97
    #[test]
    fn a_description_of_a_later_version_is_listed_and_stands_in_nobodys_way() {
        let newer = "manifest_version: 2\nname: later\ntransport: [by, other, means]\n";
        let listed = || {
            let mut all = all().unwrap();
            all.push(Described::read(newer).unwrap());
            all
        };
        let row = listed().last().unwrap().row(false);
        assert_eq!(row["readable"], false);
        assert_eq!(row["name"], "later");
        assert!(named("linear", listed()).is_ok());
        let refused = named("later", listed()).unwrap_err();
        assert_eq!(refused.cause(), "later needs a newer Hermes");
    }

    // MCP-97
    #[test]
    fn a_word_that_nobody_reads_is_a_mistake() {
        let text = |line: &str| {
            format!(
                "manifest_version: 1\nname: own\ndescription: d\nsource: s\n{line}\
                 transport: {{type: http, url: 'https://h.example.test/mcp'}}\n"
            )
        };
        assert!(Described::read(&text("")).is_ok());
        let wrong = Described::read(&text("instal: {type: git}\n"));
        let Err(complaint) = wrong else {
            panic!("it was read");
        };
        let said = complaint.cause();
        assert!(said.contains("own") && said.contains("instal"), "{said}");
    }
}
