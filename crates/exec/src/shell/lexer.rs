//! Where the commands of a shell text begin and end.
//!
//! Enough of the grammar to tell commands from quoted text, in one pass and without a limit on the
//! length. Not a judge of what is allowed: that is the policy's parser.

use std::ops::Range;

/// One piece of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    /// `;`, `;;` and the end of a line.
    End,
    /// `&` on its own.
    Background,
    /// `&&` and `||`.
    AndOr,
    /// `|` and `|&`.
    Pipe,
    Open,
    Close,
    /// The operator; the word after it is where to.
    Redirect,
}

/// The tokens of a text; comments and the bodies of here-documents are none.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer {
        bytes: text.as_bytes(),
        at: 0,
        heredocs: Vec::new(),
        found: Vec::new(),
        depth: 0,
    };
    lexer.run();
    lexer.found
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Words that end the here-documents of this line, and whether tabs before them are ignored.
    heredocs: Vec<(Vec<u8>, bool)>,
    found: Vec<Token>,
    /// How many quotes and substitutions we are inside of.
    depth: usize,
}

/// Deeper than anybody writes; what is deeper counts as plain text.
const DEEPEST: usize = 100;

/// Operators, longest first.
const OPERATORS: &[(&[u8], Kind)] = &[
    (b"&>>", Kind::Redirect),
    (b"<<<", Kind::Redirect),
    (b"<<-", Kind::Redirect),
    (b"&&", Kind::AndOr),
    (b"||", Kind::AndOr),
    (b"|&", Kind::Pipe),
    (b";;", Kind::End),
    (b"&>", Kind::Redirect),
    (b">>", Kind::Redirect),
    (b">&", Kind::Redirect),
    (b"<&", Kind::Redirect),
    (b">|", Kind::Redirect),
    (b"<>", Kind::Redirect),
    (b"<<", Kind::Redirect),
    (b"&", Kind::Background),
    (b"|", Kind::Pipe),
    (b";", Kind::End),
    (b"\n", Kind::End),
    (b"(", Kind::Open),
    (b")", Kind::Close),
    (b"<", Kind::Redirect),
    (b">", Kind::Redirect),
];

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn run(&mut self) {
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.peek(1) == b'\n' => self.at += 2,
                b'#' => self.skip_until(|byte| byte == b'\n'),
                _ if self.operator() => {}
                _ => self.word(),
            }
        }
    }

    fn skip_until(&mut self, stop: impl Fn(u8) -> bool) {
        while self.at < self.bytes.len() && !stop(self.peek(0)) {
            self.at += 1;
        }
    }

    fn operator(&mut self) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        // `<(` and `>(` begin a word.
        if matches!(rest, [b'<' | b'>', b'(', ..]) {
            return false;
        }
        let Some((text, kind)) = OPERATORS.iter().find(|(text, _)| rest.starts_with(text)) else {
            return false;
        };
        let start = self.at;
        self.at += text.len();
        self.found.push(Token {
            kind: *kind,
            span: start..self.at,
        });
        match *text {
            b"<<" | b"<<-" => self.heredoc_word(*text == b"<<-"),
            b"\n" => self.skip_heredocs(),
            _ => {}
        }
        true
    }

    fn heredoc_word(&mut self, tabs: bool) {
        self.skip_until(|byte| !matches!(byte, b' ' | b'\t'));
        let start = self.at;
        self.word();
        let word = self.bytes.get(start..self.at).unwrap_or_default();
        let plain = word
            .iter()
            .copied()
            .filter(|byte| !matches!(byte, b'\'' | b'"' | b'\\'))
            .collect();
        self.heredocs.push((plain, tabs));
    }

    fn skip_heredocs(&mut self) {
        for (end, tabs) in std::mem::take(&mut self.heredocs) {
            while self.at < self.bytes.len() {
                let start = self.at;
                self.skip_until(|byte| byte == b'\n');
                let line = self.bytes.get(start..self.at).unwrap_or_default();
                self.at += 1;
                let kept = line.iter().skip_while(|byte| tabs && **byte == b'\t');
                if kept.eq(end.iter()) {
                    break;
                }
            }
        }
    }

    fn word(&mut self) {
        let start = self.at;
        loop {
            match self.peek(0) {
                0 if self.at >= self.bytes.len() => break,
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b')' => break,
                b'(' if self.at > start && self.bytes.get(self.at - 1) == Some(&b'=') => {
                    self.nested(b')');
                }
                b'(' => break,
                b'<' | b'>' if self.peek(1) == b'(' => {
                    self.at += 1;
                    self.nested(b')');
                }
                b'<' | b'>' => break,
                _ => self.piece(),
            }
        }
        let kind = match self.bytes.get(start..self.at) {
            // A descriptor's number belongs to the redirection behind it.
            Some(number)
                if matches!(self.peek(0), b'<' | b'>')
                    && !number.is_empty()
                    && number.iter().all(u8::is_ascii_digit) =>
            {
                return;
            }
            _ => Kind::Word,
        };
        if self.at == start {
            // Nothing a word can begin with; taking it as one keeps the text moving.
            self.at += 1;
        }
        self.found.push(Token {
            kind,
            span: start..self.at.min(self.bytes.len()),
        });
    }

    /// One character of a word, or one quoted or substituted part of it.
    fn piece(&mut self) {
        if self.depth == DEEPEST {
            self.at += 1;
            return;
        }
        self.depth += 1;
        self.part();
        self.depth -= 1;
    }

    fn part(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (b'\\', _) => self.at += 2,
            (b'\'', _) => {
                self.at += 1;
                self.skip_until(|byte| byte == b'\'');
                self.at += 1;
            }
            (b'$', b'\'') => {
                self.at += 2;
                self.quoted(b'\'', false);
            }
            (b'"', _) => {
                self.at += 1;
                self.quoted(b'"', true);
            }
            (b'`', _) => {
                self.at += 1;
                self.quoted(b'`', false);
            }
            (b'$', b'(') => {
                self.at += 1;
                self.nested(b')');
            }
            (b'$', b'{') => {
                self.at += 1;
                self.nested(b'}');
            }
            _ => self.at += 1,
        }
        self.at = self.at.min(self.bytes.len());
    }

    /// Up to a closing mark; a backslash takes the next character with it.
    fn quoted(&mut self, end: u8, substitutes: bool) {
        while self.at < self.bytes.len() {
            match self.peek(0) {
                byte if byte == end => {
                    self.at += 1;
                    return;
                }
                b'\\' => self.at += 2,
                b'$' | b'`' if substitutes => self.piece(),
                _ => self.at += 1,
            }
        }
    }

    /// From an opening bracket to the one that closes it.
    fn nested(&mut self, end: u8) {
        let mut open: Vec<u8> = Vec::new();
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'(' => open.push(b')'),
                b'{' if end == b'}' => open.push(b'}'),
                byte if open.last() == Some(&byte) => {
                    open.pop();
                    if open.is_empty() {
                        self.at += 1;
                        return;
                    }
                }
                b'$' if matches!(self.peek(1), b'(' | b'{') => {}
                b'\\' | b'\'' | b'"' | b'`' | b'$' => {
                    self.piece();
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn any_text_is_gone_through(text in "([a-z ]|[;&|<>(){}$`'\"\\\\\n#=]|<<E\n){0,80}") {
            for token in tokens(&text) {
                proptest::prop_assert!(text.get(token.span).is_some());
            }
        }
    }
}
