//! Texts the shell evaluates once more: arithmetic, the index of an array, a prompt.

use super::field::{Carried, HOLE};
use super::invocation::Input;
use super::read::is_name;
use super::resolve::Resolver;
use super::tree::{Part, Span};

/// How many variables one calculation is followed through.
const MAX_NAMES: usize = 64;

/// The end of a here-document around such a text: what is run inside it is what is run inside that.
const END: &str = "\u{10fffc}";

impl Resolver<'_> {
    /// Runs the substitutions in a text that is evaluated.
    pub(super) fn evaluated(&mut self, text: &str, span: Span) {
        if text.contains("$(") || text.contains(['`']) {
            let document = format!(": <<{END}\n{text}\n{END}\n");
            self.text(&document, span, Input::Nothing);
        }
    }

    /// The index of an element. Unless it says which, it is calculated.
    pub(super) fn index_of(
        &mut self,
        parts: &[Part],
        span: Span,
        carried: &mut Option<Carried>,
    ) -> String {
        let text = self.text_of(parts, span, carried);
        if !matches!(text.as_str(), "@" | "*") {
            self.arithmetic(&text, span);
        }
        text
    }

    /// The name of a variable or an element that a command is given as a word: its index is calculated.
    pub(super) fn named(&mut self, name: &str, span: Span) {
        if let Some((_, index)) = name.split_once('[') {
            self.arithmetic(index.trim_end_matches(']'), span);
        }
    }

    /// Elements that say their own place, as in `[index]=value`: it is calculated.
    pub(super) fn placed(&mut self, list: &str, span: Span) {
        let places = list.split('[').skip(1);
        for (index, _) in places.filter_map(|rest| rest.split_once("]=")) {
            self.arithmetic(index, span);
        }
    }

    /// A calculation: variables in it are calculated themselves, and it may change some.
    pub(super) fn arithmetic(&mut self, text: &str, span: Span) {
        self.evaluated(text, span);
        let mut names: Vec<String> = names(text).map(str::to_owned).collect();
        let changed = if assigns(text) {
            names.clone()
        } else {
            Vec::new()
        };
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            at += 1;
            if at > MAX_NAMES {
                self.exhausted = true;
                return;
            }
            let values: Vec<String> = self.scope.every(&name).flatten().cloned().collect();
            for value in values {
                self.evaluated(&value, span);
                let more = self::names(&value).filter(|more| names.iter().all(|old| old != more));
                let more: Vec<String> = more.map(str::to_owned).collect();
                names.extend(more);
            }
        }
        for name in changed {
            self.scope.set(&name, vec![HOLE.to_string()]);
        }
    }
}

/// The names in a calculation.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| is_name(word))
}

/// Whether a calculation changes a variable.
fn assigns(text: &str) -> bool {
    let bytes = text.as_bytes();
    let compares = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let shifts = at.checked_sub(2).and_then(|at| bytes.get(at)) == before;
        bytes.get(at + 1) == Some(&b'=')
            || before.is_some_and(|byte| b"=!".contains(byte) || b"<>".contains(byte) && !shifts)
    };
    let mut signs = text.match_indices('=').map(|(at, _)| at);
    text.contains("++") || text.contains("--") || signs.any(|at| !compares(at))
}
