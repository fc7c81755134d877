//! Building the tree from what the parser reports.

use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle, Tag};

use super::super::scalar;
use super::{DEEPEST, Kind, MOST_NODES, ParseCause, ParseError, Tree};
use crate::value::Value;

/// Reads one YAML document.
pub(in crate::yaml) fn read_tree(text: &str) -> Result<Tree, ParseError> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader {
        events: Parser::new_from_str(body),
        text,
        anchors: HashMap::new(),
        shift: text.len() - body.len(),
        nodes: 0,
    };
    let mut document = None;
    while let Some((event, span)) = reader.next()? {
        match event {
            Event::DocumentStart(..) if document.is_some() => {
                return Err(fault(&span, "more than one document in the file"));
            }
            Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd => {}
            event => document = Some(reader.node(event, &span, 0)?),
        }
    }
    Ok(document.unwrap_or(Tree {
        kind: Kind::Scalar {
            text: String::new(),
            plain: true,
            block: false,
            tagged: None,
        },
        range: text.len()..text.len(),
        line: 0,
        column: 0,
        anchor: 0,
    }))
}

/// What was read, and where it stands.
type Read = (Kind, Range<usize>);

struct Reader<'text> {
    events: Parser<'text, granit_parser::StrInput<'text>>,
    text: &'text str,
    anchors: HashMap<usize, Tree>,
    shift: usize,
    nodes: usize,
}

impl<'text> Reader<'text> {
    fn next(&mut self) -> Result<Option<(Event<'text>, Span)>, ParseError> {
        self.events.next().transpose().map_err(|error| ParseError {
            line: line_number(error.marker().line()),
            column: line_number(error.marker().col() + 1),
            cause: ParseCause::Notation(error.info()),
        })
    }

    fn expect(&mut self, opened_at: &Span) -> Result<(Event<'text>, Span), ParseError> {
        self.next()?
            .ok_or_else(|| fault(opened_at, "the file ends inside a value"))
    }

    fn node(&mut self, event: Event<'text>, span: &Span, depth: usize) -> Result<Tree, ParseError> {
        self.nodes += 1;
        if depth > DEEPEST {
            return Err(at(span, ParseCause::TooDeep));
        }
        if self.nodes > MOST_NODES {
            return Err(at(span, ParseCause::TooMany));
        }
        let ((kind, range), anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.as_deref();
                (self.scalar(text.into_owned(), style, tag, span)?, anchor)
            }
            Event::Alias(id) => ((self.alias(id, span)?, self.range(span)), 0),
            Event::SequenceStart(style, anchor, tag) => {
                check_collection_tag(tag.as_deref(), span)?;
                let flow = style == StructureStyle::Flow;
                (self.list(flow, span, depth)?, anchor)
            }
            Event::MappingStart(style, anchor, tag) => {
                check_collection_tag(tag.as_deref(), span)?;
                let flow = style == StructureStyle::Flow;
                (self.map(flow, span, depth)?, anchor)
            }
            _ => return Err(fault(span, "a value was expected here")),
        };
        let tree = Tree {
            kind,
            range,
            line: line_number(span.start.line()),
            column: line_number(span.start.col() + 1),
            anchor,
        };
        if tree.anchor != 0 {
            self.anchors.insert(tree.anchor, tree.clone());
        }
        Ok(tree)
    }

    fn scalar(
        &self,
        text: String,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: &Span,
    ) -> Result<Read, ParseError> {
        let range = self.range(span);
        let plain = style == ScalarStyle::Plain;
        let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        // The parser stands in `~` for a plain scalar that is not written at all.
        let text = if plain && range.is_empty() {
            String::new()
        } else {
            text
        };
        let tagged = tag.map(|tag| tagged_scalar(tag, &text, span)).transpose()?;
        let kind = Kind::Scalar {
            text,
            plain,
            block,
            tagged,
        };
        Ok((kind, range))
    }

    fn alias(&mut self, id: usize, span: &Span) -> Result<Kind, ParseError> {
        let target = self.anchors.get(&id).cloned();
        let target = target.ok_or_else(|| fault(span, "an alias to a node that contains it"))?;
        self.nodes += target.count();
        if self.nodes > MOST_NODES {
            return Err(at(span, ParseCause::TooMuchRepeated));
        }
        Ok(Kind::Alias(Box::new(target)))
    }

    fn list(&mut self, flow: bool, span: &Span, depth: usize) -> Result<Read, ParseError> {
        let mut start = self.range(span).start;
        let mut items = Vec::new();
        let bracket = loop {
            let (event, item_span) = self.expect(span)?;
            if matches!(event, Event::SequenceEnd) {
                break self.range(&item_span).end;
            }
            items.push(self.node(event, &item_span, depth + 1)?);
        };
        let end = close(flow, bracket, start, items.last());
        let at_dash = self.text[start..].starts_with('-')
            && items.first().is_none_or(|item| item.range.start > start);
        if !flow && !at_dash {
            start = dash_before(self.text, start);
        }
        Ok((Kind::List { items, flow }, start..end))
    }

    fn map(&mut self, flow: bool, span: &Span, depth: usize) -> Result<Read, ParseError> {
        let start = self.range(span).start;
        let mut entries = Vec::new();
        let bracket = loop {
            let (event, key_span) = self.expect(span)?;
            if matches!(event, Event::MappingEnd) {
                break self.range(&key_span).end;
            }
            let key = self.node(event, &key_span, depth + 1)?;
            if matches!(key.kind, Kind::List { .. } | Kind::Map { .. }) {
                return Err(fault(&key_span, "a key must be one word or text"));
            }
            let (event, value_span) = self.expect(span)?;
            entries.push((key, self.node(event, &value_span, depth + 1)?));
        };
        let last = entries.last().map(|(_, value): &(Tree, Tree)| value);
        let end = close(flow, bracket, start, last);
        Ok((Kind::Map { entries, flow }, start..end))
    }

    fn range(&self, span: &Span) -> Range<usize> {
        let range = span.byte_range().unwrap_or(0..0);
        range.start + self.shift..range.end + self.shift
    }
}

/// A flow collection ends at its bracket; a block collection where its last value ends.
fn close(flow: bool, bracket: usize, start: usize, last: Option<&Tree>) -> usize {
    if flow {
        bracket
    } else {
        last.map_or(start, |last| last.range.end)
    }
}

/// The dash of the first item of a list. The parser starts a list that is not indented below its key
/// behind that dash.
fn dash_before(text: &str, item: usize) -> usize {
    let mut end = item;
    loop {
        let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
        let code = text[line..end].trim_start();
        if code.starts_with('-') {
            return end - code.len();
        }
        if line == 0 {
            return item;
        }
        end = line - 1;
    }
}

const CORE: &str = "tag:yaml.org,2002:";

fn tagged_scalar(tag: &Tag, text: &str, span: &Span) -> Result<Value, ParseError> {
    // A lone `!` only says that the scalar is text.
    if tag.handle().is_empty() && tag.suffix() == "!" {
        return Ok(Value::Text(text.to_owned()));
    }
    Some(tag.suffix())
        .filter(|_| tag.handle() == CORE)
        .and_then(|suffix| scalar::tagged(suffix, text))
        .ok_or_else(|| fault(span, "a tag that is not known, or does not fit its value"))
}

fn check_collection_tag(tag: Option<&Tag>, span: &Span) -> Result<(), ParseError> {
    const KNOWN: [&str; 5] = ["map", "seq", "set", "omap", "pairs"];
    match tag {
        Some(tag) if tag.handle() != CORE || !KNOWN.contains(&tag.suffix()) => {
            Err(fault(span, "a tag that is not known"))
        }
        Some(_) | None => Ok(()),
    }
}

fn fault(span: &Span, reason: &str) -> ParseError {
    at(span, ParseCause::Notation(reason.to_owned()))
}

fn at(span: &Span, cause: ParseCause) -> ParseError {
    ParseError {
        line: line_number(span.start.line()),
        column: line_number(span.start.col() + 1),
        cause,
    }
}

fn line_number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
