//! From text to a tree that knows where everything stands.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle, Tag};

use super::scalar;
use crate::problem::{Fault, Problem};
use crate::value::{KeyPath, Layer, Map, Node, Origin, Value};

/// Aliases may repeat a node; a small file must not grow into a large one.
const MOST_NODES: usize = 100_000;
pub(super) const DEEPEST: usize = 64;

/// Text that cannot be read, with the place that says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {cause}")]
pub struct ParseError {
    pub line: u32,
    pub column: u32,
    pub cause: ParseCause,
}

/// Why a text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseCause {
    /// Not YAML, or YAML that no settings file needs.
    #[error("{0}")]
    Notation(String),
    #[error("sections stand in each other more than {DEEPEST} levels deep")]
    TooDeep,
    #[error("the file holds more than {MOST_NODES} keys and values")]
    TooMany,
    #[error("aliases repeat so much that the file grows to more than {MOST_NODES} values")]
    TooMuchRepeated,
}

impl ParseError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self.cause {
            ParseCause::Notation(_) => "mend the file by hand; nothing was written",
            ParseCause::TooDeep => "no setting stands that deep; mend the file by hand",
            ParseCause::TooMany => "move what is no setting to a file of its own",
            ParseCause::TooMuchRepeated => "write the values out where they are needed",
        }
    }
}

/// Reads one YAML document; an empty one is `Null`.
pub fn parse(text: &str, layer: Layer) -> Result<Node, ParseError> {
    Ok(read_tree(text)?.to_node(layer))
}

/// Reads one YAML document and says which keys stand in it twice.
pub(crate) fn parse_noting_duplicates(
    text: &str,
    layer: Layer,
) -> Result<(Node, Vec<Problem>), ParseError> {
    let tree = read_tree(text)?;
    let mut problems = Vec::new();
    tree.note_duplicates(&KeyPath::root(), layer, &mut problems);
    Ok((tree.to_node(layer), problems))
}

/// A node with its place in the text, as editing needs it.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
    pub(super) line: u32,
    pub(super) column: u32,
    anchor: usize,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Scalar {
        text: String,
        plain: bool,
        block: bool,
        /// What an explicit tag such as `!!int` makes of the text.
        tagged: Option<Value>,
    },
    /// A node standing for another one; holds a copy of it.
    Alias(Box<Tree>),
    List {
        items: Vec<Tree>,
        flow: bool,
    },
    Map {
        entries: Vec<(Tree, Tree)>,
        flow: bool,
    },
}

impl Tree {
    pub(super) fn key_text(&self) -> &str {
        match &self.kind {
            Kind::Scalar { text, .. } => text,
            Kind::Alias(target) => target.key_text(),
            Kind::List { .. } | Kind::Map { .. } => "",
        }
    }

    /// Whether nothing is written here, as after a bare `key:`.
    pub(super) fn is_empty(&self) -> bool {
        self.range.is_empty() && matches!(self.kind, Kind::Scalar { plain: true, .. })
    }

    /// Whether the map at a path has a key written in it, not merged from elsewhere.
    pub(super) fn has_own_key(&self, section: &KeyPath, name: &str) -> bool {
        let mut place = self;
        for segment in section.segments() {
            let child = match &place.kind {
                Kind::Map { entries, .. } => entries
                    .iter()
                    .rev()
                    .find(|(key, _)| key.key_text() == segment)
                    .map(|(_, value)| value),
                Kind::List { items, .. } => {
                    segment.parse().ok().and_then(|at: usize| items.get(at))
                }
                Kind::Scalar { .. } | Kind::Alias(_) => None,
            };
            let Some(child) = child else { return false };
            place = child;
        }
        match &place.kind {
            Kind::Map { entries, .. } => entries.iter().any(|(key, _)| key.key_text() == name),
            Kind::List { .. } | Kind::Scalar { .. } | Kind::Alias(_) => false,
        }
    }

    /// Whether it is a map or a list on lines of its own.
    pub(super) fn is_block(&self) -> bool {
        matches!(
            self.kind,
            Kind::Map { flow: false, .. } | Kind::List { flow: false, .. }
        )
    }

    /// Whether an alias stands anywhere in it.
    pub(super) fn has_alias(&self) -> bool {
        match &self.kind {
            Kind::Scalar { .. } => false,
            Kind::Alias(_) => true,
            Kind::List { items, .. } => items.iter().any(Self::has_alias),
            Kind::Map { entries, .. } => entries
                .iter()
                .any(|(key, value)| key.has_alias() || value.has_alias()),
        }
    }

    fn count(&self) -> usize {
        1 + match &self.kind {
            Kind::Scalar { .. } => 0,
            Kind::Alias(target) => target.count(),
            Kind::List { items, .. } => items.iter().map(Self::count).sum(),
            Kind::Map { entries, .. } => entries.iter().map(|(_, value)| value.count()).sum(),
        }
    }

    fn note_duplicates(&self, path: &KeyPath, layer: Layer, problems: &mut Vec<Problem>) {
        match &self.kind {
            Kind::Scalar { .. } | Kind::Alias(_) => {}
            Kind::List { items, .. } => {
                for (index, item) in items.iter().enumerate() {
                    item.note_duplicates(&path.child(&index.to_string()), layer, problems);
                }
            }
            Kind::Map { entries, .. } => {
                let mut seen = HashSet::new();
                for (key, value) in entries {
                    let path = path.child(key.key_text());
                    if !seen.insert(key.key_text()) && !is_merge(key) {
                        problems.push(Problem {
                            key: path.clone(),
                            origin: key.origin(layer),
                            file: None,
                            fault: Fault::Duplicate,
                        });
                    }
                    value.note_duplicates(&path, layer, problems);
                }
            }
        }
    }

    fn origin(&self, layer: Layer) -> Origin {
        Origin {
            layer,
            line: self.line,
            column: self.column,
        }
    }

    pub(super) fn to_node(&self, layer: Layer) -> Node {
        let (value, written) = match &self.kind {
            Kind::Scalar {
                tagged: Some(value),
                ..
            } => (value.clone(), None),
            Kind::Scalar {
                text, plain: true, ..
            } => {
                let value = if self.is_empty() {
                    Value::Null
                } else {
                    scalar::resolve(text)
                };
                let kept = matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_));
                (value, kept.then(|| text.as_str().into()))
            }
            Kind::Scalar { text, .. } => (Value::Text(text.clone()), None),
            Kind::Alias(target) => {
                let node = target.to_node(layer);
                (node.value, node.written)
            }
            Kind::List { items, .. } => (
                Value::List(items.iter().map(|item| item.to_node(layer)).collect()),
                None,
            ),
            Kind::Map { entries, .. } => (Value::Map(map_of(entries, layer)), None),
        };
        Node {
            value,
            written,
            origin: self.origin(layer),
        }
    }
}

/// Own keys win over merged ones (`<<`); of two equal keys the later wins.
fn map_of(entries: &[(Tree, Tree)], layer: Layer) -> Map {
    let mut map = Map::new();
    for (_, value) in entries.iter().filter(|(key, _)| is_merge(key)) {
        let merged = value.to_node(layer);
        let sources = match merged.value {
            Value::List(items) => items,
            value => vec![Node { value, ..merged }],
        };
        for source in sources {
            for (key, node) in source.value.as_map().into_iter().flat_map(Map::iter) {
                if map.get(key).is_none() {
                    map.insert(key, node.clone());
                }
            }
        }
    }
    for (key, value) in entries.iter().filter(|(key, _)| !is_merge(key)) {
        let mut node = value.to_node(layer);
        // A value is where its key is; a section may begin lines below it.
        (node.origin.line, node.origin.column) = (key.line, key.column);
        map.insert(key.key_text(), node);
    }
    map
}

pub(super) fn is_merge(key: &Tree) -> bool {
    matches!(&key.kind, Kind::Scalar { text, plain: true, .. } if text == "<<")
}

pub(super) fn read_tree(text: &str) -> Result<Tree, ParseError> {
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
        let mut start = self.range(span).start;
        let mut end = self.range(span).end;
        let (kind, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                // The parser stands in `~` for a plain scalar that is not written at all.
                let text = if plain && start == end {
                    String::new()
                } else {
                    text.into_owned()
                };
                let tagged = tag
                    .map(|tag| tagged_scalar(&tag, &text, span))
                    .transpose()?;
                let kind = Kind::Scalar {
                    text,
                    plain,
                    block,
                    tagged,
                };
                (kind, anchor)
            }
            Event::Alias(id) => {
                let target = self.anchors.get(&id).cloned();
                let target =
                    target.ok_or_else(|| fault(span, "an alias to a node that contains it"))?;
                self.nodes += target.count();
                if self.nodes > MOST_NODES {
                    return Err(at(span, ParseCause::TooMuchRepeated));
                }
                (Kind::Alias(Box::new(target)), 0)
            }
            Event::SequenceStart(style, anchor, tag) => {
                check_collection_tag(tag.as_deref(), span)?;
                let mut items = Vec::new();
                loop {
                    let (event, item_span) = self.expect(span)?;
                    if matches!(event, Event::SequenceEnd) {
                        end = self.range(&item_span).end;
                        break;
                    }
                    items.push(self.node(event, &item_span, depth + 1)?);
                }
                let flow = style == StructureStyle::Flow;
                end = close(flow, end, start, items.last());
                let at_dash = self.text[start..].starts_with('-')
                    && items.first().is_none_or(|item| item.range.start > start);
                if !flow && !at_dash {
                    start = dash_before(self.text, start);
                }
                (Kind::List { items, flow }, anchor)
            }
            Event::MappingStart(style, anchor, tag) => {
                check_collection_tag(tag.as_deref(), span)?;
                let mut entries = Vec::new();
                loop {
                    let (event, key_span) = self.expect(span)?;
                    if matches!(event, Event::MappingEnd) {
                        end = self.range(&key_span).end;
                        break;
                    }
                    let key = self.node(event, &key_span, depth + 1)?;
                    if matches!(key.kind, Kind::List { .. } | Kind::Map { .. }) {
                        return Err(fault(&key_span, "a key must be one word or text"));
                    }
                    let (event, value_span) = self.expect(span)?;
                    entries.push((key, self.node(event, &value_span, depth + 1)?));
                }
                let flow = style == StructureStyle::Flow;
                end = close(flow, end, start, entries.last().map(|(_, value)| value));
                (Kind::Map { entries, flow }, anchor)
            }
            _ => return Err(fault(span, "a value was expected here")),
        };
        let tree = Tree {
            kind,
            range: start..end,
            line: line_number(span.start.line()),
            column: line_number(span.start.col() + 1),
            anchor,
        };
        if tree.anchor != 0 {
            self.anchors.insert(tree.anchor, tree.clone());
        }
        Ok(tree)
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
