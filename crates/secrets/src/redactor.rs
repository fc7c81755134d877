//! Removing secrets from text.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::known::Known;
use crate::spans::{self, Span};
use crate::{Secret, marker, shapes};

/// What kind of text it is, which decides how much is taken for a secret besides the known values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Logs, request dumps and error texts: everything, URL queries and phone numbers included.
    Log,
    /// Messages, summaries and memory: everything but URL queries and phone numbers.
    Chat,
    /// Terminal output, source code and files: no `name = value` guesses, which would mangle programs.
    Code,
    /// Known values only, for users who switched the guessing off.
    Known,
}

/// Each replacement shortens what is left to look at, so a few rounds always reach a text that stays as it is.
const MAX_ROUNDS: usize = 8;

/// Replaces known values and key shapes with `[redacted:NAME]`.
///
/// Cloning is cheap. Clean text comes back borrowed, and redacting twice changes nothing more.
#[derive(Clone)]
pub struct Redactor {
    known: Arc<Known>,
}

impl Redactor {
    /// Makes a redactor for these values; the search tables are built at the first use.
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        Self {
            known: Arc::new(Known::new(secrets.into_iter().collect())),
        }
    }

    /// Masks a chat or memory text.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_in(Scope::Chat, text)
    }

    /// Masks a text of the given kind.
    pub fn redact_in<'t>(&self, scope: Scope, text: &'t str) -> Cow<'t, str> {
        match self.redact_bytes(scope, text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Matches in valid UTF-8 begin and end at character borders, so nothing is lost here.
            Cow::Owned(bytes) => Cow::Owned(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }

    /// Masks bytes that are mostly text, such as a child's output.
    pub fn redact_bytes<'t>(&self, scope: Scope, text: &'t [u8]) -> Cow<'t, [u8]> {
        let mut current = Cow::Borrowed(text);
        for _ in 0..MAX_ROUNDS {
            let spans = self.spans(scope, &current);
            if spans.is_empty() {
                break;
            }
            current = Cow::Owned(spans::replace(&current, &spans));
        }
        current
    }

    pub(crate) fn known(&self) -> &Known {
        &self.known
    }

    /// Moves a cut to the left until it does not go through anything that must be masked as a whole.
    pub(crate) fn cut_before(&self, scope: Scope, text: &[u8], cut: usize) -> usize {
        let spans = self.spans(scope, text);
        let crossed = spans
            .iter()
            .find(|span| span.range.start < cut && cut < span.range.end);
        crossed.map_or(cut, |span| span.range.start)
    }

    fn spans(&self, scope: Scope, text: &[u8]) -> Vec<Span<'_>> {
        let mut spans = Vec::new();
        self.known.find(text, &mut spans);
        shapes::find(scope, text, &mut spans);
        if spans.is_empty() {
            return spans;
        }
        // What lies inside our own marker was put there by us. A marker with an unknown label is only text:
        // otherwise writing a key as a label would smuggle it through.
        for own in marker::spans(text) {
            let label = text.get(marker::label_of(&own)).unwrap_or_default();
            if self.known.owns_label(label) || shapes::owns_label(label) {
                spans.retain(|span| span.range.start < own.start || span.range.end > own.end);
            }
        }
        spans::merge(spans)
    }
}

impl Default for Redactor {
    /// Knows no values and masks shapes only.
    fn default() -> Self {
        Self::new([])
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor")
            .field("secrets", &self.known.secrets())
            .finish()
    }
}
