//! Requirement ids are unique, every row is proved by a test or marked as one to come, and tests cite only rows that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{assert_none, read, repository_files, rust_files};

const PREFIXES: [&str; 10] = ["AG", "PV", "EX", "MCP", "LN", "IN", "GW", "CR", "CL", "RS"];

/// Whether something proves a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// A test that names it.
    Test,
    /// Nothing yet: its part is still to be built.
    Later,
}

/// The defined ids, and those defined twice.
fn defined() -> (BTreeMap<String, Proof>, Vec<String>) {
    let mut known = BTreeMap::new();
    let mut twice = Vec::new();
    for path in repository_files() {
        let is_sheet = path.starts_with("docs/requirements")
            && path.extension().is_some_and(|end| end == "md");
        if !is_sheet {
            continue;
        }
        for line in read(&path).lines() {
            let Some((id, rest)) = line
                .strip_prefix("- **")
                .and_then(|rest| rest.split_once("**"))
            else {
                continue;
            };
            // `(must)`, or `(must, later)`.
            let level = rest.trim_start().split(')').next().unwrap_or_default();
            let proof = match level.ends_with(", later") {
                true => Proof::Later,
                false => Proof::Test,
            };
            if ids(id).is_empty() {
                twice.push(format!("{}: {id} is not an id", path.display()));
            } else if known.insert(id.to_owned(), proof).is_some() {
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
            let unknown = ids(comment)
                .into_iter()
                .filter(|id| !known.contains_key(id));
            offences.extend(unknown.map(|id| cited(&path, index, &id)));
        }
    }
    assert_none("unknown requirement ids", &offences);
}

#[test]
fn every_row_is_proved_by_a_test_or_marked_later() {
    let proved: BTreeSet<String> = rust_files()
        .iter()
        .flat_map(|(_, text)| proved(text))
        .collect();
    let offences = defined().0.into_iter().filter_map(|(id, proof)| {
        let has_test = proved.contains(&id);
        match proof {
            Proof::Test if !has_test => Some(format!("{id} is named by no test")),
            Proof::Later if has_test => Some(format!("{id} is marked later and has a test")),
            Proof::Test | Proof::Later => None,
        }
    });
    let offences: Vec<String> = offences.collect();
    assert_none("requirements without proof", &offences);
}

/// The ids in comments above tests.
fn proved(text: &str) -> Vec<String> {
    let (mut proved, mut above) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("//") {
            above.extend(ids(comment));
        } else if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            proved.append(&mut above);
        } else if !line.starts_with('#') && !line.is_empty() {
            above.clear();
        }
    }
    proved
}

#[test]
fn an_id_elsewhere_than_above_a_test_proves_nothing() {
    let [first, second, ..] = PREFIXES;
    let text =
        format!("// {first}-1\nfn f() {{}}\n// {second}-2\n\n#[tokio::test]\nasync fn g() {{}}");
    assert_eq!(proved(&text), [format!("{second}-2")]);
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
