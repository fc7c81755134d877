//! Thinking that a model writes into its text, between tags. It is shown as thinking and never kept as
//! text. What an external memory recalled and a model repeats goes the same way, and is not shown either.
//!
//! A tag opens at the start of a line, and inside of one when it is closed there too, outside of code: an answer that
//! explains what `<think>` means stays whole.

use hermes_memory::FENCE;

/// The names such tags have.
const NAMES: [&str; 6] = [
    "think",
    "thinking",
    "reasoning",
    "thought",
    "REASONING_SCRATCHPAD",
    FENCE,
];

/// The longest tag, `</REASONING_SCRATCHPAD>`, and a little room.
const LONGEST_TAG: usize = 24;

/// Most bytes between two tags inside of a line; more of it would be held back for too long.
const LONGEST_INSIDE: usize = 8 * 1024;

/// What a piece of text turned out to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pieces {
    pub(crate) said: String,
    pub(crate) thought: String,
}

/// Splits text as it comes in. What may be the beginning of a tag is held back.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    held: String,
    /// The tag that is open.
    inside: Option<&'static str>,
    /// Whether something other than space was said on the line under way.
    mid_line: bool,
    spoken: bool,
    /// Space behind a closed tag belongs to nobody.
    swallow_space: bool,
    /// Nor do blanks behind one that follows a blank.
    swallow_blanks: bool,
    after_blank: bool,
    marks: Marks,
}

/// Where in Markdown a text is.
#[derive(Debug, Clone, Copy, Default)]
struct Marks {
    /// Between two lines of three backticks.
    fenced: bool,
    /// Behind a backtick that is not closed on its line.
    quoted: bool,
    /// Backticks that the line under way begins with; nothing once something else came.
    leading: Lead,
}

/// How a line began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    Backticks(u8),
    Other,
}

impl Default for Lead {
    fn default() -> Self {
        Self::Backticks(0)
    }
}

impl Marks {
    fn is_code(self) -> bool {
        self.fenced || self.quoted
    }

    fn pass(&mut self, text: &str) {
        for letter in text.chars() {
            match (letter, self.leading) {
                ('\n', _) => (self.leading, self.quoted) = (Lead::default(), false),
                (' ' | '\t', Lead::Backticks(0)) => {}
                ('`', Lead::Backticks(2)) => {
                    self.fenced = !self.fenced;
                    (self.leading, self.quoted) = (Lead::Other, false);
                }
                ('`', Lead::Backticks(before)) => {
                    self.leading = Lead::Backticks(before + 1);
                    self.quoted = !self.quoted;
                }
                ('`', Lead::Other) => self.quoted = !self.quoted,
                (_, _) => self.leading = Lead::Other,
            }
        }
    }
}

/// What the text up to the end of its line begins with.
enum Ahead {
    /// So many bytes that are said.
    Said(usize),
    /// The same, and behind them what cannot be told yet.
    SaidAndUnclear(usize),
    /// The same, and behind them a thought between tags.
    SaidAndThought(usize, Pair),
}

/// A thought between tags.
struct Pair {
    name: &'static str,
    /// How long the tag in front of it is, and it itself.
    tag: usize,
    thought: usize,
}

impl Filter {
    /// Takes the next piece in.
    pub(crate) fn push(&mut self, text: &str) -> Pieces {
        self.held.push_str(text);
        let mut out = Pieces::default();
        while self.advance(&mut out, false) {}
        out
    }

    /// Nothing more comes: what was held back is text after all.
    pub(crate) fn finish(&mut self) -> Pieces {
        let mut out = Pieces::default();
        while self.advance(&mut out, true) {}
        let rest = std::mem::take(&mut self.held);
        match self.inside {
            Some(name) => thought(name, &rest, &mut out),
            None => self.say(&rest, &mut out),
        }
        out
    }

    /// Whether anything but thinking came.
    pub(crate) fn has_spoken(&self) -> bool {
        self.spoken
    }

    /// Moves on behind the next tag or line; `false` when more text is needed.
    fn advance(&mut self, out: &mut Pieces, last: bool) -> bool {
        if self.held.is_empty() {
            return false;
        }
        if let Some(name) = self.inside {
            let closing = format!("</{name}>");
            return match find_ignoring_case(&self.held, &closing) {
                Some(at) => {
                    thought(name, &self.held[..at], out);
                    self.held.drain(..at + closing.len());
                    self.inside = None;
                    self.swallow_space = !self.spoken;
                    true
                }
                None => {
                    let keep = if last { 0 } else { closing.len() - 1 };
                    let ready = floor(&self.held, self.held.len().saturating_sub(keep));
                    thought(name, &self.held[..ready], out);
                    self.held.drain(..ready);
                    false
                }
            };
        }
        let start = self.held.len() - self.held.trim_start_matches([' ', '\t']).len();
        if !self.mid_line && self.held[start..].starts_with('<') {
            let rest = &self.held[start..];
            if let Some((name, length)) = opening(rest) {
                self.inside = Some(name);
                self.held.drain(..start + length);
                return true;
            }
            if !last && rest.len() < LONGEST_TAG && !rest.contains('>') {
                return false;
            }
        } else if !self.mid_line && start == self.held.len() && !last {
            return false;
        }
        match self.ahead(last) {
            Ahead::Said(length) => {
                self.take(length, out);
                true
            }
            Ahead::SaidAndUnclear(length) => {
                self.take(length, out);
                false
            }
            Ahead::SaidAndThought(length, pair) => {
                self.take(length, out);
                let closing = pair.name.len() + 3;
                let whole: String = self
                    .held
                    .drain(..pair.tag + pair.thought + closing)
                    .collect();
                thought(pair.name, &whole[pair.tag..pair.tag + pair.thought], out);
                self.swallow_blanks = self.after_blank;
                true
            }
        }
    }

    /// Looks for a thought inside of the line under way.
    fn ahead(&self, last: bool) -> Ahead {
        let end = self.held.find('\n').map(|at| at + 1);
        let line = &self.held[..end.unwrap_or(self.held.len())];
        let open = end.is_none() && !last;
        let mut marks = self.marks;
        let mut passed = 0;
        for (at, _) in line.match_indices('<') {
            marks.pass(&line[passed..at]);
            passed = at;
            let rest = &line[at..];
            if marks.is_code() {
                continue;
            }
            let Some((name, tag)) = opening(rest) else {
                if open && may_open(rest) {
                    return Ahead::SaidAndUnclear(at);
                }
                continue;
            };
            let closing = format!("</{name}>");
            let most = floor(rest, rest.len().min(tag + LONGEST_INSIDE + closing.len()));
            match find_ignoring_case(&rest[tag..most], &closing) {
                Some(thought) => {
                    return Ahead::SaidAndThought(at, Pair { name, tag, thought });
                }
                None if open && rest.len() < tag + LONGEST_INSIDE + closing.len() => {
                    return Ahead::SaidAndUnclear(at);
                }
                None => {}
            }
        }
        Ahead::Said(line.len())
    }

    /// Says so much of what is held.
    fn take(&mut self, length: usize, out: &mut Pieces) {
        let piece: String = self.held.drain(..length).collect();
        self.say(&piece, out);
        if !piece.is_empty() {
            self.mid_line = !piece.ends_with('\n');
        }
    }

    fn say(&mut self, piece: &str, out: &mut Pieces) {
        self.marks.pass(piece);
        let piece = match (self.swallow_space, self.swallow_blanks) {
            (true, _) => piece.trim_start(),
            (false, true) => piece.trim_start_matches([' ', '\t']),
            (false, false) => piece,
        };
        if let Some(end) = piece.chars().next_back() {
            self.swallow_space = false;
            self.swallow_blanks = false;
            self.after_blank = matches!(end, ' ' | '\t');
        }
        self.spoken |= !piece.trim().is_empty();
        out.said.push_str(piece);
    }
}

/// What stands between tags is thinking, unless it was ours.
fn thought(name: &str, piece: &str, out: &mut Pieces) {
    if name != FENCE {
        out.thought.push_str(piece);
    }
}

/// Splits a whole text into what is said and what is thought.
pub(crate) fn split(text: &str) -> (String, String) {
    if !text.contains('<') {
        return (text.to_owned(), String::new());
    }
    let mut filter = Filter::default();
    let mut pieces = filter.push(text);
    let rest = filter.finish();
    pieces.said.push_str(&rest.said);
    pieces.thought.push_str(&rest.thought);
    (pieces.said, pieces.thought)
}

/// Whether more text could make it begin with a tag.
fn may_open(text: &str) -> bool {
    let begins = |name: &&str| {
        let tag = format!("<{name}>");
        let start = tag.as_bytes().get(..text.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(text.as_bytes()))
    };
    NAMES.iter().any(begins)
}

/// The tag a text begins with, and how long it is.
fn opening(text: &str) -> Option<(&'static str, usize)> {
    NAMES.iter().find_map(|name| {
        let length = name.len() + 2;
        let tag = text.get(..length)?;
        let inside = tag.strip_prefix('<')?.strip_suffix('>')?;
        inside.eq_ignore_ascii_case(name).then_some((*name, length))
    })
}

fn find_ignoring_case(text: &str, wanted: &str) -> Option<usize> {
    text.as_bytes()
        .windows(wanted.len())
        .position(|window| window.eq_ignore_ascii_case(wanted.as_bytes()))
}

/// The nearest place at or before `at` where a character begins.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, said: &str, thought: &str) {
        assert_eq!(
            split(text),
            (said.to_owned(), thought.to_owned()),
            "{text:?}"
        );
    }

    #[test]
    fn thinking_is_taken_out() {
        check("plain", "plain", "");
        check("<think>a b</think>\n\nHello", "Hello", "a b");
        check("<THINKING>a</thinking>x", "x", "a");
        check("  <thought>t</thought>x", "x", "t");
        check("Use the <think> tag.", "Use the <think> tag.", "");
        check("Line\n<reasoning>r</reasoning>\nmore", "Line\n\nmore", "r");
        check("<think>never closed", "", "never closed");
        check("a < b and <b>bold</b>", "a < b and <b>bold</b>", "");
        check("<thin", "<thin", "");
        check("<memory-context>a b</memory-context>\n\nHello", "Hello", "");
    }

    // AG-18
    #[test]
    fn thinking_inside_of_a_line_is_taken_out_where_it_is_closed() {
        check(
            "Sure. <think>hidden plan</think> Four.",
            "Sure. Four.",
            "hidden plan",
        );
        check("A<Thought>t</thought>, b", "A, b", "t");
        check(
            "One <think>a</think> two <think>b</think>",
            "One two ",
            "ab",
        );
        check(
            "It is <memory-context>x</memory-context>so.",
            "It is so.",
            "",
        );
        // Not closed on its line: words about a tag.
        check(
            "Use <think>.\nThen </think>.",
            "Use <think>.\nThen </think>.",
            "",
        );
        check(
            "Use <think> or <reasoning>r</reasoning>.",
            "Use <think> or .",
            "r",
        );
        // Code is shown as it is written.
        for code in [
            "Write `<think>a</think>` around it.",
            "```python\nre.sub(r\"<think>.*?</think>\", \"\", text)\n```\nDone.",
            "  ```\nx = '<think>a</think>'\n  ```",
        ] {
            check(code, code, "");
        }
        check(
            "```\na\n```\nSo. <think>b</think>",
            "```\na\n```\nSo. ",
            "b",
        );
        let long = format!("A <think>{}</think>", "x".repeat(LONGEST_INSIDE + 1));
        check(&long, &long, "");
    }

    proptest! {
        // Any cut of the text gives the same pieces.
        #[test]
        fn cuts_do_not_matter(text in "(<think>|</think>|<reasoning>|</reasoning>|```|[a-z <>`\\n/ü]{0,6}){0,8}", cut in 0usize..60) {
            let at = floor(&text, cut.min(text.len()));
            let mut filter = Filter::default();
            let mut all = Pieces::default();
            let second = text[at..].to_owned();
            for pieces in [filter.push(&text[..at]), filter.push(&second), filter.finish()] {
                all.said.push_str(&pieces.said);
                all.thought.push_str(&pieces.thought);
            }
            let mut whole = Filter::default();
            let mut expected = whole.push(&text);
            let rest = whole.finish();
            expected.said.push_str(&rest.said);
            expected.thought.push_str(&rest.thought);
            prop_assert_eq!(all, expected);
        }
    }
}
