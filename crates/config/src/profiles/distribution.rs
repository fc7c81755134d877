//! `distribution.yaml`: a profile that somebody publishes.

use std::path::{Path, PathBuf};

use super::error::ProfileError;
use super::member;
use crate::dotenv::EnvName;
use crate::files;
use crate::home::{ProfileName, ProfileNameError};
use crate::value::{KeyPath, Node, Value};
use crate::yaml::Document;

pub(super) const MANIFEST: &str = "distribution.yaml";
pub(super) const ENV_EXAMPLE: &str = ".env.EXAMPLE";
/// What a distribution brings unless it says otherwise.
const OWNED: [&str; 5] = ["SOUL.md", "config.yaml", "mcp.json", "skills", "cron"];

/// Why a distribution cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DistributionError {
    #[error("{} has no distribution.yaml", directory.display())]
    NoManifest { directory: PathBuf },
    #[error("distribution.yaml: {field} is missing or is no plain text")]
    Field { field: &'static str },
    #[error("distribution.yaml: {text:?} is not a path inside the distribution")]
    BadPath { text: String },
    #[error("the distribution holds a link: {}", path.display())]
    Link { path: PathBuf },
    #[error("the distribution holds something that is no file: {}", path.display())]
    Special { path: PathBuf },
    #[error("the distribution is too large")]
    TooLarge,
    #[error("the distribution cannot name a profile")]
    Name(#[source] ProfileNameError),
    #[error("profile {profile} was not installed from a distribution")]
    NotInstalled { profile: ProfileName },
    #[error("profile {profile} does not say where it was installed from")]
    NoSource { profile: ProfileName },
}

impl DistributionError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoManifest { .. } => {
                "name a directory or a git address that has one at its top".to_owned()
            }
            Self::Field { .. } | Self::BadPath { .. } => {
                "its author has to mend it; nothing was changed".to_owned()
            }
            Self::Link { .. } | Self::Special { .. } | Self::TooLarge => {
                "nothing was changed; be wary of where it comes from".to_owned()
            }
            Self::Name(_) => "give it a name with --name".to_owned(),
            Self::NotInstalled { .. } => "hermes profile install SOURCE installs one".to_owned(),
            Self::NoSource { profile } => {
                format!("hermes profile install SOURCE --name {profile} --force")
            }
        }
    }
}

/// What a distribution says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    pub name: String,
    pub version: Option<String>,
    pub description: Option<String>,
    pub author: Option<String>,
    pub license: Option<String>,
    pub hermes_requires: Option<String>,
    pub env_requires: Vec<EnvRequirement>,
    /// Paths that an update may replace.
    pub owned: Vec<PathBuf>,
    /// Where an installed one came from.
    pub source: Option<String>,
}

/// A variable the distribution wants in `.env`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvRequirement {
    pub name: String,
    pub description: Option<String>,
    pub required: bool,
    pub default: Option<String>,
}

impl Distribution {
    /// Reads the manifest in a directory.
    pub fn read(directory: &Path) -> Result<Option<Self>, ProfileError> {
        let Some(document) = open(directory)? else {
            return Ok(None);
        };
        let value = document.value().map_err(|source| ProfileError::Yaml {
            path: directory.join(MANIFEST),
            source,
        })?;
        Ok(Some(Self::from_node(&value)?))
    }

    fn from_node(node: &Node) -> Result<Self, DistributionError> {
        let text = |key: &str| {
            node.child(key)
                .and_then(Node::text)
                .map(|text| one_line(&text))
        };
        let name = text("name").ok_or(DistributionError::Field { field: "name" })?;
        let list = |key: &str| match node.child(key).map(|node| &node.value) {
            Some(Value::List(items)) => items.clone(),
            _ => Vec::new(),
        };
        let env_requires = list("env_requires")
            .iter()
            .map(requirement)
            .collect::<Result<_, _>>()?;
        let mut owned = list("distribution_owned")
            .iter()
            .map(owned_path)
            .collect::<Result<Vec<_>, _>>()?;
        if owned.is_empty() {
            owned = OWNED.iter().map(PathBuf::from).collect();
        }
        Ok(Self {
            name,
            version: text("version"),
            description: text("description"),
            author: text("author"),
            license: text("license"),
            hermes_requires: text("hermes_requires"),
            env_requires,
            owned,
            source: text("source"),
        })
    }

    /// The name its profile gets.
    pub fn profile_name(&self) -> Result<ProfileName, DistributionError> {
        ProfileName::for_creation(&self.name).map_err(DistributionError::Name)
    }

    /// Whether this version of ours will do; what cannot be understood is taken as a no.
    pub fn accepts(&self, ours: &str) -> bool {
        let Some(wanted) = &self.hermes_requires else {
            return true;
        };
        wanted.split(',').all(|clause| {
            let clause = clause.trim();
            let digits = clause.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
            let (operator, version) = clause.split_at(digits);
            let (Some(ours), Some(version)) = (numbers(ours), numbers(version)) else {
                return false;
            };
            match operator.trim() {
                ">=" | "" | "v" => ours >= version,
                ">" => ours > version,
                "<=" => ours <= version,
                "<" => ours < version,
                "==" | "=" => ours == version,
                "!=" => ours != version,
                "~=" | "^" | "~" => ours >= version && ours.first() == version.first(),
                _ => false,
            }
        })
    }

    /// A file that shows which variables are wanted.
    pub(super) fn env_example(&self) -> Option<String> {
        if self.env_requires.is_empty() {
            return None;
        }
        let lines = self.env_requires.iter().map(|wanted| {
            let need = if wanted.required {
                "required"
            } else {
                "optional"
            };
            let description = wanted.description.as_deref().unwrap_or_default();
            let default = wanted.default.as_deref().unwrap_or_default();
            format!("# {need}: {description}\n{}={default}\n", wanted.name)
        });
        Some(lines.collect::<Vec<_>>().join("\n"))
    }
}

/// The manifest's text with the place it came from.
pub(super) fn recorded(directory: &Path, source: &str) -> Result<String, ProfileError> {
    let path = directory.join(MANIFEST);
    let mut document = open(directory)?.ok_or_else(|| DistributionError::NoManifest {
        directory: directory.to_owned(),
    })?;
    document
        .set(&KeyPath::of(["source"]), &Value::Text(source.to_owned()))
        .map_err(|source| ProfileError::Yaml { path, source })?;
    Ok(document.into_text())
}

fn open(directory: &Path) -> Result<Option<Document>, ProfileError> {
    let path = directory.join(MANIFEST);
    if path.is_symlink() {
        let path = PathBuf::from(MANIFEST);
        return Err(DistributionError::Link { path }.into());
    }
    let Some(bytes) = files::read(&path)? else {
        return Ok(None);
    };
    let document = Document::new(String::from_utf8_lossy(&bytes));
    let document = document.map_err(|source| ProfileError::Yaml { path, source })?;
    Ok(Some(document))
}

fn requirement(node: &Node) -> Result<EnvRequirement, DistributionError> {
    let field = "env_requires";
    let text = |key: &str| {
        node.child(key)
            .and_then(Node::text)
            .map(|text| one_line(&text))
    };
    let name = node.text().or_else(|| text("name"));
    let name = name.ok_or(DistributionError::Field { field })?;
    EnvName::new(&name).map_err(|_| DistributionError::Field { field })?;
    let required = node.child("required").map(|node| &node.value);
    Ok(EnvRequirement {
        name,
        description: text("description"),
        required: !matches!(required, Some(Value::Bool(false))),
        default: text("default"),
    })
}

fn owned_path(node: &Node) -> Result<PathBuf, DistributionError> {
    let field = "distribution_owned";
    let text = node.text().ok_or(DistributionError::Field { field })?;
    match member::parts(text.as_bytes()) {
        Ok(parts) if !parts.is_empty() => Ok(parts.iter().collect()),
        Ok(_) | Err(_) => Err(DistributionError::BadPath { text }),
    }
}

/// The text of others goes to terminals and into files of lines.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

fn numbers(version: &str) -> Option<Vec<u64>> {
    let version = version.trim().split(['-', '+']).next()?;
    let mut numbers: Vec<u64> = version
        .split('.')
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    Some(numbers)
}
