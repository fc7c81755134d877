//! The reference page of `config.yaml`, in Markdown.

use std::collections::BTreeMap;

use super::own_default;
use crate::environment::{Role, VARIABLES};
use crate::root::Config;
use crate::setting::Setting;
use crate::shape::{Choice, Field, Section, Shape};
use crate::value::Value;

const INTRODUCTION: &str = "\
<!-- Made from the types in crates/config by its test `generated`; run it with UPDATE_DOCS=1 after a change. -->

# Configuration

`config.yaml` in the home (`~/.hermes` unless `HERMES_HOME` says otherwise) holds the settings below.
Every key can be left out; a key set to null counts as left out. `hermes config set KEY VALUE` changes one key
and leaves the rest of the file as it is; `hermes config check` names every key that is wrong or unknown.
Lengths of time are in seconds unless the key says otherwise, and may have a fraction.
`${NAME}` inside a text stands for the environment variable of that name.
A setting that says that it has no effect is accepted and kept; who sets it is told by `hermes config check`.
";

/// The reference of every setting: one table for each section.
pub fn reference_page() -> String {
    let mut page = Page::default();
    if let Shape::Section(root) = Config::shape() {
        page.section("", &root, None);
    }
    let contents: Vec<_> = page.headings.iter().map(|path| link(path)).collect();
    format!(
        "{INTRODUCTION}\nSections: {}\n{}{}",
        contents.join(" · "),
        page.body,
        variables()
    )
}

/// The table of environment variables.
fn variables() -> String {
    let mut text = String::from(
        "\n## Environment variables\n\n\
         Variables that override stand above `config.yaml` for one run; those that fill in count only where no \
         file says anything. `hermes config set NAME VALUE` puts those that `.env` may hold, and the keys of providers \
         and services, into that file.\n\n\
         | Variable | Setting | Meaning |\n| --- | --- | --- |\n",
    );
    for variable in VARIABLES {
        let setting = match variable.role {
            Role::Process => String::new(),
            Role::Kept => "`.env` may hold it".to_owned(),
            Role::Override(key) => format!("overrides `{key}`"),
            Role::Fallback(key) => format!("fills in `{key}`"),
        };
        text.push_str(&format!(
            "| `{}` | {setting} | {} |\n",
            variable.name, variable.about
        ));
    }
    text
}

/// The page as far as it is written.
#[derive(Default)]
struct Page {
    body: String,
    /// The sections directly below the top level.
    headings: Vec<String>,
    /// Where each kind of section is described.
    homes: BTreeMap<&'static str, String>,
}

impl Page {
    /// Writes the table of one section, then the tables of the sections inside it.
    ///
    /// `no_effect` is what is said of the key it stands at, or of one above.
    fn section(&mut self, path: &str, section: &Section, no_effect: Option<&str>) {
        let mut inside = Vec::new();
        let others = section
            .rest
            .as_deref()
            .map(|shape| (child(path, "<name>"), shape));
        let fields = section.fields.iter().map(|field| {
            let path = child(path, field.key);
            (path, &field.shape, field.no_effect.or(no_effect))
        });
        let others = others.map(|(path, shape)| (path, shape, no_effect));
        for (path, shape, why) in fields.chain(others) {
            let mut found = Vec::new();
            sections_in(path, shape, &mut found);
            inside.extend(
                found
                    .into_iter()
                    .map(|(path, section)| (path, section, why)),
            );
        }
        inside.retain(|(path, section, _)| {
            let new = !self.homes.contains_key(section.name);
            if new {
                self.homes.insert(section.name, path.clone());
            }
            new
        });

        self.body += &match path {
            "" => "\n## Top level\n\n".to_owned(),
            path if path.contains(['.', '[']) => format!("\n### `{path}`\n\n"),
            path => format!("\n## `{path}`\n\n"),
        };
        if !path.is_empty() {
            let why = no_effect.map(|why| format!(" Has no effect {why}."));
            let why = why.unwrap_or_default();
            self.body += &format!("{}{why}\n\n", one_line(section.about));
        }
        self.body += "| Key | Value | Default | Meaning |\n| --- | --- | --- | --- |\n";
        for field in &section.fields {
            let row = self.row(field);
            self.body += &row;
        }
        if let Some(rest) = section.rest.as_deref() {
            let value = cell(&self.kind(rest));
            self.body += &format!("| others | {value} | | Kept for whoever reads them. |\n");
        }

        for (inner, section, why) in inside {
            if path.is_empty() {
                self.headings.push(inner.clone());
            }
            self.section(&inner, &section, why);
        }
    }

    fn row(&self, field: &Field) -> String {
        let mut meaning = one_line(field.about);
        if let Some(why) = field.no_effect {
            meaning += &format!(" Has no effect {why}.");
        }
        for choice in choices_in(&field.shape) {
            meaning += &format!("<br>`{}`: {}", choice.shown(), one_line(choice.about));
        }
        format!(
            "| `{}` | {} | {} | {} |\n",
            field.key,
            cell(&self.kind(&field.shape)),
            cell(&default_of(field)),
            cell(&meaning)
        )
    }

    /// What a value is, in a few words.
    fn kind(&self, shape: &Shape) -> String {
        match shape {
            Shape::Bool => "boolean".to_owned(),
            Shape::Int { .. } | Shape::Float { .. } => {
                let kind = shape.expected();
                kind.trim_start_matches("a ").to_owned()
            }
            Shape::Text => "text".to_owned(),
            Shape::Secret => "secret text".to_owned(),
            Shape::Choice(_) => "word".to_owned(),
            Shape::Any => "anything".to_owned(),
            Shape::Optional(inner) => self.kind(inner),
            Shape::List(inner) => format!("list of: {}", self.kind(inner)),
            Shape::Map(inner) => format!("map of names to: {}", self.kind(inner)),
            Shape::Section(section) => self.homes.get(section.name).map_or_else(
                || "section".to_owned(),
                |path| format!("section {}", link(path)),
            ),
            Shape::OneOf(shapes) => {
                let kinds: Vec<_> = shapes.iter().map(|shape| self.kind(shape)).collect();
                kinds.join(", or ")
            }
        }
    }
}

/// The default as it would be written.
fn default_of(field: &Field) -> String {
    match (own_default(field), &field.shape) {
        (Value::Null, Shape::Section(_)) => String::new(),
        (Value::Null, _) => "unset".to_owned(),
        (Value::Text(text), _) if !text.is_empty() && text.trim() == text => format!("`{text}`"),
        (value, _) => format!("`{}`", value.to_json()),
    }
}

/// The sections a value of this shape contains, with their paths.
fn sections_in(path: String, shape: &Shape, found: &mut Vec<(String, Section)>) {
    match shape {
        Shape::Section(section) => found.push((path, section.clone())),
        Shape::Optional(inner) => sections_in(path, inner, found),
        Shape::List(inner) => sections_in(format!("{path}[]"), inner, found),
        Shape::Map(inner) => sections_in(child(&path, "<name>"), inner, found),
        Shape::OneOf(shapes) => {
            for shape in shapes {
                sections_in(path.clone(), shape, found);
            }
        }
        Shape::Bool
        | Shape::Int { .. }
        | Shape::Float { .. }
        | Shape::Text
        | Shape::Secret
        | Shape::Choice(_)
        | Shape::Any => {}
    }
}

/// The words a value of this shape may be.
fn choices_in(shape: &Shape) -> Vec<Choice> {
    match shape {
        Shape::Choice(choices) => choices.to_vec(),
        Shape::Optional(inner) | Shape::List(inner) | Shape::Map(inner) => choices_in(inner),
        Shape::OneOf(shapes) => shapes.iter().flat_map(choices_in).collect(),
        Shape::Bool
        | Shape::Int { .. }
        | Shape::Float { .. }
        | Shape::Text
        | Shape::Secret
        | Shape::Any
        | Shape::Section(_) => Vec::new(),
    }
}

fn child(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text inside a table, where a bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn link(path: &str) -> String {
    let anchor: String = path
        .to_lowercase()
        .chars()
        .filter(|letter| letter.is_alphanumeric() || ['_', '-'].contains(letter))
        .collect();
    format!("[`{path}`](#{anchor})")
}
