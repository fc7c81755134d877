//! That every setting is read by somebody, or says that nobody does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{assert_none, rust_files};

/// Where settings are declared.
const DECLARED_IN: [&str; 2] = ["crates/config/src/sections", "crates/config/src/root.rs"];
/// Kept up by the program for whoever reads the file next.
const WRITTEN_ONLY: &str = "config_version";

/// One line of a section.
struct Setting {
    field: String,
    value: String,
    is_marked: bool,
}

/// Names can be alike, so one that only something else of the same name reads is not noticed here.
#[test]
fn a_setting_without_a_mark_is_read_somewhere() {
    let mut sections = BTreeMap::new();
    let mut read = BTreeSet::new();
    for (path, text) in rust_files() {
        if DECLARED_IN.iter().any(|place| path.starts_with(place)) {
            sections.extend(declared(&text));
        } else if is_of_the_program(&path) {
            read.extend(fields_of(&text));
        }
    }
    let mut offences = Vec::new();
    let mut open = vec!["Config".to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        let settings = sections.get(&name).map_or(&[][..], Vec::as_slice);
        for setting in settings.iter().filter(|setting| !setting.is_marked) {
            let inside: Vec<&String> = words(&setting.value)
                .filter_map(|word| sections.get_key_value(word))
                .map(|(inner, _)| inner)
                .collect();
            // A section is read where its own settings are.
            let is_read = read.contains(&setting.field) || setting.field == WRITTEN_ONLY;
            if inside.is_empty() && !is_read {
                offences.push(format!("{name}.{}", setting.field));
            }
            let new = inside
                .into_iter()
                .filter(|inner| seen.insert((*inner).clone()));
            open.extend(new.cloned());
        }
    }
    assert!(seen.len() > 20, "{seen:?}");
    assert_none(
        "settings that nothing reads and that do not say so with `no_effect`",
        &offences,
    );
}

fn is_of_the_program(path: &Path) -> bool {
    path.starts_with("crates")
        && path.iter().any(|part| part == "src")
        && !path.starts_with("crates/testkit")
        && !path.to_string_lossy().contains("tests")
}

/// The settings of every section in a file.
fn declared(text: &str) -> BTreeMap<String, Vec<Setting>> {
    let mut sections = BTreeMap::new();
    for block in text.split("\nsection! {\n").skip(1) {
        let block = block.split("\n}\n").next().unwrap_or_default();
        let Some((head, body)) = block.split_once('{') else {
            continue;
        };
        let after = head.split("pub struct ").nth(1).unwrap_or_default();
        let name = words(after).next().unwrap_or_default().to_owned();
        let lines = body.lines().filter(|line| !line.trim().starts_with("///"));
        let plain: Vec<&str> = lines.collect();
        let settings = plain.join("\n");
        let settings = settings.split(";\n").filter_map(setting).collect();
        sections.insert(name, settings);
    }
    sections
}

/// `@unlisted field as "key": Type = default, in range, no_effect "why"`.
fn setting(written: &str) -> Option<Setting> {
    let written = written.trim().trim_start_matches("@unlisted ");
    let (named, rest) = written.split_once(": ")?;
    let (value, rest) = rest.split_once(" = ")?;
    Some(Setting {
        field: words(named.trim_start_matches("r#")).next()?.to_owned(),
        value: value.to_owned(),
        is_marked: rest.contains(", no_effect \""),
    })
}

/// Every `.field` of a file that is no call.
fn fields_of(text: &str) -> BTreeSet<String> {
    let lines = text.lines().filter(|line| !line.trim().starts_with("//"));
    let mut fields = BTreeSet::new();
    for line in lines {
        for after in line.split('.').skip(1) {
            let field = words(after).next().unwrap_or_default();
            let behind = after.strip_prefix(field);
            if behind.is_some_and(|behind| !behind.starts_with('(')) {
                fields.insert(field.to_owned());
            }
        }
    }
    fields
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}
