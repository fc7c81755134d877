//! Putting new text in the place of what was found.
//!
//! A request says how an old text becomes a new one. What it leaves alone keeps the bytes of the file, also
//! where the file differs from the request; what is new follows the file's indentation and line breaks.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::lines::{Lines, indent, is_blank};
use super::mapped::Mapped;
use super::matching::{Found, Strategy};

/// How long lines or characters are compared before whole blocks are replaced.
const PATIENCE: Duration = Duration::from_millis(500);

/// The request escapes quotes that the file does not: the model took the text from somewhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Drift;

/// A part of a text and what replaces it.
pub(super) type Splice = (Range<usize>, String);

/// What is to be put where `span` is. `asked` is the old text as it was requested.
pub(super) fn rewrite(
    text: &str,
    found: &Found,
    span: &Range<usize>,
    asked: &str,
    new: &str,
) -> Result<Splice, Drift> {
    if found.strategy == Strategy::Exact {
        return Ok((span.clone(), new.to_owned()));
    }
    let (line_start, starts_line) = line_start(text, span.start);
    let by_words = matches!(
        found.strategy,
        Strategy::WhitespaceNormalized | Strategy::EscapeNormalized
    );
    // The indentation of its first line is a part of what was found, or the lines after it would get none.
    let span = &match starts_line && by_words {
        true => line_start..span.end,
        false => span.clone(),
    };
    let region = text.get(span.clone()).unwrap_or_default();
    refuse_drift(region, asked, new)?;
    let new = &meant(found.strategy, region, new);
    Ok(match found.strategy {
        Strategy::Exact | Strategy::LineTrimmed | Strategy::IndentationFlexible => {
            let new: Vec<&str> = Lines::new(new).iter().collect();
            rewrite_lines(text, &found.pattern, span, &new)
        }
        Strategy::WhitespaceNormalized | Strategy::EscapeNormalized if starts_line => {
            let indents = Indents::new(&found.pattern, region);
            let mut lines: Vec<String> = Vec::new();
            for line in new.split('\n') {
                lines.push(indents.apply(line));
            }
            (span.clone(), lines.join("\n"))
        }
        Strategy::WhitespaceNormalized | Strategy::EscapeNormalized => (span.clone(), new.clone()),
        Strategy::TrimmedBoundary => (span.clone(), unframed(asked, &found.pattern, new)),
        Strategy::UnicodeNormalized => (span.clone(), merged(region, &found.pattern, new)),
    })
}

/// What is to be put where the lines of `span` are that a hunk found.
pub(super) fn rewrite_hunk(
    text: &str,
    found: &Found,
    span: &Range<usize>,
    asked: &str,
    new: &[&str],
) -> Result<Splice, Drift> {
    let region = text.get(span.clone()).unwrap_or_default();
    match found.strategy {
        Strategy::Exact => Ok(rewrite_lines(text, &found.pattern, span, new)),
        // What these change does not stop at the ends of lines.
        Strategy::EscapeNormalized | Strategy::UnicodeNormalized if !new.is_empty() => {
            rewrite(text, found, span, asked, &new.join("\n"))
        }
        Strategy::LineTrimmed
        | Strategy::WhitespaceNormalized
        | Strategy::IndentationFlexible
        | Strategy::EscapeNormalized
        | Strategy::TrimmedBoundary
        | Strategy::UnicodeNormalized => {
            refuse_drift(region, asked, &new.join("\n"))?;
            let lines: Vec<String> = new
                .iter()
                .map(|line| meant(found.strategy, region, line))
                .collect();
            let new: Vec<&str> = lines.iter().map(String::as_str).collect();
            Ok(rewrite_lines(text, &found.pattern, span, &new))
        }
    }
}

/// Where the line of a place begins, and whether only blanks stand before the place.
fn line_start(text: &str, at: usize) -> (usize, bool) {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    (start, is_blank(before.get(start..).unwrap_or_default()))
}

fn refuse_drift(region: &str, asked: &str, new: &str) -> Result<(), Drift> {
    let drifts =
        |quote: &&str| asked.contains(*quote) && new.contains(*quote) && !region.contains(*quote);
    match ["\\'", "\\\""].iter().any(drifts) {
        true => Err(Drift),
        false => Ok(()),
    }
}

/// What is to be put where the whole lines of `span` are. No lines at all take the break with them.
fn rewrite_lines(text: &str, pattern: &str, span: &Range<usize>, new: &[&str]) -> Splice {
    if new.is_empty() {
        return (with_break(text, span), String::new());
    }
    let region = text.get(span.clone()).unwrap_or_default();
    let old: Vec<&str> = Lines::new(pattern).iter().collect();
    let kept = Lines::new(region);
    let indents = Indents::new(pattern, region);
    let mut out: Vec<String> = Vec::new();
    for op in compare(&old, new) {
        if let DiffOp::Equal { .. } = op {
            out.extend(op.old_range().map(|line| kept.get(line).to_owned()));
        } else {
            let lines = new.get(op.new_range()).unwrap_or_default();
            out.extend(lines.iter().map(|line| indents.apply(line)));
        }
    }
    (span.clone(), out.join("\n"))
}

/// Applies splices that are in order, with the text's own line breaks.
pub(super) fn splice(body: &str, single: &Mapped<'_>, splices: Vec<Splice>) -> String {
    let mut out = String::with_capacity(body.len());
    let mut done = 0;
    for (span, new) in splices {
        let (span, new) = if single.is_same() {
            (span, new)
        } else {
            let (span, new) = narrowed(single.text(), span, &new);
            let place = single.original(&span);
            let new = with_breaks(body, single, &place, new);
            (place, new)
        };
        out.push_str(body.get(done..span.start).unwrap_or_default());
        out.push_str(&new);
        done = span.end;
    }
    out.push_str(body.get(done..).unwrap_or_default());
    out
}

/// The span with the line break that goes when its lines go.
fn with_break(text: &str, span: &Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    if bytes.get(span.end) == Some(&b'\n') {
        span.start..span.end + 1
    } else if span.start > 0 && bytes.get(span.start - 1) == Some(&b'\n') && span.end == bytes.len()
    {
        span.start - 1..span.end
    } else {
        span.clone()
    }
}

/// Leaves out the whole lines at both ends that stay as they are, so that their breaks stay too.
fn narrowed<'n>(text: &str, span: Range<usize>, new: &'n str) -> (Range<usize>, &'n str) {
    let old = text.get(span.clone()).unwrap_or_default();
    let same = |(a, b): &(u8, u8)| a == b;
    let head = old.bytes().zip(new.bytes()).take_while(same).count();
    let head = old
        .as_bytes()
        .get(..head)
        .and_then(|bytes| memchr::memrchr(b'\n', bytes))
        .map_or(0, |at| at + 1);
    let (old_rest, new_rest) = (
        old.get(head..).unwrap_or_default(),
        new.get(head..).unwrap_or_default(),
    );
    let tail = old_rest
        .bytes()
        .rev()
        .zip(new_rest.bytes().rev())
        .take_while(same)
        .count();
    let from = old_rest.len() - tail;
    let tail = old_rest
        .as_bytes()
        .get(from..)
        .and_then(|bytes| memchr::memchr(b'\n', bytes))
        .map_or(0, |at| tail - at);
    let kept = new_rest.get(..new_rest.len() - tail).unwrap_or_default();
    (span.start + head..span.end - tail, kept)
}

/// The new text with the breaks of what it replaces, or of the file when that has none.
fn with_breaks(body: &str, single: &Mapped<'_>, place: &Range<usize>, new: &str) -> String {
    let region = body.get(place.clone()).unwrap_or_default().as_bytes();
    let breaks = memchr::memchr_iter(b'\n', region).count();
    let (double, all) = if breaks > 0 {
        (memchr::memmem::find_iter(region, "\r\n").count(), breaks)
    } else {
        let all = memchr::memchr_iter(b'\n', body.as_bytes()).count();
        (single.changes(), all)
    };
    if double * 2 >= all {
        new.replace('\n', "\r\n")
    } else {
        new.to_owned()
    }
}

/// `\t` and `\r` in the new text are characters when the file has those and not the escapes. `\n` is one only where
/// the request wrote its line breaks that way: every other text of several lines has both.
fn meant(strategy: Strategy, region: &str, new: &str) -> String {
    let mut out = new.to_owned();
    for (escape, real) in [("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r")] {
        let counts = real != "\n" || strategy == Strategy::EscapeNormalized;
        if counts && region.contains(real) && !region.contains(escape) {
            out = out.replace(escape, real);
        }
    }
    out
}

/// The new text without the blanks that were taken off the ends of the old one.
fn unframed(asked: &str, pattern: &str, new: &str) -> String {
    let at = asked.find(pattern).unwrap_or(0);
    let lead = asked.get(..at).unwrap_or_default();
    let trail = asked.get(at + pattern.len()..).unwrap_or_default();
    let new = new.strip_prefix(lead).unwrap_or(new);
    new.strip_suffix(trail).unwrap_or(new).to_owned()
}

/// The new text in which everything that was in the old one is written as in the file.
fn merged(region: &str, pattern: &str, new: &str) -> String {
    let file = Mapped::with_plain_punctuation(region);
    let asked = Mapped::with_plain_punctuation(pattern);
    let wanted = Mapped::with_plain_punctuation(new);
    let cut = |text: &str| -> (Vec<char>, Vec<usize>) {
        let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        (text.chars().collect(), ends.collect())
    };
    let (old, old_at) = cut(asked.text());
    let (changed, changed_at) = cut(wanted.text());
    let part = |mapped: &Mapped<'_>, whole: &str, at: &[usize], range: Range<usize>| {
        let span = *at.get(range.start)?..*at.get(range.end)?;
        whole.get(mapped.original(&span)).map(str::to_owned)
    };
    let mut out = String::with_capacity(new.len());
    for op in compare(&old, &changed) {
        let piece = if let DiffOp::Equal { .. } = op {
            part(&file, region, &old_at, op.old_range())
        } else {
            part(&wanted, new, &changed_at, op.new_range())
        };
        match piece {
            Some(piece) => out.push_str(&piece),
            // A difference inside a character that stands for several.
            None => return new.to_owned(),
        }
    }
    out
}

fn compare<T: std::hash::Hash + Eq + Ord + Clone>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let deadline = Some(Instant::now() + PATIENCE);
    capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline)
}

/// From the indentation of the request to the file's.
struct Indents<'t> {
    known: Vec<(&'t str, &'t str)>,
}

impl<'t> Indents<'t> {
    fn new(pattern: &'t str, region: &'t str) -> Self {
        let mut known = Vec::new();
        for (asked, file) in pattern.split('\n').zip(region.split('\n')) {
            let pair = (indent(asked), indent(file));
            if !is_blank(asked) && !known.iter().any(|(from, _)| *from == pair.0) {
                known.push(pair);
            }
        }
        Self { known }
    }

    fn apply(&self, line: &str) -> String {
        let own = indent(line);
        let rest = line.get(own.len()..).unwrap_or_default();
        if rest.is_empty() {
            return line.to_owned();
        }
        let longest = self
            .known
            .iter()
            .filter(|(from, _)| own.starts_with(from))
            .max_by_key(|(from, _)| from.len());
        if let Some((from, to)) = longest {
            let more = own.get(from.len()..).unwrap_or_default();
            return format!("{to}{}{rest}", like(to, more, self.unit(from, to)));
        }
        // Less indented than everything the request showed: as much less in the file.
        let least = self.known.iter().min_by_key(|(from, _)| from.len());
        match least {
            Some((from, to)) if from.starts_with(own) => {
                let less = from.len() - own.len();
                let less = if to.starts_with('\t') && from.starts_with(' ') {
                    less.div_ceil(self.unit(from, to).unwrap_or(1))
                } else {
                    less
                };
                let kept = to.get(..to.len().saturating_sub(less)).unwrap_or_default();
                format!("{kept}{rest}")
            }
            _ => line.to_owned(),
        }
    }

    /// Blanks per tab where the request has blanks and the file tabs: by how two lines differ, because all of the
    /// request may be indented less than the file, or else by this one.
    fn unit(&self, from: &str, to: &str) -> Option<usize> {
        let step = self.known.iter().find_map(|(other, in_file)| {
            let deeper = other.len() > from.len();
            let alike = deeper == (in_file.len() > to.len()) && other.len() != from.len();
            let blanks = other.len().abs_diff(from.len());
            let tabs = in_file.len().abs_diff(to.len());
            alike.then(|| blanks.checked_div(tabs)).flatten()
        });
        let own = || (!from.is_empty()).then(|| from.len() / to.len().max(1));
        step.or_else(own).map(|unit| unit.max(1))
    }
}

/// Further indentation in the characters the file uses.
fn like(to: &str, more: &str, unit: Option<usize>) -> String {
    let blanks = more.bytes().all(|byte| byte == b' ');
    if to.starts_with('\t') && blanks && !more.is_empty() {
        let unit = unit.unwrap_or(match more.len() % 4 {
            0 => 4,
            _ => 2,
        });
        if more.len().is_multiple_of(unit) {
            return "\t".repeat(more.len() / unit);
        }
    }
    more.to_owned()
}
