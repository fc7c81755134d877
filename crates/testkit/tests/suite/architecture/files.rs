//! Sizes of files, what they must not mention, and that no test file is forgotten.

use std::fs;
use std::path::Path;

use super::{assert_none, read, repository_files, root, rust_files};

const MAX_LINES: usize = 800;
const LONG_LINES: usize = 500;
const MAX_MEDIAN_LINES: usize = 200;
const MAX_LONG_PERCENT: usize = 5;

/// Written in halves, so that this file does not contain what it looks for.
const MACHINE_PATHS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];
const REGISTRY_HOSTS: [&str; 4] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
];

#[test]
fn no_rust_file_is_too_long() {
    let mut offences = Vec::new();
    for (path, text) in rust_files() {
        let lines = text.lines().count();
        if lines > MAX_LINES {
            offences.push(format!("{}: {lines} lines", path.display()));
        }
    }
    assert_none("files over 800 lines", &offences);
}

#[test]
fn source_files_stay_short() {
    let mut sizes: Vec<usize> = rust_files()
        .iter()
        .filter(|(path, _)| !is_test(path))
        .map(|(_, text)| text.lines().count())
        .collect();
    sizes.sort_unstable();
    let median = sizes[sizes.len() / 2];
    assert!(
        median <= MAX_MEDIAN_LINES,
        "the median source file has {median} lines"
    );
    let long = sizes.iter().filter(|lines| **lines > LONG_LINES).count();
    assert!(
        long * 100 <= sizes.len() * MAX_LONG_PERCENT,
        "{long} of {} source files pass {LONG_LINES} lines",
        sizes.len()
    );
}

/// A variable the program itself knows is read by its constant, so that none is left out of the table of all.
#[test]
fn no_variable_is_read_by_a_name_that_stands_in_the_code() {
    let mut offences = Vec::new();
    for (path, text) in rust_files() {
        if is_test(&path) {
            continue;
        }
        for call in ["get_named(", "filled_named(", "named_variable("] {
            let given = text.split(call).skip(1);
            let literal = given.filter_map(|rest| {
                let argument = rest.trim_start().trim_start_matches('&');
                argument
                    .starts_with(|c: char| c == '"' || c.is_ascii_uppercase())
                    .then(|| argument.lines().next().unwrap_or_default())
            });
            offences.extend(literal.map(|rest| format!("{}: {call}{rest}", path.display())));
        }
    }
    assert_none("variables read by a name in the code", &offences);
}

#[test]
fn no_file_names_this_machine_or_a_registry_host() {
    let mut offences = Vec::new();
    for path in repository_files() {
        let in_fixtures = path.iter().any(|part| part == "fixtures");
        if in_fixtures || path == Path::new("Cargo.lock") {
            continue;
        }
        let Ok(text) = fs::read_to_string(root().join(&path)) else {
            continue;
        };
        for (index, line) in text.lines().enumerate() {
            let place = format!("{}:{}", path.display(), index + 1);
            let machine = MACHINE_PATHS
                .iter()
                .filter(|needle| has_absolute(line, needle));
            let hosts = REGISTRY_HOSTS
                .iter()
                .filter(|needle| line.contains(**needle));
            offences.extend(
                machine
                    .chain(hosts)
                    .map(|needle| format!("{place}: {needle}")),
            );
        }
    }
    assert_none("machine paths or registry hosts", &offences);
}

#[test]
fn every_test_file_is_part_of_its_suite() {
    let mut offences = Vec::new();
    for path in repository_files() {
        let Some(directory) = path
            .parent()
            .filter(|parent| parent.ends_with("tests/suite"))
        else {
            continue;
        };
        let (Some(name), Some(tests)) = (path.file_stem(), directory.parent()) else {
            continue;
        };
        if path.extension().is_none_or(|end| end != "rs") || name == "mod" {
            continue;
        }
        let mut roots = read(&tests.join("all.rs"));
        if lists(&roots, "suite") {
            roots.push_str(&read(&directory.join("mod.rs")));
        }
        if !lists(&roots, &name.to_string_lossy()) {
            offences.push(format!("{} is not in all.rs", path.display()));
        }
    }
    assert_none("test files that never run", &offences);
}

/// Whether a source text has the line `mod name;`.
fn lists(text: &str, name: &str) -> bool {
    let wanted = format!("mod {name};");
    text.lines().any(|line| line.trim() == wanted)
}

/// Whether `needle` begins a path here, rather than continuing one as in `docs/work/`.
fn has_absolute(line: &str, needle: &str) -> bool {
    line.match_indices(needle).any(|(position, _)| {
        let before = line[..position].chars().next_back();
        before
            .is_none_or(|character| !character.is_alphanumeric() && !"._~-]})".contains(character))
    })
}

fn is_test(path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    path.iter().any(|part| part == "tests") || name == "tests" || name.ends_with("_tests")
}

#[test]
fn tells_absolute_paths_from_longer_ones() {
    let [machine, _] = MACHINE_PATHS;
    assert!(has_absolute(&format!("see {machine}x"), machine));
    assert!(!has_absolute(&format!("docs{machine}x"), machine));
    assert!(!has_absolute(&format!("~{machine}x"), machine));
}
