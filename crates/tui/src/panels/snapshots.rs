//! Every panel at the widths and the shortest height that count.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyModifiers};
use hermes_core::{FieldKind, FieldOption, FormField, Reach, TextFormat};
use serde_json::json;

use super::*;

const SIZES: [(u16, u16); 4] = [(50, 16), (80, 16), (140, 16), (60, 10)];

fn drawn(name: &str, panel: &Panel) {
    let mut text = String::new();
    for (width, height) in SIZES {
        let view = panel.view_with(
            width,
            height,
            Some(Duration::from_secs(48)),
            &Theme::plain(),
        );
        assert!(
            view.lines.len() <= usize::from(height),
            "{name} {width}x{height}"
        );
        assert!(
            view.lines
                .iter()
                .all(|line| line.width() <= usize::from(width)),
            "{name} {width}x{height}"
        );
        text.push_str(&format!("{width}x{height}, cursor {:?}\n", view.cursor));
        for line in &view.lines {
            text.push_str(line.to_string().trim_end());
            text.push('\n');
        }
        text.push('\n');
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
    // Too little room is ugly, never a failure.
    for width in 1..8 {
        for height in 1..8 {
            let view = panel.view(width, height, &Theme::plain());
            assert!(
                view.lines
                    .iter()
                    .all(|line| line.width() <= usize::from(width)),
                "{name} {width}: {view:?}"
            );
            assert!(
                view.lines.len() <= usize::from(height),
                "{name} {height}: {view:?}"
            );
        }
    }
}

fn options(values: &[&str]) -> Vec<FieldOption> {
    let option = |value: &&str| FieldOption {
        value: (*value).to_owned(),
        label: (*value).to_owned(),
    };
    values.iter().map(option).collect()
}

fn form(from: &str, fields: Vec<FormField>) -> Panel {
    Panel::Form(Form::new(&hermes_core::Form {
        from: from.to_owned(),
        text: "Text".to_owned(),
        fields,
    }))
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn press(panel: &mut Panel, code: KeyCode) {
    panel.key(KeyEvent::new(code, KeyModifiers::NONE));
}

// CL-19
#[test]
fn approvals() {
    let reasons = strings(&["deletes files outside the project", "hides its output"]);
    let action =
        "find /var/lib/data -name '*.tmp' -mtime +30 -print0 | xargs -0 rm -rf 2>/dev/null";
    let mut long = Panel::Approval(Approval::new(action, &reasons, &[(58, 64)], Reach::Always));
    drawn("approval", &long);
    press(&mut long, KeyCode::Char('5'));
    long.paste("not on this machine");
    drawn("approval-reason", &long);
    let mut edited = Panel::Approval(Approval::editable(action, &reasons, &[], Reach::Once));
    drawn("approval-editable", &edited);
    press(&mut edited, KeyCode::Char('4'));
    drawn("approval-edit", &edited);
    let short = Approval::new("rm -rf build", &reasons[..1], &[], Reach::Once);
    drawn("approval-short", &Panel::Approval(short));
}

#[test]
fn clarifications() {
    let choices = strings(&[
        "Only the failing test",
        "The whole suite",
        "Nothing, just explain",
    ]);
    let mut panel = Panel::Clarify(Clarify::new(
        "Which tests should I run before I open the pull request?",
        &choices,
    ));
    drawn("clarify", &panel);
    press(&mut panel, KeyCode::Char('t'));
    drawn("clarify-words", &panel);
}

#[test]
fn secrets() {
    let mut panel = Panel::Secret(SecretPrompt::new("Password of sudo on this machine"));
    panel.paste("hunter2");
    drawn("secret", &panel);
}

#[test]
fn confirmations() {
    let text =
        "The conversation is put away and a new one begins. You can come back to it with /resume.";
    drawn(
        "confirm",
        &Panel::Confirm(Confirm::new(
            "Start a new conversation?",
            text,
            Lasting::Offered,
        )),
    );
}

#[test]
fn forms() {
    let field = |name: &str, required, kind, proposed| FormField {
        name: name.into(),
        label: name.into(),
        about: format!("What {name} is for."),
        required,
        kind,
        proposed,
    };
    let text = FieldKind::Text {
        shortest: 0,
        longest: 40,
        format: TextFormat::Any,
    };
    let number = FieldKind::Integer {
        least: None,
        most: None,
    };
    let options = options(&["north", "south"]);
    let fields = vec![
        field("project", true, text, Some(json!("atlas"))),
        field("retries", false, number, Some(json!(3))),
        field("public", false, FieldKind::Bool, Some(json!(false))),
        field("region", true, FieldKind::Choice { options }, None),
    ];
    let mut panel = form("The server deploy asks", fields);
    drawn("form", &panel);
    press(&mut panel, KeyCode::Up);
    press(&mut panel, KeyCode::Up);
    press(&mut panel, KeyCode::Enter);
    drawn("form-complaint", &panel);
}

#[test]
fn lists() {
    let columns = [
        ("Model", Side::Left),
        ("Provider", Side::Left),
        ("Context", Side::Right),
        ("In/Out per M", Side::Right),
    ];
    let columns = columns
        .map(|(title, side)| Column {
            title: title.into(),
            side,
        })
        .to_vec();
    let models = [
        ["small-1", "local", "32k", "free"],
        [
            "an-unusually-long-model-name-2026-01-01",
            "openrouter",
            "1M",
            "$3.00/$15.00",
        ],
        ["wide-漢字", "anthropic", "200k", "$0.80/$4.00"],
    ];
    let item = |cells: [&str; 4]| Item {
        cells: strings(&cells),
        also: String::new(),
        picked: false,
    };
    let mut panel = Picker::new("Models", columns, models.map(item).to_vec(), Takes::One);
    panel.select(1);
    drawn("picker-models", &Panel::Picker(panel));
    let tool = |number: usize| Item {
        cells: vec![
            format!("tool_{number}"),
            "what it does, in a few words".to_owned(),
        ],
        also: String::new(),
        picked: number.is_multiple_of(3),
    };
    let columns = ["Tool", "About"]
        .map(|title| Column {
            title: title.into(),
            side: Side::Left,
        })
        .to_vec();
    let mut tools = Panel::Picker(Picker::new(
        "Tools",
        columns,
        (0..40).map(tool).collect(),
        Takes::Many,
    ));
    for _ in 0..20 {
        press(&mut tools, KeyCode::Down);
    }
    drawn("picker-tools", &tools);
}

#[test]
fn helps() {
    let section = Section {
        title: "Conversation".into(),
        entries: vec![
            ("/new [name]".into(), "begin a new conversation".into()),
            (
                "/compress [here N|topic]".into(),
                "make the history shorter so that there is room to go on".into(),
            ),
        ],
    };
    let mut panel = Panel::Help(Help::new("Help", vec![section]));
    drawn("help", &panel);
    press(&mut panel, KeyCode::End);
    drawn("help-end", &panel);
}

fn every_field() -> Vec<FieldKind> {
    let options = options(&["a", "b"]);
    vec![
        FieldKind::Text {
            shortest: 1,
            longest: 9,
            format: TextFormat::Email,
        },
        FieldKind::Number {
            least: None,
            most: Some(3.5),
        },
        FieldKind::Bool,
        FieldKind::Choice {
            options: options.clone(),
        },
        FieldKind::Choice {
            options: Vec::new(),
        },
        FieldKind::Several {
            options,
            fewest: 1,
            most: 2,
        },
    ]
}

/// One of each kind, to be pressed at random.
fn every_kind() -> Vec<Panel> {
    let reasons = strings(&["deletes files", "hides its output"]);
    let action = format!("rm -rf {}\n漢字\u{1b}[2J", "very/long/path ".repeat(9));
    let field = |kind| FormField {
        name: "value".into(),
        label: "Value 漢字".into(),
        about: "what it is for".into(),
        required: true,
        kind,
        proposed: None,
    };
    let item = |number: usize| Item {
        cells: vec![format!("entry {number}")],
        also: String::new(),
        picked: false,
    };
    let columns = || {
        vec![Column {
            title: "Name".into(),
            side: Side::Right,
        }]
    };
    vec![
        Panel::Approval(Approval::editable(
            &action,
            &reasons,
            &[(3, 6), (90, 5), (0, 999)],
            Reach::Always,
        )),
        Panel::Clarify(Clarify::new(
            "Which of these 漢字?",
            &strings(&["one", "two"]),
        )),
        Panel::Clarify(Clarify::new("", &[])),
        Panel::Secret(SecretPrompt::new("Key")),
        Panel::Confirm(Confirm::new("Really?", "It is gone then.", Lasting::Never)),
        form("Form", every_field().into_iter().map(field).collect()),
        form("Empty", Vec::new()),
        Panel::Picker(Picker::new(
            "One",
            columns(),
            (0..30).map(item).collect(),
            Takes::One,
        )),
        Panel::Picker(Picker::new("None", Vec::new(), Vec::new(), Takes::Many)),
        Panel::Help(Help::new("Help", Vec::new())),
    ]
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn no_key_breaks_a_panel_and_no_view_leaves_its_room(
        keys in proptest::collection::vec(0usize..14, 0..25),
        width in 1u16..90,
        height in 1u16..24,
    ) {
        let codes = [
            KeyCode::Up, KeyCode::Down, KeyCode::Left, KeyCode::Right, KeyCode::Tab, KeyCode::Enter, KeyCode::Esc,
            KeyCode::Backspace, KeyCode::PageDown, KeyCode::End, KeyCode::Char('5'), KeyCode::Char('e'),
            KeyCode::Char(' '), KeyCode::Char('漢'),
        ];
        for mut panel in every_kind() {
            for key in &keys {
                press(&mut panel, codes[*key]);
                let view = panel.view_with(width, height, Some(Duration::from_millis(1)), &Theme::plain());
                proptest::prop_assert!(view.lines.len() <= usize::from(height), "{view:?}");
                proptest::prop_assert!(view.lines.iter().all(|line| line.width() <= usize::from(width)), "{view:?}");
                if let Some((x, y)) = view.cursor {
                    proptest::prop_assert!(x < width && usize::from(y) < view.lines.len(), "{view:?}");
                }
            }
        }
    }
}
