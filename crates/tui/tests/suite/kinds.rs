//! Every kind of panel, with what the program really asks in it, at three widths, on dark and on light terminals.

use std::path::Path;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyModifiers};
use hermes_core::{Decider, Event, Form, Question, QuestionId, QuestionKind, Reach, SessionId};
use hermes_tui::app::{App, Asked, Input, Opened, Reply, Settings, Then};
use hermes_tui::composer::Composer;
use hermes_tui::composer::complete::Candidate;
use hermes_tui::panels::{
    Column, Confirm, Help, Item, Lasting, Panel, Picker, Section, Side, Takes,
};
use hermes_tui::{Banner, Form as Extent, Heading, Standing, Theme};
use insta::assert_snapshot;
use ratatui::text::Line;

use super::look::look;
use super::screens::{inline, key, panel, screen, typed};

/// What the panels of each kind are drawn as. A kind that is added has to be drawn too.
fn pictures(panel: &Panel) -> &'static [&'static str] {
    match panel {
        Panel::Approval(_) => &[
            "screens__approval",
            "screens__approval-editable",
            "screens__approval-edit",
            "panels__approval-all",
            "panels__approval-reason",
            "panels__approval-short",
            "panels__question-waits",
            "kinds__screen-approval",
            "kinds__screen-approval-urgent",
        ],
        Panel::Clarify(_) => &[
            "screens__clarify",
            "panels__clarify-words",
            "kinds__clarify-free",
            "kinds__screen-clarify",
        ],
        Panel::Secret(_) => &[
            "screens__secret",
            "panels__secret-empty",
            "kinds__screen-secret",
        ],
        Panel::Confirm(_) => &[
            "screens__confirm",
            "kinds__confirm-price",
            "kinds__screen-confirm",
        ],
        Panel::Form(_) => &[
            "screens__form",
            "screens__form-wrong",
            "panels__form-several",
            "kinds__form-empty",
            "kinds__screen-form",
        ],
        Panel::Picker(_) => &[
            "screens__picker",
            "panels__picker-scrolled",
            "panels__picker-filtered",
            "panels__picker-no-match",
            "panels__picker-empty",
            "kinds__picker-models",
            "kinds__picker-sessions",
            "kinds__picker-skins",
            "kinds__screen-picker",
        ],
        Panel::Help(_) => &["screens__help", "panels__help-end", "kinds__screen-help"],
    }
}

fn picker(title: &str, columns: &[(&str, Side)], rows: &[&[&str]], at: usize) -> Picker {
    let columns = columns.iter().map(|(title, side)| Column {
        title: (*title).to_owned(),
        side: *side,
    });
    let items = rows.iter().map(|cells| Item {
        cells: cells.iter().map(ToString::to_string).collect(),
        also: String::new(),
        picked: false,
    });
    let (columns, items) = (columns.collect(), items.collect());
    let mut picker = Picker::new(title, columns, items, Takes::One);
    picker.select(at);
    picker
}

fn models() -> Picker {
    let columns = [
        ("Model", Side::Left),
        ("Provider", Side::Left),
        ("Window", Side::Right),
        ("$ in/out", Side::Right),
    ];
    let rows: &[&[&str]] = &[
        &["claude-sonnet-4.5", "anthropic", "200k", "3.00/15.00"],
        &[
            "an-unusually-long-model-name-2026-01-01",
            "openrouter",
            "1M",
            "0.10/0.40",
        ],
        &["qwen3:8b", "ollama", "40k", ""],
    ];
    picker("Answer with", &columns, rows, 1)
}

fn sessions() -> Picker {
    let columns = [
        ("Conversation", Side::Left),
        ("Last active", Side::Left),
        ("Messages", Side::Right),
        ("From", Side::Left),
    ];
    let rows: &[&[&str]] = &[
        &[
            "Repairing the tests of the importer",
            "● works",
            "42",
            "cli",
        ],
        &["庭のこと", "yesterday", "7", "cli"],
        &["Weekly report", "3 weeks ago", "1204", "cron"],
    ];
    picker("Go on with", &columns, rows, 0)
}

fn skins() -> Picker {
    let columns = [("Skin", Side::Left), ("What it looks like", Side::Left)];
    let rows: &[&[&str]] = &[
        &[
            "default",
            "gold and bronze, for dark terminals and for light ones",
        ],
        &["warm-lightmode", "brown ink on paper"],
    ];
    picker("Look like", &columns, rows, 1)
}

fn price() -> Confirm {
    let text =
        "It costs $15.00 for a million tokens in and $75.00 out; small costs $0.10 and $0.40.";
    Confirm::new("Change to claude-opus-4.1", text, Lasting::Never)
}

fn free() -> QuestionKind {
    QuestionKind::Clarify {
        question: "What should the new branch be called?".into(),
        choices: Vec::new(),
    }
}

/// A server that only wants a yes.
fn yes_or_no() -> QuestionKind {
    QuestionKind::Form(Form {
        from: "MCP server deploy asks".to_owned(),
        text: "Deploy version 1.4 to production?".to_owned(),
        fields: Vec::new(),
    })
}

fn approval() -> QuestionKind {
    QuestionKind::Approval {
        action: "git push --force origin main".into(),
        reasons: vec!["overwrites history that others have".into()],
        marks: vec![(9, 16)],
        reach: Reach::Session,
        editable: true,
        decider: Decider::Anyone,
    }
}

fn help() -> Help {
    let entries = [
        (
            "/new [name]",
            "put this conversation away and begin another",
        ),
        ("/undo [n]", "take the last messages and their answers back"),
        (
            "/compress [here N|topic|--preview]",
            "make the history shorter, keeping a topic or the last N exchanges",
        ),
    ];
    let entries = entries.map(|(name, about)| (name.to_owned(), about.to_owned()));
    let section = Section {
        title: "Conversation".to_owned(),
        entries: entries.to_vec(),
    };
    Help::new("Commands", vec![section])
}

fn asked(panel: Panel) -> Input {
    Input::Replied(Reply {
        asks: Some(Box::new(Asked {
            panel,
            then: Then::Each(Vec::new()),
        })),
        ..Reply::default()
    })
}

// CL-19
#[test]
fn what_the_program_asks_for_itself() {
    assert_snapshot!("picker-models", panel(&Panel::Picker(models())));
    assert_snapshot!("picker-sessions", panel(&Panel::Picker(sessions())));
    assert_snapshot!("picker-skins", panel(&Panel::Picker(skins())));
    assert_snapshot!("confirm-price", panel(&Panel::Confirm(price())));
    assert_snapshot!("clarify-free", panel(&Panel::for_question(&free())));
    assert_snapshot!("form-empty", panel(&Panel::for_question(&yes_or_no())));
}

// CL-19 CL-31
#[test]
fn panels_stand_in_the_full_screen_below_what_they_are_about() {
    let shown = |steps: &[Input]| look(|columns, theme| screen(columns, theme, steps));
    let ask = |kind, seconds| {
        Input::Event(Event::Ask(Question {
            id: QuestionId(1),
            session: SessionId::try_from("Tests".to_owned()).unwrap(),
            kind,
            deadline: Duration::from_secs(seconds),
        }))
    };
    assert_snapshot!("screen-approval", shown(&[ask(approval(), 60)]));
    // The time that is left is told in another colour when there is little of it.
    assert_snapshot!("screen-approval-urgent", shown(&[ask(approval(), 9)]));
    assert_snapshot!("screen-clarify", shown(&[ask(free(), 60)]));
    let secret = QuestionKind::Secret {
        prompt: "Password of sudo".into(),
    };
    assert_snapshot!("screen-secret", shown(&[ask(secret, 60)]));
    assert_snapshot!("screen-form", shown(&[ask(yes_or_no(), 60)]));
    assert_snapshot!("screen-confirm", shown(&[asked(Panel::Confirm(price()))]));
    assert_snapshot!("screen-picker", shown(&[asked(Panel::Picker(models()))]));
    assert_snapshot!("screen-help", shown(&[asked(Panel::Help(help()))]));
}

fn start() -> Input {
    let set = |name: &str, tools: &[&str]| {
        let tools = tools.iter().map(ToString::to_string);
        (name.to_owned(), tools.collect())
    };
    let banner = Banner {
        version: "0.1.0".to_owned(),
        model: "small".to_owned(),
        vendor: "custom".to_owned(),
        directory: "/home/anna/garden".to_owned(),
        session: "20260301_101500_a1b2c3".to_owned(),
        tools: vec![
            set("terminal", &["terminal", "process"]),
            set(
                "file",
                &["read_file", "write_file", "patch", "search_files"],
            ),
        ],
        tip: Some("/skin lists other colours".to_owned()),
        ..Banner::default()
    };
    Input::Replied(Reply {
        opened: Some(Box::new(Opened {
            heading: Some(Box::new(Heading {
                banner,
                form: Extent::Full,
                cleared: false,
            })),
            ..Opened::default()
        })),
        ..Reply::default()
    })
}

// CL-31
#[test]
fn a_banner_has_the_room_that_is_left_beside_the_sessions_whatever_the_window_becomes() {
    let shown = |steps: &[Input]| look(|columns, theme| screen(columns, theme, steps));
    assert_snapshot!("screen-start", shown(&[start()]));
    for columns in [140, 100, 99, 80, 79, 30] {
        let resized = [start(), Input::Resize(columns, 40)];
        let lines = screen(120, &Theme::plain(), &resized);
        let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let text = text.join("\n");
        let framed = text.matches('╭').count();
        assert_eq!(text.matches("─╮").count(), framed, "{text}");
        // The frame needs eighty columns, and the list takes thirty-one of a hundred.
        assert_eq!(
            framed,
            usize::from([140, 99, 80].contains(&columns)),
            "{text}"
        );
    }
}

/// The composer with a name in front of it and these words in it.
fn written(columns: usize, theme: &Theme, steps: &[Input]) -> Vec<Line<'static>> {
    let size = (u16::try_from(columns).unwrap(), 24);
    let theme = theme.clone().named("work");
    let mut app = App::new(theme, Settings::default(), Composer::default(), size);
    let opened = Opened {
        standing: Standing {
            model: "small".into(),
            ..Standing::default()
        },
        ..Opened::default()
    };
    app.update(Input::Opened(Box::new(opened)), Duration::ZERO);
    for step in steps {
        app.update(step.clone(), Duration::from_secs(1));
    }
    app.live(Duration::from_secs(5)).lines
}

// CL-17
#[test]
fn what_is_written_in_many_lines_below_a_name_and_what_is_referred_to() {
    let empty = look(|columns, theme| written(columns, theme, &[]));
    assert_snapshot!("composer-named", empty);
    let line = |number: usize| {
        let text = format!("line {number} of a text that is longer than some windows are wide");
        let mut keys = typed(&text);
        keys.push(key(KeyCode::Enter, KeyModifiers::ALT));
        keys
    };
    let many: Vec<Input> = (1..=9).flat_map(line).collect();
    let long = look(|columns, theme| written(columns, theme, &many));
    assert_snapshot!("composer-long", long);
    let mut references = typed("see @re");
    let found = [
        ("@README.md", ""),
        ("@crates/", "folder"),
        ("@crates/tui/src/composer/complete/target.rs", ""),
    ];
    references.push(Input::Completed {
        // Each letter counts.
        id: 7,
        candidates: found
            .map(|(value, about)| Candidate::new(value, about))
            .to_vec(),
    });
    let shown = |steps: &[Input]| look(|columns, theme| inline(columns, theme, steps));
    assert_snapshot!("popup-references", shown(&references));
    let mut nothing = typed("a draft");
    nothing.push(key(KeyCode::Char('r'), KeyModifiers::CONTROL));
    nothing.extend(typed("nobody wrote this"));
    assert_snapshot!("search-nothing", shown(&nothing));
}

#[test]
fn every_kind_of_panel_is_drawn_at_three_widths_in_dark_and_light() {
    let one_of_each = [
        Panel::for_question(&approval()),
        Panel::for_question(&free()),
        Panel::for_question(&QuestionKind::Secret {
            prompt: "Password".into(),
        }),
        Panel::Confirm(price()),
        Panel::for_question(&yes_or_no()),
        Panel::Picker(models()),
        Panel::Help(help()),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/snapshots");
    for panel in &one_of_each {
        for name in pictures(panel) {
            let path = folder.join(format!("all__suite__{name}.snap"));
            let drawn = std::fs::read_to_string(&path).unwrap();
            for part in ["== 50 columns", "== 80 columns", "== 140 columns"] {
                assert!(drawn.contains(part), "{name} has no {part:?}");
            }
            // What a letter stands for on dark, and on light.
            let both = |line: &str| line.starts_with("a = ") && line.contains(" | ");
            assert!(drawn.lines().any(both), "{name}");
        }
    }
}
