//! A file as lines that cannot hide what they say.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::invisible;

/// Most lines that a backslash at the end may join.
const MOST_JOINED: usize = 20;

/// In a text at most one character of so many may be none that people write.
const ONE_STRANGE_IN: usize = 10;

/// What a file says to those who read it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reading<'b> {
    /// Its words, once for every way to read them: shells take bytes one by one and pass over zeros whatever
    /// mark a file begins with, editors go by the mark.
    pub(super) words: Vec<Cow<'b, str>>,
    /// Whether a person would read it as text.
    pub(super) legible: bool,
}

/// Reads a file as everybody would who might be handed it, so that nothing in it is out of sight.
pub(super) fn read(bytes: &[u8]) -> Reading<'_> {
    let plain = without_zeros(bytes);
    let wide = match bytes {
        [0xff, 0xfe, rest @ ..] => Some(utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Some(utf16(rest, u16::from_be_bytes)),
        _ => None,
    };
    match wide {
        Some(wide) => Reading {
            legible: is_text(&wide),
            words: vec![Cow::Owned(wide), plain],
        },
        None => Reading {
            legible: !bytes.contains(&0) && is_text(&plain),
            words: vec![plain],
        },
    }
}

fn without_zeros(bytes: &[u8]) -> Cow<'_, str> {
    if !bytes.contains(&0) {
        return String::from_utf8_lossy(bytes);
    }
    let kept: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    Cow::Owned(String::from_utf8_lossy(&kept).into_owned())
}

/// Whether nearly all characters are some that people write.
fn is_text(words: &str) -> bool {
    let strange = |character: &char| match *character {
        '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1b}' => false,
        char::REPLACEMENT_CHARACTER => true,
        other => other.is_control(),
    };
    let count = words.chars().filter(strange).count();
    !words.contains('\0') && count.saturating_mul(ONE_STRANGE_IN) <= words.chars().count()
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).filter_map(|pair| match pair {
        [first, second] => Some(unit([*first, *second])),
        _ => None,
    });
    char::decode_utf16(units)
        .map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// A line as it is judged.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Where it begins, counted from one.
    pub(super) number: u32,
    /// In one form for every spelling, without characters that nobody sees.
    pub(super) text: String,
    /// Whether it stands in a code fence of a Markdown file.
    pub(super) fenced: bool,
}

/// The kind of a file, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Markdown,
    Other,
}

impl Kind {
    pub(super) fn of(path: &str) -> Self {
        let ending = path.rsplit_once('.').map(|(_, ending)| ending);
        match ending {
            Some(ending)
                if ["md", "markdown", "mdx"]
                    .iter()
                    .any(|known| ending.eq_ignore_ascii_case(known)) =>
            {
                Self::Markdown
            }
            _ => Self::Other,
        }
    }
}

/// The lines of a text. A backslash at the end of a line joins it with the next one, as shells do, so that
/// a command is judged whole.
pub(super) fn lines(text: &str, kind: Kind) -> Vec<Line> {
    let mut fence = Fence::default();
    let mut found: Vec<Line> = Vec::new();
    let mut joined = 0;
    for (number, raw) in (1_u32..).zip(text.lines()) {
        let text = seen(raw);
        let fenced = kind == Kind::Markdown && fence.covers(raw);
        let open = joined > 0 && joined < MOST_JOINED;
        let continues = text.trim_end().ends_with('\\');
        let part = text.trim_end().trim_end_matches('\\');
        match found.last_mut() {
            Some(last) if open => {
                last.text.push(' ');
                last.text.push_str(part.trim_start());
            }
            _ => found.push(Line {
                number,
                text: part.to_owned(),
                fenced,
            }),
        }
        joined = match (continues, open) {
            (false, _) => 0,
            (true, true) => joined + 1,
            (true, false) => 1,
        };
    }
    found
}

/// A text in the one form that all its spellings share, without what nobody sees.
fn seen(line: &str) -> Cow<'_, str> {
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    let kept = line
        .nfkc()
        .filter(|character| !invisible::is_nothing(*character));
    Cow::Owned(kept.collect())
}

/// Where a code fence of Markdown begins and ends.
#[derive(Default)]
struct Fence {
    /// The mark that closes the open one.
    open: Option<(char, usize)>,
}

impl Fence {
    /// Whether the line belongs to a fence, its marks included.
    fn covers(&mut self, line: &str) -> bool {
        let text = line.trim_start();
        let mark = text
            .chars()
            .next()
            .filter(|first| matches!(first, '`' | '~'));
        let length = mark.map_or(0, |mark| {
            text.chars().take_while(|next| *next == mark).count()
        });
        match (self.open, mark) {
            (Some((open, least)), Some(mark)) if mark == open && length >= least => {
                let rest = text.trim_start_matches(mark);
                if rest.trim().is_empty() {
                    self.open = None;
                }
                true
            }
            (Some(_), _) => true,
            // A back quote behind the mark means that it is not one.
            (None, Some(mark)) if length >= 3 => {
                let rest = text.trim_start_matches(mark);
                if mark == '`' && rest.contains('`') {
                    return false;
                }
                self.open = Some((mark, length));
                true
            }
            (None, _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(u32, &str, bool)]) {
        let lines = lines(text, Kind::Markdown);
        let found: Vec<_> = lines
            .iter()
            .map(|line| (line.number, line.text.as_str(), line.fenced))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn fences_open_and_close_as_markdown_says() {
        check(
            "a\n```sh\nb\n~~~\n```\nc\n~~~~\n~~~\nd\n~~~~\n",
            &[
                (1, "a", false),
                (2, "```sh", true),
                (3, "b", true),
                (4, "~~~", true),
                (5, "```", true),
                (6, "c", false),
                (7, "~~~~", true),
                (8, "~~~", true),
                (9, "d", true),
                (10, "~~~~", true),
            ],
        );
        check(
            "```inline``` x\ny",
            &[(1, "```inline``` x", false), (2, "y", false)],
        );
    }

    #[test]
    fn a_command_over_several_lines_is_one() {
        check(
            "curl x \\\n  | \\\n  sh\nnext",
            &[(1, "curl x  |  sh", false), (4, "next", false)],
        );
    }

    #[test]
    fn other_spellings_of_a_word_are_the_word() {
        check("ｃｕ\u{200b}rl", &[(1, "curl", false)]);
        let wide: Vec<u8> = [0xff, 0xfe]
            .into_iter()
            .chain("hi".encode_utf16().flat_map(u16::to_le_bytes))
            .collect();
        assert_eq!(read(&wide).words[0], "hi");
        assert_eq!(read(b"caf\xe9 au lait").words, ["caf\u{fffd} au lait"]);
    }

    #[test]
    fn a_file_is_read_by_its_mark_and_byte_by_byte() {
        let legible = |bytes: &[u8]| read(bytes).legible;
        assert_eq!(read(b"cu\0rl").words, ["curl"]);
        assert!(legible(b"") && legible(b"caf\xe9 au lait\r\n") && legible("日本".as_bytes()));
        assert!(!legible(b"a\0b") && !legible(b"\x01\x02\x03abc"));
        // Behind a mark of two bytes, letters of one byte are still there for a shell.
        let marked = read(b"\xff\xfe\nrm -rf /\n");
        assert!(
            marked
                .words
                .iter()
                .any(|words| words.contains("\nrm -rf /\n"))
        );
        let wide: Vec<u8> = "curl x".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&wide).words, ["curl x"]);
        assert!(!read(&wide).legible, "without its mark nobody can tell");
    }
}
