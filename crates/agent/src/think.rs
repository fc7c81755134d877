//! Thinking that a model writes into its text, between tags. It is shown as thinking and never kept as
//! text. What an external memory recalled and a model repeats goes the same way, and is not shown either.
//!
//! A tag opens only at the start of a line: an answer that explains what `<think>` means stays whole.

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
            Some(_) => self.thought(&rest, &mut out),
            None => self.say(&rest, &mut out),
        }
        out
    }

    /// Whether anything but thinking came.
    pub(crate) fn has_spoken(&self) -> bool {
        self.spoken
    }

    /// What stands between tags is thinking, unless it was ours.
    fn thought(&self, piece: &str, out: &mut Pieces) {
        if self.inside != Some(FENCE) {
            out.thought.push_str(piece);
        }
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
                    self.thought(&self.held[..at], out);
                    self.held.drain(..at + closing.len());
                    self.inside = None;
                    self.swallow_space = !self.spoken;
                    true
                }
                None => {
                    let keep = if last { 0 } else { closing.len() - 1 };
                    let ready = floor(&self.held, self.held.len().saturating_sub(keep));
                    self.thought(&self.held[..ready], out);
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
        let line = self.held.find('\n').map_or(self.held.len(), |at| at + 1);
        let piece: String = self.held.drain(..line).collect();
        self.say(&piece, out);
        self.mid_line = !piece.ends_with('\n');
        true
    }

    fn say(&mut self, piece: &str, out: &mut Pieces) {
        let piece = if self.swallow_space {
            piece.trim_start()
        } else {
            piece
        };
        if !piece.is_empty() {
            self.swallow_space = false;
        }
        self.spoken |= !piece.trim().is_empty();
        out.said.push_str(piece);
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

    proptest! {
        // Any cut of the text gives the same pieces.
        #[test]
        fn cuts_do_not_matter(text in "(<think>|</think>|<reasoning>|</reasoning>|[a-z <>\\n/ü]{0,6}){0,8}", cut in 0usize..60) {
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
