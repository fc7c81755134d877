//! Cutting a stream of bytes into frames.

use hermes_llm::wire::sse::{MAX_FRAME_BYTES, SseParser};
use hermes_llm::wire::{Frame, WireError};
use proptest::prelude::*;

fn all(pieces: &[&[u8]]) -> Vec<Frame> {
    let mut parser = SseParser::new();
    let mut frames = Vec::new();
    for piece in pieces {
        frames.extend(parser.push(piece).unwrap());
    }
    frames.extend(parser.finish());
    frames
}

fn frame(event: Option<&str>, data: &str) -> Frame {
    Frame {
        event: event.map(str::to_owned),
        data: data.to_owned(),
    }
}

// PV-6
#[test]
fn every_line_end_comments_and_several_data_lines_are_understood() {
    let text = "\u{feff}: hello\r\nevent: one\r\ndata: a\r\ndata:b\r\n\r\ndata: c\r\rid: 7\ndata:  d\n\nretry: 5\nevent: lonely\n\ndata\n\n";
    let expected = vec![
        frame(Some("one"), "a\nb"),
        frame(None, "c"),
        frame(None, " d"),
        frame(None, ""),
    ];
    assert_eq!(all(&[text.as_bytes()]), expected);
}

// PV-6
#[test]
fn a_frame_without_its_final_blank_line_is_not_lost() {
    assert_eq!(
        all(&[b"data: a\n\ndata: b"]),
        [frame(None, "a"), frame(None, "b")]
    );
    assert_eq!(all(&[b"event: e\ndata: b\r"]), [frame(Some("e"), "b")]);
    assert_eq!(all(&[b": nothing but a comment\n\n"]), []);
}

// PV-6
#[test]
fn characters_may_be_split_and_broken_ones_are_replaced() {
    let text = "data: gr\u{fc}\u{df}e \u{1f980}\n\n".as_bytes();
    for cut in 0..text.len() {
        let (head, tail) = text.split_at(cut);
        assert_eq!(
            all(&[head, tail]),
            [frame(None, "gr\u{fc}\u{df}e \u{1f980}")]
        );
    }
    assert_eq!(all(&[b"data: a\xffb\n\n"]), [frame(None, "a\u{fffd}b")]);
}

#[test]
fn a_frame_that_never_ends_is_an_error() {
    let mebibyte = vec![b'x'; 1 << 20];
    let mut parser = SseParser::new();
    assert_eq!(parser.push(b"data: ").unwrap(), []);
    let mut fed = 0;
    let error = loop {
        match parser.push(&mebibyte) {
            Ok(frames) => assert!(frames.is_empty()),
            Err(error) => break error,
        }
        fed += mebibyte.len();
        assert!(fed <= MAX_FRAME_BYTES);
    };
    assert!(matches!(error, WireError::Malformed(_)));

    // Many lines of one frame count together.
    let mut parser = SseParser::new();
    let line = [&b"data: "[..], &mebibyte, b"\n"].concat();
    assert!((0..17).any(|_| parser.push(&line).is_err()));
}

proptest! {
    #[test]
    fn any_split_gives_the_same_frames(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "data: x", "data:", "event: e", ":c", "\n", "\r", "\r\n", "\n\n", "\u{fc}", "\u{feff}", "id: 3",
            ]),
            0..40,
        ),
        cuts in prop::collection::vec(0usize..200, 0..8),
    ) {
        let text = pieces.concat();
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let split: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(all(&split), all(&[bytes]));
    }
}
