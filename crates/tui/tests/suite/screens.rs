//! How panels and whole screens look, at three widths, on dark and on light terminals.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use hermes_core::{
    CallId, Decider, Event, FieldKind, FieldOption, Form, FormField, QuestionKind, Reach,
    SessionId, TextFormat, TurnId,
};
use hermes_tui::app::{App, Input, Mode, Opened, Settings};
use hermes_tui::composer::Composer;
use hermes_tui::composer::complete::CommandEntry;
use hermes_tui::composer::history::{History, parse};
use hermes_tui::composer::paste::Thresholds;
use hermes_tui::panels::{
    Column, Confirm, Help, Item, Lasting, Panel, Picker, Section, Side, Takes,
};
use hermes_tui::{
    Answer, Cell, Cost, Fold, Level, Marks, Mcp, Notice, Output, Reasoning, SessionRow, Standing,
    Theme, Tool, ToolState, User, tool_verb,
};
use insta::assert_snapshot;
use ratatui::text::Line;

use super::look::look;

pub(crate) fn panel(panel: &Panel) -> String {
    look(|columns, theme| {
        let columns = u16::try_from(columns).unwrap();
        let left = Some(Duration::from_secs(48));
        panel.view_with(columns, 14, left, theme).lines
    })
}

#[test]
fn questions() {
    let approval = Panel::for_question(&QuestionKind::Approval {
        action: "find . -name '*.tmp' -print0 | xargs -0 rm -rf".into(),
        reasons: vec!["deletes files".into()],
        marks: vec![(33, 45)],
        reach: Reach::Always,
        editable: false,
        decider: Decider::Anyone,
    });
    assert_snapshot!("approval", panel(&approval));
    // CL-19
    let mut editable = Panel::for_question(&QuestionKind::Approval {
        action: "find . -name '*.tmp' -print0 | xargs -0 rm -rf".into(),
        reasons: vec!["deletes files".into()],
        marks: vec![(33, 45)],
        reach: Reach::Always,
        editable: true,
        decider: Decider::Anyone,
    });
    assert_snapshot!("approval-editable", panel(&editable));
    editable.key(KeyEvent::new(KeyCode::Char('6'), KeyModifiers::NONE));
    assert_snapshot!("approval-edit", panel(&editable));
    let clarify = Panel::for_question(&QuestionKind::Clarify {
        question: "Which tests should run?".into(),
        choices: vec!["The failing one".into(), "All of them".into()],
    });
    assert_snapshot!("clarify", panel(&clarify));
    let mut secret = Panel::for_question(&QuestionKind::Secret {
        prompt: "Password of sudo".into(),
    });
    secret.paste("hunter2");
    assert_snapshot!("secret", panel(&secret));
}

/// A form of a server with a field of each kind.
fn form() -> Panel {
    let field = |name: &str, kind, proposed| FormField {
        name: name.to_owned(),
        label: format!("The {name}"),
        about: "said by the server".to_owned(),
        required: true,
        kind,
        proposed,
    };
    let text = FieldKind::Text {
        shortest: 1,
        longest: 4,
        format: TextFormat::Any,
    };
    let days = FieldKind::Integer {
        least: Some(1),
        most: Some(14),
    };
    let option = |value: &str, label: &str| FieldOption {
        value: value.to_owned(),
        label: label.to_owned(),
    };
    let options = vec![option("c", "Celsius"), option("f", "Fahrenheit")];
    Panel::for_question(&QuestionKind::Form(Form {
        from: "MCP server weather asks".to_owned(),
        text: "Where are you?".to_owned(),
        fields: vec![
            field("city", text, Some("Köln".into())),
            field("days", days, Some(3.into())),
            field("rain", FieldKind::Bool, Some(true.into())),
            field("scale", FieldKind::Choice { options }, None),
        ],
    }))
}

#[test]
fn choices() {
    let confirm = Confirm::new("New session", "This one is put away.", Lasting::Offered);
    assert_snapshot!("confirm", panel(&Panel::Confirm(confirm)));
    let item = |name: &str, about: &str, picked| Item {
        cells: vec![name.to_owned(), about.to_owned()],
        also: String::new(),
        picked,
    };
    let column = |title: &str, side| Column {
        title: title.to_owned(),
        side,
    };
    let picker = Picker::new(
        "Tools",
        vec![column("name", Side::Left), column("calls", Side::Right)],
        vec![item("terminal", "12", true), item("web", "3", false)],
        Takes::Many,
    );
    assert_snapshot!("picker", panel(&Panel::Picker(picker)));
    assert_snapshot!("form", panel(&form()));
    let mut wrong = form();
    for code in [
        KeyCode::End,
        KeyCode::Char('x'),
        KeyCode::Up,
        KeyCode::Up,
        KeyCode::Enter,
    ] {
        wrong.key(KeyEvent::new(code, KeyModifiers::NONE));
    }
    assert_snapshot!("form-wrong", panel(&wrong));
    let section = Section {
        title: "Session".to_owned(),
        entries: vec![("/new".to_owned(), "begin another one".to_owned())],
    };
    let help = Help::new("Help", vec![section]);
    assert_snapshot!("help", panel(&Panel::Help(help)));
}

fn before() -> Vec<Cell> {
    let mut output = Output::default();
    output.push("3 passed\n");
    vec![
        Cell::User(User::new("Run the tests, please.")),
        Cell::Reasoning(Reasoning {
            text: "The user wants the tests to run.".to_owned(),
            elapsed: Duration::from_secs(2),
            done: true,
            fold: Fold::Folded,
        }),
        Cell::Tool(Tool {
            name: "terminal".to_owned(),
            verb: tool_verb("terminal").to_owned(),
            preview: "cargo nextest run --workspace".to_owned(),
            state: ToolState::Done(Duration::from_secs(12)),
            output,
            fold: Fold::Folded,
        }),
        Cell::Answer(Answer {
            text: "All **3** pass:\n\n1. one\n2. two\n3. three\n".to_owned(),
            label: None,
            marks: Marks::Render,
        }),
        Cell::Notice(Notice {
            level: Level::Warn,
            text: "credits run low".to_owned(),
        }),
    ]
}

pub(crate) fn screen(columns: usize, theme: &Theme, steps: &[Input]) -> Vec<Line<'static>> {
    let settings = Settings {
        mode: Mode::Full,
        show_cost: true,
        ..Settings::default()
    };
    let size = (u16::try_from(columns).unwrap(), 22);
    let mut app = App::new(theme.clone(), settings, Composer::default(), size);
    let standing = Standing {
        model: "small".into(),
        window: Some(100_000),
        cost: Cost::Known(0.12),
        mcp: Mcp { up: 1, down: 1 },
        ..Standing::default()
    };
    let opened = Opened {
        standing,
        session: SessionId::try_from("Tests".to_owned()).ok(),
        used: 42_000,
        before: before(),
        ..Opened::default()
    };
    app.update(Input::Opened(Box::new(opened)), Duration::ZERO);
    let row = |title: &str, busy| SessionRow {
        id: title.to_owned(),
        title: title.to_owned(),
        when: "yesterday".to_owned(),
        messages: 12,
        busy,
    };
    app.update(
        Input::Sessions(vec![
            row("Tests", false),
            row("A rather long title about the garden", true),
            row("", false),
        ]),
        Duration::ZERO,
    );
    app.live(Duration::ZERO);
    for step in steps {
        app.update(step.clone(), Duration::from_secs(1));
        app.live(Duration::from_secs(1));
    }
    app.live(Duration::from_secs(5)).lines
}

pub(crate) fn key(code: KeyCode, modifiers: KeyModifiers) -> Input {
    Input::Key(KeyEvent::new(code, modifiers))
}

// CL-31
#[test]
fn a_screen_at_rest_with_the_list_and_while_working() {
    let at_rest = look(|columns, theme| screen(columns, theme, &[]));
    assert_snapshot!("screen", at_rest);
    let list = [key(KeyCode::F(2), KeyModifiers::NONE)];
    assert_snapshot!(
        "screen-list",
        look(|columns, theme| screen(columns, theme, &list))
    );
    let text = "It is being\n\nwritten and longer ".repeat(6);
    let working = [
        Input::Event(Event::TurnStarted { turn: TurnId(1) }),
        Input::Event(Event::TextDelta { text }),
        Input::Event(Event::ToolStarted {
            call: CallId("one".into()),
            name: "read_file".into(),
            arguments: serde_json::json!({"path": "/srv/notes.txt"}),
        }),
        key(KeyCode::PageUp, KeyModifiers::NONE),
        key(KeyCode::Up, KeyModifiers::ALT),
        key(KeyCode::Char('o'), KeyModifiers::CONTROL),
    ];
    assert_snapshot!(
        "screen-working",
        look(|columns, theme| screen(columns, theme, &working))
    );
}

/// The live area below the terminal's own history.
pub(crate) fn inline(columns: usize, theme: &Theme, steps: &[Input]) -> Vec<Line<'static>> {
    let size = (u16::try_from(columns).unwrap(), 20);
    let history = parse(b"\n# 2026-01-01 10:00:00\n+water the garden\n");
    let mut composer = Composer::new(History::new(history), Thresholds::default());
    let command = |name: &str, about: &str| CommandEntry {
        name: name.to_owned(),
        aliases: Vec::new(),
        hint: "[name]".to_owned(),
        about: about.to_owned(),
        arguments: Vec::new(),
        asks: false,
    };
    composer.set_commands(vec![
        command("model", "choose the model of this conversation"),
        command("mouse", "what the mouse is used for in full screen"),
        command("new", "begin another conversation"),
    ]);
    let mut app = App::new(theme.clone(), Settings::default(), composer, size);
    let opened = Opened {
        standing: Standing {
            model: "small".into(),
            window: Some(100_000),
            processes: 1,
            ..Standing::default()
        },
        used: 42_000,
        ..Opened::default()
    };
    app.update(Input::Opened(Box::new(opened)), Duration::ZERO);
    for step in steps {
        app.update(step.clone(), Duration::from_secs(1));
    }
    app.live(Duration::from_secs(5)).lines
}

pub(crate) fn typed(text: &str) -> Vec<Input> {
    text.chars()
        .map(|letter| key(KeyCode::Char(letter), KeyModifiers::NONE))
        .collect()
}

// CL-17 CL-18
#[test]
fn the_live_area_at_rest_and_while_working() {
    let shown = |steps: &[Input]| look(|columns, theme| inline(columns, theme, steps));
    assert_snapshot!("inline", shown(&[]));
    let mut working = vec![
        Input::Event(Event::TurnStarted { turn: TurnId(1) }),
        Input::Event(Event::TextDelta {
            text: "It is **being** wri".to_owned(),
        }),
        Input::Event(Event::ToolStarted {
            call: CallId("one".into()),
            name: "terminal".into(),
            arguments: serde_json::json!({"command": "cargo test"}),
        }),
        Input::Event(Event::ToolOutput {
            call: CallId("one".into()),
            chunk: "compiling\nrunning 3 tests\n".into(),
        }),
    ];
    working.extend(typed("next"));
    working.push(key(KeyCode::Enter, KeyModifiers::NONE));
    working.extend(typed("a draft"));
    assert_snapshot!("inline-working", shown(&working));
}

// CL-17
#[test]
fn the_popup_the_suggestion_and_the_search() {
    let shown = |steps: &[Input]| look(|columns, theme| inline(columns, theme, steps));
    assert_snapshot!("popup", shown(&typed("/mo")));
    assert_snapshot!("suggestion", shown(&typed("wat")));
    let mut search = typed("a draft");
    search.push(key(KeyCode::Char('r'), KeyModifiers::CONTROL));
    search.extend(typed("gard"));
    assert_snapshot!("search", shown(&search));
}
