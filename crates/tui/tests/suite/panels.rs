//! How panels and what is written look in their further states, at three widths, on dark and on light terminals.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use hermes_core::{
    CallId, Decider, Event, FieldKind, FieldOption, Form, FormField, Question, QuestionId,
    QuestionKind, Reach, SessionId, TurnId,
};
use hermes_tui::app::{App, Input, Opened, Settings};
use hermes_tui::composer::{Attachment, Composer};
use hermes_tui::panels::{Column, Help, Item, Panel, Picker, Section, Side, Takes};
use hermes_tui::{Activity, Answer, Fold, Marks, Reasoning};
use insta::assert_snapshot;

use super::look::look;

fn shown(panel: &Panel) -> String {
    look(|columns, theme| {
        let columns = u16::try_from(columns).unwrap();
        let left = Some(Duration::from_secs(48));
        panel.view_with(columns, 14, left, theme).lines
    })
}

fn press(panel: &mut Panel, codes: &[KeyCode]) {
    for code in codes {
        panel.key(KeyEvent::new(*code, KeyModifiers::NONE));
    }
}

fn approval(action: &str, reach: Reach) -> QuestionKind {
    QuestionKind::Approval {
        action: action.to_owned(),
        reasons: vec!["deletes files".into(), "hides its output".into()],
        marks: vec![(0, 6)],
        reach,
        editable: false,
        decider: Decider::Anyone,
    }
}

// CL-19
#[test]
fn approvals_with_a_reason_short_and_as_a_whole() {
    let lines: Vec<String> = (1..=20)
        .map(|number| format!("rm -rf build/part-{number} 2>/dev/null"))
        .collect();
    let mut long = Panel::for_question(&approval(&lines.join("\n"), Reach::Always));
    press(&mut long, &[KeyCode::Char('6')]);
    assert_snapshot!("approval-all", shown(&long));
    let mut reason = Panel::for_question(&approval("rm -rf build", Reach::Always));
    press(&mut reason, &[KeyCode::Char('5')]);
    reason.paste("not on this machine");
    assert_snapshot!("approval-reason", shown(&reason));
    let short = Panel::for_question(&approval("rm -rf build", Reach::Once));
    assert_snapshot!("approval-short", shown(&short));
}

// CL-19
#[test]
fn answers_in_own_words_and_a_secret_that_is_still_empty() {
    let mut clarify = Panel::for_question(&QuestionKind::Clarify {
        question: "Which tests should run?".into(),
        choices: vec!["The failing one".into(), "All of them".into()],
    });
    press(&mut clarify, &[KeyCode::Char('t')]);
    clarify.paste("hose of the store");
    assert_snapshot!("clarify-words", shown(&clarify));
    let secret = Panel::for_question(&QuestionKind::Secret {
        prompt: "Password of sudo".into(),
    });
    assert_snapshot!("secret-empty", shown(&secret));
}

#[test]
fn a_form_with_a_choice_of_several() {
    let option = |value: &str| FieldOption {
        value: value.to_owned(),
        label: value.to_owned(),
    };
    let mut form = Panel::for_question(&QuestionKind::Form(Form {
        from: "MCP server deploy asks".to_owned(),
        text: "Where to?".to_owned(),
        fields: vec![FormField {
            name: "regions".to_owned(),
            label: "Regions".to_owned(),
            about: "one or two".to_owned(),
            required: true,
            kind: FieldKind::Several {
                options: vec![option("north"), option("south"), option("west")],
                fewest: 1,
                most: 2,
            },
            proposed: None,
        }],
    }));
    form.paste("north, south");
    assert_snapshot!("form-several", shown(&form));
}

#[test]
fn long_lists_scrolled_filtered_and_empty() {
    let item = |number: usize| Item {
        cells: vec![format!("tool_{number}"), "what it does".to_owned()],
        also: String::new(),
        picked: number.is_multiple_of(3),
    };
    let columns = || {
        ["Tool", "About"]
            .map(|title| Column {
                title: title.to_owned(),
                side: Side::Left,
            })
            .to_vec()
    };
    let items: Vec<Item> = (0..40).map(item).collect();
    let mut long = Panel::Picker(Picker::new("Tools", columns(), items, Takes::Many));
    press(&mut long, &[KeyCode::Down; 20]);
    assert_snapshot!("picker-scrolled", shown(&long));
    press(&mut long, &[KeyCode::Char('1'), KeyCode::Char('7')]);
    assert_snapshot!("picker-filtered", shown(&long));
    press(&mut long, &[KeyCode::Char('x')]);
    assert_snapshot!("picker-no-match", shown(&long));
    let empty = Panel::Picker(Picker::new("Tools", columns(), Vec::new(), Takes::One));
    assert_snapshot!("picker-empty", shown(&empty));
}

#[test]
fn help_at_its_end() {
    let section = Section {
        title: "Session".to_owned(),
        entries: vec![("/new".to_owned(), "begin another one".to_owned())],
    };
    let mut help = Panel::Help(Help::new("Help", vec![section]));
    press(&mut help, &[KeyCode::End]);
    assert_snapshot!("help-end", shown(&help));
}

/// What the live area shows after this.
fn live(steps: &[Input]) -> String {
    look(|columns, theme| {
        let size = (u16::try_from(columns).unwrap(), 24);
        let composer = Composer::default();
        let mut app = App::new(theme.clone(), Settings::default(), composer, size);
        app.update(Input::Opened(Box::<Opened>::default()), Duration::ZERO);
        for step in steps {
            app.update(step.clone(), Duration::from_secs(1));
        }
        app.live(Duration::from_secs(5)).lines
    })
}

// CL-19
#[test]
fn a_second_question_waits_behind_the_first() {
    let ask = |number: u64| {
        Input::Event(Event::Ask(Question {
            id: QuestionId(number),
            session: SessionId::try_from("one".to_owned()).unwrap(),
            kind: approval("rm -rf build", Reach::Once),
            deadline: Duration::from_secs(60),
        }))
    };
    assert_snapshot!("question-waits", live(&[ask(1), ask(2)]));
}

// CL-17
#[test]
fn what_is_written_with_a_paste_and_pictures() {
    let picture = |name: &str| {
        Input::Clipped(Ok(Attachment {
            label: name.to_owned(),
            path: format!("/pictures/{name}"),
        }))
    };
    let pasted = "a line that was copied\n".repeat(12);
    let steps = [
        Input::Paste(pasted),
        picture("clip_1.png"),
        picture("a rather long name of a picture.png"),
    ];
    assert_snapshot!("composer-attached", live(&steps));
}

// CL-20
#[test]
fn thoughts_that_are_clamped_while_they_come_and_afterwards() {
    let text: String = (1..=8)
        .map(|number| format!("Thought number {number}, with some words behind it.\n"))
        .collect();
    let cell = |done| Reasoning {
        text: text.clone(),
        elapsed: Duration::from_secs(12),
        done,
        fold: Fold::Clamped,
    };
    assert_snapshot!(
        "thoughts-clamped",
        look(|columns, theme| {
            let mut lines = cell(false).lines(columns, theme);
            lines.extend(cell(true).lines(columns, theme));
            lines
        })
    );
}

// CL-37
#[test]
fn the_answer_of_a_prompt_in_the_background() {
    let answer = Answer {
        text: "There are **seven** of them.".to_owned(),
        label: Some("▶ bg_1: count the files".to_owned()),
        marks: Marks::Render,
    };
    assert_snapshot!(
        "background-answer",
        look(|columns, theme| answer.lines(columns, theme))
    );
}

// CL-20
#[test]
fn the_line_that_moves_in_each_state() {
    let tool = |name: &str, label: &str| Activity::Tool {
        name: name.to_owned(),
        label: label.to_owned(),
    };
    let states = [
        Activity::Waiting,
        Activity::Thinking,
        tool("terminal", "run cargo nextest run --workspace"),
        tool("write_file", "preparing write_file"),
    ];
    assert_snapshot!(
        "moving-lines",
        look(|columns, theme| {
            let line = |state: &Activity| state.line(30, Duration::from_secs(75), columns, theme);
            states.iter().map(line).collect()
        })
    );
    let preparing = [
        Input::Event(Event::TurnStarted { turn: TurnId(1) }),
        Input::Event(Event::ToolPreparing {
            name: "write_file".to_owned(),
        }),
    ];
    assert_snapshot!("preparing", live(&preparing));
    let started = Event::ToolStarted {
        call: CallId("one".to_owned()),
        name: "write_file".to_owned(),
        arguments: serde_json::json!({"path": "notes.txt"}),
    };
    let [begun, prepared] = preparing;
    let running = live(&[begun, prepared, Input::Event(started)]);
    assert!(!running.contains("preparing"), "{running}");
}
