//! Questions that come up while somebody types.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use hermes_core::{Answer, Decider, Event, Op, Question, QuestionKind, Reach, TurnId};

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// A screen on which the agent works.
fn working() -> App {
    let mut app = App::new(
        Theme::plain(),
        Settings::default(),
        Composer::default(),
        (60, 20),
    );
    app.update(Input::Opened(Box::default()), Duration::ZERO);
    let turn = TurnId(1);
    app.update(Input::Event(Event::TurnStarted { turn }), Duration::ZERO);
    app
}

fn asks(id: u64, kind: QuestionKind) -> Input {
    Input::Event(Event::Ask(Question {
        id: QuestionId(id),
        session: SessionId::try_from("s".to_owned()).unwrap(),
        kind,
        deadline: 60 * SECOND,
    }))
}

fn approval() -> QuestionKind {
    QuestionKind::Approval {
        action: "rm -rf build".into(),
        reasons: vec!["it deletes".into()],
        marks: Vec::new(),
        reach: Reach::Always,
        editable: false,
        decider: Decider::Anyone,
    }
}

fn press(app: &mut App, code: KeyCode, now: Duration) -> Vec<Effect> {
    app.update(Input::Key(KeyEvent::new(code, KeyModifiers::NONE)), now)
}

/// Types at an even pace and says when the last key came, and what was answered.
fn types(app: &mut App, text: &str, from: Duration) -> (Duration, Vec<Effect>) {
    let (mut now, mut answers) = (from, Vec::new());
    for letter in text.chars() {
        now += Duration::from_millis(90);
        answers.extend(press(app, KeyCode::Char(letter), now));
    }
    answers.retain(|effect| matches!(effect, Effect::Send(_)));
    (now, answers)
}

// CL-19
#[test]
fn whoever_types_on_answers_nothing_and_loses_nothing() {
    let secret = QuestionKind::Secret {
        prompt: "a key".into(),
    };
    let clarify = QuestionKind::Clarify {
        question: "which?".into(),
        choices: vec!["this".into(), "that".into()],
    };
    for kind in [approval(), secret, clarify] {
        let mut app = working();
        let (now, _) = types(&mut app, "when I have ", SECOND);
        app.update(asks(1, kind.clone()), now);
        let (now, said) = types(&mut app, "thesee", now);
        assert_eq!(said, []);
        let erased = press(&mut app, KeyCode::Backspace, now + SECOND / 10);
        assert_eq!(erased, []);
        let (now, said) = types(&mut app, " 2 files left", now + SECOND / 10);
        assert_eq!(said, [], "{kind:?}");
        // Enter is no answer, and the draft is not sent behind the user's back.
        assert_eq!(press(&mut app, KeyCode::Enter, now + SECOND / 10), []);
        app.update(Input::Paste("!".into()), now + SECOND / 5);
        assert_eq!(app.composer.text(), "when I have these 2 files left!");
        assert_eq!(app.panels.len(), 1);
    }
}

// CL-19
#[test]
fn after_a_pause_a_question_hears_keys_until_a_letter_shows_that_somebody_writes() {
    let mut app = working();
    let (now, _) = types(&mut app, "all these", SECOND);
    app.update(asks(1, approval()), now);
    let (now, _) = types(&mut app, " I", now);
    // A pause between words, and the question hears; but a space is no answer, so 2 is none either.
    let (now, said) = types(&mut app, " 2 files", now + SECOND);
    assert_eq!(said, []);
    assert_eq!(app.composer.text(), "all these I 2 files");
    let answer = press(&mut app, KeyCode::Char('2'), now + SECOND);
    let (question, answer_given) = (QuestionId(1), Answer::AllowSession);
    assert!(
        answer.contains(&Effect::Send(Op::Answer {
            question,
            answer: answer_given
        })),
        "{answer:?}"
    );
    assert_eq!(app.composer.text(), "all these I 2 files");
}

// CL-19
#[test]
fn keys_for_one_question_are_neither_an_answer_to_the_next_nor_text() {
    let mut app = working();
    app.update(asks(1, approval()), SECOND);
    app.update(asks(2, approval()), SECOND);
    press(&mut app, KeyCode::Char('1'), 2 * SECOND);
    let soon = 2 * SECOND + Duration::from_millis(200);
    assert_eq!(press(&mut app, KeyCode::Char('1'), soon), []);
    app.update(Input::Paste("1".into()), soon);
    assert_eq!((app.panels.len(), app.composer.text()), (1, ""));
    // Where nothing is written, a letter that means nothing begins no draft.
    press(&mut app, KeyCode::Char('y'), 4 * SECOND);
    assert_eq!(app.composer.text(), "");
}

// CL-23
#[test]
fn a_call_that_was_cut_short_does_not_empty_the_context_bar() {
    let mut app = working();
    let standing = Standing {
        model: "small".into(),
        window: Some(100_000),
        ..Standing::default()
    };
    app.update(Input::Standing(standing), SECOND);
    let whole = hermes_core::Usage {
        input_tokens: 40_000,
        ..hermes_core::Usage::default()
    };
    for call in [whole, hermes_core::Usage::default()] {
        app.update(Input::Event(Event::Usage { turn: whole, call }), SECOND);
    }
    let bar = app.status_line(SECOND).map(|line| line.to_string());
    assert!(
        bar.is_some_and(|bar| bar.contains("40")),
        "the size is kept"
    );
}
