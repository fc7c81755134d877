//! Reads words: quotes, escapes and expansions.

use super::read::{Reader, Trouble, read_inside};
use super::tree::{Operation, Parameter, Part, Word};

/// What may follow the name inside `${…}`; longer ones first.
const OPERATORS: [&str; 17] = [
    ":-", ":=", ":+", ":?", "##", "%%", "//", "^^", ",,", "-", "=", "+", "?", "#", "%", "/", ":",
];

impl Reader<'_> {
    /// Reads a word. Empty when none begins here.
    pub(super) fn word(&mut self) -> Word {
        let start = self.at;
        let mut parts = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b')' => break,
                b'(' if self.is_pattern_group(start) => self.pattern_group(&mut parts),
                b'(' => break,
                b'<' | b'>' if self.ahead(1) == Some(b'(') => {
                    self.at += 2;
                    parts.push(Part::Channel(self.enclosed()));
                }
                b'<' | b'>' => break,
                b'\\' => self.escape(&mut parts),
                b'\'' => self.single(&mut parts),
                b'"' => {
                    self.at += 1;
                    self.double(&mut parts);
                }
                b'$' => self.dollar(&mut parts, false),
                b'`' => self.backticks(&mut parts, false),
                _ => self.plain(&mut parts),
            }
        }
        let span = self.span(start);
        Word { parts, span }
    }

    fn plain(&mut self, parts: &mut Vec<Part>) {
        let rest = self.slice(self.at, self.end).as_bytes();
        let length = rest
            .iter()
            .position(|byte| b" \t\r\n;&|()<>\\'\"$`".contains(byte))
            .unwrap_or(rest.len())
            .max(1);
        push(parts, self.slice(self.at, self.at + length), false);
        self.at += length;
    }

    fn escape(&mut self, parts: &mut Vec<Part>) {
        self.at += 1;
        let length = self.next_length();
        if self.peek() != Some(b'\n') {
            push(parts, self.slice(self.at, self.at + length), true);
        }
        self.at = (self.at + length).min(self.end);
    }

    fn single(&mut self, parts: &mut Vec<Part>) {
        let rest = self.slice(self.at + 1, self.end);
        let Some(length) = rest.find('\'') else {
            self.fault(Trouble::Malformed);
            push(parts, rest, true);
            self.at = self.end;
            return;
        };
        push(parts, rest.get(..length).unwrap_or_default(), true);
        self.at += length + 2;
    }

    fn double(&mut self, parts: &mut Vec<Part>) {
        push(parts, "", true);
        let inside = self.expansions(Some(b'"'));
        parts.extend(inside);
        self.close(b'"');
    }

    /// Reads text in which only `$`, backticks and a few escapes mean something.
    pub(super) fn expansions(&mut self, until: Option<u8>) -> Vec<Part> {
        let mut parts = Vec::new();
        let quotes = matches!(until, Some(b'}' | b']'));
        while let Some(byte) = self.peek() {
            if Some(byte) == until {
                break;
            }
            match byte {
                b'\\' => {
                    let escaped = self.ahead(1);
                    let special = matches!(escaped, Some(b'$' | b'`' | b'\\' | b'\n'))
                        || escaped.is_some() && escaped == until;
                    if special {
                        self.escape(&mut parts);
                    } else {
                        push(&mut parts, "\\", true);
                        self.at += 1;
                    }
                }
                b'$' => self.dollar(&mut parts, true),
                b'`' => self.backticks(&mut parts, true),
                b'\'' | b'"' if quotes => self.nested_quote(&mut parts, byte),
                _ => {
                    let rest = self.slice(self.at, self.end).as_bytes();
                    let stop = |byte: &u8| {
                        b"\\$`".contains(byte)
                            || Some(*byte) == until
                            || quotes && b"'\"".contains(byte)
                    };
                    let length = rest.iter().position(stop).unwrap_or(rest.len()).max(1);
                    push(&mut parts, self.slice(self.at, self.at + length), true);
                    self.at += length;
                }
            }
        }
        parts
    }

    fn nested_quote(&mut self, parts: &mut Vec<Part>, byte: u8) {
        if byte == b'"' {
            self.at += 1;
            return self.double(parts);
        }
        self.single(parts);
    }

    fn dollar(&mut self, parts: &mut Vec<Part>, quoted: bool) {
        let Some(next) = self.ahead(1) else {
            self.at += 1;
            return push(parts, "$", quoted);
        };
        match next {
            b'\'' if !quoted => self.ansi(parts),
            b'"' if !quoted => {
                self.at += 2;
                self.double(parts);
            }
            b'(' if self.ahead(2) == Some(b'(') => match self.arithmetic_end(self.at + 3) {
                Some(end) => parts.extend(self.arithmetic(self.at + 3, end)),
                None => self.substitution(parts, quoted),
            },
            b'(' => self.substitution(parts, quoted),
            b'[' => {
                self.at += 2;
                let inside = self.expansions(Some(b']'));
                self.close(b']');
                parts.push(Part::Number(inside));
            }
            b'{' => self.braced(parts, quoted),
            b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'0'..=b'9' => {
                let name = self.slice(self.at + 1, self.at + 2).to_owned();
                self.at += 2;
                parts.push(variable(name, quoted));
            }
            _ => {
                let rest = self.slice(self.at + 1, self.end);
                let length = rest
                    .bytes()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                    .count();
                let name = rest.get(..length).unwrap_or_default();
                self.at += length + 1;
                if name.is_empty() {
                    push(parts, "$", quoted);
                } else {
                    parts.push(variable(name.to_owned(), quoted));
                }
            }
        }
    }

    fn substitution(&mut self, parts: &mut Vec<Part>, quoted: bool) {
        self.at += 2;
        let parsed = self.enclosed();
        parts.push(Part::Output { parsed, quoted });
    }

    fn backticks(&mut self, parts: &mut Vec<Part>, quoted: bool) {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.peek() {
                None => {
                    self.fault(Trouble::Malformed);
                    break;
                }
                Some(b'`') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') if matches!(self.ahead(1), Some(b'`' | b'\\' | b'$')) => {
                    text.push_str(self.slice(self.at + 1, self.at + 2));
                    self.at += 2;
                }
                Some(_) => {
                    let length = self.next_length();
                    text.push_str(self.slice(self.at, self.at + length));
                    self.at += length;
                }
            }
        }
        if !self.enter() {
            return;
        }
        let (parsed, trouble) = read_inside(&text, Some(self.span(start)), self.depth);
        self.depth -= 1;
        if let Some(trouble) = trouble {
            self.fault(trouble);
        }
        parts.push(Part::Output { parsed, quoted });
    }

    /// `${…}`.
    fn braced(&mut self, parts: &mut Vec<Part>, quoted: bool) {
        self.at += 2;
        let length_only = self.peek() == Some(b'#') && self.ahead(1) != Some(b'}');
        let indirect = self.peek() == Some(b'!') && self.ahead(1) != Some(b'}');
        self.at += usize::from(length_only || indirect);
        let rest = self.slice(self.at, self.end);
        let mut length = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        if length == 0 {
            length = rest.chars().next().map_or(0, char::len_utf8);
        }
        let name = rest.get(..length).unwrap_or_default().to_owned();
        self.at += length;
        let index = self.index();
        let operator = OPERATORS
            .into_iter()
            .find(|operator| self.starts(operator))
            .or_else(|| self.starts("^").then_some("^"))
            .or_else(|| self.starts(",").then_some(","))
            .or_else(|| self.starts("@").then_some("@"));
        self.at += operator.map_or(0, str::len);
        if !self.enter() {
            self.at = self.end;
            return;
        }
        let operand = self.expansions(Some(b'}'));
        self.depth -= 1;
        self.close(b'}');
        if length_only {
            let inside = index.into_iter().flatten().chain(operand);
            return parts.push(Part::Number(inside.collect()));
        }
        if operator.is_none() && !operand.is_empty() && !indirect {
            // Nothing a shell would take.
            self.fault(Trouble::Malformed);
            return parts.push(Part::Number(operand));
        }
        let parameter = Parameter {
            name,
            indirect,
            index,
            operation: operator.map(|operator| Operation { operator, operand }),
        };
        parts.push(Part::Variable { parameter, quoted });
    }

    fn index(&mut self) -> Option<Vec<Part>> {
        if self.peek() != Some(b'[') || !self.enter() {
            return None;
        }
        self.at += 1;
        let mut parts = Vec::new();
        let mut open = 0_usize;
        loop {
            let more = self.expansions(Some(b']'));
            open += more.iter().map(brackets).sum::<usize>();
            parts.extend(more);
            self.close(b']');
            if open == 0 || self.at >= self.end {
                break;
            }
            open -= 1;
            push(&mut parts, "]", true);
        }
        self.depth -= 1;
        Some(parts)
    }

    /// Where arithmetic that begins at `from` ends, if it is arithmetic.
    pub(super) fn arithmetic_end(&mut self, from: usize) -> Option<usize> {
        if self.no_arithmetic {
            return None;
        }
        let mut open = 0_usize;
        for (offset, byte) in self.slice(from, self.end).bytes().enumerate() {
            match byte {
                b'(' => open += 1,
                b')' if open > 0 => open -= 1,
                b')' => {
                    let at = from + offset;
                    return (self.slice(at, self.end).starts_with("))")).then_some(at);
                }
                _ => {}
            }
        }
        self.no_arithmetic = true;
        None
    }

    /// Reads arithmetic.
    pub(super) fn arithmetic(&mut self, from: usize, to: usize) -> Vec<Part> {
        let end = self.end;
        (self.at, self.end) = (from, to);
        let inside = if self.enter() {
            let inside = self.expansions(None);
            self.depth -= 1;
            inside
        } else {
            Vec::new()
        };
        (self.at, self.end) = (to + 2, end);
        vec![Part::Number(inside)]
    }

    /// `!(…)` and its kin.
    fn is_pattern_group(&self, start: usize) -> bool {
        let before = self.at.checked_sub(1).filter(|before| *before >= start);
        before
            .and_then(|before| self.text.as_bytes().get(before))
            .is_some_and(|byte| b"!@+*?".contains(byte))
    }

    fn pattern_group(&mut self, parts: &mut Vec<Part>) {
        let start = self.at;
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            self.at += self.next_length();
            match byte {
                b'(' => open += 1,
                b')' if open == 1 => {
                    return push(parts, self.slice(start, self.at), false);
                }
                b')' => open -= 1,
                b'$' | b'`' | b'\n' => break,
                _ => {}
            }
        }
        self.fault(Trouble::Malformed);
        self.at = self.at.max(start + 1);
    }
}

/// How many brackets a text opens.
fn brackets(part: &Part) -> usize {
    match part {
        Part::Text { text, .. } => text.matches('[').count(),
        Part::Variable { .. } | Part::Output { .. } | Part::Channel(_) | Part::Number(_) => 0,
    }
}

pub(super) fn variable(name: String, quoted: bool) -> Part {
    let parameter = Parameter {
        name,
        indirect: false,
        index: None,
        operation: None,
    };
    Part::Variable { parameter, quoted }
}

/// Adds text, joining it with what stands before it.
pub(super) fn push(parts: &mut Vec<Part>, more: &str, is_quoted: bool) {
    if let Some(Part::Text { text, quoted }) = parts.last_mut()
        && *quoted == is_quoted
    {
        return text.push_str(more);
    }
    parts.push(Part::Text {
        text: more.to_owned(),
        quoted: is_quoted,
    });
}
