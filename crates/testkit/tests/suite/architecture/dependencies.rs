//! Who may depend on whom, and how dependencies are declared.

use std::collections::BTreeSet;
use std::path::Path;

use super::manifest::{Entry, entries, strings};
use super::metadata::Metadata;
use super::{assert_none, read, root, rust_files};

/// What a crate may use of the workspace in its normal dependencies.
enum Allowed {
    Only(&'static [&'static str]),
    AllButTestkit,
    All,
}

/// The arrows of the design. A new crate adds its row here, on purpose.
const TABLE: &[(&str, Allowed)] = &[
    ("core", Allowed::Only(&[])),
    ("secrets", Allowed::Only(&["core"])),
    ("config", Allowed::Only(&["core", "secrets"])),
    ("http", Allowed::Only(&["core", "config", "secrets"])),
    ("store", Allowed::Only(&["core", "config", "secrets"])),
    ("local-model", Allowed::Only(&["core"])),
    ("program", Allowed::Only(&[])),
    (
        "llm",
        Allowed::Only(&[
            "core",
            "program",
            "config",
            "secrets",
            "http",
            "local-model",
        ]),
    ),
    ("policy", Allowed::Only(&["core", "config", "secrets"])),
    (
        "exec",
        Allowed::Only(&["core", "config", "secrets", "http", "store", "policy"]),
    ),
    (
        "mcp",
        Allowed::Only(&[
            "core", "config", "secrets", "http", "store", "policy", "exec",
        ]),
    ),
    (
        "memory",
        Allowed::Only(&["core", "config", "secrets", "http", "store", "policy"]),
    ),
    (
        "web",
        Allowed::Only(&["core", "config", "secrets", "http", "policy"]),
    ),
    (
        "skills",
        Allowed::Only(&["core", "config", "secrets", "http", "store", "policy"]),
    ),
    (
        "tools",
        Allowed::Only(&[
            "core", "program", "config", "secrets", "http", "store", "llm", "policy", "exec",
            "memory", "skills", "web",
        ]),
    ),
    (
        "agent",
        Allowed::Only(&[
            "core", "program", "config", "secrets", "http", "store", "llm", "policy", "memory",
            "skills", "tools",
        ]),
    ),
    ("tui", Allowed::Only(&["core"])),
    ("cli", Allowed::AllButTestkit),
    ("testkit", Allowed::Only(&["core"])),
    ("bench", Allowed::All),
    ("fuzz", Allowed::All),
];

fn allows(from: &str, to: &str) -> Result<bool, String> {
    let row = TABLE.iter().find(|(name, _)| *name == from);
    let (_, allowed) =
        row.ok_or_else(|| format!("hermes-{from} is unknown: add it to the table"))?;
    Ok(match allowed {
        Allowed::Only(names) => names.contains(&to),
        Allowed::AllButTestkit => to != "testkit",
        Allowed::All => true,
    })
}

#[test]
fn crates_use_only_the_crates_below_them() {
    let metadata = Metadata::read();
    let mut offences = Vec::new();
    for package in metadata.members() {
        let Some(from) = package.name.strip_prefix("hermes-") else {
            offences.push(format!("{} is not named hermes-…", package.name));
            continue;
        };
        if let Err(unknown) = allows(from, "core") {
            offences.push(unknown);
        }
        for dependency in &package.dependencies {
            let Some(to) = dependency.name.strip_prefix("hermes-") else {
                continue;
            };
            let for_tests = dependency.kind.as_deref() == Some("dev") && to == "testkit";
            if !for_tests && allows(from, to) == Ok(false) {
                offences.push(format!("hermes-{from} must not depend on hermes-{to}"));
            }
        }
    }
    assert_none("dependency edges outside the design", &offences);
}

#[test]
fn every_dependency_is_inherited_from_the_workspace() {
    let metadata = Metadata::read();
    let mut offences = Vec::new();
    for package in metadata.members() {
        let manifest = std::fs::read_to_string(&package.manifest_path).unwrap();
        for entry in entries(&manifest) {
            if is_dependency(&entry) && !is_inherited(&entry) {
                offences.push(format!("{}: {} = {}", package.name, entry.key, entry.value));
            }
        }
        let tables = manifest
            .lines()
            .filter(|line| line.contains("dependencies."));
        offences.extend(
            tables
                .filter(|line| line.starts_with('['))
                .map(|line| format!("{}: write {line} as one entry", package.name)),
        );
    }
    assert_none("dependencies not declared with workspace = true", &offences);
}

#[test]
fn every_dependency_is_used() {
    let metadata = Metadata::read();
    let files = rust_files();
    let mut offences = Vec::new();
    let mut inherited = BTreeSet::new();
    for package in metadata.members() {
        let folder = Path::new(&package.manifest_path).parent().unwrap();
        let own = files
            .iter()
            .filter(|(path, _)| root().join(path).starts_with(folder));
        let own: Vec<&str> = own.map(|(_, text)| text.as_str()).collect();
        for dependency in &package.dependencies {
            let name = dependency.rename.as_ref().unwrap_or(&dependency.name);
            inherited.insert(name.clone());
            let word = name.replace('-', "_");
            if !own.iter().any(|text| names(text, &word)) {
                offences.push(format!("{} does not use {name}", package.name));
            }
        }
    }
    for entry in entries(&read(Path::new("Cargo.toml"))) {
        if entry.section == "workspace.dependencies" && !inherited.contains(&entry.key) {
            offences.push(format!("nobody uses {}", entry.key));
        }
    }
    assert_none("dependencies without a use", &offences);
}

/// Whether a text has a word, standing alone.
fn names(text: &str, word: &str) -> bool {
    let part = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

#[test]
fn workspace_dependencies_choose_their_features() {
    let manifest = read(Path::new("Cargo.toml"));
    let mut offences = Vec::new();
    for entry in entries(&manifest) {
        let inside = entry.section == "workspace.dependencies";
        let explicit = entry.value.contains("default-features = false");
        if inside && !explicit && !entry.value.contains("path = ") {
            offences.push(format!("{} = {}", entry.key, entry.value));
        }
    }
    assert_none(
        "workspace dependencies without default-features = false",
        &offences,
    );
}

#[test]
fn confined_crates_stay_with_their_owner() {
    let deny = read(Path::new("deny.toml"));
    let all = entries(&deny);
    let bans = all
        .iter()
        .find(|entry| entry.section == "bans" && entry.key == "deny")
        .unwrap();
    // Each rule reads `crate = "…", wrappers = […], reason = "…"`.
    let rules: Vec<(String, Vec<String>)> = bans
        .value
        .split("crate = ")
        .skip(1)
        .map(|rule| {
            let rule = rule.split("reason = ").next().unwrap();
            let mut names = strings(rule);
            (names.remove(0), names)
        })
        .collect();
    assert!(!rules.is_empty(), "no confined crates in deny.toml");
    let metadata = Metadata::read();
    let mut offences = Vec::new();
    for package in metadata.members() {
        for (confined, owners) in &rules {
            let uses = package
                .dependencies
                .iter()
                .any(|dependency| dependency.name == *confined);
            if uses && !owners.contains(&package.name) {
                offences.push(format!("{} must not use {confined}", package.name));
            }
        }
    }
    assert_none("crates used outside their owner (deny.toml)", &offences);
}

fn is_dependency(entry: &Entry) -> bool {
    entry.section.rsplit('.').next().is_some_and(|last| {
        ["dependencies", "dev-dependencies", "build-dependencies"].contains(&last)
    })
}

fn is_inherited(entry: &Entry) -> bool {
    (entry.key.ends_with(".workspace") && entry.value == "true")
        || entry.value.contains("workspace = true")
}

#[test]
fn the_table_refuses_what_it_does_not_name() {
    assert_eq!(allows("http", "secrets"), Ok(true));
    assert_eq!(allows("http", "store"), Ok(false));
    assert_eq!(allows("cli", "testkit"), Ok(false));
    assert!(
        allows("misc", "core")
            .unwrap_err()
            .contains("add it to the table")
    );
}

#[test]
fn only_inherited_entries_pass() {
    let manifest = "[dependencies]\na.workspace = true\nb = { workspace = true, features = [] }\n\
                    [target.'cfg(unix)'.dev-dependencies]\nc = \"1\"\n[features]\nd = []\n";
    let offenders = entries(manifest)
        .into_iter()
        .filter(|entry| is_dependency(entry) && !is_inherited(entry));
    assert_eq!(offenders.map(|entry| entry.key).collect::<Vec<_>>(), ["c"]);
}
