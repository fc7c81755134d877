use crossterm::event::{KeyCode, KeyEvent};
use hermes_core::{CallId, Event, TurnEnd, TurnId, Usage};

use super::*;
use crate::cells::Marks;
use crate::status::Cost;

const SECOND: Duration = Duration::from_secs(1);

/// What a conversation leaves in the terminal's history: calls, an edit and an answer.
fn history(settings: Settings) -> Vec<String> {
    let mut app = App::new(Theme::plain(), settings, Composer::default(), (60, 20));
    let standing = |cost| Standing {
        cost,
        ..Standing::default()
    };
    let opened = Opened {
        standing: standing(Cost::Known(1.0)),
        ..Opened::default()
    };
    app.update(Input::Opened(Box::new(opened)), SECOND);
    let long = (1..=9).map(|n| format!("line {n}")).collect::<Vec<_>>();
    app.update(Input::Edited(Ok(Some(long.join("\n")))), SECOND);
    let mut event = |event| app.update(Input::Event(event), SECOND);
    for (name, key, value) in [
        ("terminal", "command", "make a rather long command"),
        ("terminal", "command", "make again"),
        ("patch", "path", "src/main.rs"),
    ] {
        let call = CallId(value.into());
        event(Event::ToolStarted {
            call: call.clone(),
            name: name.into(),
            arguments: serde_json::json!({ key: value, "zeal": 7 }),
        });
        let chunk = format!("printed by {name}\n");
        event(Event::ToolOutput {
            call: call.clone(),
            chunk,
        });
        let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n";
        let summary = match name {
            "patch" => serde_json::json!({ "diff": diff }).to_string(),
            _ => "{}".to_owned(),
        };
        event(Event::ToolFinished {
            call,
            failed: false,
            summary,
        });
    }
    for text in ["# Head", "ing\n\nsome **bo", "ld** words"] {
        let text = text.to_owned();
        event(Event::TextDelta { text });
    }
    let turn = Usage {
        input_tokens: 1_200,
        output_tokens: 34,
        ..Usage::default()
    };
    event(Event::Usage { turn, call: turn });
    app.update(Input::Standing(standing(Cost::Known(1.25))), SECOND);
    let (turn, why, answer) = (TurnId(1), TurnEnd::Done, String::new());
    app.update(
        Input::Event(Event::TurnFinished { turn, why, answer }),
        4 * SECOND,
    );
    app.take_finished()
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn count(lines: &[String], part: &str) -> usize {
    lines.iter().filter(|line| line.contains(part)).count()
}

#[test]
fn calls_are_shown_as_much_as_is_wanted() {
    let with = |tools| {
        history(Settings {
            tools,
            ..Settings::default()
        })
    };
    let all = with(ToolLines::All);
    assert_eq!((count(&all, "make "), count(&all, "src/main.rs")), (2, 1));
    assert_eq!(count(&all, "printed"), 0);
    let new = with(ToolLines::New);
    assert_eq!((count(&new, "make "), count(&new, "src/main.rs")), (1, 1));
    let off = with(ToolLines::Off);
    assert_eq!((count(&off, "make "), count(&off, "src/main.rs")), (0, 0));
    assert_eq!(
        count(&off, "new"),
        1,
        "what changed is still told: {off:#?}"
    );
    let verbose = with(ToolLines::Verbose);
    assert_eq!(count(&verbose, "printed by"), 3);
    assert!(count(&verbose, "\"zeal\": 7") >= 3, "{verbose:#?}");
}

#[test]
fn calls_are_named_and_cut_as_is_wanted() {
    let friendly = history(Settings::default());
    assert_eq!(
        count(&friendly, "run        make a rather long command"),
        1,
        "{friendly:#?}"
    );
    let names = history(Settings {
        labels: Labels::Names,
        tool_preview: Some(6),
        ..Settings::default()
    });
    assert_eq!(count(&names, "terminal   make a…"), 2, "{names:#?}");
}

#[test]
fn messages_and_changes_are_shown_as_much_as_is_wanted() {
    let usual = history(Settings::default());
    assert_eq!(count(&usual, "… 5 more lines"), 1, "{usual:#?}");
    assert_eq!(
        count(&usual, "old"),
        2,
        "the change, and a word of the answer"
    );
    let other = history(Settings {
        preview: Preview { first: 1, last: 0 },
        diffs: false,
        ..Settings::default()
    });
    assert_eq!(count(&other, "… 8 more lines"), 1);
    assert_eq!(count(&other, "line 9"), 0);
    assert_eq!(count(&other, "old"), 1);
}

#[test]
fn marks_are_rendered_left_out_or_kept_while_an_answer_comes() {
    for (marks, heading, words) in [
        (Marks::Render, "Heading", "some bold words"),
        (Marks::Strip, "Heading", "some bold words"),
        (Marks::Keep, "# Heading", "some **bold** words"),
    ] {
        let lines = history(Settings {
            marks,
            ..Settings::default()
        });
        assert!(lines.contains(&heading.to_owned()), "{marks:?}: {lines:#?}");
        assert!(lines.contains(&words.to_owned()), "{marks:?}: {lines:#?}");
    }
}

#[test]
fn the_end_of_a_turn_tells_what_it_cost_when_somebody_asks() {
    assert_eq!(count(&history(Settings::default()), " in · "), 0);
    let usage = history(Settings {
        show_usage: true,
        ..Settings::default()
    });
    let told = "· 1.2k in · 34 out · $0.25 · 3.0s";
    assert_eq!(count(&usage, told), 1, "{usage:#?}");
    let cost = history(Settings {
        show_cost: true,
        ..Settings::default()
    });
    assert_eq!(count(&cost, told), 1, "{cost:#?}");
}

#[test]
fn messages_carry_their_time_when_it_is_asked_for() {
    let lines = history(Settings {
        timestamps: true,
        stamps: Some(Stamps::new(|at| format!("09:0{}", at.as_secs()))),
        ..Settings::default()
    });
    assert_eq!(count(&lines, "● line 1  09:01"), 1, "{lines:#?}");
    assert_eq!(count(&lines, "Hermes  09:01"), 1, "{lines:#?}");
}

#[test]
fn an_answer_to_a_question_leaves_a_line_or_none() {
    for (keep_prompts, lines) in [(true, 1), (false, 0)] {
        let settings = Settings {
            keep_prompts,
            ..Settings::default()
        };
        let mut app = App::new(Theme::plain(), settings, Composer::default(), (60, 20));
        app.update(Input::Opened(Box::default()), SECOND);
        let question = hermes_core::Question {
            id: QuestionId(1),
            session: SessionId::try_from("s".to_owned()).unwrap(),
            kind: hermes_core::QuestionKind::Clarify {
                question: "which?".into(),
                choices: Vec::new(),
            },
            deadline: 60 * SECOND,
        };
        let effects = app.update(Input::Event(Event::Ask(question)), SECOND);
        assert_eq!(effects, [Effect::Ring(Occasion::Asks)]);
        let escape = KeyEvent::from(KeyCode::Esc);
        let effects = app.update(Input::Key(escape), 3 * SECOND);
        assert_eq!(effects.len(), 1, "it is answered");
        let left: Vec<String> = app
            .take_finished()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(count(&left, "which?"), lines, "{left:?}");
    }
}

#[test]
fn the_status_bar_is_above_below_or_nowhere() {
    for mode in [Mode::Inline, Mode::Full] {
        let with = |status| {
            let settings = Settings {
                mode,
                status,
                ..Settings::default()
            };
            let mut app = App::new(Theme::plain(), settings, Composer::default(), (60, 9));
            app.update(Input::Opened(Box::default()), SECOND);
            let live = app.live(SECOND);
            let lines: Vec<String> = live.lines.iter().map(ToString::to_string).collect();
            let bar = lines.iter().position(|line| line.contains("ctx --"));
            let draft = lines.iter().position(|line| line.contains("ask anything"));
            assert_eq!(live.cursor.map(|(row, _)| usize::from(row)), draft);
            (bar, draft)
        };
        let (bar, draft) = with(StatusBar::Bottom);
        assert!(bar > draft, "{bar:?} {draft:?}");
        let (bar, draft) = with(StatusBar::Top);
        assert!(bar.is_some() && bar < draft, "{bar:?} {draft:?}");
        assert_eq!(with(StatusBar::Off).0, None);
    }
}

#[test]
fn the_user_is_called_with_a_bell_a_notification_or_both() {
    let told = |call: Call, occasion| call.bytes("Ares\x07", occasion);
    let note = told(Call::Notification, Occasion::Asks);
    assert_eq!(note, "\x1b]9;Ares has a question\x1b\\");
    assert_eq!(told(Call::Bell, Occasion::Asks), "\x07");
    assert_eq!(told(Call::Both, Occasion::Asks), format!("\x07{note}"));
    let note = told(Call::Notification, Occasion::Done);
    assert_eq!(note, "\x1b]9;Ares is done\x1b\\");
}

// CL-18
#[test]
fn what_a_message_does_while_busy_is_said_as_it_is_and_not_for_a_command() {
    for (busy, told) in [
        (WhileBusy::Interrupt, "stops the agent"),
        (WhileBusy::Queue, "waits until"),
        (WhileBusy::Steer, "is a remark"),
    ] {
        let settings = Settings {
            busy,
            explain_busy: true,
            ..Settings::default()
        };
        let mut app = App::new(Theme::plain(), settings, Composer::default(), (120, 20));
        app.update(Input::Opened(Box::default()), Duration::ZERO);
        let turn = TurnId(1);
        app.update(Input::Event(Event::TurnStarted { turn }), SECOND);
        let own = Some(("steer", "a remark".to_owned()));
        let reply = Reply {
            own,
            ..Reply::default()
        };
        let effects = app.update(Input::Replied(reply), SECOND);
        assert!(!effects.contains(&Effect::Explained), "{effects:?}");
        let mut said = |text: &str| {
            let text = Ok(Some(text.to_owned()));
            app.update(Input::Edited(text), SECOND)
        };
        assert!(said("this").contains(&Effect::Explained));
        assert!(!said("and that").contains(&Effect::Explained));
        let shown: Vec<String> = app
            .take_finished()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(count(&shown, told), 1, "{shown:?}");
    }
}
