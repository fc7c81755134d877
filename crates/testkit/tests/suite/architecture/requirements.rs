//! Requirement ids are unique, and tests cite only those that exist.

use std::collections::BTreeSet;
use std::path::Path;

use super::{assert_none, read, repository_files, rust_files};

const PREFIXES: [&str; 10] = ["AG", "PV", "EX", "MCP", "LN", "IN", "GW", "CR", "CL", "RS"];

/// The defined ids, and those defined twice.
fn defined() -> (BTreeSet<String>, Vec<String>) {
    let mut known = BTreeSet::new();
    let mut twice = Vec::new();
    for path in repository_files() {
        let is_sheet = path.starts_with("docs/requirements")
            && path.extension().is_some_and(|end| end == "md");
        if !is_sheet {
            continue;
        }
        for line in read(&path).lines() {
            let Some(id) = line
                .strip_prefix("- **")
                .and_then(|rest| rest.split("**").next())
            else {
                continue;
            };
            if ids(id).is_empty() {
                twice.push(format!("{}: {id} is not an id", path.display()));
            } else if !known.insert(id.to_owned()) {
                twice.push(format!("{}: {id} is defined again", path.display()));
            }
        }
    }
    (known, twice)
}

#[test]
fn requirement_ids_are_unique() {
    let (known, twice) = defined();
    assert!(!known.is_empty(), "docs/requirements defines nothing");
    assert_none("requirement ids", &twice);
}

#[test]
fn comments_cite_requirements_that_exist() {
    let (known, _) = defined();
    let mut offences = Vec::new();
    for (path, text) in rust_files() {
        for (index, line) in text.lines().enumerate() {
            let Some((_, comment)) = line.split_once("//") else {
                continue;
            };
            let unknown = ids(comment).into_iter().filter(|id| !known.contains(id));
            offences.extend(unknown.map(|id| cited(&path, index, &id)));
        }
    }
    assert_none("unknown requirement ids", &offences);
}

fn cited(path: &Path, index: usize, id: &str) -> String {
    format!("{}:{} cites {id}", path.display(), index + 1)
}

/// The requirement ids in a text: a known prefix, a hyphen and a number, standing alone.
fn ids(text: &str) -> Vec<String> {
    text.split(|character: char| !character.is_alphanumeric() && character != '-')
        .filter(|word| {
            word.split_once('-').is_some_and(|(prefix, number)| {
                let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
                PREFIXES.contains(&prefix) && digits
            })
        })
        .map(str::to_owned)
        .collect()
}

#[test]
fn finds_ids_among_other_words() {
    let [first, _, third, ..] = PREFIXES;
    let text = format!(
        "proves {first}-12, {third}-3; not X{first}-1, {first}-, {first}-1a or MCP-Session-Id"
    );
    assert_eq!(ids(&text), [format!("{first}-12"), format!("{third}-3")]);
}
