//! A `SKILL.md` as a type. It is read once; everything else works with this.

mod fields;
mod needs;

use hermes_config::Map;
use serde_json::Value as Json;

use crate::frontmatter::{Form, Frontmatter, text_of, words_of};

pub use fields::{Blueprint, ConfigItem, Hermes};
pub use needs::{CredentialFile, RequiredVariable, Setup};

/// Most characters of a name.
pub const LONGEST_NAME: usize = 64;
/// Most characters of a description.
pub const LONGEST_DESCRIPTION: usize = 1_024;
/// Most characters of what a skill says about where it works.
pub const LONGEST_COMPATIBILITY: usize = 500;
/// Fields of ours that the open standard does not have; they may also stand below `metadata.hermes`.
const FOREIGN: [&str; 8] = [
    "version",
    "author",
    "platforms",
    "environments",
    "prerequisites",
    "required_environment_variables",
    "required_credential_files",
    "setup",
];

/// What a skill says about itself, and its text.
///
/// The fields of the open standard (name, description, license, compatibility, metadata, allowed-tools)
/// are read beside our own; keys nobody knows are ignored.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// Its name; that of its directory when it gives none.
    pub name: String,
    /// What it is for, on one line. Without a field, the first sentence of the text.
    pub description: String,
    pub version: Option<String>,
    pub author: Option<String>,
    pub license: Option<String>,
    pub compatibility: Option<String>,
    /// Systems it works on, in lower case; none means all.
    pub platforms: Vec<String>,
    /// Surroundings it is meant for, in lower case; none means all.
    pub environments: Vec<String>,
    pub tags: Vec<String>,
    pub related_skills: Vec<String>,
    /// Tools its author says it may use. Told, never granted.
    pub allowed_tools: Vec<String>,
    /// Variables it needs, from every field that can name one, each once.
    pub required_variables: Vec<RequiredVariable>,
    /// Files with credentials it needs, below the home.
    pub credential_files: Vec<CredentialFile>,
    /// Programs it needs; advice only.
    pub commands: Vec<String>,
    pub setup: Setup,
    /// What stands below `metadata.hermes`.
    pub hermes: Hermes,
    /// All of `metadata`, for whoever wants more of it.
    pub metadata: Option<Json>,
    /// The instructions.
    pub body: String,
    /// How the fields could be read.
    pub form: Form,
}

impl Skill {
    /// Reads the text of a `SKILL.md` that lies in the directory of that name. Whatever stands in it,
    /// there is an answer; what must hold of a skill that is written is checked where it is written.
    pub fn parse(text: &str, directory_name: &str) -> Self {
        let read = Frontmatter::parse(text);
        let metadata = read.fields.get("metadata");
        let below = metadata
            .and_then(|node| node.child("hermes"))
            .and_then(|node| node.value.as_map());
        let empty = Map::new();
        let hermes = below.unwrap_or(&empty);
        let fields = &with_foreign(&read.fields, hermes);
        let either = |key| {
            let own = words_of(hermes.get(key));
            if own.is_empty() {
                words_of(fields.get(key))
            } else {
                own
            }
        };
        let name = read.text("name").map(|name| on_one_line(&name));
        let name = name.unwrap_or_else(|| on_one_line(directory_name));
        let description = read
            .text("description")
            .unwrap_or_else(|| first_sentence(read.body).to_owned());
        let setup = Setup::read(fields);
        Self {
            name: cut(&name, LONGEST_NAME),
            description: cut(&on_one_line(&description), LONGEST_DESCRIPTION),
            version: fields.get("version").and_then(text_of),
            author: fields.get("author").and_then(text_of),
            license: read.text("license"),
            compatibility: read
                .text("compatibility")
                .map(|text| cut(&text, LONGEST_COMPATIBILITY)),
            platforms: lower(words_of(fields.get("platforms"))),
            environments: lower(words_of(fields.get("environments"))),
            tags: either("tags"),
            related_skills: either("related_skills"),
            allowed_tools: tools(fields),
            required_variables: needs::variables(fields, &setup),
            credential_files: needs::credential_files(fields),
            commands: needs::commands(fields),
            setup,
            hermes: Hermes::read(hermes),
            metadata: metadata.map(|node| node.value.to_json()),
            body: read.body.to_owned(),
            form: read.form,
        }
    }
}

/// The fields at the head, with those that the standard does not have also where a skill for everybody keeps them.
fn with_foreign(fields: &Map, hermes: &Map) -> Map {
    let mut all = fields.clone();
    for key in FOREIGN {
        if let (None, Some(node)) = (fields.get(key), hermes.get(key)) {
            all.insert(key, node.clone());
        }
    }
    all
}

/// The tools of the open standard: words with spaces between them, a pair of brackets holding one together.
fn tools(fields: &Map) -> Vec<String> {
    let Some(node) = fields.get("allowed-tools").or(fields.get("allowed_tools")) else {
        return Vec::new();
    };
    if node.text().is_none() {
        return words_of(Some(node));
    }
    let mut depth = 0_usize;
    let text = node.text().unwrap_or_default();
    let words = text.split(|character: char| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (character.is_whitespace() || character == ',')
    });
    words
        .filter(|word| !word.is_empty())
        .map(ToOwned::to_owned)
        .collect()
}

/// The first line of a text that is no heading.
fn first_sentence(body: &str) -> &str {
    body.lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'))
        .unwrap_or_default()
}

fn lower(words: Vec<String>) -> Vec<String> {
    words.into_iter().map(|word| word.to_lowercase()).collect()
}

/// Lists of names are read line by line, so nothing in them may break a line.
pub(crate) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most so many characters, the last of them saying that something is missing.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}
