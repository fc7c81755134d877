//! Characters that a server cut in two: one half ends a frame, the other begins the next.

use hermes_core::{halves, without_halves};
use std::borrow::Cow;
use std::ops::Range;

use super::Frame;

/// Makes the characters of frames whole. A text that ends in half of one waits for the frame behind it; a half that
/// finds no other becomes the replacement character.
#[derive(Default)]
pub(super) struct Whole {
    waiting: Option<Frame>,
}

impl Whole {
    /// Takes the next frames; gives those that are whole.
    pub(super) fn push(&mut self, frames: Vec<Frame>) -> Vec<Frame> {
        let mut out = Vec::with_capacity(frames.len() + 1);
        for mut frame in frames {
            if let Some(mut before) = self.waiting.take() {
                join(&mut before.data, &mut frame.data);
                out.push(mended(before));
            }
            let is_whole = ends(&frame.data).next().is_none();
            match is_whole {
                true => out.push(mended(frame)),
                false => self.waiting = Some(frame),
            }
        }
        out
    }

    /// No more frames come.
    pub(super) fn finish(&mut self) -> Option<Frame> {
        self.waiting.take().map(mended)
    }
}

fn mended(frame: Frame) -> Frame {
    match without_halves(&frame.data) {
        Cow::Borrowed(_) => frame,
        Cow::Owned(data) => Frame { data, ..frame },
    }
}

/// Puts the second halves that texts of one frame begin with behind the first halves that texts of the frame before
/// end with. Some servers say the same under several names, so there may be several.
fn join(before: &mut String, after: &mut String) {
    let ends: Vec<Range<usize>> = ends(before).collect();
    let begins: Vec<Range<usize>> = begins(after).collect();
    if ends.len() != begins.len() {
        return;
    }
    for (end, begin) in ends.into_iter().zip(begins).rev() {
        let second: String = after.drain(begin).collect();
        before.insert_str(end.end, &second);
    }
}

/// The first halves that texts end with.
fn ends(json: &str) -> impl Iterator<Item = Range<usize>> {
    let ends = |half: &Range<usize>| {
        json.get(half.end..)
            .is_some_and(|rest| rest.starts_with('"'))
    };
    broken(json).filter(move |half| is_first(json, half) && ends(half))
}

/// The second halves that texts begin with.
fn begins(json: &str) -> impl Iterator<Item = Range<usize>> {
    let begins = |half: &Range<usize>| {
        let quoted = json
            .get(..half.start)
            .and_then(|text| text.strip_suffix('"'));
        // A quote behind an odd number of backslashes is a letter of the text.
        let backslashes = |text: &str| text.len() - text.trim_end_matches('\\').len();
        quoted.is_some_and(|text| backslashes(text).is_multiple_of(2))
    };
    broken(json).filter(move |half| !is_first(json, half) && begins(half))
}

fn broken(json: &str) -> impl Iterator<Item = Range<usize>> {
    // Nearly no frame has any, and to look at each byte of all would cost more than reading them.
    let any = json.contains(r"\ud") || json.contains(r"\uD");
    halves(if any { json.as_bytes() } else { &[] })
}

/// Whether half a character is the first one, `\ud800` to `\udbff`.
fn is_first(json: &str, half: &Range<usize>) -> bool {
    let digit = json.as_bytes().get(half.start + 3);
    digit.is_some_and(|digit| matches!(digit, b'8' | b'9' | b'a' | b'b' | b'A' | b'B'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(frames: &[&str]) -> Vec<String> {
        let mut whole = Whole::default();
        let mut out = Vec::new();
        for data in frames {
            let frame = Frame {
                event: None,
                data: (*data).to_owned(),
            };
            out.extend(whole.push(vec![frame]));
        }
        out.extend(whole.finish());
        out.into_iter().map(|frame| frame.data).collect()
    }

    // PV-35
    #[test]
    fn halves_of_neighbours_are_joined_and_others_replaced() {
        for (frames, expected) in [
            (
                vec![r#"{"t":"a\ud83d"}"#, r#"{"t":"\ude00b"}"#],
                vec![r#"{"t":"a\ud83d\ude00"}"#, r#"{"t":"b"}"#],
            ),
            (
                vec![
                    r#"{"t":"\uD83D"}"#,
                    r#"{"t":"\uDE00\ud83d"}"#,
                    r#"{"t":"\ude00"}"#,
                ],
                vec![
                    r#"{"t":"\uD83D\uDE00"}"#,
                    r#"{"t":"\ud83d\ude00"}"#,
                    r#"{"t":""}"#,
                ],
            ),
            // The same under two names.
            (
                vec![
                    r#"{"a":"\ud83d","b":"\ud83d"}"#,
                    r#"{"a":"\ude00","b":"\ude00"}"#,
                ],
                vec![
                    r#"{"a":"\ud83d\ude00","b":"\ud83d\ude00"}"#,
                    r#"{"a":"","b":""}"#,
                ],
            ),
            (vec![r#"{"t":"a\ud83d"}"#], vec![r#"{"t":"a\ufffd"}"#]),
            (
                vec![r#"{"t":"a\ud83d"}"#, r#"{"t":"b"}"#],
                vec![r#"{"t":"a\ufffd"}"#, r#"{"t":"b"}"#],
            ),
            (
                vec![r#"{"t":"a\ud83d b"}"#, r#"{"t":"\ude00"}"#],
                vec![r#"{"t":"a\ufffd b"}"#, r#"{"t":"\ufffd"}"#],
            ),
            (
                vec![r#"{"t":"\ud83d"}"#, r#"{"t":"\"\ude00"}"#],
                vec![r#"{"t":"\ufffd"}"#, r#"{"t":"\"\ufffd"}"#],
            ),
            // What is escaped twice is text about an escape, and part of a text that is read later.
            (
                vec![r#"{"t":"\\ud83d"}"#, r#"{"t":"\\ude00"}"#],
                vec![r#"{"t":"\\ud83d"}"#, r#"{"t":"\\ude00"}"#],
            ),
        ] {
            assert_eq!(read(&frames), expected, "{frames:?}");
        }
    }
}
