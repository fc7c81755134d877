//! Anything may happen in any order, in both modes and at any size.

use std::time::Duration;

use hermes_tui::app::{
    App, Effect, Input, Mode, Mouse, Opened, Reply, Settings, Stamps, StatusBar, ToolLines,
};
use hermes_tui::composer::Composer;
use hermes_tui::{Failure, Marks, Theme, width};
use proptest::prelude::*;

use super::anything::{input, said, words};

pub(crate) fn settings(mode: Mode, tools: ToolLines, marks: Marks) -> Settings {
    Settings {
        status: match tools {
            ToolLines::New => StatusBar::Top,
            _ => StatusBar::Bottom,
        },
        mode,
        tools,
        marks,
        mouse: Mouse::All,
        title: true,
        timestamps: true,
        show_usage: true,
        stamps: Some(Stamps::new(|at| format!("{}:00", at.as_secs()))),
        ..Settings::default()
    }
}

/// What is drawn fits, whatever it is.
pub(crate) fn fits(
    app: &mut App,
    mode: Mode,
    size: (u16, u16),
    now: Duration,
) -> Result<(), TestCaseError> {
    let (columns, rows) = (usize::from(size.0.max(1)), usize::from(size.1.max(1)));
    let live = app.live(now);
    match mode {
        Mode::Full => prop_assert_eq!(live.lines.len(), rows),
        Mode::Inline => prop_assert!(live.lines.len() <= rows, "{} of {rows}", live.lines.len()),
    }
    let finished = app.take_finished();
    for line in live.lines.iter().chain(&finished) {
        let text = line.to_string();
        prop_assert!(
            width(&text) <= columns,
            "{} of {columns}: {text:?}",
            width(&text)
        );
        prop_assert!(!text.contains(char::is_control), "{text:?}");
    }
    if let Some((row, column)) = live.cursor {
        prop_assert!(
            usize::from(row) < live.lines.len(),
            "{row} in {} rows",
            live.lines.len()
        );
        prop_assert!(usize::from(column) < columns, "{column} of {columns}");
    }
    let title = app.title().unwrap_or_default();
    prop_assert!(!title.contains(char::is_control), "{title:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    // CL-19 CL-31
    #[test]
    fn whatever_happens_the_screen_is_whole(
        inputs in prop::collection::vec(input(), 1..60),
        tools in prop::sample::select(vec![ToolLines::Off, ToolLines::New, ToolLines::All, ToolLines::Verbose]),
        marks in prop::sample::select(vec![Marks::Render, Marks::Strip, Marks::Keep]),
    ) {
        for mode in [Mode::Inline, Mode::Full] {
            let mut size = (30, 10);
            let mut app = App::new(Theme::default(), settings(mode, tools, marks), Composer::default(), size);
            let mut now = Duration::ZERO;
            fits(&mut app, mode, size, now)?;
            app.update(Input::Opened(Box::default()), now);
            for input in &inputs {
                now += Duration::from_millis(400);
                if let Input::Resize(columns, rows) = input {
                    size = (*columns, *rows);
                }
                for effect in app.update(input.clone(), now) {
                    if let Effect::Look { text, .. } = effect {
                        let picture = Err(Failure {
                            message: "no picture".to_owned(),
                            next: None,
                        });
                        app.update(Input::Looked { text, picture }, now);
                    }
                }
                fits(&mut app, mode, size, now)?;
            }
        }
    }

    #[test]
    fn a_draft_and_a_transcript_of_any_script_fit_every_width(text in words()) {
        for mode in [Mode::Inline, Mode::Full] {
            let mut app = App::new(Theme::default(), settings(mode, ToolLines::All, Marks::Render), Composer::default(), (40, 12));
            app.update(Input::Opened(Box::new(Opened { before: said(&text), greeting: said(&text), ..Opened::default() })), Duration::ZERO);
            app.update(Input::Paste(text.clone()), Duration::ZERO);
            fits(&mut app, mode, (40, 12), Duration::ZERO)?;
            for columns in 1..=40 {
                app.update(Input::Resize(columns, 12), Duration::ZERO);
                app.update(Input::Replied(Reply { cells: said(&text), ..Reply::default() }), Duration::ZERO);
                fits(&mut app, mode, (columns, 12), Duration::ZERO)?;
            }
        }
    }
}
