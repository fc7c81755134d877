//! How much is shown of what a model thinks, and how often the screen is drawn meanwhile.

use std::time::{Duration, Instant};

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};

use super::screen::{LIMIT, READY, leave, open, quiet};

fn thinking() -> ModelServer {
    let thought: String = (1..=9).map(|number| format!("step {number}\n")).collect();
    let answer = text("So be it.").reasoning(thought);
    ModelServer::start(Scenario::new().reply(Step::new(answer).repeat())).unwrap()
}

/// Whether the head, the first and the last line of a thought are seen.
fn seen(program: &super::program::Program, command: &str) -> (bool, bool, bool) {
    let terminal = open(program, 100, 40);
    if !command.is_empty() {
        terminal.send(&format!("{command}\r")).unwrap();
        terminal.wait_for_text("thoughts are", LIMIT).unwrap();
    }
    terminal.send("well?\r").unwrap();
    terminal.wait_for_text("So be it.", LIMIT).unwrap();
    let screen = terminal.wait_for_text(READY, LIMIT).unwrap();
    let thought = screen.contains("▸ thought") || screen.contains("▾ thought");
    let lines = (
        thought,
        screen.contains("step 1"),
        screen.contains("step 9"),
    );
    leave(&terminal);
    lines
}

// CL-20
#[test]
fn settings_and_reasoning_say_how_much_of_a_thought_is_shown() {
    let (hidden, clamped, whole) = (
        (false, false, false),
        (true, true, false),
        (true, true, true),
    );
    let server = thinking();
    for (settings, command, shown) in [
        ("", "", clamped),
        ("display: {reasoning_full: true}\n", "", whole),
        ("display: {show_reasoning: false}\n", "", hidden),
        (
            "display: {show_reasoning: false, reasoning_full: true}\n",
            "",
            hidden,
        ),
        ("", "/reasoning hide", hidden),
        ("", "/reasoning full", whole),
        (
            "display: {reasoning_full: true}\n",
            "/reasoning clamp",
            clamped,
        ),
        (
            "display: {show_reasoning: false, reasoning_full: true}\n",
            "/reasoning show",
            whole,
        ),
        (
            "display: {show_reasoning: false}\n",
            "/reasoning show",
            clamped,
        ),
    ] {
        let program = quiet(&server, settings);
        assert_eq!(seen(&program, command), shown, "{settings}{command}");
    }
}

// CL-20
#[test]
fn what_reasoning_is_told_for_good_holds_at_the_next_start() {
    let server = thinking();
    let program = quiet(&server, "");
    for (command, shown) in [
        ("/reasoning full --global", (true, true, true)),
        ("/reasoning hide --global", (false, false, false)),
        ("/reasoning show --global", (true, true, true)),
        ("/reasoning clamp --global", (true, true, false)),
    ] {
        assert_eq!(seen(&program, command), shown, "{command}");
        assert_eq!(seen(&program, ""), shown, "after {command}");
    }
}

// CL-20
#[test]
fn in_full_screen_thoughts_are_one_line_open_or_hidden() {
    let server = thinking();
    for (settings, mark) in [
        ("", Some('▸')),
        (", reasoning_full: true", Some('▾')),
        (", show_reasoning: false", None),
        (", show_reasoning: false, details_mode: expanded", None),
        (
            ", show_reasoning: false, sections: {thinking: expanded}",
            Some('▾'),
        ),
    ] {
        let program = quiet(&server, &format!("display: {{interface: tui{settings}}}\n"));
        let terminal = open(&program, 100, 40);
        terminal.send("well?\r").unwrap();
        terminal.wait_for_text("So be it.", LIMIT).unwrap();
        let screen = terminal.wait_for_text(READY, LIMIT).unwrap();
        let shown = ['▸', '▾'];
        let shown = shown
            .into_iter()
            .find(|mark| screen.contains(&format!("{mark} thought")));
        assert_eq!(shown, mark, "{settings}: {screen}");
        leave(&terminal);
    }
}

// CL-20
#[test]
fn a_stream_is_drawn_as_whole_pictures_and_at_most_thirty_a_second() {
    for mode in ["cli", "tui"] {
        let words: String = (0..2_000).map(|number| format!("{number:04} ")).collect();
        let answer = Step::new(text(words))
            .chunk_chars(5)
            .pace(Duration::from_millis(5));
        let server = ModelServer::start(Scenario::new().reply(answer)).unwrap();
        let program = quiet(&server, &format!("display: {{interface: {mode}}}\n"));
        let terminal = open(&program, 100, 30);
        terminal.send("count\r").unwrap();
        terminal.wait_for_text("0003 0004", LIMIT).unwrap();
        let (pictures, received) = (terminal.pictures(), terminal.received());
        let start = Instant::now();
        // It does move, and what it writes is pictures.
        let drawn = eventually(LIMIT, "pictures", || {
            let drawn = terminal.pictures() - pictures;
            (drawn >= 45).then_some(drawn)
        });
        let (drawn, elapsed) = (drawn.unwrap(), start.elapsed());
        assert!(terminal.received() > received, "{mode}");
        assert!(
            u128::from(drawn) <= elapsed.as_millis() / 33 + 3,
            "{mode}: {drawn} pictures in {elapsed:?}"
        );
        terminal.send("\x03\x03").unwrap();
        assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    }
}
