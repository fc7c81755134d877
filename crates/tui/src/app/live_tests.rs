//! What moves: the clock, and what is said of calls under way.

use hermes_core::{CallId, Event, TurnId};

use super::*;
use crate::banner::{Banner, Form, Heading};
use crate::skin::{Background, Depth, Skin};

const SECOND: Duration = Duration::from_secs(1);

fn opened(mode: Mode, size: (u16, u16)) -> App {
    let settings = Settings {
        mode,
        ..Settings::default()
    };
    let mut app = App::new(Theme::plain(), settings, Composer::default(), size);
    app.update(Input::Opened(Box::default()), SECOND / 4);
    app
}

// CL-23
#[test]
fn the_picture_follows_the_whole_seconds_of_the_session() {
    let mut app = opened(Mode::Inline, (60, 20));
    for (now, left) in [(250, 1000), (1000, 250), (1249, 1), (1250, 1000)] {
        let now = Duration::from_millis(now);
        let left = Duration::from_millis(left);
        assert_eq!(app.until_refresh(now), Some(left), "{now:?}");
    }
    app.settings.refresh = None;
    assert_eq!(app.until_refresh(SECOND), None);
}

// CL-18
#[test]
fn a_call_under_way_is_named_once() {
    for mode in [Mode::Inline, Mode::Full] {
        for tools in [ToolLines::All, ToolLines::Off] {
            let mut app = opened(mode, (60, 20));
            app.settings.tools = tools;
            let turn = TurnId(1);
            app.update(Input::Event(Event::TurnStarted { turn }), SECOND);
            let call = Event::ToolStarted {
                call: CallId("1".to_owned()),
                name: "terminal".to_owned(),
                arguments: serde_json::json!({"command": "make the thing"}),
            };
            app.update(Input::Event(call), SECOND);
            let live = app.live(2 * SECOND);
            let lines: Vec<String> = live.lines.iter().map(ToString::to_string).collect();
            let seen = lines.join("\n");
            assert_eq!(
                seen.matches("make the thing").count(),
                1,
                "{mode:?} {tools:?}\n{seen}"
            );
        }
    }
}

// CL-31
#[test]
fn large_letters_are_left_out_of_a_window_that_has_no_room_for_them() {
    let theme = Skin::builtin("default")
        .unwrap_or_default()
        .theme(Depth::True, Background::Dark);
    let heading = Heading {
        banner: Banner::default(),
        form: Form::Full,
        cleared: false,
    };
    let letters = theme.logo.len();
    let whole = heading.lines(140, &theme).len();
    assert!(letters > 0 && whole > letters);
    assert_eq!(heading.lines_within(140, whole + 3, &theme).len(), whole);
    let short = heading.lines_within(140, whole + 2, &theme).len();
    assert_eq!(short, whole - letters);
}
