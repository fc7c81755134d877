//! Far more than usual, and far less room.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use hermes_core::{CallId, Decider, Event, Question, QuestionId, QuestionKind, Reach, SessionId};
use hermes_tui::app::{App, Asked, Effect, Input, Mode, Opened, Reply, Then, ToolLines};
use hermes_tui::composer::Composer;
use hermes_tui::panels::{Column, Confirm, Help, Item, Lasting, Panel, Picker, Side, Takes};
use hermes_tui::{Marks, Theme};

use super::anything::said;
use super::storm::{fits, settings};

/// What nobody notices. Without optimisation everything takes ten times as long.
const SOON: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });

#[test]
fn a_paste_of_a_megabyte_is_taken_at_once() {
    for mode in [Mode::Inline, Mode::Full] {
        for text in [
            "word ".repeat(200_000),
            "line\n".repeat(200_000),
            "x".repeat(1_000_000),
        ] {
            let start = Instant::now();
            let all = settings(mode, ToolLines::All, Marks::Render);
            let mut app = App::new(Theme::default(), all, Composer::default(), (80, 24));
            app.update(Input::Opened(Box::default()), Duration::ZERO);
            let effects = app.update(Input::Paste(text.clone()), Duration::ZERO);
            assert!(
                matches!(effects.as_slice(), [Effect::Keep(_)]),
                "{}",
                effects.len()
            );
            assert!(
                app.live(Duration::ZERO)
                    .lines
                    .iter()
                    .any(|line| line.to_string().contains("Pasted"))
            );
            let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
            let effects = app.update(Input::Key(enter), Duration::ZERO);
            let sent = effects.iter().any(|effect| matches!(effect, Effect::Message(sent) if sent.text.len() >= text.trim_end().len()));
            assert!(sent, "all of it is sent");
            app.live(Duration::ZERO);
            assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
        }
    }
}

#[test]
fn fifty_megabytes_of_output_leave_only_their_end() {
    for mode in [Mode::Inline, Mode::Full] {
        let start = Instant::now();
        let all = settings(mode, ToolLines::Verbose, Marks::Render);
        let mut app = App::new(Theme::default(), all, Composer::default(), (80, 24));
        app.update(Input::Opened(Box::default()), Duration::ZERO);
        let call = CallId("one".into());
        let (name, arguments) = ("terminal".to_owned(), serde_json::json!({"command": "yes"}));
        let event = |app: &mut App, event| app.update(Input::Event(event), Duration::ZERO);
        event(
            &mut app,
            Event::ToolStarted {
                call: call.clone(),
                name,
                arguments,
            },
        );
        let line = format!("{}\u{1b}[31m\n", "y".repeat(120));
        let chunk = line.repeat(64 * 1024 / line.len());
        for number in 0..800 {
            let chunk = match number % 100 {
                // Neither is a line without an end a way out.
                99 => "z".repeat(chunk.len()),
                _ => chunk.clone(),
            };
            event(
                &mut app,
                Event::ToolOutput {
                    call: call.clone(),
                    chunk,
                },
            );
        }
        app.live(Duration::ZERO);
        event(
            &mut app,
            Event::ToolFinished {
                call,
                failed: false,
                summary: "{}".into(),
            },
        );
        app.live(Duration::ZERO);
        let left = app.take_finished();
        assert!(left.len() < 300, "{}", left.len());
        assert!(start.elapsed() < 3 * SOON, "{:?}", start.elapsed());
    }
}

// CL-19
#[test]
fn everything_that_asks_fits_a_tiny_terminal() {
    let long = "a rather long text that says what is wanted, and why, and what follows from it";
    let asked = |panel| {
        Input::Replied(Reply {
            asks: Some(Box::new(Asked {
                panel,
                then: Then::Each(Vec::new()),
            })),
            ..Reply::default()
        })
    };
    let question = |kind| {
        Input::Event(Event::Ask(Question {
            id: QuestionId(1),
            session: SessionId::try_from("s".to_owned()).unwrap(),
            kind,
            deadline: Duration::from_secs(30),
        }))
    };
    let item = Item {
        cells: vec![long.to_owned()],
        also: String::new(),
        picked: false,
    };
    let column = Column {
        title: long.to_owned(),
        side: Side::Left,
    };
    let all = [
        asked(Panel::Confirm(Confirm::new(long, long, Lasting::Offered))),
        asked(Panel::Picker(Picker::new(
            long,
            vec![column],
            vec![item; 30],
            Takes::One,
        ))),
        asked(Panel::Help(Help::new(long, Vec::new()))),
        question(QuestionKind::Approval {
            action: long.into(),
            reasons: vec![long.into()],
            marks: Vec::new(),
            reach: Reach::Always,
            editable: false,
            decider: Decider::Anyone,
        }),
        question(QuestionKind::Clarify {
            question: long.into(),
            choices: vec![long.into(); 4],
        }),
        question(QuestionKind::Secret {
            prompt: long.into(),
        }),
    ];
    for mode in [Mode::Inline, Mode::Full] {
        for input in &all {
            for size in [(20, 5), (20, 3), (110, 5)] {
                let mut app = App::new(
                    Theme::default(),
                    settings(mode, ToolLines::All, Marks::Render),
                    Composer::default(),
                    size,
                );
                app.update(
                    Input::Opened(Box::new(Opened {
                        before: said(long),
                        ..Opened::default()
                    })),
                    Duration::ZERO,
                );
                app.update(
                    Input::Key(KeyEvent::new(KeyCode::F(2), KeyModifiers::NONE)),
                    Duration::ZERO,
                );
                fits(&mut app, mode, size, Duration::ZERO).unwrap();
                app.update(input.clone(), Duration::ZERO);
                fits(&mut app, mode, size, Duration::ZERO).unwrap();
            }
        }
    }
}
