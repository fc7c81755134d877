//! What has to be there before a skill works: variables, files with credentials, programs.

use hermes_config::{EnvName, Map, Node};

use crate::frontmatter::{is_yes, items_of, text_of, words_of};

/// A variable a skill needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredVariable {
    pub name: EnvName,
    /// How a person is asked for it.
    pub prompt: Option<String>,
    /// Where it comes from.
    pub help: Option<String>,
    /// What does not work without it.
    pub required_for: Option<String>,
    /// Whether the skill works without it.
    pub optional: bool,
    /// Whether it is typed unseen; only a skill that says otherwise gets something that is not.
    pub secret: bool,
}

/// A file with credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialFile {
    /// Below the home; whether it stays there is checked where it is used.
    pub path: String,
    pub description: Option<String>,
}

/// How a skill is made ready.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Setup {
    pub help: Option<String>,
    /// Secrets to ask for; also among the skill's required variables.
    pub secrets: Vec<RequiredVariable>,
}

impl Setup {
    pub(super) fn read(fields: &Map) -> Self {
        let Some(node) = fields.get("setup") else {
            return Self::default();
        };
        Self {
            help: node.child("help").and_then(text_of),
            secrets: items_of(node.child("collect_secrets"))
                .iter()
                .filter_map(variable)
                .collect(),
        }
    }
}

/// Every variable of every field that names some; of two with one name the first.
pub(super) fn variables(fields: &Map, setup: &Setup) -> Vec<RequiredVariable> {
    let declared = items_of(fields.get("required_environment_variables"))
        .iter()
        .filter_map(variable);
    let legacy = fields
        .get("prerequisites")
        .and_then(|node| node.child("env_vars"));
    let legacy = items_of(legacy).iter().filter_map(variable);
    let mut found: Vec<RequiredVariable> = Vec::new();
    for variable in declared.chain(setup.secrets.iter().cloned()).chain(legacy) {
        if !found.iter().any(|known| known.name == variable.name) {
            found.push(variable);
        }
    }
    found
}

pub(super) fn commands(fields: &Map) -> Vec<String> {
    words_of(
        fields
            .get("prerequisites")
            .and_then(|node| node.child("commands")),
    )
}

pub(super) fn credential_files(fields: &Map) -> Vec<CredentialFile> {
    let items = items_of(fields.get("required_credential_files")).iter();
    items
        .filter_map(|node| {
            let path = text_of(node).or_else(|| text(node, "path"))?;
            Some(CredentialFile {
                path,
                description: text(node, "description"),
            })
        })
        .collect()
}

fn text(node: &Node, key: &str) -> Option<String> {
    node.child(key).and_then(text_of)
}

/// A name, or a name with what goes with it. Names no shell could use are left out.
fn variable(node: &Node) -> Option<RequiredVariable> {
    let name = text_of(node)
        .or_else(|| text(node, "name"))
        .or_else(|| text(node, "env_var"))?;
    Some(RequiredVariable {
        name: EnvName::new(&name).ok()?,
        prompt: text(node, "prompt"),
        help: text(node, "help").or_else(|| text(node, "provider_url")),
        required_for: text(node, "required_for"),
        optional: is_yes(node.child("optional")),
        secret: node.child("secret").is_none_or(|node| is_yes(Some(node))),
    })
}
