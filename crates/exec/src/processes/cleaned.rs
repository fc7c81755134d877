//! Output as it is told: without escape sequences and secrets, and only then cut.

use hermes_secrets::RedactorHandle;

use super::ProcessesOptions;
use super::rolling::Rolling;
use crate::guidance::Masking;
use crate::strip_ansi;

/// Characters looked at in front of those that are told: what begins there must be recognised.
const MARGIN: usize = 8_192;

/// Masks what processes print.
pub(super) struct Cleaner {
    redactor: RedactorHandle,
    masking: Masking,
}

impl Cleaner {
    /// What the registry's settings ask for.
    pub(super) fn new(options: &ProcessesOptions) -> Self {
        Self {
            redactor: options.redactor.clone(),
            masking: options.masking,
        }
    }

    /// The whole text.
    pub(super) fn all(&self, command: &str, text: &str) -> String {
        self.redactor
            .snapshot()
            .redact_in(self.masking.of_command(command), &strip_ansi(text))
            .into_owned()
    }

    /// Its first characters.
    pub(super) fn head(&self, command: &str, text: &str, chars: usize) -> String {
        self.all(command, text).chars().take(chars).collect()
    }

    /// The last characters of what a process said.
    pub(super) fn tail(&self, command: &str, output: &Rolling, chars: usize) -> String {
        if chars == 0 {
            return String::new();
        }
        last(self.all(command, output.words(chars + MARGIN)), chars)
    }

    /// The last characters of a text.
    pub(super) fn end(&self, command: &str, text: &str, chars: usize) -> String {
        last(self.all(command, text), chars)
    }
}

fn last(text: String, chars: usize) -> String {
    match text.char_indices().rev().nth(chars.saturating_sub(1)) {
        Some((start, _)) => text.split_at(start).1.to_owned(),
        None => text,
    }
}
