//! Everything that can happen to a screen, at random.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use hermes_core::{
    CallId, Decider, Event, FieldKind, Form, FormField, Question, QuestionId, QuestionKind, Reach,
    SessionId, TextFormat, TurnEnd, TurnId, Usage,
};
use hermes_tui::app::{Asked, Input, Opened, Reply, Then};
use hermes_tui::composer::complete::Candidate;
use hermes_tui::panels::{
    Column, Confirm, Help, Item, Lasting, Panel, Picker, Section, Side, Takes,
};
use hermes_tui::{Answer, Banner, Cell, Form as Extent, Heading, Marks, SessionRow, User};
use proptest::prelude::*;

pub(crate) fn words() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z]{1,9} ".prop_map(String::from),
        1 => any::<char>().prop_map(String::from),
        2 => prop::sample::select(vec![
            "\u{1b}[2J", "\u{1b}]0;t\u{7}", "\u{9b}1m", "\u{202e}", "\r", "\n", "\n\n", "\t", "日本", "e\u{301}",
            "👩\u{200d}👩\u{200d}👧", "🇩🇪", "שלום", "مرحبا", "\u{200d}", "\u{fe0f}", "❤\u{fe0f}", "```\n", "| a |\n|-|\n", "**",
            "/", "@", "\\",
        ]).prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn key() -> impl Strategy<Value = Input> {
    let codes = vec![
        KeyCode::Enter,
        KeyCode::Tab,
        KeyCode::Esc,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Backspace,
        KeyCode::Delete,
        KeyCode::F(2),
        KeyCode::Char(' '),
        KeyCode::Char('/'),
        KeyCode::Char('1'),
        KeyCode::Char('5'),
        KeyCode::Char('n'),
        KeyCode::Char('o'),
        KeyCode::Char('r'),
        KeyCode::Char('x'),
        KeyCode::Char('日'),
    ];
    let modifiers = vec![
        KeyModifiers::NONE,
        KeyModifiers::NONE,
        KeyModifiers::CONTROL,
        KeyModifiers::ALT,
        KeyModifiers::SHIFT,
    ];
    let code = prop::sample::select(codes);
    (code, prop::sample::select(modifiers))
        .prop_map(|(code, modifiers)| Input::Key(KeyEvent::new(code, modifiers)))
}

fn mouse() -> impl Strategy<Value = Input> {
    let kinds = vec![
        MouseEventKind::ScrollUp,
        MouseEventKind::ScrollDown,
        MouseEventKind::Moved,
        MouseEventKind::Down(MouseButton::Left),
        MouseEventKind::Down(MouseButton::Right),
    ];
    (prop::sample::select(kinds), 0_u16..150, 0_u16..40).prop_map(|(kind, column, row)| {
        Input::Mouse(MouseEvent {
            kind,
            column,
            row,
            modifiers: KeyModifiers::NONE,
        })
    })
}

fn event() -> impl Strategy<Value = Event> {
    let call = || prop::sample::select(vec!["one", "two"]).prop_map(|id| CallId(id.into()));
    let turn = TurnId(1);
    let ends = vec![
        TurnEnd::Done,
        TurnEnd::Interrupted,
        TurnEnd::Budget,
        TurnEnd::Empty,
    ];
    prop_oneof![
        Just(Event::TurnStarted { turn }),
        words().prop_map(|text| Event::TextDelta { text }),
        words().prop_map(|text| Event::TextDelta { text }),
        words().prop_map(|text| Event::ReasoningDelta { text }),
        words().prop_map(|name| Event::ToolPreparing { name }),
        (call(), words()).prop_map(|(call, text)| Event::ToolStarted {
            call,
            name: "terminal".into(),
            arguments: serde_json::json!({ "command": text, "more": [text] }),
        }),
        (call(), words()).prop_map(|(call, chunk)| Event::ToolOutput { call, chunk }),
        (call(), any::<bool>(), words()).prop_map(|(call, failed, text)| {
            let diff = format!("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+{text}");
            Event::ToolFinished {
                call,
                failed,
                summary: serde_json::json!({ "diff": diff, "error": text }).to_string(),
            }
        }),
        question().prop_map(Event::Ask),
        Just(Event::Usage {
            turn: Usage {
                input_tokens: 900,
                ..Usage::default()
            },
            call: Usage::default(),
        }),
        words().prop_map(|text| Event::Notice { text }),
        prop::sample::select(ends).prop_map(move |why| Event::TurnFinished {
            turn,
            why,
            answer: String::new(),
        }),
        words().prop_map(move |message| Event::TurnFinished {
            turn,
            why: TurnEnd::Failed {
                hint: Some(message.clone()),
                message,
            },
            answer: String::new(),
        }),
    ]
}

fn question() -> impl Strategy<Value = Question> {
    let kind = prop_oneof![
        words().prop_map(|action| QuestionKind::Approval {
            reasons: vec![action.clone(), action.clone()],
            action,
            marks: vec![(0, 1), (5, 90)],
            reach: Reach::Always,
            editable: true,
            decider: Decider::Anyone,
        }),
        words().prop_map(|question| QuestionKind::Clarify {
            choices: vec![question.clone(), question.clone()],
            question,
        }),
        words().prop_map(|prompt| QuestionKind::Secret { prompt }),
    ];
    (kind, 0_u64..9).prop_map(|(kind, id)| Question {
        id: QuestionId(id),
        session: SessionId::try_from("s".to_owned()).unwrap(),
        kind,
        deadline: Duration::from_secs(30),
    })
}

fn panel() -> impl Strategy<Value = Panel> {
    let field = |label: String| FormField {
        name: "name".into(),
        about: label.clone(),
        proposed: Some(label.clone().into()),
        label,
        required: true,
        kind: FieldKind::Text {
            shortest: 1,
            longest: 80,
            format: TextFormat::Any,
        },
    };
    prop_oneof![
        words().prop_map(|text| {
            let item = |name: &str| Item {
                cells: vec![name.to_owned(), text.clone()],
                also: text.clone(),
                picked: false,
            };
            let column = |title: &str| Column {
                title: title.to_owned(),
                side: Side::Left,
            };
            let columns = vec![column("name"), column(&text)];
            let items = vec![item("a"), item(&text), item("c")];
            Panel::Picker(Picker::new(text.clone(), columns, items, Takes::Many))
        }),
        words().prop_map(|text| Panel::Confirm(Confirm::new(text.clone(), text, Lasting::Offered))),
        words().prop_map(move |text| Panel::for_question(&QuestionKind::Form(Form {
            from: text.clone(),
            text: text.clone(),
            fields: vec![field(text)],
        }))),
        words().prop_map(|text| Panel::Help(Help::new(
            text.clone(),
            vec![Section {
                title: text.clone(),
                entries: vec![(text.clone(), text)],
            }]
        ))),
    ]
}

/// A banner that says this everywhere.
fn heading(text: &str) -> Heading {
    let own = || text.to_owned();
    let banner = Banner {
        model: own(),
        directory: own(),
        tools: vec![(own(), vec![own(), own()])],
        tip: Some(own()),
        ..Banner::default()
    };
    Heading {
        banner,
        form: Extent::Full,
        cleared: text.len().is_multiple_of(2),
    }
}

pub(crate) fn said(text: &str) -> Vec<Cell> {
    let answer = Answer {
        text: text.to_owned(),
        label: None,
        marks: Marks::Render,
    };
    vec![Cell::User(User::new(text)), Cell::Answer(answer)]
}

fn reply() -> impl Strategy<Value = Reply> {
    let own = prop::sample::select(vec![
        ("details", "hidden"),
        ("details", "expanded"),
        ("details", "tools collapsed"),
        ("timestamps", ""),
        ("mouse", "all"),
        ("reasoning", "show"),
        ("busy", "queue"),
        ("queue", "more"),
    ]);
    prop_oneof![
        words().prop_map(|text| Reply {
            asked: Some(text.clone()),
            cells: said(&text),
            draft: Some(text),
            ..Reply::default()
        }),
        panel().prop_map(|panel| Reply {
            asks: Some(Box::new(Asked {
                panel,
                then: Then::Each(vec!["/one".into(), "/two".into()]),
            })),
            ..Reply::default()
        }),
        own.prop_map(|(name, rest)| Reply {
            own: Some((name, rest.to_owned())),
            ..Reply::default()
        }),
        words().prop_map(|text| Reply {
            opened: Some(Box::new(Opened {
                heading: Some(Box::new(heading(&text))),
                before: said(&text),
                ..Opened::default()
            })),
            ..Reply::default()
        }),
    ]
}

pub(crate) fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        6 => key(),
        2 => mouse(),
        2 => words().prop_map(Input::Paste),
        2 => (1_u16..50, 1_u16..16).prop_map(|(columns, rows)| Input::Resize(columns, rows)),
        1 => (95_u16..140, 1_u16..40).prop_map(|(columns, rows)| Input::Resize(columns, rows)),
        8 => event().prop_map(Input::Event),
        3 => reply().prop_map(Input::Replied),
        1 => words().prop_map(|text| Input::Sessions(vec![
            SessionRow { id: "a".into(), title: text.clone(), when: text, ..SessionRow::default() };
            7
        ])),
        1 => (0_u64..4, words()).prop_map(|(id, text)| Input::Completed {
            id,
            candidates: vec![Candidate::new(text.clone(), text)],
        }),
        1 => words().prop_map(|text| Input::Edited(Ok(Some(text)))),
        1 => Just(Input::Tick),
    ]
}
