//! Whether a change was made before: its old text is gone and its new one is there.
//!
//! That the new text is somewhere proves little. It does when it is there once and brings along what the change leaves
//! alone: the same text before and after what is new, or whole lines of it.

use memchr::memmem::find_iter;

use super::lines::line_of;
use super::matching::{Align, is_aligned};

/// Letters of any kind that a text needs before finding it says anything.
const TELLING: usize = 8;
/// Letters and digits of the lines that are new.
const MEANINGFUL: usize = 3;

/// A new text that is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) line: usize,
    /// Whether that shows that the change was made.
    pub(super) is_sure: bool,
}

/// Looks for the new text of a change whose old text is not there. One that could be anywhere is not looked for.
pub(super) fn look(body: &str, old: &str, new: &str, align: Align) -> Option<Made> {
    if new.chars().filter(|c| !c.is_whitespace()).count() < TELLING {
        return None;
    }
    let mut found = find_iter(body.as_bytes(), new.as_bytes())
        .filter(|at| is_aligned(body, &(*at..at + new.len()), align));
    let first = found.next()?;
    Some(Made {
        line: line_of(body, first),
        is_sure: found.next().is_none() && stands_among_old(old, new),
    })
}

/// Whether the new text has enough of the old one around what is new.
fn stands_among_old(old: &str, new: &str) -> bool {
    let same = |(a, b): &(char, char)| a == b;
    let length = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs.map(|(one, _)| one.len_utf8()).sum()
    };
    let head = length(&mut new.chars().zip(old.chars()).take_while(same));
    let (before, rest) = new.split_at(head);
    let old_rest = old.get(head..).unwrap_or_default();
    let tail = length(
        &mut rest
            .chars()
            .rev()
            .zip(old_rest.chars().rev())
            .take_while(same),
    );
    let (changed, after) = rest.split_at(rest.len() - tail);
    let whole_before = before.rfind('\n').map_or(0, |end| end + 1);
    let whole_after = after.find('\n').unwrap_or(after.len());
    let (lines_before, begun) = before.split_at(whole_before);
    let (ended, lines_after) = after.split_at(whole_after);
    let lines_changed: usize = [begun, changed, ended].into_iter().map(letters).sum();
    let around = (letters(before) > 0 && letters(after) > 0)
        || letters(lines_before) > 0
        || letters(lines_after) > 0;
    around && (changed.is_empty() || lines_changed >= MEANINGFUL)
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}
