//! Reads shell text into a tree.
//!
//! Written by hand, because a judgement is only as good as the reader's agreement with the shell: brace
//! expansion in command position, several here-documents on a line and commands behind one are places
//! where general grammars go wrong. It never fails: what it cannot make sense of is a `Trouble`, and
//! every byte is looked at a bounded number of times.

use std::rc::Rc;

use super::tree::{Assignment, Body, Joint, Parsed, Part, Pipeline, Script, Span, Stage, Word};
use super::word::push;

/// How deep groups and substitutions may be nested.
const MAX_DEPTH: usize = 48;

/// Why a text could not be read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A quote, a group or a substitution is not closed, or something stands where it may not.
    Malformed,
    /// Nested deeper than we follow.
    TooDeep,
}

/// Reads a whole text. With `fixed`, every span is that one: the text is not part of the command as written.
pub(crate) fn read(text: &str, fixed: Option<Span>) -> (Parsed, Option<Trouble>) {
    read_inside(text, fixed, 0)
}

/// Where the comments of a text are. None where the text cannot be read to its end, and none that another
/// reader could take for a part of a word: what is left out by mistake would be hidden.
pub(crate) fn comments(text: &str) -> Vec<Span> {
    let mut reader = Reader::new(text, None);
    reader.whole();
    if reader.trouble.is_some() {
        return Vec::new();
    }
    let stands_apart = |comment: &Span| {
        let before = text.get(..comment.start).unwrap_or_default();
        before.is_empty()
            || before.ends_with([' ', '\t', '\n', ';', '&', '|', '(', ')'])
                && !before.ends_with("\\\n")
    };
    let mut comments = reader.comments;
    comments.retain(stands_apart);
    comments
}

/// As `read`, for a text that stands this deep in another.
pub(super) fn read_inside(
    text: &str,
    fixed: Option<Span>,
    depth: usize,
) -> (Parsed, Option<Trouble>) {
    let mut reader = Reader::new(text, fixed);
    reader.depth = depth;
    let parsed = reader.whole();
    (parsed, reader.trouble)
}

pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) fixed: Option<Span>,
    pub(super) depth: usize,
    pub(super) trouble: Option<Trouble>,
    /// Set once a search for the end of arithmetic ran into the end of the text: the next would too.
    pub(super) no_arithmetic: bool,
    pub(super) bodies: Vec<Word>,
    pub(super) waiting: Vec<Waiting>,
    comments: Vec<Span>,
}

/// A here-document whose text begins on the next line.
pub(super) struct Waiting {
    pub(super) body: usize,
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) tabs: bool,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, fixed: Option<Span>) -> Self {
        Self {
            text,
            at: 0,
            end: text.len(),
            fixed,
            depth: 0,
            trouble: None,
            no_arithmetic: false,
            bodies: Vec::new(),
            waiting: Vec::new(),
            comments: Vec::new(),
        }
    }

    fn whole(&mut self) -> Parsed {
        let mut script = Script::default();
        loop {
            script.pipelines.extend(self.list(&[]).pipelines);
            if self.at >= self.end {
                break;
            }
            // Something closes what was never opened.
            self.fault(Trouble::Malformed);
            self.at += self.next_length();
        }
        Parsed {
            script: Rc::new(script),
            bodies: Rc::new(std::mem::take(&mut self.bodies)),
        }
    }

    /// Reads up to the closing parenthesis of a substitution, with here-documents of its own.
    pub(super) fn enclosed(&mut self) -> Parsed {
        if !self.enter() {
            self.at = self.end;
            return Parsed::default();
        }
        let bodies = std::mem::take(&mut self.bodies);
        let waiting = std::mem::take(&mut self.waiting);
        let script = self.list(&[]);
        self.close(b')');
        self.depth -= 1;
        self.waiting = waiting;
        Parsed {
            script: Rc::new(script),
            bodies: Rc::new(std::mem::replace(&mut self.bodies, bodies)),
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, by: usize) -> Option<u8> {
        let at = self.at + by;
        (at < self.end)
            .then(|| self.text.as_bytes().get(at).copied())
            .flatten()
    }

    pub(super) fn starts(&self, with: &str) -> bool {
        self.slice(self.at, self.end).starts_with(with)
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// Bytes of the character here; at least one, so that reading always moves on.
    pub(super) fn next_length(&self) -> usize {
        let rest = self.slice(self.at, self.end);
        rest.chars().next().map_or(1, char::len_utf8)
    }

    pub(super) fn span(&self, start: usize) -> Span {
        self.fixed.unwrap_or(Span {
            start,
            end: self.at.min(self.end),
        })
    }

    pub(super) fn fault(&mut self, trouble: Trouble) {
        self.trouble.get_or_insert(trouble);
    }

    pub(super) fn enter(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            self.fault(Trouble::TooDeep);
            return false;
        }
        self.depth += 1;
        true
    }

    pub(super) fn close(&mut self, with: u8) {
        if self.peek() == Some(with) {
            self.at += 1;
        } else {
            self.fault(Trouble::Malformed);
        }
    }

    pub(super) fn blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.ahead(1) == Some(b'\n') => self.at += 2,
                _ => break,
            }
        }
    }

    /// Skips what may stand between commands. A newline brings the here-documents it was waiting for.
    pub(super) fn separators(&mut self) {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'\n') => self.newline(),
                Some(b';') if !matches!(self.ahead(1), Some(b';' | b'&')) => self.at += 1,
                Some(b'&' | b'|') => self.at += 1,
                Some(b'#') => self.comment(),
                _ => break,
            }
        }
    }

    fn comment(&mut self) {
        let rest = self.slice(self.at, self.end);
        let start = self.at;
        self.at += rest.find('\n').unwrap_or(rest.len());
        self.comments.push(Span {
            start,
            end: self.at,
        });
    }

    pub(super) fn newline(&mut self) {
        self.at += 1;
        for waiting in std::mem::take(&mut self.waiting) {
            self.here_document(&waiting);
        }
    }

    /// Reads commands until one of the words, a closing parenthesis, the end of a case or the end.
    pub(super) fn list(&mut self, until: &[&str]) -> Script {
        let mut script = Script::default();
        let mut joint = Joint::Then;
        loop {
            self.separators();
            match self.peek() {
                None | Some(b')') => break,
                Some(b';') => break,
                _ => {}
            }
            if self.keyword().is_some_and(|word| until.contains(&word)) {
                break;
            }
            let before = self.at;
            let pipeline = self.pipeline();
            script.pipelines.push(Pipeline { joint, ..pipeline });
            if self.at == before {
                self.fault(Trouble::Malformed);
                self.at += self.next_length();
            }
            joint = match () {
                () if self.starts("&&") => Joint::And,
                () if self.starts("||") => Joint::Or,
                () => Joint::Then,
            };
        }
        script
    }

    fn pipeline(&mut self) -> Pipeline {
        let mut stages = Vec::new();
        let mut aside = false;
        loop {
            self.blanks();
            aside |= self.prefixes();
            stages.push(self.stage());
            self.blanks();
            if self.peek() == Some(b'|') && self.ahead(1) != Some(b'|') {
                self.at += 1 + usize::from(self.ahead(1) == Some(b'&'));
                self.line_breaks();
            } else {
                break;
            }
        }
        let background = self.peek() == Some(b'&') && self.ahead(1) != Some(b'&');
        Pipeline {
            stages,
            background: background || aside,
            joint: Joint::Then,
        }
    }

    fn line_breaks(&mut self) {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'\n') => self.newline(),
                Some(b'#') => self.comment(),
                _ => break,
            }
        }
    }

    /// Words before a command that change how its end is seen, not what runs. Whether it runs aside.
    fn prefixes(&mut self) -> bool {
        let mut aside = false;
        while let Some(word @ ("!" | "time" | "coproc")) = self.keyword() {
            aside |= word == "coproc";
            self.at += word.len();
            self.blanks();
            if word == "time" && self.starts("-p ") {
                self.at += 2;
                self.blanks();
            }
        }
        aside
    }

    /// A program with its arguments, or a definition of a function.
    pub(super) fn simple(&mut self) -> Stage {
        let start = self.at;
        let mut assignments = Vec::new();
        let mut words: Vec<Word> = Vec::new();
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect() {
                redirects.push(redirect);
                continue;
            }
            match self.peek() {
                None | Some(b'\n' | b';' | b'|' | b'&' | b')') => break,
                Some(b'#') => {
                    self.comment();
                    break;
                }
                Some(b'(') if words.len() == 1 && redirects.is_empty() => {
                    return self.definition(start, words.pop());
                }
                Some(b'(') => {
                    self.fault(Trouble::Malformed);
                    break;
                }
                Some(_) => {}
            }
            let before = self.at;
            match self.assignment() {
                Some(assignment) if words.is_empty() => assignments.push(assignment),
                // `declare name=(…)`: what it declares, it also assigns.
                Some(assignment) if assignment.array => {
                    words.push(named(assignment.name.clone(), self.span(before)));
                    assignments.push(assignment);
                }
                Some(assignment) => words.push(as_word(assignment, self.span(before))),
                None => words.push(self.word()),
            }
            if self.at == before {
                break;
            }
        }
        let body = Body::Simple { assignments, words };
        let span = self.span(start);
        Stage {
            body,
            redirects,
            span,
        }
    }
}

/// An assignment behind a program is an argument, such as that of `export`.
fn as_word(assignment: Assignment, span: Span) -> Word {
    let mut word = named(assignment.name, span);
    if let Some(index) = assignment.index {
        push(&mut word.parts, "[", false);
        word.parts.extend(index);
        push(&mut word.parts, "]", false);
    }
    let sign = if assignment.append { "+=" } else { "=" };
    push(&mut word.parts, sign, false);
    let values = assignment.values.into_iter();
    word.parts.extend(values.flat_map(|value| value.parts));
    word
}

fn named(text: String, span: Span) -> Word {
    let quoted = false;
    Word {
        parts: vec![Part::Text { text, quoted }],
        span,
    }
}

pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
