use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use hermes_core::{
    Answer, CallId, Decider, Event, InboxId, Op, Question, QuestionKind, Reach, SessionId, TurnEnd,
    TurnId,
};
use ratatui::text::Line;

use super::*;
use crate::cells::Failure;
use crate::status::{Cost, Mcp};

const SECOND: Duration = Duration::from_secs(1);

fn standing() -> Standing {
    Standing {
        model: "small".into(),
        window: Some(1000),
        prompts: 0,
        processes: 0,
        subagents: 0,
        cost: Cost::Hidden,
        mcp: Mcp::default(),
        warning: None,
    }
}

fn app(settings: Settings) -> App {
    let mut app = App::new(Theme::plain(), settings, Composer::default(), (60, 20));
    let opened = Opened {
        standing: standing(),
        ..Opened::default()
    };
    app.update(Input::Opened(Box::new(opened)), Duration::ZERO);
    app
}

fn press(app: &mut App, code: KeyCode, modifiers: KeyModifiers, now: Duration) -> Vec<Effect> {
    app.update(Input::Key(KeyEvent::new(code, modifiers)), now)
}

fn send(app: &mut App, text: &str, now: Duration) -> Vec<Effect> {
    for letter in text.chars() {
        press(app, KeyCode::Char(letter), KeyModifiers::NONE, now);
    }
    let effects = press(app, KeyCode::Enter, KeyModifiers::NONE, now);
    keep(app, &effects, now);
    effects
}

/// Keeps what is to wait, as a host does.
pub(super) fn keep(app: &mut App, effects: &[Effect], now: Duration) {
    for (number, effect) in (1..).zip(effects) {
        match effect {
            Effect::LineUp(message) => {
                let message = Box::new(message.clone());
                let row = Ok(InboxId(number));
                app.update(Input::LinedUp { message, row }, now);
            }
            Effect::Remark(text) => {
                let (text, failed) = (text.clone(), None);
                app.update(Input::Remarked { text, failed }, now);
            }
            _ => {}
        }
    }
}

fn text(lines: &[Line<'_>]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

fn started() -> Input {
    Input::Event(Event::TurnStarted { turn: TurnId(1) })
}

fn finished(why: TurnEnd) -> Input {
    Input::Event(Event::TurnFinished {
        turn: TurnId(1),
        why,
        answer: String::new(),
    })
}

fn messages(effects: &[Effect]) -> Vec<&str> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Message(message) => Some(message.text.as_str()),
            _ => None,
        })
        .collect()
}

#[test]
fn a_question_and_its_answer_become_history() {
    let mut app = app(Settings::default());
    assert_eq!(
        messages(&send(&mut app, "what is it?", SECOND)),
        ["what is it?"]
    );
    app.update(started(), SECOND);
    for delta in ["It is\n\n", "so.\n\n", "a **tree**", " and tall"] {
        let text = delta.to_owned();
        app.update(Input::Event(Event::TextDelta { text }), SECOND);
    }
    let live = text(&app.live(SECOND).lines);
    assert!(
        live.iter().any(|line| line == "a tree and tall"),
        "{live:?}"
    );
    let before = text(&app.take_finished());
    assert!(before.contains(&"It is".to_owned()), "{before:?}");
    assert!(!before.iter().any(|line| line.contains("tree")));
    app.update(finished(TurnEnd::Done), 2 * SECOND);
    let after = text(&app.take_finished());
    assert!(
        after.iter().any(|line| line == "a tree and tall"),
        "{after:?}"
    );
    assert!(!app.is_busy());
}

// CL-18
#[test]
fn a_message_while_busy_interrupts_waits_or_steers() {
    let mut one = app(Settings::default());
    send(&mut one, "first", SECOND);
    one.update(started(), SECOND);
    let effects = send(&mut one, "second", SECOND);
    assert!(effects.contains(&Effect::Send(Op::Interrupt)));
    assert!(messages(&effects).is_empty());
    send(&mut one, "third", SECOND);
    let effects = one.update(finished(TurnEnd::Interrupted), SECOND);
    assert_eq!(messages(&effects), ["second\n\nthird"]);

    let busy = WhileBusy::Queue;
    let mut two = app(Settings {
        busy,
        ..Settings::default()
    });
    send(&mut two, "first", SECOND);
    two.update(started(), SECOND);
    for more in ["second", "third"] {
        assert!(!send(&mut two, more, SECOND).contains(&Effect::Send(Op::Interrupt)));
    }
    let live = text(&two.live(SECOND).lines);
    assert!(live.contains(&"⋯ second".to_owned()), "{live:?}");
    let effects = two.update(finished(TurnEnd::Done), SECOND);
    assert_eq!(messages(&effects), ["second"]);

    let busy = WhileBusy::Steer;
    let mut three = app(Settings {
        busy,
        ..Settings::default()
    });
    send(&mut three, "first", SECOND);
    three.update(started(), SECOND);
    let effects = send(&mut three, "not there", SECOND);
    let words = "not there".to_owned();
    assert!(effects.contains(&Effect::Remark(words)));

    // A remark and what a command says stand behind the paragraph, not between its head and its words.
    for delta in ["Slowly", " it is", " told.\n\n", "Then"] {
        let words = delta.to_owned();
        three.update(Input::Event(Event::TextDelta { text: words }), SECOND);
        if delta == "Slowly" {
            send(&mut three, "shorter", SECOND);
            let own = Some(("busy", "queue".to_owned()));
            let reply = Reply {
                own,
                ..Reply::default()
            };
            three.update(Input::Replied(reply), SECOND);
        }
    }
    // Nothing waits for long.
    three.update(Input::Tick, 4 * SECOND);
    let history = text(&three.take_finished()).join("\n");
    let place = |words: &str| history.find(words).unwrap_or(usize::MAX);
    let (told, remark) = (place("Slowly it is told."), place("● shorter"));
    assert!(
        told < remark && remark < place("✓ a message waits"),
        "{history}"
    );
}

// CL-18
#[test]
fn ctrl_c_stops_then_leaves_and_clears_a_draft_first() {
    let mut app = app(Settings::default());
    let ctrl_c = |app: &mut App, now| press(app, KeyCode::Char('c'), KeyModifiers::CONTROL, now);
    send(&mut app, "first", SECOND);
    app.update(started(), SECOND);
    assert_eq!(ctrl_c(&mut app, SECOND), [Effect::Send(Op::Interrupt)]);
    assert_eq!(ctrl_c(&mut app, 4 * SECOND), [Effect::Send(Op::Interrupt)]);
    assert_eq!(ctrl_c(&mut app, 5 * SECOND), [Effect::Leave]);
    app.update(finished(TurnEnd::Interrupted), 6 * SECOND);
    press(&mut app, KeyCode::Char('x'), KeyModifiers::NONE, 6 * SECOND);
    assert_eq!(ctrl_c(&mut app, 6 * SECOND), []);
    assert_eq!(ctrl_c(&mut app, 6 * SECOND), [Effect::Leave]);
}

// CL-19
#[test]
fn a_question_keeps_the_draft_and_hears_no_key_that_came_too_soon() {
    let mut app = app(Settings::default());
    send(&mut app, "first", SECOND);
    app.update(started(), SECOND);
    for letter in "draft".chars() {
        press(&mut app, KeyCode::Char(letter), KeyModifiers::NONE, SECOND);
    }
    let question = Question {
        id: QuestionId(7),
        session: SessionId::try_from("s".to_owned()).unwrap(),
        kind: QuestionKind::Approval {
            action: "rm -rf build".into(),
            reasons: vec!["it deletes".into()],
            marks: Vec::new(),
            reach: Reach::Once,
            editable: false,
            decider: Decider::Anyone,
        },
        deadline: 60 * SECOND,
    };
    app.update(Input::Event(Event::Ask(question.clone())), 2 * SECOND);
    let live = text(&app.live(2 * SECOND).lines);
    assert!(
        live.iter().any(|line| line.contains("rm -rf build")),
        "{live:?}"
    );
    let soon = 2 * SECOND + Duration::from_millis(100);
    assert_eq!(
        press(&mut app, KeyCode::Char('1'), KeyModifiers::NONE, soon),
        []
    );
    // The terminal can be drawn anew and left while something is asked, and it is asked on.
    for (letter, effect) in [('l', Effect::Repaint), ('z', Effect::Suspend)] {
        let letter = KeyCode::Char(letter);
        let done = press(&mut app, letter, KeyModifiers::CONTROL, 3 * SECOND);
        assert_eq!(done, [effect]);
    }
    let effects = press(&mut app, KeyCode::Char('1'), KeyModifiers::NONE, 3 * SECOND);
    let said = Effect::Send(Op::Answer {
        question: QuestionId(7),
        answer: Answer::AllowOnce,
    });
    assert!(effects.contains(&said), "{effects:?}");
    let live = text(&app.live(3 * SECOND).lines);
    assert!(live.iter().any(|line| line.contains("draft")), "{live:?}");

    // Silence is no answer of the user's.
    app.update(Input::Event(Event::Ask(question)), 4 * SECOND);
    assert_eq!(app.update(Input::Tick, 70 * SECOND), []);
    let history = text(&app.take_finished()).join("\n");
    assert!(history.contains("rm -rf build"), "{history}");
}

#[test]
fn tools_show_what_they_print_and_leave_a_line() {
    let mut app = app(Settings::default());
    send(&mut app, "go", SECOND);
    app.update(started(), SECOND);
    let call = CallId("one".into());
    app.update(
        Input::Event(Event::ToolStarted {
            call: call.clone(),
            name: "terminal".into(),
            arguments: serde_json::json!({"command": "make test"}),
        }),
        SECOND,
    );
    let chunk = "compiling\x1b[31m red\n".to_owned();
    app.update(
        Input::Event(Event::ToolOutput {
            call: call.clone(),
            chunk,
        }),
        SECOND,
    );
    let live = text(&app.live(2 * SECOND).lines).join("\n");
    assert!(
        live.contains("make test") && live.contains("compiling red"),
        "{live}"
    );
    app.update(
        Input::Event(Event::ToolFinished {
            call,
            failed: false,
            summary: "{}".into(),
        }),
        3 * SECOND,
    );
    let history = text(&app.take_finished()).join("\n");
    assert!(history.contains("make test"), "{history}");
}

#[test]
fn what_is_written_before_the_session_is_there_is_sent_when_it_is() {
    let mut app = App::new(
        Theme::plain(),
        Settings::default(),
        Composer::default(),
        (60, 20),
    );
    assert!(messages(&send(&mut app, "early", SECOND)).is_empty());
    let opened = Opened {
        standing: standing(),
        ..Opened::default()
    };
    let effects = app.update(Input::Opened(Box::new(opened)), SECOND);
    assert_eq!(messages(&effects), ["early"]);
}

// AG-34: nothing is shown as waiting, and nothing that waits is said, before it has its row.
#[test]
fn what_waits_is_kept_before_it_is_shown_and_said() {
    let mut app = app(Settings {
        busy: WhileBusy::Queue,
        ..Settings::default()
    });
    let shown = |app: &mut App| text(&app.live(SECOND).lines).join("\n");
    let lined_up = |app: &mut App, effects: &[Effect], row: Result<i64, Failure>| {
        let message = effects.iter().find_map(|effect| match effect {
            Effect::LineUp(message) => Some(Box::new(message.clone())),
            _ => None,
        });
        let (message, row) = (message.unwrap(), row.map(InboxId));
        app.update(Input::LinedUp { message, row }, SECOND)
    };
    let enter = |app: &mut App, text: &str| {
        app.composer.set_text(text);
        press(app, KeyCode::Enter, KeyModifiers::NONE, SECOND)
    };
    enter(&mut app, "first");
    app.update(started(), SECOND);
    let second = enter(&mut app, "second");
    let third = enter(&mut app, "third");
    assert!(!shown(&mut app).contains("⋯"));
    lined_up(&mut app, &third, Ok(7));
    let now = shown(&mut app);
    assert!(now.contains("⋯ third") && !now.contains("second"), "{now}");
    // The turn ends before the second has its row: nobody overtakes it.
    assert!(messages(&app.update(finished(TurnEnd::Done), SECOND)).is_empty());
    let effects = lined_up(&mut app, &second, Ok(6));
    assert_eq!(messages(&effects), ["second"]);
    assert!(effects.iter().any(|effect| matches!(
        effect,
        Effect::Message(message) if message.rows == [InboxId(6)]
    )));
    // What cannot be kept does not wait.
    let fourth = enter(&mut app, "fourth");
    let failure = Failure {
        message: "no space left".to_owned(),
        next: None,
    };
    lined_up(&mut app, &fourth, Err(failure));
    assert_eq!(app.composer.text(), "fourth");
    // Another conversation comes to the front: what waited is there to be sent, and nowhere else.
    let effects = app.update(Input::Opened(Box::default()), SECOND);
    assert!(effects.contains(&Effect::Withdraw(vec![InboxId(7)])));
    assert!(app.composer.text().starts_with("third"));
    // It brings what waited in it.
    let waited = |text: &str, row: i64| Outgoing {
        text: text.to_owned(),
        attachments: Vec::new(),
        instead: false,
        skills: None,
        rows: vec![InboxId(row)],
    };
    let opened = Opened {
        waiting: vec![waited("fifth", 8), waited("sixth", 9)],
        ..Opened::default()
    };
    let effects = app.update(Input::Opened(Box::new(opened)), SECOND);
    assert_eq!(messages(&effects), ["fifth"]);
    assert!(shown(&mut app).contains("⋯ sixth"));
}

#[test]
fn the_live_area_fits_any_terminal() {
    let mut app = app(Settings::default());
    send(&mut app, "go", SECOND);
    app.update(started(), SECOND);
    let text = "line\n".repeat(100);
    app.update(Input::Event(Event::TextDelta { text }), SECOND);
    for (columns, rows) in [(1, 1), (2, 2), (5, 3), (20, 5), (60, 10), (300, 100)] {
        app.update(Input::Resize(columns, rows), SECOND);
        let live = app.live(SECOND);
        assert!(
            live.lines.len() <= usize::from(rows).max(2),
            "{columns}x{rows}"
        );
        for line in &live.lines {
            assert!(crate::text::width(&line.to_string()) <= usize::from(columns).max(2));
        }
        if let Some((row, _)) = live.cursor {
            assert!(usize::from(row) < live.lines.len());
        }
    }
}

#[test]
fn what_is_picked_becomes_a_command_and_the_draft_stays() {
    use crate::panels::{Column, Item, Panel, Picker, Side, Takes};
    let item = |name: &str| Item {
        cells: vec![name.to_owned()],
        also: String::new(),
        picked: false,
    };
    let asked = |then: Then, takes| Reply {
        asks: Some(Box::new(Asked {
            panel: Panel::Picker(Picker::new(
                "Models",
                vec![Column {
                    title: "name".into(),
                    side: Side::Left,
                }],
                vec![item("one"), item("two")],
                takes,
            )),
            then,
        })),
        ..Reply::default()
    };
    let mut app = app(Settings::default());
    press(&mut app, KeyCode::Char('d'), KeyModifiers::NONE, SECOND);
    let each = Then::Each(vec!["/model one".into(), "/model two".into()]);
    app.update(Input::Replied(asked(each.clone(), Takes::One)), SECOND);
    press(&mut app, KeyCode::Down, KeyModifiers::NONE, SECOND);
    assert_eq!(
        press(&mut app, KeyCode::Enter, KeyModifiers::NONE, SECOND),
        [Effect::Command("/model two".into())]
    );
    let all = Then::All {
        command: "/tools set".into(),
        names: vec!["one".into(), "two".into()],
    };
    app.update(Input::Replied(asked(all, Takes::Many)), SECOND);
    press(&mut app, KeyCode::Char(' '), KeyModifiers::NONE, SECOND);
    assert_eq!(
        press(&mut app, KeyCode::Enter, KeyModifiers::NONE, SECOND),
        [Effect::Command("/tools set one".into())]
    );
    // Ctrl+C closes the list and stops nothing.
    app.update(started(), SECOND);
    app.update(Input::Replied(asked(each, Takes::One)), SECOND);
    assert_eq!(
        press(&mut app, KeyCode::Char('c'), KeyModifiers::CONTROL, SECOND),
        []
    );
    assert!(app.is_busy());
    let live = text(&app.live(SECOND).lines).join("\n");
    assert!(live.contains('d') && !live.contains("Models"), "{live}");
}
