//! Panels in windows that have room for little: what decides stays to be seen.

use std::fmt::Write as _;
use std::time::Duration;

use hermes_core::{Decider, Event, Question, QuestionId, QuestionKind, Reach, SessionId};
use hermes_tui::app::{App, Asked, Input, Opened, Reply, Settings, Then};
use hermes_tui::composer::Composer;
use hermes_tui::panels::{Column, Item, Panel, Picker, Side, Takes};
use hermes_tui::{Standing, Theme};
use insta::assert_snapshot;
use ratatui::style::Modifier;

/// The live area in three windows; what is underlined stands between signs of its own.
fn in_short_windows(step: &Input) -> String {
    let mut out = String::new();
    for size in [(60, 14), (60, 10), (20, 5)] {
        let composer = Composer::default();
        let mut app = App::new(Theme::plain(), Settings::default(), composer, size);
        let opened = Opened {
            standing: Standing {
                model: "small".into(),
                ..Standing::default()
            },
            ..Opened::default()
        };
        app.update(Input::Opened(Box::new(opened)), Duration::ZERO);
        app.update(step.clone(), Duration::ZERO);
        let live = app.live(Duration::ZERO);
        writeln!(out, "== {}x{}", size.0, size.1).unwrap();
        for line in &live.lines {
            assert!(line.width() <= usize::from(size.0), "{line}");
            for span in &line.spans {
                let marked =
                    (line.style.patch(span.style).add_modifier).contains(Modifier::UNDERLINED);
                match marked {
                    true => write!(out, "«{}»", span.content).unwrap(),
                    false => out.push_str(&span.content),
                }
            }
            out.push('\n');
        }
        assert!(live.lines.len() < usize::from(size.1), "{out}");
    }
    out
}

// CL-19
#[test]
fn what_is_dangerous_and_why_is_seen_of_a_long_command() {
    let action = "for f in alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu; do \
        echo working on $f and more words here; mkdir -p build/$f; done; echo step two; \
        rm -rf /srv/gone/important; echo finished with everything that there was to be done, and more";
    let start = action.find("rm -rf").unwrap();
    let ask = Input::Event(Event::Ask(Question {
        id: QuestionId(1),
        session: SessionId::try_from("Tests".to_owned()).unwrap(),
        kind: QuestionKind::Approval {
            action: action.into(),
            reasons: vec![
                "deletes files".into(),
                "writes outside of the folder of the project, where nothing takes it back".into(),
            ],
            marks: vec![(start, start + 26)],
            reach: Reach::Always,
            editable: true,
            decider: Decider::Anyone,
        },
        deadline: Duration::from_secs(60),
    }));
    let shown = in_short_windows(&ask);
    for window in shown.split("== ").skip(1) {
        for part in ["«rm -rf /srv", "• deletes files", "once", "deny"] {
            assert!(window.contains(part), "{part}: {window}");
        }
    }
    assert_snapshot!("approval", shown);
}

// CL-19
#[test]
fn a_list_has_an_entry() {
    let column = |title: &str| Column {
        title: title.to_owned(),
        side: Side::Left,
    };
    let item = |name: &str| Item {
        cells: vec![name.to_owned(), "what it is for".to_owned()],
        also: String::new(),
        picked: name == "web",
    };
    let items = ["web", "terminal", "file", "skills", "todo", "memory"].map(item);
    let columns = vec![column("Tools"), column("About")];
    let panel = Panel::Picker(Picker::new("Tools", columns, items.to_vec(), Takes::Many));
    let shown = in_short_windows(&Input::Replied(Reply {
        asks: Some(Box::new(Asked {
            panel,
            then: Then::Each(Vec::new()),
        })),
        ..Reply::default()
    }));
    for window in shown.split("== ").skip(1) {
        assert!(window.contains("› [x] web"), "{window}");
    }
    assert_snapshot!("picker", shown);
}
