//! Expands words as the shell would, as far as that is known beforehand.

use std::rc::Rc;

use super::braces;
use super::field::{Carried, Field, HOLE};
use super::parameter::{self, is_whole, kept_under, known};
use super::resolve::Resolver;
use super::tree::{Parameter, Part, Span, Word};

/// The longest text a word is expanded to; beyond it the rest is unknown.
const MAX_TEXT: usize = 4 * 1024 * 1024;

/// A stretch of a word with one treatment.
#[derive(Debug, Clone, Default)]
pub(super) struct Chunk {
    pub(super) text: String,
    pub(super) quoted: bool,
    /// Whether blanks in it separate fields.
    pub(super) splits: bool,
    /// Whether a new field begins after it: the elements of an array.
    pub(super) ends_field: bool,
}

impl Resolver<'_> {
    /// The fields a word becomes: none, one or many.
    pub(super) fn expand(&mut self, word: &Word) -> Vec<Field> {
        if let [Part::Text { text, quoted }] = word.parts.as_slice()
            && (*quoted || !text.contains(['{', '~']))
        {
            return vec![Field::literal(text.as_str(), word.span)];
        }
        let mut carried = None;
        let chunks = self.chunks(&word.parts, word.span, &mut carried);
        let alternatives = if chunks
            .iter()
            .any(|chunk| !chunk.quoted && chunk.text.contains('{'))
        {
            let words = braces::expand(chunks);
            self.exhausted |= words.is_none();
            words.unwrap_or_default()
        } else {
            vec![chunks]
        };
        let carried = carried.map(Rc::new);
        let separators = self.separators();
        let mut fields = Vec::new();
        for chunks in alternatives {
            self.split(&chunks, &separators, word, carried.as_ref(), &mut fields);
        }
        fields
    }

    /// The word as one text: the value of an assignment, the target of a redirection.
    pub(super) fn flatten(&mut self, word: &Word) -> Field {
        let mut carried = None;
        let chunks = self.chunks(&word.parts, word.span, &mut carried);
        let mut text = String::new();
        for (index, chunk) in chunks.iter().enumerate() {
            if index == 0 && !chunk.quoted {
                text.push_str(&self.tilde(&chunk.text));
            } else {
                text.push_str(&chunk.text);
            }
        }
        Field {
            text,
            span: word.span,
            carried: carried.map(Rc::new),
        }
    }

    /// The text of some parts that only serve another one.
    pub(super) fn text_of(
        &mut self,
        parts: &[Part],
        span: Span,
        carried: &mut Option<Carried>,
    ) -> String {
        let chunks = self.chunks(parts, span, carried);
        chunks.into_iter().map(|chunk| chunk.text).collect()
    }

    fn chunks(&mut self, parts: &[Part], span: Span, carried: &mut Option<Carried>) -> Vec<Chunk> {
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut size = 0;
        for part in parts {
            let before = chunks.len();
            match part {
                Part::Text { text, quoted } => {
                    if text.starts_with('~') {
                        self.settle("HOME");
                    }
                    chunks.push(Chunk {
                        text: text.clone(),
                        quoted: *quoted,
                        ..Chunk::default()
                    });
                }
                Part::Variable { parameter, quoted } => {
                    self.variable_chunks(parameter, *quoted, span, carried, &mut chunks);
                }
                Part::Output { parsed, quoted } => {
                    let found = self.output_of(parsed);
                    let text = found.text.clone().unwrap_or_else(|| HOLE.to_string());
                    let text = text.trim_end_matches('\n').to_owned();
                    merge(carried, found);
                    chunks.push(Chunk {
                        text,
                        quoted: *quoted,
                        splits: !quoted,
                        ends_field: false,
                    });
                }
                Part::Channel(parsed) => {
                    let found = self.output_of(parsed);
                    merge(
                        carried,
                        Carried {
                            in_file: true,
                            ..found
                        },
                    );
                    chunks.push(unknown());
                }
                Part::Number(inside) => {
                    let text = self.text_of(inside, span, carried);
                    self.arithmetic(&text, span);
                    chunks.push(unknown());
                }
            }
            size += chunks
                .iter()
                .skip(before)
                .map(|chunk| chunk.text.len())
                .sum::<usize>();
            if size > MAX_TEXT {
                self.exhausted = true;
                break;
            }
        }
        chunks
    }

    fn variable_chunks(
        &mut self,
        parameter: &Parameter,
        quoted: bool,
        span: Span,
        carried: &mut Option<Carried>,
        chunks: &mut Vec<Chunk>,
    ) {
        let index = parameter.index.as_ref();
        let index = index.map(|parts| self.index_of(parts, span, carried));
        let operation = parameter.operation.as_ref();
        let operand = operation.map(|operation| self.text_of(&operation.operand, span, carried));
        let name = self.meant(parameter, span);
        let found = match &name {
            Some(name) => {
                self.settle(kept_under(name));
                known(&self.scope, name, index.as_deref())
            }
            None => None,
        };
        let name = name.as_deref().unwrap_or_default();
        let whole = is_whole(name, index.as_deref());
        let mut values = parameter::value(found.clone(), parameter, whole, operand.as_deref());
        match operation.map_or("", |operation| operation.operator) {
            ":=" | "=" if found.as_ref() != Some(&values) => {
                self.store(name, false, values.clone());
            }
            ":+" | "+" if found.is_none() && self.choose(2) == 1 => values.clear(),
            // Where a part of it begins and how long it is, is calculated.
            ":" => self.arithmetic(operand.as_deref().unwrap_or_default(), span),
            "@" if operand.as_deref() == Some("P") => {
                for value in found.iter().flatten() {
                    self.evaluated(value, span);
                }
            }
            _ => {}
        }
        let starred = name == "*" || index.as_deref() == Some("*");
        if quoted && starred && values.len() > 1 {
            self.settle("IFS");
            let own = self.scope.get("IFS").and_then(<[String]>::first);
            let between = own.map_or(Some(' '), |own| own.chars().next());
            let between: String = between.into_iter().collect();
            values = vec![values.join(between.as_str())];
        }
        let last = values.len().saturating_sub(1);
        for (index, text) in values.into_iter().enumerate() {
            chunks.push(Chunk {
                text,
                quoted,
                splits: !quoted,
                ends_field: index < last,
            });
        }
    }

    /// The name of the variable that is read, where that is known.
    fn meant(&mut self, parameter: &Parameter, span: Span) -> Option<String> {
        if !parameter.indirect {
            return Some(parameter.name.clone());
        }
        self.settle(kept_under(&parameter.name));
        let other = known(&self.scope, &parameter.name, None)?;
        let other = other.into_iter().next()?;
        self.named(&other, span);
        Some(other)
    }

    /// Characters that separate fields.
    fn separators(&mut self) -> Vec<char> {
        self.settle("IFS");
        match self.scope.get("IFS").and_then(<[String]>::first) {
            Some(own) if own != " " && !own.is_empty() => own.chars().collect(),
            _ => vec![' ', '\t', '\n'],
        }
    }

    fn split(
        &self,
        chunks: &[Chunk],
        separators: &[char],
        word: &Word,
        carried: Option<&Rc<Carried>>,
        fields: &mut Vec<Field>,
    ) {
        let mut text = String::new();
        let mut began = false;
        let mut finish = |text: &mut String, began: &mut bool| {
            if std::mem::take(began) {
                fields.push(Field {
                    text: std::mem::take(text),
                    span: word.span,
                    carried: carried.cloned(),
                });
            }
        };
        for (index, chunk) in chunks.iter().enumerate() {
            if chunk.splits {
                for (position, piece) in chunk.text.split(separators).enumerate() {
                    if position > 0 {
                        finish(&mut text, &mut began);
                    }
                    began |= !piece.is_empty();
                    text.push_str(piece);
                }
            } else {
                began |= chunk.quoted || !chunk.text.is_empty();
                if index == 0 && !chunk.quoted {
                    text.push_str(&self.tilde(&chunk.text));
                } else {
                    text.push_str(&chunk.text);
                }
            }
            if chunk.ends_field {
                finish(&mut text, &mut began);
            }
        }
        finish(&mut text, &mut began);
    }

    /// Replaces a leading `~`.
    fn tilde(&self, text: &str) -> String {
        let Some(rest) = text.strip_prefix('~') else {
            return text.to_owned();
        };
        let (user, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let home = match user {
            "" => match self.scope.get("HOME") {
                Some([home]) if !home.contains(HOLE) => home.clone(),
                _ => self.around.home.clone(),
            },
            "+" => self.cwd.to_string(),
            "-" => HOLE.to_string(),
            "root" => "/root".to_owned(),
            other => format!("/home/{other}"),
        };
        home + path
    }
}

fn unknown() -> Chunk {
    Chunk {
        text: HOLE.to_string(),
        quoted: true,
        ..Chunk::default()
    }
}

fn merge(carried: &mut Option<Carried>, more: Carried) {
    let all = carried.get_or_insert_with(Carried::default);
    all.programs.extend(more.programs);
    all.text = more.text;
    all.in_file |= more.in_file;
}
