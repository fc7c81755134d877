//! Keeps every planted fact the only one of its kind.

use aho_corasick::{AhoCorasick, MatchKind};

/// Finds texts that would answer a question meant for one needle.
pub(super) struct Guard {
    first_pieces: AhoCorasick,
    /// For each needle, all of what a text must hold to be an answer, in lower case.
    answers: Vec<Vec<String>>,
}

impl Guard {
    pub(super) fn new(answers: Vec<Vec<String>>) -> anyhow::Result<Self> {
        let answers: Vec<Vec<String>> = answers
            .into_iter()
            .map(|pieces| pieces.iter().map(|piece| piece.to_lowercase()).collect())
            .collect();
        let first_pieces = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(
                answers
                    .iter()
                    .map(|pieces| pieces.first().map_or("\u{0}", String::as_str)),
            )?;
        Ok(Self {
            first_pieces,
            answers,
        })
    }

    /// Whether `text` answers the question for a needle other than `own`.
    pub(super) fn gives_away(&self, text: &str, own: Option<usize>) -> bool {
        let text = text.to_lowercase();
        self.first_pieces.find_overlapping_iter(&text).any(|found| {
            let needle = found.pattern().as_usize();
            Some(needle) != own
                && self
                    .answers
                    .get(needle)
                    .is_some_and(|pieces| pieces.iter().all(|piece| text.contains(piece.as_str())))
        })
    }
}
