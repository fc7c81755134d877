//! What is looked for, as data.

use regex::Regex;

use super::Scope;

/// White space with up to eight words in it, none of which ends a sentence. A comma may come first.
const GAP: &str = r#"[,;:'"()*_-]*\s+(?:\S*[^\s.!?]\s+){0,8}?"#;

/// One pattern.
pub(super) struct Pattern {
    pub(super) id: &'static str,
    pub(super) scope: Scope,
    /// One of these stands in every text that matches, in small letters: a text without any is not read.
    pub(super) words: &'static [&'static str],
    /// A regular expression without regard to case, in which `<gap>` stands for white space and filler words.
    pub(super) looks_for: &'static str,
    /// Texts it must catch.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples that a test runs"))]
    pub(super) catches: &'static [&'static str],
    /// Look-alikes it must let pass.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples that a test runs"))]
    pub(super) passes: &'static [&'static str],
}

impl Pattern {
    pub(super) fn compile(&self) -> Result<Regex, regex::Error> {
        Regex::new(&format!("(?i){}", self.looks_for.replace("<gap>", GAP)))
    }
}
