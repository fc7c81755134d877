//! What is told, what waits and what is stopped.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use hermes_core::{CallId, Event, Op, TurnEnd, TurnId};

use super::tests::keep;
use super::*;
use crate::cells::Failure;
use crate::composer::{Attachment, MOST_ATTACHMENTS};

const SECOND: Duration = Duration::from_secs(1);

fn app(settings: Settings) -> App {
    let mut app = App::new(Theme::plain(), settings, Composer::default(), (70, 24));
    app.update(Input::Opened(Box::default()), Duration::ZERO);
    app
}

fn key(app: &mut App, code: KeyCode, modifiers: KeyModifiers, now: Duration) -> Vec<Effect> {
    app.update(Input::Key(KeyEvent::new(code, modifiers)), now)
}

fn control(app: &mut App, letter: char, now: Duration) -> Vec<Effect> {
    key(app, KeyCode::Char(letter), KeyModifiers::CONTROL, now)
}

fn send(app: &mut App, text: &str) -> Vec<Effect> {
    for letter in text.chars() {
        key(app, KeyCode::Char(letter), KeyModifiers::NONE, SECOND);
    }
    let effects = key(app, KeyCode::Enter, KeyModifiers::NONE, SECOND);
    keep(app, &effects, SECOND);
    effects
}

fn started(app: &mut App) {
    let turn = TurnId(1);
    app.update(Input::Event(Event::TurnStarted { turn }), SECOND);
}

fn finished(app: &mut App) -> Vec<Effect> {
    let (turn, why, answer) = (TurnId(1), TurnEnd::Done, String::new());
    app.update(
        Input::Event(Event::TurnFinished { turn, why, answer }),
        SECOND,
    )
}

fn sent(effects: &[Effect]) -> Vec<&Outgoing> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Message(message) => Some(message),
            _ => None,
        })
        .collect()
}

/// Everything there is to see: the history first.
fn seen(app: &mut App, now: Duration) -> String {
    let mut lines = app.take_finished();
    lines.extend(app.live(now).lines);
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn picture(number: usize) -> Attachment {
    Attachment {
        label: format!("{number}.png"),
        path: format!("/pictures/{number}.png"),
    }
}

fn called(line: &str) -> Reply {
    Reply {
        asked: Some(line.to_owned()),
        skills: Some(Box::new(Called {
            names: vec!["bake".to_owned()],
            instruction: String::new(),
            text: "a cake".to_owned(),
        })),
        ..Reply::default()
    }
}

// CL-21
#[test]
fn a_call_for_a_skill_is_a_message_with_everything_that_is_attached() {
    let mut app = app(Settings::default());
    app.composer.attach(picture(1));
    let effects = send(&mut app, "/bake a cake");
    assert!(effects.contains(&Effect::Command("/bake a cake".into())));
    let effects = app.update(Input::Replied(called("/bake a cake")), SECOND);
    let [message] = sent(&effects)[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(message.attachments, [picture(1)]);
    assert_eq!(message.skills.as_ref().unwrap().names, ["bake"]);
    assert!(app.is_busy());
    assert!(app.composer.is_empty());
    assert!(seen(&mut app, SECOND).contains("● /bake a cake"));
    // It could not be sent: what was written is there again.
    let unsent = Reply {
        unsent: Some(Box::new(message.clone())),
        ..Reply::default()
    };
    app.update(Input::Replied(unsent), SECOND);
    assert_eq!(app.composer.text(), "/bake a cake");
    assert_eq!(app.composer.take_attachments(), [picture(1)]);
}

// CL-18 CL-21
#[test]
fn a_call_for_a_skill_waits_for_the_turn_whatever_messages_do() {
    for busy in [WhileBusy::Interrupt, WhileBusy::Queue, WhileBusy::Steer] {
        let mut app = app(Settings {
            busy,
            ..Settings::default()
        });
        started(&mut app);
        let effects = app.update(Input::Replied(called("/bake a cake")), SECOND);
        assert!(matches!(effects[..], [Effect::LineUp(_)]), "{effects:?}");
        keep(&mut app, &effects, SECOND);
        assert!(seen(&mut app, SECOND).contains("⋯ /bake a cake"));
        let effects = finished(&mut app);
        assert_eq!(sent(&effects).len(), 1, "{busy:?}");
        assert!(seen(&mut app, SECOND).contains("● /bake a cake"));
    }
}

#[test]
fn too_many_waiting_messages_are_refused_and_stay_in_the_input() {
    let mut app = app(Settings {
        busy: WhileBusy::Queue,
        ..Settings::default()
    });
    started(&mut app);
    for number in 0..waiting::MOST_WAITING {
        send(&mut app, &format!("message {number}"));
        assert!(app.composer.is_empty());
    }
    send(&mut app, "one too many");
    assert_eq!(app.waiting.len(), waiting::MOST_WAITING);
    assert_eq!(app.composer.text(), "one too many");
    let said: Vec<String> = app
        .take_finished()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        said.join(" ").contains("50 messages wait already"),
        "{said:?}"
    );
    // So are those that are queued by a command.
    app.composer.clear();
    let own = Some(("queue", "another".to_owned()));
    app.update(
        Input::Replied(Reply {
            own,
            ..Reply::default()
        }),
        SECOND,
    );
    assert_eq!(app.waiting.len(), waiting::MOST_WAITING);
    assert_eq!(app.composer.text(), "another");
}

// CL-17
#[test]
fn pictures_that_do_not_go_along_are_named() {
    let mut app = app(Settings::default());
    for number in 0..MOST_ATTACHMENTS {
        app.update(Input::Clipped(Ok(picture(number))), SECOND);
    }
    assert!(!seen(&mut app, SECOND).contains("left out"));
    app.update(Input::Clipped(Ok(picture(21))), SECOND);
    let text = seen(&mut app, SECOND);
    assert!(
        text.contains("21.png was left out: 20 pictures go with a message"),
        "{text}"
    );
    assert!(text.contains("send these first"), "{text}");
    // One that was asked for and is not there; one that was pasted is only a text.
    let failed = || {
        Err(Failure {
            message: "there is no file x.png".to_owned(),
            next: Some("/image PATH".to_owned()),
        })
    };
    let looked = |text: Option<&str>| Input::Looked {
        text: text.map(str::to_owned),
        picture: failed(),
    };
    app.update(looked(None), SECOND);
    let text = seen(&mut app, SECOND);
    assert!(text.contains("there is no file x.png"), "{text}");
    assert_eq!(app.composer.text(), "");
    app.update(looked(Some("x.png")), SECOND);
    assert!(!seen(&mut app, SECOND).contains("there is no file"));
    assert_eq!(app.composer.text(), "x.png");
}

// CL-17
#[test]
fn an_editor_that_fails_says_why_and_one_that_saves_nothing_says_so() {
    let mut app = app(Settings::default());
    key(&mut app, KeyCode::Char('x'), KeyModifiers::NONE, SECOND);
    let failure = Failure {
        message: "the editor nosuch could not be started".to_owned(),
        next: Some("set VISUAL or EDITOR".to_owned()),
    };
    app.update(Input::Edited(Err(failure)), SECOND);
    let text = seen(&mut app, SECOND);
    assert!(text.contains("nosuch") && text.contains("VISUAL"), "{text}");
    app.update(Input::Edited(Ok(None)), SECOND);
    assert!(seen(&mut app, SECOND).contains("nothing was saved"));
    assert_eq!(app.composer.text(), "x");
}

// CL-18
#[test]
fn a_command_that_takes_its_time_is_seen_and_stopped() {
    let mut app = app(Settings::default());
    send(&mut app, "/skills search pdf");
    assert!(app.is_moving());
    // Most are over before anybody could read it.
    assert!(!seen(&mut app, SECOND).contains("/skills search pdf…"));
    app.update(Input::Tick, 3 * SECOND);
    let text = seen(&mut app, 3 * SECOND);
    assert!(text.contains("/skills search pdf… 2s"), "{text}");
    assert!(text.contains("a command runs; Esc stops it"), "{text}");
    let effects = key(&mut app, KeyCode::Esc, KeyModifiers::NONE, 3 * SECOND);
    assert_eq!(effects, [Effect::DropCommands]);
    let text = seen(&mut app, 3 * SECOND);
    assert!(text.contains("stopped: /skills search pdf"), "{text}");
    assert!(text.contains("ask anything"), "{text}");
    assert!(!app.is_moving());
    // Ctrl+C stops it, and leaves when it is pressed again.
    send(&mut app, "/reload-mcp");
    assert_eq!(control(&mut app, 'c', 9 * SECOND), [Effect::DropCommands]);
    assert_eq!(control(&mut app, 'c', 10 * SECOND), [Effect::Leave]);
    // One that was answered is over.
    send(&mut app, "/status");
    let asked = Some("/status".to_owned());
    app.update(
        Input::Replied(Reply {
            asked,
            ..Reply::default()
        }),
        20 * SECOND,
    );
    assert!(!app.is_moving());
}

// CL-18
#[test]
fn control_q_stops_and_clears_but_never_leaves() {
    let mut app = app(Settings::default());
    started(&mut app);
    for _ in 0..3 {
        let effects = control(&mut app, 'q', SECOND);
        assert_eq!(effects, [Effect::Send(Op::Interrupt)]);
    }
    finished(&mut app);
    key(&mut app, KeyCode::Char('x'), KeyModifiers::NONE, SECOND);
    assert_eq!(control(&mut app, 'q', SECOND), []);
    assert!(app.composer.is_empty());
    assert_eq!(control(&mut app, 'q', SECOND), []);
    assert_eq!(app.phase, Phase::Open);
}

// CL-20
#[test]
fn thoughts_are_hidden_clamped_or_whole() {
    let text: String = (1..=9).map(|n| format!("thought {n}\n")).collect();
    for (word, first, last, kept) in [
        ("hide", false, false, false),
        ("clamp", true, false, true),
        ("full", true, true, true),
    ] {
        for mode in [Mode::Inline, Mode::Full] {
            let mut app = app(Settings {
                mode,
                ..Settings::default()
            });
            let own = Some(("reasoning", word.to_owned()));
            app.update(
                Input::Replied(Reply {
                    own,
                    ..Reply::default()
                }),
                SECOND,
            );
            started(&mut app);
            let text = text.clone();
            app.update(Input::Event(Event::ReasoningDelta { text }), SECOND);
            let coming = seen(&mut app, SECOND);
            let shown = coming.contains("▸ thinking") || coming.contains("▾ thinking");
            assert_eq!(shown, kept, "{word} {mode:?}: {coming}");
            if mode == Mode::Inline {
                assert_eq!(coming.contains("thought 9"), kept, "{word}: {coming}");
            }
            let text = "So be it.\n\n".to_owned();
            app.update(Input::Event(Event::TextDelta { text }), 2 * SECOND);
            let done = seen(&mut app, 2 * SECOND);
            assert_eq!(done.contains("thought 1"), first, "{word} {mode:?}: {done}");
            assert_eq!(done.contains("thought 9"), last, "{word} {mode:?}: {done}");
            assert!(done.contains("So be it."), "{done}");
            if word == "clamp" && mode == Mode::Inline {
                assert!(done.contains("thought 4\n│ … 5 more lines"), "{done}");
            }
        }
    }
    // Showing them again shows as much as before.
    let whole = Thoughts {
        hidden: false,
        whole: true,
    };
    assert_eq!(whole.after("hide").unwrap().after("show"), Some(whole));
    assert_eq!(whole.after("nonsense"), None);
}

// CL-20
#[test]
fn a_call_that_is_being_written_is_named() {
    let mut app = app(Settings::default());
    started(&mut app);
    let text = "I write it down.".to_owned();
    app.update(Input::Event(Event::TextDelta { text }), SECOND);
    let name = "write_file".to_owned();
    app.update(Input::Event(Event::ToolPreparing { name }), SECOND);
    let text = seen(&mut app, SECOND);
    assert!(text.contains("preparing write_file…"), "{text}");
    assert!(text.contains("I write it down."), "{text}");
    let started = Event::ToolStarted {
        call: CallId("1".to_owned()),
        name: "write_file".to_owned(),
        arguments: serde_json::json!({"path": "a.txt"}),
    };
    app.update(Input::Event(started), SECOND);
    assert!(!seen(&mut app, SECOND).contains("preparing"));
}
