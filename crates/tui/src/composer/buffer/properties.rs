//! What holds for any text and any order of actions.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::Buffer;

type Act = (&'static str, fn(&mut Buffer));

const ACTS: &[Act] = &[
    ("left", Buffer::left),
    ("right", Buffer::right),
    ("word left", Buffer::word_left),
    ("word right", Buffer::word_right),
    ("line start", Buffer::line_start),
    ("line end", Buffer::line_end),
    ("start", Buffer::to_start),
    ("end", Buffer::to_end),
    ("backspace", Buffer::backspace),
    ("delete", Buffer::delete),
    ("transpose", Buffer::transpose),
    ("kill to end", Buffer::kill_to_line_end),
    ("kill to start", Buffer::kill_to_line_start),
    ("kill word left", Buffer::kill_word_left),
    ("kill word right", Buffer::kill_word_right),
    ("kill to space", Buffer::kill_to_space),
    ("yank", Buffer::yank),
    ("yank older", Buffer::yank_older),
    ("up", |buffer| _ = buffer.up(7)),
    ("down", |buffer| _ = buffer.down(7)),
    ("undo", |buffer| _ = buffer.undo()),
    ("redo", |buffer| _ = buffer.redo()),
];

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{1,6}",
        Just("\n".to_owned()),
        Just("\t".to_owned()),
        Just("\u{301}".to_owned()),
        Just("\u{200d}".to_owned()),
        Just("👩".to_owned()),
        Just("🇩".to_owned()),
        Just("漢字".to_owned()),
        Just("لا".to_owned()),
        Just("\r".to_owned()),
        any::<char>().prop_map(String::from),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Insert(String),
    Act(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        piece().prop_map(Step::Insert),
        (0..ACTS.len()).prop_map(Step::Act)
    ];
    prop::collection::vec(step, 0..40)
}

fn take(buffer: &mut Buffer, step: &Step) {
    match step {
        Step::Insert(text) => _ = buffer.insert(text),
        Step::Act(at) => ACTS[*at].1(buffer),
    }
}

fn between_graphemes(buffer: &Buffer) -> bool {
    let cursor = buffer.cursor();
    let text = buffer.text();
    cursor == text.len() || text.grapheme_indices(true).any(|(at, _)| at == cursor)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_cursor_is_always_between_graphemes(steps in steps()) {
        let mut buffer = Buffer::default();
        for step in &steps {
            take(&mut buffer, step);
            prop_assert!(between_graphemes(&buffer), "{:?} at {}", buffer.text(), buffer.cursor());
        }
    }

    #[test]
    fn everything_can_be_taken_back_and_made_again(steps in steps()) {
        let mut buffer = Buffer::default();
        for step in &steps {
            take(&mut buffer, step);
        }
        let made = buffer.text().to_owned();
        let mut taken_back = 0;
        while buffer.undo() {
            taken_back += 1;
            prop_assert!(between_graphemes(&buffer));
        }
        prop_assert_eq!(buffer.text(), "");
        prop_assert_eq!(buffer.cursor(), 0);
        for _ in 0..taken_back {
            prop_assert!(buffer.redo());
        }
        prop_assert_eq!(buffer.text(), made);
    }

    #[test]
    fn rows_cover_the_text_and_hold_the_cursor(steps in steps(), width in 1usize..12) {
        let mut buffer = Buffer::default();
        for step in &steps {
            take(&mut buffer, step);
        }
        let placed = buffer.placed(width);
        prop_assert!(placed.row < placed.rows.len());
        prop_assert!(placed.column <= width);
        let mut next = 0;
        for row in &placed.rows {
            prop_assert!(row.start == next || buffer.text().as_bytes()[next] == b'\n' && row.start == next + 1);
            next = row.end;
        }
        prop_assert_eq!(next, buffer.text().len());
    }
}
