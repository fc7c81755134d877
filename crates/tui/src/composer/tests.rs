use std::time::Duration;

use crossterm::event::{KeyCode, KeyModifiers};
use hermes_testkit::process::thread_time;
use proptest::prelude::*;

use super::*;
use crate::Theme;

const NONE: KeyModifiers = KeyModifiers::NONE;
const CTRL: KeyModifiers = KeyModifiers::CONTROL;

fn press(composer: &mut Composer, code: KeyCode, modifiers: KeyModifiers) -> Outcome {
    composer.key(KeyEvent::new(code, modifiers))
}

fn ctrl(composer: &mut Composer, letter: char) -> Outcome {
    press(composer, KeyCode::Char(letter), CTRL)
}

fn write(composer: &mut Composer, text: &str) {
    for letter in text.chars() {
        press(composer, KeyCode::Char(letter), NONE);
    }
}

fn remembering(entries: &[&str]) -> Composer {
    let entries = entries.iter().map(|entry| (*entry).to_owned()).collect();
    Composer::new(History::new(entries), Thresholds::default())
}

fn sent(outcome: Outcome) -> Message {
    match outcome {
        Outcome::Submit(message) | Outcome::Command(message) => message,
        other => panic!("nothing was sent: {other:?}"),
    }
}

fn screen(composer: &Composer, width: u16) -> String {
    let view = composer.view(width, &Theme::plain());
    let lines: Vec<String> = view.lines.iter().map(|line| format!("{line}|")).collect();
    format!("{}\n{:?}", lines.join("\n"), view.cursor)
}

// CL-17 CL-35
#[test]
fn a_trailing_backslash_and_ctrl_j_begin_a_new_line() {
    let mut composer = Composer::default();
    write(&mut composer, "one\\");
    assert_eq!(press(&mut composer, KeyCode::Enter, NONE), Outcome::Changed);
    write(&mut composer, "two");
    ctrl(&mut composer, 'j');
    write(&mut composer, "three");
    press(&mut composer, KeyCode::Enter, KeyModifiers::SHIFT);
    write(&mut composer, "four \\\\");
    let message = sent(press(&mut composer, KeyCode::Enter, NONE));
    assert_eq!(message.text, "one\ntwo\nthree\nfour \\\\");
    assert!(composer.is_empty());
}

#[test]
fn nothing_is_not_sent_and_a_slash_is_a_command() {
    let mut composer = Composer::default();
    assert_eq!(press(&mut composer, KeyCode::Enter, NONE), Outcome::Nothing);
    write(&mut composer, "  ");
    assert_eq!(press(&mut composer, KeyCode::Enter, NONE), Outcome::Nothing);
    composer.set_text("/new name");
    assert!(matches!(
        press(&mut composer, KeyCode::Enter, NONE),
        Outcome::Command(_)
    ));
    assert!(composer.attach(Attachment {
        label: "a.png".into(),
        path: "/tmp/a.png".into()
    }));
    let message = sent(press(&mut composer, KeyCode::Enter, NONE));
    assert_eq!((message.text.as_str(), message.attachments.len()), ("", 1));
}

// CL-17
#[test]
fn the_history_is_reached_from_the_first_row_and_gives_the_draft_back() {
    let mut composer = remembering(&["first", "second\nline"]);
    write(&mut composer, "draft");
    press(&mut composer, KeyCode::Up, NONE);
    assert_eq!(composer.text(), "second\nline");
    press(&mut composer, KeyCode::Up, NONE);
    assert_eq!(composer.text(), "second\nline", "one row up first");
    press(&mut composer, KeyCode::Up, NONE);
    assert_eq!(composer.text(), "first");
    for _ in 0..3 {
        press(&mut composer, KeyCode::Down, NONE);
    }
    assert_eq!(composer.text(), "draft");
    assert_eq!(press(&mut composer, KeyCode::Down, NONE), Outcome::Nothing);
}

#[test]
fn searching_shows_what_it_finds_and_escape_gives_the_draft_back() {
    let mut composer = remembering(&["cargo build", "git push", "cargo test"]);
    write(&mut composer, "draft");
    ctrl(&mut composer, 'r');
    write(&mut composer, "car");
    insta::assert_snapshot!(screen(&composer, 30), @r"
    ❯ cargo test|
    search: car|
    Some((11, 1))
    ");
    ctrl(&mut composer, 'r');
    insta::assert_snapshot!(screen(&composer, 30), @r"
    ❯ cargo build|
    search: car|
    Some((11, 1))
    ");
    press(&mut composer, KeyCode::Esc, NONE);
    assert_eq!(composer.text(), "draft");
    ctrl(&mut composer, 'r');
    write(&mut composer, "gitx");
    insta::assert_snapshot!(screen(&composer, 40), @r"
    ❯ draft|
    nothing sent before has “gitx”|
    Some((29, 1))
    ");
    press(&mut composer, KeyCode::Backspace, NONE);
    press(&mut composer, KeyCode::Enter, NONE);
    assert_eq!(composer.text(), "git push");
}

// CL-17
#[test]
fn a_long_paste_becomes_a_chip_and_is_sent_whole() {
    let mut composer = Composer::default();
    write(&mut composer, "explain ");
    let pasted = composer.paste("1\r\n2\r\n3\r\n4\r\n5\r\n6", |number| {
        format!("pastes/paste_{number}_101112.txt")
    });
    let Pasted::KeptAside(kept) = pasted else {
        panic!("{pasted:?}")
    };
    assert_eq!(&*kept.content, "1\n2\n3\n4\n5\n6");
    assert_eq!(
        composer.text(),
        "explain [Pasted text #1: 6 lines → pastes/paste_1_101112.txt]"
    );
    let message = sent(press(&mut composer, KeyCode::Enter, NONE));
    assert_eq!(message.text, "explain 1\n2\n3\n4\n5\n6");
    assert!(message.written.contains("[Pasted text #1"));
    press(&mut composer, KeyCode::Up, NONE);
    assert_eq!(
        composer.expanded(),
        message.text,
        "and again when it is sent again"
    );
    press(&mut composer, KeyCode::Backspace, NONE);
    assert_eq!(composer.text(), "explain ", "a chip goes as a whole");
}

#[test]
fn short_pastes_and_commands_are_written_out() {
    let mut composer = Composer::default();
    assert!(matches!(
        composer.paste("a\nb", |_| String::new()),
        Pasted::Written(_)
    ));
    assert_eq!(
        composer.paste("\u{1b}[200~", |_| String::new()),
        Pasted::Empty
    );
    composer.set_text("/background ");
    assert!(matches!(
        composer.paste(&"x\n".repeat(9), |_| String::new()),
        Pasted::Written(_)
    ));
    let shot = composer.paste("'/tmp/my shot.png'", |_| String::new());
    assert!(matches!(shot, Pasted::Image { path, .. } if path == "/tmp/my shot.png"));
}

#[test]
fn a_paste_of_a_megabyte_is_quick() {
    for text in [
        "a line of text with [brackets] and ^carets\r\n".repeat(24_000),
        "/".repeat(1_050_000),
    ] {
        let mut quickest = Duration::MAX;
        // Time of this thread, as the machine may be busy with other things.
        for _ in 0..5 {
            let mut composer = Composer::default();
            let start = thread_time();
            let pasted = composer.paste(&text, |number| number.to_string());
            composer.view(80, &Theme::plain());
            quickest = quickest.min(thread_time() - start);
            assert!(matches!(pasted, Pasted::KeptAside(_)));
        }
        assert!(quickest < Duration::from_millis(50), "{quickest:?}");
        println!("a megabyte: {quickest:?}");
    }
}

// CL-17
#[test]
fn tab_accepts_a_completion_then_a_suggestion_then_asks() {
    let mut composer = remembering(&["open the file"]);
    composer.set_commands(vec![CommandEntry {
        name: "model".into(),
        aliases: Vec::new(),
        hint: "[name]".into(),
        about: "choose the model".into(),
        arguments: Vec::new(),
        asks: true,
    }]);
    write(&mut composer, "/mo");
    let popup: Vec<String> = composer
        .popup(50, &Theme::plain())
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(popup, ["› /model [name]  choose the model"]);
    assert!(matches!(
        press(&mut composer, KeyCode::Tab, NONE),
        Outcome::WantCompletion(_)
    ));
    assert_eq!(composer.text(), "/model ");
    composer.clear();
    write(&mut composer, "open");
    press(&mut composer, KeyCode::Tab, NONE);
    assert_eq!(composer.text(), "open the file");
    let Outcome::WantCompletion(request) = press(&mut composer, KeyCode::Tab, NONE) else {
        panic!("no request")
    };
    assert_eq!(request.typed, "file");
    assert!(composer.supply(request.id, vec![Candidate::new("file.txt", "")]));
    press(&mut composer, KeyCode::Tab, NONE);
    assert_eq!(composer.text(), "open the file.txt ");
}

#[test]
fn enter_takes_what_was_chosen_and_sends_what_was_only_offered() {
    let mut composer = Composer::default();
    let names = ["model", "memory"];
    let entry = |name: &str| CommandEntry {
        name: name.into(),
        aliases: Vec::new(),
        hint: String::new(),
        about: String::new(),
        arguments: Vec::new(),
        asks: false,
    };
    composer.set_commands(names.map(entry).to_vec());
    write(&mut composer, "/m");
    press(&mut composer, KeyCode::Down, NONE);
    assert_eq!(press(&mut composer, KeyCode::Enter, NONE), Outcome::Changed);
    assert_eq!(composer.text(), "/memory ");
    composer.clear();
    write(&mut composer, "/m");
    assert_eq!(sent(press(&mut composer, KeyCode::Enter, NONE)).text, "/m");
}

#[test]
fn right_at_the_end_accepts_the_suggestion_that_is_shown() {
    let mut composer = remembering(&["hello world"]);
    write(&mut composer, "hel");
    insta::assert_snapshot!(screen(&composer, 30), @r"
    ❯ hello world|
    Some((5, 0))
    ");
    press(&mut composer, KeyCode::Left, NONE);
    press(&mut composer, KeyCode::Right, NONE);
    assert_eq!(composer.text(), "hel");
    press(&mut composer, KeyCode::Right, NONE);
    assert_eq!(composer.text(), "hello world");
}

#[test]
fn keys_that_are_not_about_the_text_are_passed_on() {
    let mut composer = Composer::default();
    assert_eq!(ctrl(&mut composer, 'd'), Outcome::Leave);
    assert_eq!(ctrl(&mut composer, 'c'), Outcome::Interrupt);
    assert_eq!(ctrl(&mut composer, 'q'), Outcome::Cancel);
    assert_eq!(ctrl(&mut composer, 'z'), Outcome::Suspend);
    assert_eq!(ctrl(&mut composer, 'l'), Outcome::Repaint);
    assert_eq!(ctrl(&mut composer, 'g'), Outcome::Editor);
    assert_eq!(ctrl(&mut composer, 'v'), Outcome::ClipboardImage);
    ctrl(&mut composer, 'x');
    assert_eq!(ctrl(&mut composer, 'e'), Outcome::Editor);
    assert_eq!(press(&mut composer, KeyCode::Esc, NONE), Outcome::Escape);
    write(&mut composer, "ab");
    press(&mut composer, KeyCode::Home, NONE);
    ctrl(&mut composer, 'd');
    assert_eq!(composer.text(), "b", "with text it deletes");
}

#[test]
fn a_skin_may_have_a_longer_symbol() {
    let theme = Theme {
        prompt_symbol: "⚔ ❯ ".to_owned(),
        ..Theme::plain()
    };
    let mut composer = Composer::default();
    composer.set_width(14, &theme);
    composer.set_text("one two three");
    let view = composer.view(14, &theme);
    let lines: Vec<String> = view.lines.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["⚔ ❯ one two ", "    three"]);
    assert_eq!(view.cursor, Some((9, 1)));
    let narrow: Vec<String> = composer
        .view(8, &theme)
        .lines
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        narrow,
        ["one ", "two ", "three"].map(str::to_owned),
        "the text comes first"
    );
}

#[test]
fn the_view_has_one_to_eight_rows_around_the_cursor() {
    let mut composer = Composer::default();
    composer.set_placeholder("ask anything");
    composer.attach(Attachment {
        label: "a.png".into(),
        path: "a.png".into(),
    });
    insta::assert_snapshot!(screen(&composer, 20), @r"
    [a.png]|
    ❯ ask anything|
    Some((2, 1))
    ");
    composer.clear();
    composer.set_width(20, &Theme::plain());
    composer.set_text(
        &(1..=12)
            .map(|number| number.to_string())
            .collect::<Vec<_>>()
            .join("\n"),
    );
    insta::assert_snapshot!(screen(&composer, 20), @r"
      5|
      6|
      7|
      8|
      9|
      10|
      11|
      12|
    Some((4, 7))
    ");
    for _ in 0..9 {
        press(&mut composer, KeyCode::Up, NONE);
    }
    assert!(screen(&composer, 20).starts_with("  3|"));
    press(&mut composer, KeyCode::Down, NONE);
    assert!(
        screen(&composer, 20).starts_with("  3|"),
        "it scrolls only when it must"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_view_is_never_wider_than_asked(
        text in "(\\PC|[a-z ]{1,9}|\n|\t|漢|👩‍👩‍👧|\u{202e}){0,60}",
        keys in prop::collection::vec(0usize..8, 0..20),
        width in 1u16..30,
    ) {
        let mut composer = remembering(&["some long entry that was sent before", "漢字漢字"]);
        composer.set_width(width, &Theme::plain());
        composer.set_placeholder("what an empty one says");
        composer.insert(&text);
        for key in keys {
            let (code, with) = [
                (KeyCode::Up, NONE), (KeyCode::Down, NONE), (KeyCode::Left, NONE), (KeyCode::Char('r'), CTRL),
                (KeyCode::Char('s'), NONE), (KeyCode::Esc, NONE), (KeyCode::Tab, NONE), (KeyCode::Enter, NONE),
            ][key];
            press(&mut composer, code, with);
            let view = composer.view(width, &Theme::plain());
            prop_assert!(view.lines.iter().all(|line| line.width() <= usize::from(width)), "{view:?}");
            prop_assert!((1..=9).contains(&view.lines.len()));
            let (x, y) = view.cursor.unwrap();
            prop_assert!(x < width && usize::from(y) < view.lines.len(), "{view:?}");
        }
    }
}
