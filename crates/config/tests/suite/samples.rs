//! Whole files: `samples/valid` has nothing to complain about, each of `samples/invalid` names in
//! `# expect:` lines what has to be said about it, and nothing else may be.

use std::fs;
use std::path::{Path, PathBuf};

use hermes_config::{Config, Layer, Problem, Reader, Setting, parse};

#[test]
fn valid_files_have_no_problems() {
    for file in samples("valid") {
        let problems = problems(&fs::read_to_string(&file).unwrap());
        assert_eq!(problems, Vec::<String>::new(), "{}", file.display());
    }
}

#[test]
fn invalid_files_have_the_problems_they_expect() {
    for file in samples("invalid") {
        let text = fs::read_to_string(&file).unwrap();
        let expected: Vec<_> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# expect: "))
            .collect();
        assert!(!expected.is_empty(), "{}", file.display());
        let found = problems(&text);
        let all_met = expected.len() == found.len()
            && expected
                .iter()
                .zip(&found)
                .all(|(expected, found)| found.contains(expected));
        assert!(all_met, "{}: {found:#?}", file.display());
    }
}

fn samples(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/samples")
        .join(kind);
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Every problem with its line and its hint.
fn problems(text: &str) -> Vec<String> {
    let node = parse(text, Layer::File).unwrap();
    let mut reader = Reader::default();
    Config::read(&node, &mut reader);
    reader.into_problems().iter().map(describe).collect()
}

fn describe(problem: &Problem) -> String {
    let hint = problem.hint().unwrap_or_default();
    format!("line {}: {problem}; {hint}", problem.origin.line)
}
