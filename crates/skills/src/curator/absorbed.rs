//! Whether one skill says what another said. A skill is put away for another only when this shows nothing missing.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::frontmatter::Frontmatter;
use crate::library::{SKILL_FILE, read_text};
use crate::view::Linked;

/// The share of a sentence's words that must stand together in the other text.
const ENOUGH: f64 = 0.8;
/// Most lines that are named as missing.
const MOST_NAMED: usize = 10;
/// Words that turn a sentence around: they are never among those that may be left out.
const TURNING: [&str; 14] = [
    "not", "no", "never", "don", "without", "only", "except", "nicht", "nie", "kein", "nur", "pas",
    "jamais", "nunca",
];

/// What a skill in `narrow` says and the one in `wide` does not: lines, and files that are no text. Empty when nothing
/// is lost without it. Its description is not looked at: that is for finding it.
pub(crate) fn unheld(wide: &Path, narrow: &Path) -> Vec<String> {
    let there: Vec<PathBuf> = files(wide).map(|file| wide.join(file)).collect();
    let held = texts(wide).join("\n\n");
    let mut missing = Vec::new();
    for file in files(narrow) {
        let path = narrow.join(&file);
        if there.iter().any(|other| are_same(other, &path)) {
            continue;
        }
        match text_of(&path) {
            None => missing.push(format!("the file {file}")),
            Some(text) => {
                let text = instructions(&file, text);
                let code = file.starts_with("scripts/");
                let lines = missing_lines(&held, &text, code);
                missing.extend(lines.into_iter().map(str::to_owned));
            }
        }
        if missing.len() >= MOST_NAMED {
            break;
        }
    }
    missing.truncate(MOST_NAMED);
    missing
}

fn files(directory: &Path) -> impl Iterator<Item = String> {
    let beside = Linked::of(directory);
    let beside: Vec<String> = beside.all().cloned().collect();
    std::iter::once(SKILL_FILE.to_owned()).chain(beside)
}

fn texts(directory: &Path) -> Vec<String> {
    files(directory)
        .filter_map(|file| Some(instructions(&file, text_of(&directory.join(&file))?)))
        .collect()
}

/// What a file says; nothing when it is no text, or too long to be compared.
fn text_of(path: &Path) -> Option<String> {
    read_text(path).filter(|text| !text.contains(char::REPLACEMENT_CHARACTER))
}

fn are_same(one: &Path, other: &Path) -> bool {
    let length = |path: &Path| fs::metadata(path).map(|facts| facts.len()).ok();
    length(one) == length(other)
        && matches!((fs::read(one), fs::read(other)), (Ok(one), Ok(other)) if one == other)
}

fn instructions(file: &str, text: String) -> String {
    match file == SKILL_FILE {
        true => Frontmatter::parse(&text).body.to_owned(),
        false => text,
    }
}

/// The lines of `narrow` whose words `wide` does not hold; empty when all of it is there.
pub fn missing_from<'a>(wide: &str, narrow: &'a str) -> Vec<&'a str> {
    missing_lines(wide, narrow, false)
}

/// The same; `code` says that all of it is a program, in which every word counts.
fn missing_lines<'a>(wide: &str, narrow: &'a str, code: bool) -> Vec<&'a str> {
    let held: Vec<HashSet<String>> = wide
        .split("\n\n")
        .map(|text| words(text).collect())
        .collect();
    let mut fenced = code;
    let mut missing = Vec::new();
    for line in narrow.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        let wanted: HashSet<String> = words(line)
            .filter(|word| fenced || !is_glue(word))
            .collect();
        // A heading names what follows it; what follows counts.
        if wanted.is_empty() || (line.starts_with('#') && !fenced) {
            continue;
        }
        let exact = exact(line, fenced);
        let holds = |there: &HashSet<String>| {
            share(&wanted, there) >= ENOUGH && exact.iter().all(|word| there.contains(word))
        };
        if !held.iter().any(holds) {
            missing.push(line);
        }
    }
    missing
}

/// The words of a line that must all be there: numbers, commands, and what turns it around.
fn exact(line: &str, fenced: bool) -> HashSet<String> {
    if fenced {
        return words(line).collect();
    }
    let quoted = line.split('`').skip(1).step_by(2).flat_map(words);
    let telling = words(line).filter(|word| {
        TURNING.contains(&word.as_str()) || word.chars().any(|letter| letter.is_ascii_digit())
    });
    quoted.chain(telling).collect()
}

fn share(wanted: &HashSet<String>, there: &HashSet<String>) -> f64 {
    let found = wanted.iter().filter(|word| there.contains(*word)).count();
    found as f64 / wanted.len().max(1) as f64
}

/// A single letter tells nothing, outside of programs.
fn is_glue(word: &str) -> bool {
    word.len() == 1 && !word.chars().all(|letter| letter.is_ascii_digit())
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NARROW: &str =
        "## Steps\nRun the migration with alembic upgrade head.\nNever edit an old revision file.";
    const NOTHING: [&str; 0] = [];

    #[test]
    fn a_text_that_holds_every_line_misses_nothing() {
        let wide = "# Databases\n\n- Run the migration with `alembic upgrade head`.\n- Never edit an old revision file.\n\nMore.";
        assert_eq!(missing_from(wide, NARROW), NOTHING);
        assert_eq!(missing_from(NARROW, NARROW), NOTHING);
    }

    #[test]
    fn what_was_left_out_is_named() {
        let wide = "# Databases\n\nRun the migration with alembic upgrade head.";
        assert_eq!(
            missing_from(wide, NARROW),
            ["Never edit an old revision file."]
        );
    }

    #[test]
    fn the_same_words_scattered_over_a_text_do_not_count() {
        let wide = "Never say never.\n\nAn old hat.\n\nRevision of a file.\n\nEdit text.";
        assert!(missing_from(wide, NARROW).contains(&"Never edit an old revision file."));
    }

    #[test]
    fn another_number_another_command_and_a_lost_never_are_missing() {
        for (narrow, wide) in [
            (
                "Heat the big oven to 220 degrees first.",
                "Heat the big oven to 200 degrees first.",
            ),
            (
                "Wait for the queue with `drain --all` now.",
                "Wait for the queue with `drain --old` now.",
            ),
            (
                "You must never restart the old main node.",
                "You must restart the old main node.",
            ),
            ("```sh\nrm -r a\n```", "```sh\nrm -r b\n```"),
            ("先备份数据库", "先备份文件"),
        ] {
            assert_eq!(missing_from(wide, narrow).len(), 1, "{narrow}");
            assert_eq!(missing_from(narrow, narrow), NOTHING);
        }
    }
}
