//! Reads redirections and here-documents.

use super::read::{Reader, Trouble, Waiting, is_name};
use super::tree::{Flow, Part, Redirect, Span, Target, Word};

impl Reader<'_> {
    pub(super) fn here_document(&mut self, waiting: &Waiting) {
        let start = self.at;
        let mut stop = self.end;
        let mut text = String::new();
        while self.at < self.end {
            let rest = self.slice(self.at, self.end);
            let length = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
            let line = self.slice(self.at, self.at + length);
            let line = if waiting.tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if line.strip_suffix('\n').unwrap_or(line) == waiting.delimiter {
                stop = self.at;
                self.at += length;
                break;
            }
            text.push_str(line);
            self.at += length;
        }
        let parts = if waiting.quoted {
            vec![Part::Text { text, quoted: true }]
        } else {
            self.part_of(start, stop)
        };
        let span = self.fixed.unwrap_or(Span { start, end: stop });
        if let Some(body) = self.bodies.get_mut(waiting.body) {
            *body = Word { parts, span };
        }
    }

    /// Reads a stretch as the inside of double quotes.
    pub(super) fn part_of(&mut self, start: usize, stop: usize) -> Vec<Part> {
        let (at, end) = (self.at, self.end);
        (self.at, self.end) = (start, stop);
        let parts = self.expansions(None);
        (self.at, self.end) = (at, end);
        parts
    }

    /// The redirections behind a compound command.
    pub(super) fn redirects(&mut self) -> Vec<Redirect> {
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect() {
                Some(redirect) => redirects.push(redirect),
                None => return redirects,
            }
        }
    }

    pub(super) fn redirect(&mut self) -> Option<Redirect> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start && self.starts("{") {
            let rest = self.slice(self.at + 1, self.end);
            let close = rest.bytes().take(MAX_NAME).position(|byte| byte == b'}');
            let name = close.and_then(|close| rest.get(..close));
            if name.is_some_and(is_name) {
                self.at += name.map_or(0, str::len) + 2;
            }
        }
        const OPERATORS: [(&str, Flow); 12] = [
            ("<<<", Flow::Here),
            ("<<-", Flow::Here),
            ("<<", Flow::Here),
            ("<&", Flow::In),
            ("<>", Flow::Out),
            ("&>>", Flow::Append),
            ("&>", Flow::Out),
            (">>", Flow::Append),
            (">&", Flow::Out),
            (">|", Flow::Out),
            ("<", Flow::In),
            (">", Flow::Out),
        ];
        let found = OPERATORS
            .iter()
            .find(|(operator, _)| self.starts(operator))
            .filter(|_| !self.starts("<(") && !self.starts(">("));
        let Some((operator, flow)) = found else {
            self.at = start;
            return None;
        };
        self.at += operator.len();
        self.blanks();
        let target = if matches!(*operator, "<<" | "<<-") {
            self.delimiter(*operator == "<<-")
        } else {
            Target::Word(self.word())
        };
        let flow = *flow;
        Some(Redirect { flow, target })
    }

    fn delimiter(&mut self, tabs: bool) -> Target {
        let word = self.word();
        let mut delimiter = String::new();
        let mut is_quoted = false;
        for part in &word.parts {
            if let Part::Text { text, quoted } = part {
                delimiter.push_str(text);
                is_quoted |= quoted;
            } else {
                self.fault(Trouble::Malformed);
            }
        }
        // To a shell a carriage return is a part of the word, and of the line that must be equal to it.
        while self.peek() == Some(b'\r') {
            delimiter.push('\r');
            self.at += 1;
        }
        let body = self.bodies.len();
        self.waiting.push(Waiting {
            body,
            delimiter,
            quoted: is_quoted,
            tabs,
        });
        self.bodies.push(word);
        Target::Body(body)
    }
}

/// How long the name of a variable that holds a descriptor may be.
const MAX_NAME: usize = 64;
