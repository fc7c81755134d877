//! Windows that are resized while an answer comes.

use std::time::Duration;

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use serde_json::json;

use super::program::Program;
use super::screen::{LIMIT, READY, Tmux, open, quiet};

const WORDS: usize = 2_000;

fn word(number: usize) -> String {
    format!("w{number:04}x")
}

/// How often each word is there, in lines that may have been broken inside of one.
fn counts(seen: &str) -> Vec<usize> {
    counts_of(WORDS, seen)
}

fn counts_of(words: usize, seen: &str) -> Vec<usize> {
    let whole: String = seen.split_whitespace().collect();
    (0..words)
        .map(|number| whole.matches(&word(number)).count())
        .collect()
}

fn wrong(counts: &[usize]) -> Vec<(usize, usize)> {
    let odd = counts.iter().copied().enumerate();
    odd.filter(|(_, times)| *times != 1).collect()
}

/// An answer that takes about four seconds.
fn slowly(answer: String) -> Step {
    Step::new(text(answer))
        .chunk_chars(28)
        .pace(Duration::from_millis(8))
}

// CL-20
#[test]
fn every_word_of_an_answer_outlives_a_storm_of_sizes() {
    // A long paragraph, then lists and short ones.
    let words = |from: usize, to: usize| -> Vec<String> { (from..to).map(word).collect() };
    let list: String = words(900, 1_100)
        .chunks(4)
        .map(|four| format!("- {}\n", four.join(" ")))
        .collect();
    let paragraphs: Vec<String> = words(1_100, WORDS)
        .chunks(60)
        .map(|some| some.join(" "))
        .collect();
    let answer = format!(
        "{}\n\n{list}\n{}\n",
        words(0, 900).join(" "),
        paragraphs.join("\n\n")
    );
    let server = ModelServer::start(Scenario::new().reply(slowly(answer))).unwrap();
    let program = quiet(&server, "");
    let tmux = Tmux(format!("hermes-storm-{}", std::process::id()));
    let command = program.command(&["chat"]);
    let line = command.env("TERM", "tmux-256color").line();
    let mut start = vec!["new-session", "-d", "-x", "100", "-y", "24", "--"];
    start.extend(line.iter().map(String::as_str));
    tmux.run(&start);
    tmux.run(&["set-option", "-g", "history-limit", "50000"]);
    tmux.wait(READY);
    tmux.run(&["send-keys", "tell me", "Enter"]);
    tmux.wait(&word(20));
    let sizes = [
        (60, 20),
        (120, 10),
        (40, 24),
        (90, 8),
        (50, 30),
        (110, 24),
        (70, 12),
        (100, 24),
    ];
    for (round, (columns, rows)) in sizes.iter().cycle().take(40).enumerate() {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        tmux.run(&["resize-window", "-x", &columns, "-y", &rows]);
        // Some at once, some after the window rested for a moment.
        std::thread::sleep(Duration::from_millis([5, 20, 60, 400][round % 4]));
    }
    tmux.wait(READY);
    let seen = tmux.everything();
    let wrong = wrong(&counts(&seen));
    assert!(wrong.is_empty(), "{wrong:?}\n{seen}");
    assert_eq!(seen.matches(READY).count(), 1, "{seen}");
    eventually(LIMIT, "one status line", || {
        let seen = tmux.everything();
        (seen
            .lines()
            .filter(|line| line.contains("100k │ ["))
            .count()
            == 1)
            .then_some(())
    })
    .unwrap();
}

// CL-20
#[test]
fn a_window_that_is_dragged_leaves_no_copy_of_a_line_that_is_being_written() {
    const SPOKEN: usize = 300;
    // As somebody drags it, of which the program is told now and then; and with a rest after each step.
    for (step, pause) in [(2, 40), (5, 400)] {
        let words: Vec<String> = (0..SPOKEN).map(word).collect();
        let answer = Step::new(text(words.join(" ")))
            .chunk_chars(7)
            .pace(Duration::from_millis(30));
        let server = ModelServer::start(Scenario::new().reply(answer)).unwrap();
        let program = quiet(&server, "");
        let tmux = in_tmux(&program, &format!("dragged-{step}"), 100, 30);
        tmux.run(&["send-keys", "tell me", "Enter"]);
        tmux.wait(&word(50));
        let narrower = (40..100).rev().step_by(step);
        let wider = (40..=100).step_by(step);
        for columns in narrower.chain(wider) {
            tmux.run(&["resize-window", "-x", &columns.to_string(), "-y", "30"]);
            std::thread::sleep(Duration::from_millis(pause));
        }
        tmux.run(&["resize-window", "-x", "100", "-y", "30"]);
        tmux.wait(READY);
        let seen = tmux.everything();
        let wrong = wrong(&counts_of(SPOKEN, &seen));
        assert!(wrong.is_empty(), "{step}: {wrong:?}\n{seen}");
        assert_eq!(seen.matches(READY).count(), 1, "{step}: {seen}");
        let rules = seen.lines().filter(|line| line.starts_with("───"));
        assert_eq!(rules.count(), 1, "{step}: {seen}");
    }
}

// CL-20
#[test]
fn a_terminal_that_breaks_no_lines_anew_keeps_every_word_too() {
    // Lines that fit the narrowest window: this terminal cuts what does not.
    let answer: String = (0..WORDS)
        .step_by(4)
        .map(|first| {
            let four: Vec<String> = (first..first + 4).map(word).collect();
            format!("- {}\n", four.join(" "))
        })
        .collect();
    let server = ModelServer::start(Scenario::new().reply(slowly(answer))).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 24);
    terminal.send("tell me\r").unwrap();
    terminal.wait_for_text(&word(20), LIMIT).unwrap();
    let sizes = [(60, 20), (120, 10), (45, 24), (90, 8), (50, 30), (100, 24)];
    for (round, (columns, rows)) in sizes.iter().cycle().take(40).enumerate() {
        terminal.resize(*columns, *rows).unwrap();
        std::thread::sleep(Duration::from_millis([5, 20, 60, 400][round % 4]));
    }
    terminal.resize(100, 24).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    let seen = terminal.everything().join("\n");
    let wrong = wrong(&counts(&seen));
    assert!(wrong.is_empty(), "{wrong:?}\n{seen}");
    assert_eq!(seen.matches(READY).count(), 1, "{seen}");
}

fn in_tmux(program: &Program, name: &str, columns: u16, rows: u16) -> Tmux {
    let tmux = Tmux(format!("hermes-{name}-{}", std::process::id()));
    let command = program.command(&["chat"]);
    let line = command.env("TERM", "tmux-256color").line();
    let (columns, rows) = (columns.to_string(), rows.to_string());
    let mut start = vec!["new-session", "-d", "-x", &columns, "-y", &rows, "--"];
    start.extend(line.iter().map(String::as_str));
    tmux.run(&start);
    tmux.wait(READY);
    tmux
}

fn resize(tmux: &Tmux, columns: u16, rows: u16) {
    let (columns, rows) = (columns.to_string(), rows.to_string());
    tmux.run(&["resize-window", "-x", &columns, "-y", &rows]);
    // Long enough to be drawn in this size.
    std::thread::sleep(Duration::from_millis(400));
}

// CL-20
#[test]
fn panels_leave_nothing_behind_when_a_window_becomes_narrower() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = quiet(&server, "");
    let tmux = in_tmux(&program, "panels", 100, 24);
    for (command, shown) in [("/help", "Esc closes"), ("/personality", "Enter takes")] {
        tmux.run(&["send-keys", command, "Enter"]);
        tmux.wait(shown);
        for (columns, rows) in [
            (60, 24),
            (100, 24),
            (50, 24),
            (120, 12),
            (60, 24),
            (100, 24),
        ] {
            resize(&tmux, columns, rows);
            tmux.wait(shown);
        }
        tmux.run(&["send-keys", "Escape"]);
        tmux.wait(READY);
        let gone = eventually(LIMIT, "no piece of the panel", || {
            let seen = tmux.everything();
            let pieces = [
                "── Commands",
                "── Speak like",
                shown,
                "have something done beside",
                "creative",
            ];
            (!pieces.iter().any(|piece| seen.contains(piece))).then_some(())
        });
        assert!(gone.is_ok(), "{}", tmux.everything());
    }
}

// CL-20
#[test]
fn a_question_leaves_nothing_behind_when_a_window_becomes_small() {
    let asks = tool_call(
        "clarify",
        json!({"question": "Which colour?", "choices": ["red", "blue"]}),
    );
    let server = ModelServer::start(Scenario::new().reply(asks).reply(text("Painted."))).unwrap();
    let program = quiet(&server, "");
    let tmux = in_tmux(&program, "question", 60, 10);
    tmux.run(&["send-keys", "paint", "Enter"]);
    tmux.wait("Something else");
    for (columns, rows) in [(20, 5), (50, 24)] {
        resize(&tmux, columns, rows);
    }
    tmux.wait("Something else");
    tmux.run(&["send-keys", "2"]);
    tmux.wait("Painted.");
    tmux.wait(READY);
    let seen = tmux.everything();
    assert!(!seen.contains("A question"), "{seen}");
    assert!(!seen.contains("Something else"), "{seen}");
}

// CL-20
#[test]
fn a_window_of_one_cell_leaves_nothing_behind() {
    let server = ModelServer::start(Scenario::new().reply(text("Painted."))).unwrap();
    let program = quiet(&server, "");
    let tmux = in_tmux(&program, "cell", 100, 30);
    tmux.run(&["send-keys", "paint", "Enter"]);
    tmux.wait("Painted.");
    tmux.wait(READY);
    for (columns, rows) in [(1, 1), (5, 2), (100, 30)] {
        resize(&tmux, columns, rows);
    }
    tmux.wait(READY);
    let seen = tmux.everything();
    for part in ["Painted.", READY, "100k │ ["] {
        assert_eq!(seen.matches(part).count(), 1, "{part}: {seen}");
    }
    let rules = seen.lines().filter(|line| line.starts_with("───"));
    assert_eq!(rules.count(), 1, "{seen}");
}
