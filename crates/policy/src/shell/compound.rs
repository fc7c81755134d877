//! Reads what holds other commands: groups, branches, loops and definitions.

use std::rc::Rc;

use super::read::{Reader, Trouble};
use super::tree::{Body, Part, Pipeline, Script, Stage, Word};

const LONGEST_KEYWORD: usize = "function".len();

impl<'t> Reader<'t> {
    /// The word of small letters and signs here, if it stands alone.
    pub(super) fn keyword(&self) -> Option<&'t str> {
        let rest = self.slice(self.at, self.end);
        let length = match rest.as_bytes().first()? {
            b'{' | b'}' | b'!' => 1,
            b'[' => 2,
            _ => {
                let letters = rest.bytes().take(LONGEST_KEYWORD + 1);
                letters.take_while(u8::is_ascii_lowercase).count()
            }
        };
        let word = rest.get(..length).filter(|word| !word.is_empty())?;
        let behind = self.ahead(length);
        let alone = match word {
            "}" => !behind.is_some_and(|byte| byte.is_ascii_alphanumeric()),
            _ => behind.is_none_or(|byte| b" \t\r\n;&|<>()".contains(&byte)),
        };
        (alone && (word != "[[" || rest.starts_with("[["))).then_some(word)
    }

    pub(super) fn stage(&mut self) -> Stage {
        let start = self.at;
        if !self.enter() {
            self.at = self.end;
            return self.simple();
        }
        let body = self.compound();
        let stage = match body {
            None => self.simple(),
            Some(body) => Stage {
                body,
                redirects: self.redirects(),
                span: self.span(start),
            },
        };
        self.depth -= 1;
        stage
    }

    fn compound(&mut self) -> Option<Body> {
        if self.peek() == Some(b'(') {
            return Some(self.parentheses());
        }
        let word = self.keyword()?;
        let body = match word {
            "{" => self.group(word, "}", &[]),
            "if" => self.group(word, "fi", &["then", "elif", "else"]),
            "while" | "until" => self.group(word, "done", &["do"]),
            "for" | "select" => self.for_loop(word),
            "case" => self.case(),
            "function" => self.function(),
            "[[" => self.condition(),
            _ => return None,
        };
        Some(body)
    }

    fn parentheses(&mut self) -> Body {
        if self.starts("((")
            && let Some(end) = self.arithmetic_end(self.at + 2)
        {
            let parts = self.arithmetic(self.at + 2, end);
            return self.holding(parts);
        }
        self.at += 1;
        let script = self.list(&[]);
        self.close(b')');
        Body::Subshell(script)
    }

    /// A body that runs nothing but what its parts contain.
    fn holding(&mut self, parts: Vec<Part>) -> Body {
        let span = self.span(self.at);
        let quiet = Part::Text {
            text: ":".to_owned(),
            quoted: true,
        };
        let name = Word {
            parts: vec![quiet],
            span,
        };
        let words = vec![name, Word { parts, span }];
        let assignments = Vec::new();
        Body::Simple { assignments, words }
    }

    /// Reads up to `closing`; the words in `between` separate branches, and every branch may run.
    fn branches(&mut self, closing: &str, between: &[&str]) -> Script {
        let mut until = vec![closing];
        until.extend(between);
        let mut script = Script::default();
        loop {
            script.pipelines.extend(self.list(&until).pipelines);
            match self.keyword() {
                Some(word) if word == closing => {
                    self.at += word.len();
                    return script;
                }
                Some(word) if between.contains(&word) => self.at += word.len(),
                _ => {
                    self.fault(Trouble::Malformed);
                    return script;
                }
            }
        }
    }

    fn group(&mut self, opening: &str, closing: &str, between: &[&str]) -> Body {
        self.at += opening.len();
        Body::Group(self.branches(closing, between))
    }

    fn for_loop(&mut self, opening: &str) -> Body {
        self.at += opening.len();
        self.blanks();
        if self.starts("((")
            && let Some(end) = self.arithmetic_end(self.at + 2)
        {
            let mut parts = self.arithmetic(self.at + 2, end);
            let mut body = self.branches("done", &["do"]);
            parts.retain(|part| matches!(part, Part::Number(inner) if !inner.is_empty()));
            if !parts.is_empty() {
                let held = self.holding(parts);
                body.pipelines.push(Pipeline {
                    stages: vec![Stage {
                        body: held,
                        redirects: Vec::new(),
                        span: self.span(self.at),
                    }],
                    background: false,
                });
            }
            return Body::Group(body);
        }
        let name = self.slice(self.at, self.end);
        let length = name
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        let variable = name.get(..length).unwrap_or_default().to_owned();
        self.at += length;
        self.blanks();
        let mut values = Vec::new();
        while self.peek() == Some(b'\n') {
            self.newline();
            self.blanks();
        }
        if self.keyword() == Some("in") {
            self.at += 2;
            values = self.words_until(b";\n&|)<>");
        }
        let body = self.branches("done", &["do"]);
        Body::Loop {
            variable,
            values,
            body,
        }
    }

    pub(super) fn words_until(&mut self, stops: &[u8]) -> Vec<Word> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                None => return words,
                Some(byte) if stops.contains(&byte) => return words,
                Some(_) => {}
            }
            let before = self.at;
            let word = self.word();
            if self.at == before {
                self.fault(Trouble::Malformed);
                return words;
            }
            words.push(word);
        }
    }

    fn case(&mut self) -> Body {
        self.at += "case".len();
        self.blanks();
        let subject = self.word();
        let mut script = Script::default();
        self.gap();
        if self.keyword() != Some("in") {
            self.fault(Trouble::Malformed);
            return Body::Group(script);
        }
        self.at += 2;
        loop {
            self.gap();
            if self.keyword() == Some("esac") {
                self.at += "esac".len();
                break;
            }
            if self.peek() == Some(b'(') {
                self.at += 1;
            }
            self.patterns();
            if self.peek() != Some(b')') {
                self.fault(Trouble::Malformed);
                break;
            }
            self.at += 1;
            script.pipelines.extend(self.list(&["esac"]).pipelines);
            while matches!(self.peek(), Some(b';' | b'&')) {
                self.at += 1;
            }
        }
        // What the subject runs, runs first.
        let held = self.holding(subject.parts);
        let stage = Stage {
            body: held,
            redirects: Vec::new(),
            span: subject.span,
        };
        script.pipelines.insert(
            0,
            Pipeline {
                stages: vec![stage],
                background: false,
            },
        );
        Body::Group(script)
    }

    fn patterns(&mut self) {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'|') => self.at += 1,
                None | Some(b')' | b'\n' | b';') => return,
                Some(_) => {
                    let before = self.at;
                    self.word();
                    if self.at == before {
                        return;
                    }
                }
            }
        }
    }

    pub(super) fn gap(&mut self) {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'\n') => self.newline(),
                Some(b'#') => {
                    let rest = self.slice(self.at, self.end);
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    fn function(&mut self) -> Body {
        self.at += "function".len();
        self.blanks();
        let name = self.word();
        self.blanks();
        if self.starts("()") {
            self.at += 2;
        }
        self.defined(plain(&name))
    }

    /// `name () body`, with the reader at the parenthesis.
    pub(super) fn definition(&mut self, start: usize, name: Option<Word>) -> Stage {
        self.at += 1;
        self.blanks();
        self.close(b')');
        let name = name.as_ref().map(plain).unwrap_or_default();
        let body = self.defined(name);
        let redirects = self.redirects();
        let span = self.span(start);
        Stage {
            body,
            redirects,
            span,
        }
    }

    fn defined(&mut self, name: String) -> Body {
        self.gap();
        // Some shells take a brace without a blank behind it.
        let stage = if self.peek() == Some(b'{') && self.keyword().is_none() && self.enter() {
            let start = self.at;
            let body = self.group("{", "}", &[]);
            self.depth -= 1;
            let redirects = self.redirects();
            let span = self.span(start);
            Stage {
                body,
                redirects,
                span,
            }
        } else {
            self.stage()
        };
        if matches!(stage.body, Body::Simple { .. }) {
            self.fault(Trouble::Malformed);
        }
        let body = Script {
            pipelines: vec![Pipeline {
                stages: vec![stage],
                background: false,
            }],
        };
        let body = Rc::new(body);
        Body::Function { name, body }
    }

    /// `[[ … ]]`: operators inside are not those of commands.
    fn condition(&mut self) -> Body {
        self.at += 2;
        let mut parts = Vec::new();
        loop {
            self.gap();
            if self.starts("]]") {
                self.at += 2;
                break;
            }
            if self.peek().is_none() {
                self.fault(Trouble::Malformed);
                break;
            }
            let before = self.at;
            parts.extend(self.word().parts);
            if self.at == before {
                self.at += self.next_length();
            }
        }
        parts.retain(|part| !matches!(part, Part::Text { .. }));
        self.holding(parts)
    }
}

/// The text of a word that has no expansion.
fn plain(word: &Word) -> String {
    let texts = word.parts.iter().map(|part| match part {
        Part::Text { text, .. } => text.as_str(),
        Part::Variable { .. } | Part::Output { .. } | Part::Channel(_) | Part::Number(_) => "",
    });
    texts.collect()
}
