//! Skins through the binary: what a terminal is told to draw.

use std::collections::BTreeMap;
use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, text};
use hermes_testkit::pty::{Cell, Color, Screen, Terminal};
use insta::assert_snapshot;

use super::chat::with_model;

const LIMIT: Duration = Duration::from_secs(60);
const READY: &str = "ask anything";
const BUILT_IN: [&str; 9] = [
    "default",
    "ares",
    "mono",
    "slate",
    "daylight",
    "warm-lightmode",
    "poseidon",
    "sisyphus",
    "charizard",
];

/// A short conversation in a terminal like this.
fn talk(skin: &str, files: &[(&str, &str)], environment: &[(&str, &str)]) -> Screen {
    let answer = text("A **bold** word and `code`.");
    let server = ModelServer::start(Scenario::new().reply(answer)).unwrap();
    let program = with_model(&server.base_url());
    let config = program.home.read("config.yaml").unwrap();
    let more = format!(
        "auxiliary: {{title_generation: {{enabled: false}}}}\ndisplay: {{skin: {skin}, compact: true}}\n"
    );
    program
        .home
        .write_config(&format!("{config}{more}"))
        .unwrap();
    for (name, content) in files {
        program.home.write(name, content).unwrap();
    }
    let mut command = program
        .command(&["chat"])
        .env("TERM", "xterm-256color")
        .env("COLORTERM", "truecolor");
    for (name, value) in environment {
        command = command.env(name, value);
    }
    let terminal = Terminal::spawn(&command, 80, 24).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("hello\r").unwrap();
    terminal.wait_for_text("A bold word", LIMIT).unwrap();
    let settled = |screen: &Screen| screen.contains(READY) && screen.contains("scripted │");
    terminal.wait_for(settled, LIMIT).unwrap()
}

fn colour(colour: Color) -> String {
    match colour {
        Color::Default => "-".to_owned(),
        Color::Idx(index) => index.to_string(),
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
    }
}

fn look(cell: &Cell) -> String {
    let mut out = format!("{} on {}", colour(cell.foreground), colour(cell.background));
    for (set, word) in [
        (cell.bold, " bold"),
        (cell.dim, " dim"),
        (cell.underline, " underline"),
        (cell.inverse, " inverse"),
    ] {
        if set {
            out.push_str(word);
        }
    }
    out
}

/// How the letters on the screen look, and how many look like that.
fn looks(screen: &Screen) -> BTreeMap<String, usize> {
    let (columns, rows) = screen.size();
    let mut found = BTreeMap::new();
    for row in 0..rows {
        for column in 0..columns {
            let cell = screen.cell(row, column).unwrap();
            if !cell.text.trim().is_empty() {
                *found.entry(look(&cell)).or_default() += 1;
            }
        }
    }
    found
}

/// The look of the first letter of the first place these words stand.
fn look_of(screen: &Screen, words: &str) -> String {
    let (_, rows) = screen.size();
    for row in 0..rows {
        let line = &screen.rows()[usize::from(row)];
        if let Some(at) = line.find(words) {
            let column = u16::try_from(line[..at].chars().count()).unwrap();
            return look(&screen.cell(row, column).unwrap());
        }
    }
    panic!("no {words:?} on\n{}", screen.text());
}

/// One line for each part that a skin colours.
fn parts(screen: &Screen) -> String {
    let mut out = String::new();
    for (part, words) in [
        ("title", "Hermes"),
        ("said", "hello"),
        ("bold", "bold"),
        ("code", "code"),
        ("placeholder", READY),
        ("status", "scripted │"),
    ] {
        out.push_str(&format!("  {part}: {}\n", look_of(screen, words)));
    }
    out
}

// CL-30
#[test]
fn every_built_in_skin_is_drawn_by_its_name() {
    let mut drawn = String::new();
    let mut different: BTreeMap<String, &str> = BTreeMap::new();
    for name in BUILT_IN {
        let screen = talk(name, &[], &[("HERMES_TUI_THEME", "dark")]);
        let parts = parts(&screen);
        drawn.push_str(&format!("{name}\n{parts}"));
        let all = format!("{:?}", looks(&screen));
        if let Some(twin) = different.insert(all, name) {
            panic!("{name} looks like {twin}");
        }
    }
    assert_snapshot!(drawn);
    // A name that nobody has is the default, and told.
    let unknown = talk("nosuch", &[], &[("HERMES_TUI_THEME", "dark")]);
    let usual = talk("default", &[], &[("HERMES_TUI_THEME", "dark")]);
    assert_eq!(parts(&unknown), parts(&usual));
    let told = "there is no skin nosuch, so this is the default one; /skin lists them";
    assert!(unknown.contains(told), "{unknown}");
    assert!(!usual.contains("there is no skin"), "{usual}");
}

// CL-30
#[test]
fn a_skin_of_the_users_own_is_used_and_goes_before_a_built_in_one() {
    let own = "name: ares\ndescription: mine\ncolors:\n  banner_title: '#e0a0ff'\nbranding:\n  prompt_symbol: '»'\n  \
               agent_name: Argos\n  response_label: ' Argos '\n";
    let screen = talk(
        "ares",
        &[("skins/ares.yaml", own)],
        &[("HERMES_TUI_THEME", "dark")],
    );
    let text = screen.text();
    assert!(text.contains("Argos") && text.contains('»'), "{text}");
    let looks = looks(&screen);
    assert!(
        looks.keys().any(|look| look.starts_with("#e0a0ff")),
        "{looks:?}"
    );
}

// CL-30
#[test]
fn light_terminals_get_colours_that_can_be_read() {
    let dark = talk("default", &[], &[("HERMES_TUI_THEME", "dark")]);
    let light = talk("default", &[], &[("HERMES_TUI_THEME", "light")]);
    let told = talk("default", &[], &[("COLORFGBG", "0;15")]);
    assert_ne!(parts(&dark), parts(&light));
    assert_eq!(
        parts(&told),
        parts(&light),
        "some terminals say it themselves"
    );
    // Every letter stands out from white paper, or brings a ground of its own.
    for look in looks(&light).keys() {
        let Some((ink, ground)) = look.split_once(" on ") else {
            panic!("{look}");
        };
        if let Some(hex) = ink.strip_prefix('#')
            && ground.starts_with('-')
        {
            let part = |at: usize| u32::from_str_radix(&hex[at..at + 2], 16).unwrap();
            let brightness = (299 * part(0) + 587 * part(2) + 114 * part(4)) / 1000;
            assert!(brightness < 170, "{look} cannot be read on white");
        }
    }
    let plain = talk("default", &[], &[("NO_COLOR", "1")]);
    for look in looks(&plain).keys() {
        assert!(look.starts_with("- on -"), "{look}");
    }
}

const OWN: &str = "name: mine\nbranding:\n  prompt_symbol: '»'\n  agent_name: Argos\n  goodbye: Farewell friend\n  \
                   help_header: What Argos can do\n";

// CL-30
#[test]
fn the_words_of_a_skin_are_said_with_and_without_colours() {
    for environment in [&[][..], &[("NO_COLOR", "1")]] {
        let screen = talk("mine", &[("skins/mine.yaml", OWN)], environment);
        let text = screen.text();
        assert!(text.contains("Argos") && text.contains('»'), "{text}");
    }
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = super::screen::quiet(&server, "display: {skin: mine}\n");
    program.home.write("skins/mine.yaml", OWN).unwrap();
    let terminal = super::screen::open(&program, 80, 24);
    terminal.send("/help\r").unwrap();
    terminal.wait_for_text("What Argos can do", LIMIT).unwrap();
    terminal.send("\x1b").unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    super::screen::leave(&terminal);
    let screen = terminal.screen();
    assert!(screen.contains("Farewell friend"), "{screen}");
}

// CL-30
#[test]
fn a_skin_that_cannot_be_read_is_told() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = super::screen::quiet(&server, "display: {skin: mine}\n");
    program
        .home
        .write("skins/mine.yaml", "name: [mine\n")
        .unwrap();
    let terminal = super::screen::open(&program, 100, 30);
    terminal.wait_for_text("cannot be used", LIMIT).unwrap();
    terminal.send("/skin mine\r").unwrap();
    terminal.wait_for_text("correct the file", LIMIT).unwrap();
    super::screen::leave(&terminal);
}

const MENU: &str = "name: mine\ncolors:\n  prompt: '#a0e0ff'\n  completion_menu_bg: '#102030'\n  \
                    completion_menu_current_bg: '#303850'\n  completion_menu_meta_bg: '#182838'\n  \
                    completion_menu_meta_current_bg: '#384058'\n";

// CL-30
#[test]
fn what_is_typed_and_what_is_offered_have_the_colours_of_the_skin() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = super::screen::quiet(&server, "display: {skin: mine, compact: true}\n");
    program.home.write("skins/mine.yaml", MENU).unwrap();
    let command = program
        .command(&["chat"])
        .env("TERM", "xterm-256color")
        .env("COLORTERM", "truecolor")
        .env("HERMES_TUI_THEME", "dark");
    let terminal = Terminal::spawn(&command, 80, 24).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("/mo").unwrap();
    let offered = |screen: &Screen| {
        let parts = ["❯ /mo", "choose the model", "what the mouse"];
        parts.iter().all(|part| screen.contains(part))
    };
    let screen = terminal.wait_for(offered, LIMIT).unwrap();
    for (words, wanted) in [("❯ /mo", "#a0e0ff on - bold"), ("/mo", "#a0e0ff on -")] {
        assert_eq!(look_of(&screen, words), wanted, "{words}: {screen}");
    }
    for (words, ground) in [
        ("/model", "#303850"),
        ("choose the model", "#384058"),
        ("/mouse", "#102030"),
        ("what the mouse", "#182838"),
    ] {
        let look = look_of(&screen, words);
        assert!(look.contains(&format!(" on {ground}")), "{words}: {look}");
    }
    terminal.send("\x03").unwrap();
    super::screen::leave(&terminal);
}
