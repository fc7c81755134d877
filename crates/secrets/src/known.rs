//! Exact values in one multi-pattern pass.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::spans::Span;
use crate::{Secret, encodings, marker, shapes};

/// Shorter values match by chance, and guessing one is no work anyway.
const MIN_LEN: usize = 6;
/// From here on a value is masked whatever it consists of.
const ALWAYS_FROM: usize = 8;

/// Stand-ins that people configure where no key is needed; masking them would only mangle text.
const PLACEHOLDERS: &str = "no-key-required not-needed lm-studio ollama dummy-key changeme change-me password passw0rd \
    username localhost undefined your-api-key your_api_key placeholder anonymous password123 \
    test-key example.com";

/// Known values and the automaton over their spellings, built at the first search.
pub(crate) struct Known {
    secrets: Vec<Secret>,
    table: OnceLock<Table>,
}

struct Table {
    automaton: Option<AhoCorasick>,
    /// For each pattern, the index of its secret.
    owners: Vec<usize>,
    /// Sorted, for asking whether a text could still become one of them.
    patterns: Vec<Vec<u8>>,
    longest: usize,
    any_multi_line: bool,
}

impl Known {
    pub(crate) fn new(secrets: Vec<Secret>) -> Self {
        Self {
            secrets,
            table: OnceLock::new(),
        }
    }

    pub(crate) fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    pub(crate) fn find<'a>(&'a self, text: &[u8], spans: &mut Vec<Span<'a>>) {
        let table = self.table();
        let Some(automaton) = &table.automaton else {
            return;
        };
        for found in automaton.find_overlapping_iter(text) {
            let owner = table.owners.get(found.pattern().as_usize());
            if let Some(secret) = owner.and_then(|owner| self.secrets.get(*owner)) {
                spans.push(Span {
                    range: found.range(),
                    label: secret.name().as_str(),
                    rank: 0,
                });
            }
        }
    }

    /// Whether a marker with this label is ours, so that nothing inside it needs masking.
    pub(crate) fn owns_label(&self, label: &[u8]) -> bool {
        self.secrets
            .iter()
            .any(|secret| secret.name().as_str().as_bytes() == label)
    }

    /// Where the earliest pattern that `text` may be the beginning of would start.
    pub(crate) fn pending_from(&self, text: &[u8]) -> Option<usize> {
        let table = self.table();
        if text.last() == Some(&b'\n') && !table.any_multi_line {
            return None;
        }
        let from = text.len().saturating_sub(table.longest.saturating_sub(1));
        (from..text.len()).find(|start| {
            let tail = text.get(*start..).unwrap_or_default();
            let at = table
                .patterns
                .partition_point(|pattern| pattern.as_slice() <= tail);
            table
                .patterns
                .get(at)
                .is_some_and(|pattern| pattern.starts_with(tail))
        })
    }

    /// Length in bytes of the longest spelling of any value.
    pub(crate) fn longest(&self) -> usize {
        self.table().longest
    }

    fn table(&self) -> &Table {
        self.table.get_or_init(|| Table::build(&self.secrets))
    }
}

impl Table {
    fn build(secrets: &[Secret]) -> Self {
        let labels: Vec<String> = secrets
            .iter()
            .map(|secret| marker::marker(secret.name().as_str()))
            .chain(
                shapes::SHAPES
                    .iter()
                    .map(|shape| marker::marker(shape.name)),
            )
            .collect();
        let mut patterns = Vec::new();
        let mut owners = Vec::new();
        for (owner, secret) in secrets.iter().enumerate() {
            let value = secret.expose_for_redaction();
            if !is_maskable(value) {
                continue;
            }
            for form in encodings::forms(value) {
                // A value that is part of a marker's own text could never be removed.
                if !labels.iter().any(|label| label.contains(&form)) {
                    patterns.push(form.into_bytes());
                    owners.push(owner);
                }
            }
        }
        // Building fails only when the patterns together pass two billion states; then each search finds nothing,
        // which the size limits of configuration make unreachable.
        let automaton = (!patterns.is_empty())
            .then(|| {
                AhoCorasick::builder()
                    .match_kind(MatchKind::Standard)
                    .kind(Some(AhoCorasickKind::ContiguousNFA))
                    .build(&patterns)
                    .ok()
            })
            .flatten();
        let longest = patterns.iter().map(Vec::len).max().unwrap_or(0);
        let any_multi_line = patterns.iter().any(|pattern| pattern.contains(&b'\n'));
        patterns.sort();
        Self {
            automaton,
            owners,
            patterns,
            longest,
            any_multi_line,
        }
    }
}

fn is_maskable(value: &str) -> bool {
    if PLACEHOLDERS
        .split(' ')
        .any(|word| value.eq_ignore_ascii_case(word))
    {
        return false;
    }
    let mixed = value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| !byte.is_ascii_digit());
    value.len() >= ALWAYS_FROM || (value.len() >= MIN_LEN && mixed)
}
