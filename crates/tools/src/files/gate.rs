//! Whether a file of settings or data can be read by those who need it.

use std::path::Path;

use granit_parser::Parser;
use serde::de::IgnoredAny;
use toml_parser::decoder::Encoding;
use toml_parser::parser::{EventReceiver, RecursionGuard, parse_document};
use toml_parser::{ErrorSink, ParseError, Raw, Source, Span};

/// How deep values may stand in each other.
const DEEPEST: u32 = 80;

/// A notation that can be checked without running anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notation {
    Json,
    Yaml,
    Toml,
}

impl Notation {
    /// By the end of a file's name.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let end = path.extension()?.to_str()?.to_ascii_lowercase();
        match end.as_str() {
            "json" => Some(Self::Json),
            "yaml" | "yml" => Some(Self::Yaml),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Yaml => "YAML",
            Self::Toml => "TOML",
        }
    }
}

/// Says what is wrong with a text, if anything.
pub(crate) fn check(notation: Notation, text: &str) -> Result<(), String> {
    let found = match notation {
        Notation::Json => serde_json::from_str::<IgnoredAny>(text)
            .map(|_| ())
            .map_err(|error| error.to_string()),
        Notation::Yaml => yaml(text),
        Notation::Toml => toml(text),
    };
    found.map_err(|cause| format!("not valid {}: {cause}", notation.name()))
}

/// Syntax only: several documents and tags of any kind are fine.
fn yaml(text: &str) -> Result<(), String> {
    for event in Parser::new_from_str(text) {
        if let Err(error) = event {
            return Err(error.to_string());
        }
    }
    Ok(())
}

fn toml(text: &str) -> Result<(), String> {
    let source = Source::new(text);
    let tokens = source.lex().into_vec();
    let mut first = First::default();
    let mut values = Values(text);
    parse_document(
        &tokens,
        &mut RecursionGuard::new(&mut values, DEEPEST),
        &mut first,
    );
    match first.0 {
        None => Ok(()),
        Some((at, cause)) => {
            let before = text.get(..at).unwrap_or(text);
            let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
            Err(format!("{cause} in line {line}"))
        }
    }
}

/// Reads keys and values to see whether they can be read.
struct Values<'t>(&'t str);

impl Values<'_> {
    fn raw(&self, span: Span, encoding: Option<Encoding>) -> Raw<'_> {
        let text = self.0.get(span.start()..span.end()).unwrap_or_default();
        Raw::new_unchecked(text, encoding, span)
    }
}

impl EventReceiver for Values<'_> {
    fn simple_key(&mut self, span: Span, encoding: Option<Encoding>, error: &mut dyn ErrorSink) {
        let mut key = String::new();
        self.raw(span, encoding).decode_key(&mut key, error);
    }

    fn scalar(&mut self, span: Span, encoding: Option<Encoding>, error: &mut dyn ErrorSink) {
        let mut value = String::new();
        // What kind of value it is does not matter here.
        let _ = self.raw(span, encoding).decode_scalar(&mut value, error);
    }
}

/// The first thing that is wrong.
#[derive(Default)]
struct First(Option<(usize, String)>);

impl ErrorSink for First {
    fn report_error(&mut self, error: ParseError) {
        if self.0.is_none() {
            let at = error.unexpected().map_or(0, |span| span.start());
            self.0 = Some((at, error.description().to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_texts_are_named_with_their_line() {
        let good = [
            (Notation::Json, "{\"a\": [1, 2]}"),
            (Notation::Yaml, "a: !custom [1]\n---\nb: &x 1\nc: *x\n"),
            (Notation::Toml, "a = 1\n[b]\nc = \"x\"\n"),
        ];
        for (notation, text) in good {
            assert_eq!(check(notation, text), Ok(()));
        }
        let bad = [
            (Notation::Json, "{\"a\":\n 1,}", "line 2"),
            (Notation::Yaml, "a: [1\nb: 2\n", "not valid YAML"),
            (Notation::Toml, "a = 1\nb = \n", "line 2"),
            (Notation::Toml, "a = 1\nb = what\n", "line 2"),
        ];
        for (notation, text, named) in bad {
            let error = check(notation, text).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
    }
}
