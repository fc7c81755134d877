//! Names of skills and categories, as directories.

use std::fmt;

use super::error::HubError;
use crate::library::is_passed_over;
use crate::skill::LONGEST_NAME;

/// The name of a skill, which is also that of its directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillName(String);

impl SkillName {
    pub fn new(text: &str) -> Result<Self, HubError> {
        if is_plain(text) {
            return Ok(Self(text.to_owned()));
        }
        Err(HubError::BadName {
            name: text.to_owned(),
        })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A category is one directory above the skill's.
pub(super) fn check_category(text: &str) -> Result<(), HubError> {
    if is_plain(text) {
        return Ok(());
    }
    Err(HubError::BadCategory {
        name: text.to_owned(),
    })
}

fn is_plain(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let fits = text
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.'));
    starts && fits && text.len() <= LONGEST_NAME && !is_passed_over(text)
}

/// Words as a name: lower case, with a dash wherever something else stands.
pub fn slug(words: &str) -> String {
    let mut name = String::new();
    for character in words.trim().chars() {
        let lower = character.to_ascii_lowercase();
        if lower.is_ascii_lowercase() || lower.is_ascii_digit() || matches!(lower, '_' | '.') {
            name.push(lower);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.len() >= LONGEST_NAME {
            break;
        }
    }
    name.trim_matches(['-', '.', '_']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_words_become_names() {
        for good in ["pdf", "web-search", "a.b_c", "3d"] {
            assert!(SkillName::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "PDF",
            "a b",
            "../x",
            ".hub",
            "venv",
            "node_modules",
            "notes.md",
            "-a",
            "a/b",
            &"a".repeat(65),
        ] {
            assert!(SkillName::new(bad).is_err(), "{bad}");
        }
        assert_eq!(slug("My Great Skill!"), "my-great-skill");
        assert_eq!(slug("  ../Weird  //name "), "weird-name");
        assert_eq!(slug("日本"), "");
    }
}
