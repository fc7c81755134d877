use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use hermes_core::{CallId, Event, TurnEnd, TurnId};

use super::*;
use crate::cells::{Answer, Cell, Marks, User};
use crate::host::SessionRow;

const SECOND: Duration = Duration::from_secs(1);

fn app(settings: Settings, size: (u16, u16)) -> App {
    let mode = Mode::Full;
    let settings = Settings { mode, ..settings };
    let mut app = App::new(Theme::plain(), settings, Composer::default(), size);
    let effects = app.update(Input::Opened(Box::new(in_front("a"))), Duration::ZERO);
    assert_eq!(effects, [Effect::Sessions]);
    app.update(listed(), SECOND);
    app
}

fn in_front(id: &str) -> Opened {
    Opened {
        session: SessionId::try_from(id.to_owned()).ok(),
        ..Opened::default()
    }
}

fn listed() -> Input {
    let row = |id: &str| SessionRow {
        id: id.to_owned(),
        title: format!("about {id}"),
        when: "2 h ago".to_owned(),
        messages: 3,
        busy: false,
    };
    Input::Sessions(vec![row("a"), row("b")])
}

fn press(app: &mut App, code: KeyCode, modifiers: KeyModifiers) -> Vec<Effect> {
    app.update(Input::Key(KeyEvent::new(code, modifiers)), SECOND)
}

fn mouse(app: &mut App, kind: MouseEventKind, column: u16, row: u16) -> Vec<Effect> {
    let modifiers = KeyModifiers::NONE;
    let event = MouseEvent {
        kind,
        column,
        row,
        modifiers,
    };
    app.update(Input::Mouse(event), SECOND)
}

const CLICK: MouseEventKind = MouseEventKind::Down(MouseButton::Left);

fn seen(app: &mut App) -> Vec<String> {
    let live = app.live(SECOND);
    assert_eq!(live.lines.len(), usize::from(app.size.1));
    live.lines.iter().map(ToString::to_string).collect()
}

fn row_of(app: &mut App, text: &str) -> u16 {
    let lines = seen(app);
    let found = lines.iter().position(|line| line.contains(text));
    u16::try_from(found.unwrap_or_else(|| panic!("no {text:?} in {lines:#?}"))).unwrap()
}

fn event(app: &mut App, event: Event) {
    app.update(Input::Event(event), SECOND);
}

fn said(app: &mut App, text: &str) {
    let text = text.to_owned();
    event(app, Event::TextDelta { text });
}

fn called(app: &mut App, number: usize) {
    let call = CallId(number.to_string());
    event(
        app,
        Event::ToolStarted {
            call: call.clone(),
            name: "terminal".into(),
            arguments: serde_json::json!({"command": format!("make {number}")}),
        },
    );
    let chunk = format!("printed {number}\n");
    event(
        app,
        Event::ToolOutput {
            call: call.clone(),
            chunk,
        },
    );
    event(
        app,
        Event::ToolFinished {
            call,
            failed: false,
            summary: "{}".into(),
        },
    );
}

fn turn_ends(app: &mut App) {
    let why = TurnEnd::Done;
    let turn = TurnId(1);
    let answer = String::new();
    event(app, Event::TurnFinished { turn, why, answer });
}

// CL-31
#[test]
fn an_answer_grows_in_a_transcript_that_is_laid_out_again_for_any_width() {
    let mut app = app(Settings::default(), (60, 12));
    event(&mut app, Event::TurnStarted { turn: TurnId(1) });
    said(
        &mut app,
        "one two three four five six seven eight nine ten\n\nnext ",
    );
    app.update(Input::Resize(30, 12), SECOND);
    said(&mut app, "part");
    let narrow = seen(&mut app);
    assert!(
        narrow.contains(&"one two three four five six".to_owned()),
        "{narrow:#?}"
    );
    assert!(narrow.contains(&"next part".to_owned()));
    app.update(Input::Resize(80, 12), SECOND);
    let line = "one two three four five six seven eight nine ten".to_owned();
    assert!(seen(&mut app).contains(&line));
    turn_ends(&mut app);
    let before = seen(&mut app);
    assert!(before.contains(&line) && before.contains(&"next part".to_owned()));
    assert!(app.take_finished().is_empty());
    app.update(Input::Resize(30, 12), SECOND);
    assert!(seen(&mut app).contains(&"one two three four five six".to_owned()));
}

// CL-31
#[test]
fn keys_and_the_wheel_scroll_and_new_text_does_not_move_the_reader() {
    let mut app = app(Settings::default(), (60, 10));
    for number in 0..30 {
        called(&mut app, number);
    }
    assert!(row_of(&mut app, "make 29") > 0);
    press(&mut app, KeyCode::PageUp, KeyModifiers::NONE);
    let there = seen(&mut app);
    let mark = there.iter().position(|line| line.contains("↓ more below"));
    assert!(mark.is_some() && !there.iter().any(|line| line.contains("make 29")));
    called(&mut app, 30);
    said(&mut app, "new text");
    let same = seen(&mut app);
    assert_eq!(there[..mark.unwrap_or(0)], same[..mark.unwrap_or(0)]);
    press(&mut app, KeyCode::Home, KeyModifiers::CONTROL);
    assert_eq!(row_of(&mut app, "make 0"), 0);
    mouse(&mut app, MouseEventKind::ScrollDown, 5, 2);
    assert_eq!(row_of(&mut app, "make 3"), 0);
    mouse(&mut app, MouseEventKind::ScrollUp, 5, 2);
    assert_eq!(row_of(&mut app, "make 0"), 0);
    press(&mut app, KeyCode::End, KeyModifiers::CONTROL);
    row_of(&mut app, "new text");
    // What is sent is seen, wherever one was reading.
    press(&mut app, KeyCode::Home, KeyModifiers::CONTROL);
    turn_ends(&mut app);
    press(&mut app, KeyCode::Char('q'), KeyModifiers::NONE);
    press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    row_of(&mut app, "● q");
}

// CL-31
#[test]
fn calls_unfold_by_click_and_by_key_as_far_as_the_mouse_is_used() {
    for (used, works) in [
        (Mouse::Off, false),
        (Mouse::Wheel, false),
        (Mouse::Buttons, true),
        (Mouse::All, true),
    ] {
        let mut app = app(
            Settings {
                mouse: used,
                ..Settings::default()
            },
            (60, 16),
        );
        called(&mut app, 1);
        called(&mut app, 2);
        let row = row_of(&mut app, "make 1");
        mouse(&mut app, CLICK, 3, row);
        let open = |app: &mut App| seen(app).iter().any(|line| line.contains("printed 1"));
        assert_eq!(open(&mut app), works, "{used:?}");
        if works {
            let row = row_of(&mut app, "printed 1");
            mouse(&mut app, CLICK, 3, row);
            assert!(!open(&mut app));
        }
        press(&mut app, KeyCode::Up, KeyModifiers::ALT);
        press(&mut app, KeyCode::Up, KeyModifiers::ALT);
        press(&mut app, KeyCode::Char('o'), KeyModifiers::CONTROL);
        assert!(open(&mut app));
        press(&mut app, KeyCode::Esc, KeyModifiers::NONE);
        press(&mut app, KeyCode::Char('o'), KeyModifiers::CONTROL);
        row_of(&mut app, "printed 2");
    }
}

// CL-31
#[test]
fn the_list_is_asked_for_again_when_something_happened_on_its_way() {
    let mut app = app(Settings::default(), (120, 20));
    let turn = TurnId(1);
    let began = app.update(Input::Event(Event::TurnStarted { turn }), SECOND);
    assert_eq!(began, [Effect::Sessions]);
    let (why, answer) = (TurnEnd::Done, String::new());
    let ended = app.update(
        Input::Event(Event::TurnFinished { turn, why, answer }),
        SECOND,
    );
    assert_eq!(ended, [], "one at a time");
    let came = app.update(Input::Sessions(Vec::new()), SECOND);
    assert_eq!(came, [Effect::Sessions]);
    assert_eq!(app.update(Input::Sessions(Vec::new()), SECOND), []);
}

// CL-31
#[test]
fn a_list_that_comes_late_moves_nothing_that_was_chosen_by_keys() {
    let mut app = app(Settings::default(), (120, 20));
    press(&mut app, KeyCode::F(2), KeyModifiers::NONE);
    press(&mut app, KeyCode::Home, KeyModifiers::NONE);
    app.update(listed(), SECOND);
    press(&mut app, KeyCode::Down, KeyModifiers::NONE);
    press(&mut app, KeyCode::Down, KeyModifiers::NONE);
    let picked = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(picked, [Effect::Command("/resume b".to_owned())]);

    // Another session came in front since the list was made.
    app.update(Input::Opened(Box::new(in_front("b"))), SECOND);
    press(&mut app, KeyCode::F(2), KeyModifiers::NONE);
    press(&mut app, KeyCode::Up, KeyModifiers::NONE);
    let picked = press(&mut app, KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(picked, [Effect::Command("/resume a".to_owned())]);
}

// CL-31
#[test]
fn the_list_of_sessions_stands_beside_or_in_front_and_picks() {
    let wide = (120, 20);
    let mut one = app(Settings::default(), wide);
    let lines = seen(&mut one);
    assert!(lines[0].starts_with(" Sessions  F2"), "{lines:#?}");
    assert!(lines[3].starts_with("▸ about a"), "{lines:#?}");
    assert!(lines[6].contains("2 h ago · 3 messages"));
    assert!(lines.iter().all(|line| line.contains('│')));
    // Without the keys, they are the composer's.
    press(&mut one, KeyCode::Char('n'), KeyModifiers::NONE);
    assert_eq!(
        press(&mut one, KeyCode::F(2), KeyModifiers::NONE),
        [Effect::Sessions]
    );
    press(&mut one, KeyCode::Down, KeyModifiers::NONE);
    assert_eq!(
        press(&mut one, KeyCode::Enter, KeyModifiers::NONE),
        [Effect::Command("/resume b".into())]
    );
    assert!(
        seen(&mut one)
            .iter()
            .any(|line| line.contains("› n") || line.contains(" n"))
    );
    assert_eq!(
        mouse(&mut one, CLICK, 4, 1),
        [Effect::Command("/new".into())]
    );
    assert_eq!(
        mouse(&mut one, CLICK, 4, 5),
        [Effect::Command("/resume b".into())]
    );
    assert_eq!(mouse(&mut one, CLICK, 4, 3), []);
    // Twice puts it away, and there is more room.
    press(&mut one, KeyCode::Char('x'), KeyModifiers::CONTROL);
    press(&mut one, KeyCode::Char('x'), KeyModifiers::CONTROL);
    assert!(!seen(&mut one)[0].contains("Sessions"));
    assert_eq!(one.columns(), 120);

    let mut two = app(Settings::default(), (60, 20));
    called(&mut two, 7);
    row_of(&mut two, "make 7");
    press(&mut two, KeyCode::Char('x'), KeyModifiers::CONTROL);
    let lines = seen(&mut two);
    assert!(lines[0].starts_with(" Sessions  Enter"), "{lines:#?}");
    assert_eq!(two.live(SECOND).cursor, None);
    assert!(!lines.iter().any(|line| line.contains("make 7")));
    assert_eq!(
        press(&mut two, KeyCode::Char('n'), KeyModifiers::NONE),
        [Effect::Command("/new".into())]
    );
    row_of(&mut two, "make 7");
    press(&mut two, KeyCode::F(2), KeyModifiers::NONE);
    press(&mut two, KeyCode::Esc, KeyModifiers::NONE);
    row_of(&mut two, "make 7");
    // A list that was wished for beside the transcript does not cover it where there is no room beside.
    two.update(Input::Resize(120, 20), SECOND);
    press(&mut two, KeyCode::F(2), KeyModifiers::NONE);
    press(&mut two, KeyCode::Esc, KeyModifiers::NONE);
    assert!(seen(&mut two)[0].contains("Sessions"));
    two.update(Input::Resize(60, 20), SECOND);
    row_of(&mut two, "make 7");
    assert!(!seen(&mut two)[0].contains("Sessions"));
}

#[test]
fn a_click_places_the_cursor_in_the_draft() {
    for size in [(60, 12), (120, 20)] {
        let mut app = app(Settings::default(), size);
        app.update(Input::Paste("first words\nsecond line".into()), SECOND);
        let row = row_of(&mut app, "first words");
        let column = seen(&mut app)[usize::from(row)].find("words").unwrap();
        let column = crate::text::width(&seen(&mut app)[usize::from(row)][..column]);
        let column = u16::try_from(column).unwrap();
        mouse(&mut app, CLICK, column, row);
        press(&mut app, KeyCode::Char('X'), KeyModifiers::NONE);
        row_of(&mut app, "first Xwords");
        mouse(&mut app, CLICK, 50, row + 1);
        press(&mut app, KeyCode::Char('Y'), KeyModifiers::NONE);
        row_of(&mut app, "second lineY");
    }
}

// CL-22
#[test]
fn what_was_said_before_is_there_as_a_whole() {
    let before = |count: usize| -> Vec<Cell> {
        let pair = |number: usize| {
            let answer = Answer {
                text: format!("**answer** {number}"),
                label: None,
                marks: Marks::Render,
            };
            let asked = User::new(format!("question {number}"));
            [Cell::User(asked), Cell::Answer(answer)]
        };
        (0..count).flat_map(pair).collect()
    };
    let opened = || Opened {
        before: before(2_500),
        ..Opened::default()
    };
    let mut full = app(Settings::default(), (60, 12));
    called(&mut full, 1);
    full.update(Input::Opened(Box::new(opened())), SECOND);
    row_of(&mut full, "answer 2499");
    press(&mut full, KeyCode::Home, KeyModifiers::CONTROL);
    assert_eq!(row_of(&mut full, "● question 0"), 0);
}

#[test]
fn details_follow_the_sections() {
    let mut app = app(Settings::default(), (60, 40));
    called(&mut app, 1);
    let text = "deep thoughts\nof two lines".to_owned();
    event(&mut app, Event::ReasoningDelta { text });
    said(&mut app, "so it is");
    turn_ends(&mut app);
    let own = |app: &mut App, rest: &str| {
        let own = Some(("details", rest.to_owned()));
        app.update(
            Input::Replied(Reply {
                own,
                ..Reply::default()
            }),
            SECOND,
        );
        seen(app).join("\n")
    };
    let count = |shown: &str, text: &str| shown.matches(text).count();
    let shown = own(&mut app, "thinking expanded");
    assert_eq!(count(&shown, "│ of two lines"), 1, "{shown}");
    assert_eq!(count(&shown, "printed 1"), 0, "{shown}");
    let shown = own(&mut app, "expanded");
    assert_eq!(count(&shown, "printed 1"), 1, "{shown}");
    let shown = own(&mut app, "tools hidden");
    assert!(
        !shown.contains("make 1") && shown.contains("deep thoughts"),
        "{shown}"
    );
    let shown = own(&mut app, "hidden");
    assert!(
        !shown.contains("deep") && shown.contains("so it is"),
        "{shown}"
    );
    let shown = own(&mut app, "nonsense");
    assert_eq!(count(&shown, "so it is"), 1, "{shown}");
    assert_eq!(count(&shown, "deep"), 0, "{shown}");
}

#[test]
fn the_title_says_how_things_stand() {
    let title = true;
    let mut app = app(
        Settings {
            title,
            ..Settings::default()
        },
        (60, 16),
    );
    assert_eq!(app.title().as_deref(), Some("✓ about a"));
    event(&mut app, Event::TurnStarted { turn: TurnId(1) });
    assert_eq!(app.title().as_deref(), Some("● about a"));
    app.settings.title = false;
    assert_eq!(app.title(), None);
}
