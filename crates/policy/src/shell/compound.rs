//! Reads what holds other commands: groups, branches, loops and definitions.

use std::rc::Rc;

use super::read::{Reader, Trouble};
use super::tree::{Body, Branch, Part, Pipeline, Script, Stage, Word};
use super::word;

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
            "{" => self.group(),
            "if" => self.branching(),
            "while" | "until" => self.repeating(word),
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

    /// Reads up to one of these words and says which it was.
    fn part_until<'w>(&mut self, words: &[&'w str]) -> (Script, Option<&'w str>) {
        let script = self.list(words);
        let word = self.keyword();
        let word = words.iter().find(|known| word == Some(**known)).copied();
        match word {
            Some(word) => self.at += word.len(),
            None => self.fault(Trouble::Malformed),
        }
        (script, word)
    }

    fn group(&mut self) -> Body {
        self.at += 1;
        Body::Group(self.part_until(&["}"]).0)
    }

    fn branching(&mut self) -> Body {
        self.at += "if".len();
        let mut branches = Vec::new();
        let mut complete = false;
        loop {
            let (guard, then) = self.part_until(&["then"]);
            let (body, mut word) = match then {
                Some(_) => self.part_until(&["elif", "else", "fi"]),
                None => (Script::default(), None),
            };
            branches.push(Branch {
                guard,
                body,
                follows: false,
            });
            if word == Some("else") {
                let (body, end) = self.part_until(&["fi"]);
                branches.push(Branch {
                    guard: Script::default(),
                    body,
                    follows: false,
                });
                (word, complete) = (end, true);
            }
            if word != Some("elif") {
                return Body::Branches { branches, complete };
            }
        }
    }

    fn repeating(&mut self, opening: &str) -> Body {
        self.at += opening.len();
        let (condition, word) = self.part_until(&["do"]);
        let body = match word {
            Some(_) => self.part_until(&["done"]).0,
            None => Script::default(),
        };
        Body::While { condition, body }
    }

    /// The body of a `for`: between `do` and `done`, or in braces.
    fn loop_body(&mut self) -> Script {
        self.separators();
        match self.keyword() {
            Some("{") => {
                self.at += 1;
                self.part_until(&["}"]).0
            }
            _ => match self.part_until(&["do"]) {
                (_, Some(_)) => self.part_until(&["done"]).0,
                (before, None) => before,
            },
        }
    }

    fn for_loop(&mut self, opening: &str) -> Body {
        self.at += opening.len();
        self.blanks();
        if self.starts("((")
            && let Some(end) = self.arithmetic_end(self.at + 2)
        {
            let parts = self.arithmetic(self.at + 2, end);
            let condition = self.holding_script(parts);
            let body = self.loop_body();
            return Body::While { condition, body };
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
        } else {
            let parts = vec![word::variable("@".to_owned(), true)];
            let span = self.span(self.at);
            values.push(Word { parts, span });
        }
        if opening == "select" {
            // Nobody knows what is answered, or whether anything is.
            let parts = vec![Part::Number(Vec::new())];
            let span = self.span(self.at);
            values.push(Word { parts, span });
        }
        let body = self.loop_body();
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
        self.gap();
        if self.keyword() == Some("in") {
            self.at += 2;
            return self.arms(subject.parts);
        }
        self.fault(Trouble::Malformed);
        self.holding(subject.parts)
    }

    /// The branches of a `case`. What the subject and the patterns run, runs first.
    fn arms(&mut self, mut held: Vec<Part>) -> Body {
        let mut branches = Vec::new();
        let (mut complete, mut follows) = (false, false);
        loop {
            self.gap();
            if self.keyword() == Some("esac") {
                self.at += "esac".len();
                break;
            }
            if self.peek() == Some(b'(') {
                self.at += 1;
            }
            complete |= self.patterns(&mut held);
            if self.peek() != Some(b')') {
                self.fault(Trouble::Malformed);
                break;
            }
            self.at += 1;
            let guard = self.holding_script(std::mem::take(&mut held));
            let body = self.list(&["esac"]);
            branches.push(Branch {
                guard,
                body,
                follows,
            });
            let start = self.at;
            while matches!(self.peek(), Some(b';' | b'&')) {
                self.at += 1;
            }
            follows = self.slice(start, self.at).contains('&');
        }
        if !held.is_empty() {
            branches.push(Branch {
                guard: self.holding_script(held),
                body: Script::default(),
                follows,
            });
        }
        Body::Branches { branches, complete }
    }

    /// Reads the patterns of a branch for what runs in them. Whether one of them holds for everything.
    fn patterns(&mut self, held: &mut Vec<Part>) -> bool {
        let mut all = false;
        loop {
            self.blanks();
            match self.peek() {
                Some(b'|') => self.at += 1,
                None | Some(b')' | b'\n' | b';') => return all,
                Some(_) => {
                    let before = self.at;
                    let word = self.word();
                    if self.at == before {
                        return all;
                    }
                    all |= self.slice(before, self.at) == "*";
                    let runs = |part: &Part| !matches!(part, Part::Text { .. });
                    held.extend(word.parts.into_iter().filter(runs));
                }
            }
        }
    }

    /// A script that runs nothing but what these parts contain.
    fn holding_script(&mut self, parts: Vec<Part>) -> Script {
        let body = self.holding(parts);
        let stage = Stage {
            body,
            redirects: Vec::new(),
            span: self.span(self.at),
        };
        Script {
            pipelines: vec![Pipeline::of(stage)],
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
            let body = self.group();
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
            pipelines: vec![Pipeline::of(stage)],
        };
        let body = Rc::new(body);
        Body::Function { name, body }
    }

    /// `[[ … ]]`: operators inside are not those of commands.
    fn condition(&mut self) -> Body {
        let start = self.at;
        self.at += 2;
        let parts = vec![Part::Text {
            text: "[[".to_owned(),
            quoted: true,
        }];
        let span = self.span(start);
        let mut words = vec![Word { parts, span }];
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
            let word = self.word();
            if self.at == before {
                self.at += self.next_length();
            } else {
                words.push(word);
            }
        }
        let assignments = Vec::new();
        Body::Simple { assignments, words }
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
