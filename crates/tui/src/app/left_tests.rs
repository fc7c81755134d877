//! What is left behind: turns that never began, sessions that are gone, questions of others.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use hermes_core::{Event, Op, Question, QuestionKind, TurnEnd, TurnId};

use super::*;
use crate::cells::{Cell, Failure};
use crate::composer::Attachment;

const SECOND: Duration = Duration::from_secs(1);

fn session(name: &str) -> SessionId {
    SessionId::try_from(name.to_owned()).unwrap()
}

fn opened(name: &str) -> Input {
    Input::Opened(Box::new(Opened {
        standing: Standing {
            model: "small".into(),
            window: Some(1_000),
            ..Standing::default()
        },
        session: Some(session(name)),
        ..Opened::default()
    }))
}

fn app(settings: Settings) -> App {
    let mut app = App::new(Theme::plain(), settings, Composer::default(), (90, 20));
    app.update(opened("front"), Duration::ZERO);
    app
}

fn key(app: &mut App, code: KeyCode) -> Vec<Effect> {
    app.update(
        Input::Key(KeyEvent::new(code, KeyModifiers::NONE)),
        2 * SECOND,
    )
}

fn write(app: &mut App, text: &str) {
    for letter in text.chars() {
        key(app, KeyCode::Char(letter));
    }
}

fn send(app: &mut App, text: &str) -> Vec<Effect> {
    write(app, text);
    key(app, KeyCode::Enter)
}

fn sent(effects: &[Effect]) -> Option<&Outgoing> {
    effects.iter().find_map(|effect| match effect {
        Effect::Message(message) => Some(message),
        _ => None,
    })
}

fn started(app: &mut App) {
    let turn = TurnId(1);
    app.update(Input::Event(Event::TurnStarted { turn }), 2 * SECOND);
}

fn finished(app: &mut App, now: Duration) -> Vec<Effect> {
    let (turn, why, answer) = (TurnId(1), TurnEnd::Done, String::new());
    app.update(Input::Event(Event::TurnFinished { turn, why, answer }), now)
}

fn live(app: &mut App, now: Duration) -> String {
    let lines = app.live(now).lines;
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn asks(id: u64, session: SessionId, question: &str) -> Input {
    Input::Event(Event::Ask(Question {
        id: QuestionId(id),
        session,
        kind: QuestionKind::Clarify {
            question: question.into(),
            choices: vec!["yes".into()],
        },
        deadline: 60 * SECOND,
    }))
}

#[test]
fn a_message_that_cannot_be_sent_is_no_turn_and_comes_back() {
    let mut app = app(Settings::default());
    app.composer.attach(Attachment {
        label: "a.png".into(),
        path: "/tmp/a.png".into(),
    });
    let effects = send(&mut app, "look at this");
    let message = sent(&effects).unwrap().clone();
    assert!(app.is_busy());
    write(&mut app, "more");
    let failure = Failure {
        message: "a.png is gone".into(),
        next: Some("attach it again".into()),
    };
    app.update(
        Input::Replied(Reply {
            cells: vec![Cell::Failure(failure)],
            unsent: Some(Box::new(message.clone())),
            ..Reply::default()
        }),
        3 * SECOND,
    );
    assert!(!app.is_busy());
    assert_eq!(app.composer.text(), "look at this\nmore");
    let shown = live(&mut app, 3 * SECOND);
    assert!(shown.contains("a.png"), "{shown}");
    let history: Vec<String> = app
        .take_finished()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        history.join("\n").contains("attach it again"),
        "{history:?}"
    );
    let again = key(&mut app, KeyCode::Enter);
    assert_eq!(sent(&again).unwrap().attachments, message.attachments);
    // What was long is kept aside again.
    let mut app = self::app(Settings::default());
    let long = "line\n".repeat(40);
    app.update(Input::Paste(long), SECOND);
    let message = sent(&key(&mut app, KeyCode::Enter)).unwrap().clone();
    let effects = app.update(
        Input::Replied(Reply {
            unsent: Some(Box::new(message.clone())),
            ..Reply::default()
        }),
        SECOND,
    );
    assert!(
        matches!(effects.as_slice(), [Effect::Keep(_)]),
        "{effects:?}"
    );
    assert!(app.composer.text().starts_with("[Pasted text #2"));
    assert_eq!(
        sent(&key(&mut app, KeyCode::Enter)).unwrap().text,
        message.text
    );
}

// CL-18
#[test]
fn escape_stops_the_turn_when_there_is_nothing_to_close() {
    let mut app = app(Settings::default());
    assert_eq!(key(&mut app, KeyCode::Esc), []);
    send(&mut app, "go");
    started(&mut app);
    write(&mut app, "/he");
    assert!(app.is_busy());
    // First what is open is closed, then what runs is stopped; the draft stays.
    app.composer
        .set_commands(vec![crate::composer::complete::CommandEntry {
            name: "help".into(),
            aliases: Vec::new(),
            hint: String::new(),
            about: String::new(),
            arguments: Vec::new(),
            asks: false,
        }]);
    write(&mut app, "l");
    assert_eq!(key(&mut app, KeyCode::Esc), []);
    assert_eq!(key(&mut app, KeyCode::Esc), [Effect::Send(Op::Interrupt)]);
    assert_eq!(app.composer.text(), "/hel");
}

// CL-19
#[test]
fn the_end_of_a_turn_takes_only_its_own_questions_back() {
    let mut app = app(Settings::default());
    send(&mut app, "go");
    started(&mut app);
    app.update(asks(1, session("front"), "mine?"), 2 * SECOND);
    app.update(asks(2, session("bg_1"), "beside?"), 2 * SECOND);
    assert!(live(&mut app, 2 * SECOND).contains("mine?"));
    finished(&mut app, 3 * SECOND);
    let shown = live(&mut app, 3 * SECOND);
    assert!(
        shown.contains("beside?") && !shown.contains("mine?"),
        "{shown}"
    );
    // Nobody waits for what a session asked that is over.
    app.update(
        Input::Replied(Reply {
            over: Some(session("bg_1")),
            ..Reply::default()
        }),
        4 * SECOND,
    );
    assert!(!live(&mut app, 4 * SECOND).contains("beside?"));
}

#[test]
fn what_waits_for_one_session_does_not_go_to_another() {
    let mut app = app(Settings {
        busy: WhileBusy::Queue,
        ..Settings::default()
    });
    send(&mut app, "first");
    started(&mut app);
    send(&mut app, "second");
    send(&mut app, "third");
    app.update(asks(1, session("front"), "mine?"), 2 * SECOND);
    let effects = app.update(opened("other"), 3 * SECOND);
    assert_eq!(sent(&effects), None);
    assert_eq!(app.composer.text(), "second\nthird");
    assert!(!app.is_busy(), "its turn goes on behind");
    // Whoever asks behind still waits, until that turn is over.
    assert!(live(&mut app, 3 * SECOND).contains("mine?"));
    app.update(
        Input::Replied(Reply {
            over: Some(session("front")),
            ..Reply::default()
        }),
        4 * SECOND,
    );
    assert!(!live(&mut app, 4 * SECOND).contains("mine?"));
}

// CL-31
#[test]
fn a_turn_that_began_before_is_shown_as_it_goes() {
    let mut app = app(Settings::default());
    send(&mut app, "here");
    started(&mut app);
    let text = |text: &str| Event::TextDelta { text: text.into() };
    app.update(Input::Event(text("of the one that is left")), 2 * SECOND);
    let Input::Opened(mut other) = opened("other") else {
        panic!("not opened");
    };
    other.running = Some(Box::new(UnderWay {
        asked: Some("there".into()),
        events: vec![Event::TurnStarted { turn: TurnId(7) }, text("so far ")],
        since: 9 * SECOND,
    }));
    app.update(Input::Opened(other), 10 * SECOND);
    assert!(app.is_busy());
    app.update(Input::Event(text("and on")), 11 * SECOND);
    let shown = live(&mut app, 11 * SECOND);
    assert!(shown.contains("so far and on"), "{shown}");
    assert!(!shown.contains("of the one"), "{shown}");
    let history = app.take_finished();
    let history: String = history.iter().map(ToString::to_string).collect();
    assert!(history.contains("there"), "{history}");
    finished(&mut app, 12 * SECOND);
    assert!(!app.is_busy());
}

// CL-23
#[test]
fn the_bar_says_how_long_nothing_happened() {
    let mut app = app(Settings::default());
    assert!(!live(&mut app, 4 * SECOND).contains('✓'));
    send(&mut app, "go");
    started(&mut app);
    assert!(!live(&mut app, 4 * SECOND).contains('✓'));
    finished(&mut app, 5 * SECOND);
    let shown = live(&mut app, 17 * SECOND);
    assert!(shown.contains("⏲ 3s") && shown.contains("✓ 12s"), "{shown}");
}

// CL-17
#[test]
fn a_paste_of_nothing_asks_for_the_picture_on_the_clipboard() {
    let mut app = app(Settings {
        paste_names: PasteNames::new(|number| format!("pastes/paste_{number}_101112.txt")),
        ..Settings::default()
    });
    assert_eq!(
        app.update(Input::Paste(String::new()), SECOND),
        [Effect::Clipboard]
    );
    app.update(Input::Paste("line\n".repeat(9)), SECOND);
    assert!(
        app.composer.text().contains("paste_1_101112.txt"),
        "{}",
        app.composer.text()
    );
    assert_eq!(
        key(&mut app, KeyCode::F(1)),
        [Effect::Command("/help".into())]
    );
}

#[test]
fn what_turns_out_to_be_a_message_is_said_like_one() {
    let mut app = app(Settings::default());
    app.composer.attach(Attachment {
        label: "a.png".into(),
        path: "/tmp/a.png".into(),
    });
    let effects = send(&mut app, "/etc/hosts says what?");
    assert!(effects.contains(&Effect::Command("/etc/hosts says what?".into())));
    let effects = app.update(
        Input::Replied(Reply {
            message: Some("/etc/hosts says what?".into()),
            ..Reply::default()
        }),
        SECOND,
    );
    let message = sent(&effects).unwrap();
    assert_eq!(message.attachments.len(), 1);
    assert!(app.is_busy());
    let shown: Vec<String> = app
        .take_finished()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        shown.concat().contains("/etc/hosts says what?"),
        "{shown:?}"
    );
}
