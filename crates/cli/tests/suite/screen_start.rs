//! What stands on the screen at the start: the banner, its colours, and what was said before.

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use hermes_testkit::pty::{Color, Screen, Terminal};
use serde_json::json;

use super::program::Program;
use super::screen::{LIMIT, READY, leave, open, quiet};

fn silent() -> ModelServer {
    ModelServer::start(Scenario::new()).unwrap()
}

fn spawn(
    program: &Program,
    arguments: &[&str],
    environment: &[(&str, &str)],
    size: (u16, u16),
) -> Terminal {
    let mut command = program
        .command(arguments)
        .env("TERM", "xterm-256color")
        .env("COLORTERM", "truecolor");
    for (name, value) in environment {
        command = command.env(name, value);
    }
    let terminal = Terminal::spawn(&command, size.0, size.1).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal
}

#[test]
fn a_banner_tells_what_there_is_and_gives_way_to_little_room() {
    let server = silent();
    let program = quiet(
        &server,
        "mcp_servers: {notes: {command: /nowhere/at-all}}\n",
    );
    let terminal = open(&program, 110, 50);
    let screen = terminal.screen();
    let version = format!("⚕ Hermes {}", env!("CARGO_PKG_VERSION"));
    for part in [
        version.as_str(),
        "scripted",
        "custom",
        "Tools",
        "file: ",
        "read_file",
        "MCP servers",
        "notes",
        " tools · ",
        "1 MCP server",
        "/help",
        "Tip: ",
    ] {
        assert!(screen.contains(part), "{part}\n{screen}");
    }
    // The session has its id there.
    let started = |row: &String| row.contains("│ 20") && row.contains('_');
    assert!(screen.rows().iter().any(started), "{screen}");
    assert!(screen.contains("╭─ ⚕"), "{screen}");
    leave(&terminal);
    // Narrow, low, or short by request: a few lines without a frame.
    for (columns, rows, tip) in [(70, 40, true), (110, 20, false), (40, 40, false)] {
        let terminal = open(&program, columns, rows);
        let screen = terminal.screen();
        assert!(!screen.contains("╭─ ⚕"), "{screen}");
        assert!(screen.contains("⚕ Hermes"), "{screen}");
        assert_eq!(screen.contains("Tip: "), tip, "{columns}x{rows}\n{screen}");
        leave(&terminal);
    }
    let compact = quiet(&server, "display: {compact: true}\n");
    let terminal = open(&compact, 110, 50);
    let screen = terminal.screen();
    assert!(
        !screen.contains("╭─ ⚕") && !screen.contains("Tip: "),
        "{screen}"
    );
    leave(&terminal);
}

// CL-30
#[test]
fn the_art_of_a_skin_stands_in_the_banner() {
    let server = silent();
    let hero = "skins/mine.yaml";
    let program = quiet(&server, "display: {skin: mine}\n");
    let skin = "name: mine\nbanner_logo: '[bold #FFD700]MY OWN LOGO[/]'\nbanner_hero: '[#4CAF50]<(o_o)>[/]'\n";
    program.home.write(hero, skin).unwrap();
    let terminal = spawn(&program, &["chat"], &[], (100, 40));
    let screen = terminal.screen();
    assert_eq!(colour_of(&screen, "MY OWN LOGO"), Color::Rgb(255, 215, 0));
    assert_eq!(colour_of(&screen, "<(o_o)>"), Color::Rgb(76, 175, 80));
    leave(&terminal);
}

/// The colour some words have.
fn colour_of(screen: &Screen, words: &str) -> Color {
    let rows = screen.rows();
    let (row, column) = rows
        .iter()
        .enumerate()
        .find_map(|(row, text)| {
            let before = text.split_once(words)?.0;
            Some((row, before.chars().count()))
        })
        .unwrap_or_else(|| panic!("{words} is not there\n{screen}"));
    let (row, column) = (u16::try_from(row).unwrap(), u16::try_from(column).unwrap());
    screen.cell(row, column).unwrap().foreground
}

const WHITE: &str = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\";
const BLACK: &str = "\x1b]11;rgb:0000/0000/0000\x07";

// CL-30
#[test]
fn a_terminal_that_tells_its_background_gets_colours_for_it() {
    let server = ModelServer::start(Scenario::echo().lenient()).unwrap();
    let program = quiet(&server, "display: {compact: true}\n");
    let colours = |environment: &[(&str, &str)], answer: Option<&str>| {
        let terminal = spawn(&program, &["chat"], environment, (80, 24));
        let asked = terminal.ground_queries();
        if let Some(answer) = answer {
            // Among what is typed, and in two parts.
            let (head, tail) = answer.split_at(9);
            terminal.send(&format!("ab{head}")).unwrap();
            terminal.send(&format!("{tail}cd")).unwrap();
            let typed = |screen: &Screen| screen.rows().iter().any(|row| row == "❯ abcd");
            terminal.wait_for(typed, LIMIT).unwrap();
            terminal.send("\x15").unwrap();
        }
        terminal.send("hello\r").unwrap();
        terminal.wait_for_text("● hello", LIMIT).unwrap();
        let colour = colour_of(&terminal.screen(), "● hello");
        terminal.wait_for_text(READY, LIMIT).unwrap();
        leave(&terminal);
        (asked, colour)
    };
    let dark = colours(&[("HERMES_TUI_THEME", "dark")], None);
    let light = colours(&[("HERMES_TUI_THEME", "light")], None);
    // Who knows it already asks nobody.
    assert_eq!((dark.0, light.0), (0, 0));
    assert_ne!(dark.1, light.1);
    assert_eq!(colours(&[("COLORFGBG", "0;15")], None), (0, light.1));
    assert_eq!(colours(&[("COLORFGBG", "15;0")], None), (0, dark.1));
    assert_eq!(colours(&[], Some(WHITE)), (1, light.1));
    assert_eq!(colours(&[], Some(BLACK)), (1, dark.1));
    // One that does not answer is taken for dark, and nobody waits for it.
    assert_eq!(colours(&[], None), (1, dark.1));
    assert_eq!(colours(&[("NO_COLOR", "1")], None).0, 0);
}

// CL-22
#[test]
fn what_was_called_and_thought_is_seen_when_a_conversation_is_taken_up() {
    let scenario = Scenario::new()
        .reply(tool_call("terminal", json!({"command": "echo from-before"})).reasoning("A plan."))
        .reply(tool_call(
            "read_file",
            json!({"path": "/nowhere/at/all.txt"}),
        ))
        .reply(text("That is done."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "approvals: {mode: 'off'}\n");
    let started = program.run(&["chat", "-Q", "-q", "do it"]).ok();
    let session = started.stderr.trim().strip_prefix("session_id: ").unwrap();
    for mode in ["--cli", "--tui"] {
        let arguments = ["chat", mode, "--resume", session];
        let terminal = spawn(&program, &arguments, &[], (130, 50));
        let screen = terminal.screen();
        for part in [
            "● do it",
            "run        echo from-before",
            "read       /nowhere/at/all.txt",
            "▸ thought · A plan.",
            "That is done.",
        ] {
            assert!(screen.contains(part), "{mode} {part}\n{screen}");
        }
        let failed = |row: &String| row.contains("all.txt") && row.contains('✗');
        assert!(screen.rows().iter().any(failed), "{screen}");
        if mode == "--tui" {
            // The last call unfolds to what it printed.
            terminal.send("\x1b[1;3A\x1b[1;3A\x0f").unwrap();
            let output = |screen: &Screen| {
                let rows = screen.rows();
                // In its line, below that in full, and as it was printed.
                rows.iter()
                    .filter(|row| row.contains("from-before"))
                    .count()
                    >= 3
            };
            terminal.wait_for(output, LIMIT).unwrap();
        }
        leave(&terminal);
    }
    // Not where calls are not shown.
    let config = program.home.read("config.yaml").unwrap();
    let config = format!("{config}display: {{tool_progress: 'off'}}\n");
    program.home.write_config(&config).unwrap();
    let terminal = spawn(&program, &["chat", "--resume", session], &[], (130, 50));
    assert!(terminal.screen().contains("That is done."));
    assert!(!terminal.screen().contains("from-before"));
    leave(&terminal);
}

// CL-22 CL-31
#[test]
fn five_thousand_messages_are_there_at_once() {
    let server = silent();
    let program = quiet(&server, "");
    let messages: Vec<_> = (0..5_000)
        .map(|number| {
            let role = match number % 2 {
                0 => "user",
                _ => "assistant",
            };
            json!({
                "role": role,
                "content": format!("message {number} of many"),
                "timestamp": f64::from(number),
            })
        })
        .collect();
    let session = json!({
        "id": "20260101_000000_abcdef", "source": "cli", "started_at": 1.0, "messages": messages,
    });
    program
        .home
        .write_work("long.jsonl", format!("{session}\n"))
        .unwrap();
    program.run(&["sessions", "import", "long.jsonl"]).ok();
    for (mode, rows) in [("--cli", 10 * 2 + 40), ("--tui", 40)] {
        let arguments = ["chat", mode, "--resume", "20260101_000000_abcdef"];
        let terminal = spawn(&program, &arguments, &[], (100, 40));
        assert!(terminal.screen().contains("message 4999 of many"));
        // Only the end was laid out.
        assert!(terminal.everything().len() <= rows + 20);
        leave(&terminal);
    }
}

// CL-31
#[test]
fn the_full_screen_takes_the_latest_conversation_up_and_names_the_window() {
    let server = ModelServer::start(Scenario::new().reply(text("Here I am."))).unwrap();
    let program = quiet(
        &server,
        "display: {interface: tui, tui_auto_resume_recent: true}\n",
    );
    // Nothing was said yet: that is no fault.
    let terminal = open(&program, 100, 30);
    leave(&terminal);
    program.run(&["-z", "are you there?"]).ok();
    let terminal = open(&program, 100, 30);
    let screen = terminal.screen();
    assert!(screen.contains("● are you there?"), "{screen}");
    assert!(screen.contains("Here I am."), "{screen}");
    // The title comes behind the picture.
    let titled = || terminal.title().starts_with("✓ ").then_some(());
    eventually(LIMIT, "the title of a conversation at rest", titled).unwrap();
    leave(&terminal);
    let terminal = spawn(
        &program,
        &["chat"],
        &[("HERMES_TUI_RESUME", "0")],
        (100, 30),
    );
    assert!(!terminal.screen().contains("Here I am."));
    leave(&terminal);
}

// CL-11
#[test]
fn the_prompt_names_a_profile_unless_it_is_the_usual_one() {
    let server = silent();
    let program = quiet(&server, "");
    program
        .run(&["profile", "create", "work", "--no-alias"])
        .ok();
    let config = program.home.read("config.yaml").unwrap();
    program
        .home
        .write("profiles/work/config.yaml", config)
        .unwrap();
    for mode in ["--cli", "--tui"] {
        let begins = |arguments: &[&str], prompt: &str| {
            let arguments = [arguments, &["chat", mode]].concat();
            let terminal = spawn(&program, &arguments, &[], (80, 30));
            let screen = terminal.screen();
            let rows = screen.rows();
            let wanted = format!("{prompt} {READY}");
            assert!(rows.iter().any(|row| row.starts_with(&wanted)), "{screen}");
            leave(&terminal);
        };
        begins(&["-p", "work"], "work ❯");
        begins(&[], "❯");
    }
    let command = program.command(&["-p", "work", "chat", "--plain"]);
    let terminal = Terminal::spawn(&command, 90, 30).unwrap();
    terminal.wait_for_text("work >", LIMIT).unwrap();
    leave(&terminal);
}
