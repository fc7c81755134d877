//! Pastes, pictures and paths on the real screen.

use std::time::{Duration, Instant};

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, text};
use hermes_testkit::pty::Terminal;

use super::program::Program;
use super::screen::{LIMIT, READY, last_said, leave, open, quiet};

/// The smallest picture there is.
pub(crate) const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
    \0\0\0\rIDATx\x9cc\xf8\xff\xff?\0\x05\xfe\x02\xfe\xa75\x81\x84\0\0\0\0IEND\xaeB`\x82";

fn echoing() -> ModelServer {
    let steps = (0..6).fold(Scenario::new(), |scenario, number| {
        scenario.reply(text(format!("Answer {number}.")))
    });
    ModelServer::start(steps.lenient()).unwrap()
}

fn last(server: &ModelServer) -> String {
    server.requests().last().unwrap().expect_json().to_string()
}

fn pastes(program: &Program) -> Vec<(String, String)> {
    let folder = program.home.path().join("pastes");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut found: Vec<(String, String)> = entries
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    found.sort();
    found
}

// CL-17
#[test]
fn pastes_are_named_by_the_time_and_never_overwrite_each_other() {
    let server = echoing();
    let program = quiet(&server, "");
    for run in 0..3 {
        let terminal = open(&program, 100, 30);
        for paste in 0..2 {
            let long = format!("run {run} paste {paste}\n{}", "line\n".repeat(20));
            terminal.paste(&long).unwrap();
            let chip = format!("[Pasted text #{}: 21 lines", paste + 1);
            terminal.wait_for_text(&chip, LIMIT).unwrap();
        }
        terminal.send("\x03").unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
        leave(&terminal);
    }
    let kept = pastes(&program);
    assert_eq!(kept.len(), 6, "{kept:?}");
    for run in 0..3 {
        for paste in 0..2 {
            let first = format!("run {run} paste {paste}\n");
            assert_eq!(
                kept.iter()
                    .filter(|(_, text)| text.starts_with(&first))
                    .count(),
                1,
                "{kept:?}"
            );
        }
    }
    for (name, _) in &kept {
        let parts: Vec<&str> = name.trim_end_matches(".txt").split('_').collect();
        assert_eq!(parts[0], "paste", "{name}");
        assert_eq!(parts[2].len(), 6, "{name}");
        assert!(parts[2].chars().all(|c| c.is_ascii_digit()), "{name}");
    }
}

// CL-17
#[test]
fn many_lines_at_once_are_a_paste_where_the_terminal_does_not_say_so() {
    let server = echoing();
    let program = quiet(&server, "paste_collapse_threshold_fallback: 4\n");
    let terminal = open(&program, 100, 30);
    terminal.send("a\rb\rc\rd\re\rf").unwrap();
    terminal
        .wait_for_text("[Pasted text #1: 6 lines", LIMIT)
        .unwrap();
    assert!(server.requests().is_empty());
    terminal.send("\r").unwrap();
    terminal.wait_for_text("Answer 0.", LIMIT).unwrap();
    assert_eq!(last_said(&server), "a\nb\nc\nd\ne\nf");
    leave(&terminal);
}

// CL-17
#[test]
fn a_paste_that_comes_in_pieces_is_one_where_the_terminal_does_not_say_so() {
    let server = echoing();
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 30);
    let short: Vec<String> = (0..75).map(|n| format!("short line {n:03}")).collect();
    let long: Vec<String> = (0..12).map(|n| n.to_string().repeat(500)).collect();
    for (number, lines) in [short, long].iter().enumerate() {
        let text = lines.join("\n");
        terminal.send(&text.replace('\n', "\r")).unwrap();
        let chip = format!("[Pasted text #{}: {} lines", number + 1, lines.len());
        terminal.wait_for_text(&chip, LIMIT).unwrap();
        assert_eq!(server.requests().len(), number);
        terminal.send("\r").unwrap();
        let answer = format!("Answer {number}.");
        terminal.wait_for_text(&answer, LIMIT).unwrap();
        assert_eq!(last_said(&server), text);
        terminal.wait_for_text(READY, LIMIT).unwrap();
    }
    // Letters alone are typed, to the last one, without another key.
    let letters = format!("{}END", "a".repeat(1_500));
    terminal.send(&letters).unwrap();
    terminal.wait_for_text("aEND", LIMIT).unwrap();
    terminal.send("\r").unwrap();
    terminal.wait_for_text("Answer 2.", LIMIT).unwrap();
    assert_eq!(last_said(&server), letters);
    leave(&terminal);
}

// CL-17
#[test]
fn a_paste_of_a_megabyte_is_taken_and_sent_whole() {
    let server = echoing();
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 30);
    let line = "a line of what was copied somewhere else, of a usual length\n";
    let long = line.repeat(1024 * 1024 / line.len());
    let start = Instant::now();
    terminal.paste(&long).unwrap();
    terminal
        .wait_for_text("[Pasted text #1: 17", LIMIT)
        .unwrap();
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{:?}",
        start.elapsed()
    );
    terminal.send("\r").unwrap();
    terminal.wait_for_text("Answer 0.", LIMIT).unwrap();
    assert_eq!(last_said(&server).trim_end(), long.trim_end());
    leave(&terminal);
}

// CL-17
#[test]
fn pictures_come_by_path_and_from_the_clipboard() {
    let server = echoing();
    let program = quiet(&server, "");
    let home = program.home.path().parent().unwrap().to_owned();
    std::fs::write(home.join("my shot.png"), PNG).unwrap();
    program.home.write_work("here.png", PNG).unwrap();
    let reader = format!(
        "#!/bin/sh\ncat '{}'\n",
        program.home.workspace().join("here.png").display()
    );
    program.home.write("bin/wl-paste", reader).unwrap();
    let folder = program.home.path().join("bin");
    std::process::Command::new("chmod")
        .arg("+x")
        .arg(folder.join("wl-paste"))
        .status()
        .unwrap();
    let command = program
        .command(&["chat"])
        .env("TERM", "xterm-256color")
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    let terminal = Terminal::spawn(&command, 100, 40).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    let ask = |line: &str, answer: &str| {
        terminal.send(line).unwrap();
        terminal.wait_for_text(answer, LIMIT).unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
    };
    // Dragged in, with `~` and an escaped space.
    terminal.paste("~/my\\ shot.png").unwrap();
    terminal.wait_for_text("my shot.png", LIMIT).unwrap();
    ask("what is it?\r", "Answer 0.");
    assert!(
        last(&server).contains("data:image/png;base64,"),
        "{}",
        last(&server)
    );
    // Typed in front of a message, which is no command though it begins with a slash.
    ask("no picture\r", "Answer 1.");
    let before = last(&server).matches("data:image/png").count();
    let path = program.home.workspace().join("here.png");
    ask(&format!("{} and this?\r", path.display()), "Answer 2.");
    assert_eq!(last(&server).matches("data:image/png").count(), before + 1);
    ask("'~/my shot.png' again?\r", "Answer 3.");
    assert_eq!(last(&server).matches("data:image/png").count(), before + 2);
    // Nothing was pasted, so it may be a picture.
    terminal.paste("").unwrap();
    terminal.wait_for_text("clip_", LIMIT).unwrap();
    ask("and this one?\r", "Answer 4.");
    assert_eq!(last(&server).matches("data:image/png").count(), before + 3);
    let images = || std::fs::read_dir(program.home.path().join("images")).ok();
    eventually(LIMIT, "the picture on disk", || images()?.next())
        .unwrap()
        .unwrap();
    leave(&terminal);
}

// CL-17
#[test]
fn paths_in_the_users_home_are_completed() {
    let server = echoing();
    let program = quiet(&server, "");
    let home = program.home.path().parent().unwrap().to_owned();
    std::fs::create_dir(home.join("garden-plans")).unwrap();
    std::fs::write(home.join("garden-plans/beds.txt"), "roses").unwrap();
    let terminal = open(&program, 100, 30);
    terminal.send("read @file:~/gard").unwrap();
    terminal.wait_for_text("~/garden-plans/", LIMIT).unwrap();
    terminal.send("\x03").unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("read ~/garden-plans/be").unwrap();
    terminal
        .wait_for_text("~/garden-plans/beds.txt", LIMIT)
        .unwrap();
    terminal.send("\t").unwrap();
    terminal
        .wait_for_text("❯ read ~/garden-plans/beds.txt", LIMIT)
        .unwrap();
    terminal.send("\x03").unwrap();
    leave(&terminal);
}

// CL-17
#[test]
fn a_paste_of_an_earlier_run_is_sent_whole_or_not_at_all() {
    let server = echoing();
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 30);
    let long: String = (0..40).map(|number| format!("line {number}\n")).collect();
    terminal.paste(&long).unwrap();
    terminal.wait_for_text("[Pasted text #1", LIMIT).unwrap();
    terminal.send("\r").unwrap();
    terminal.wait_for_text("Answer 0.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
    let terminal = open(&program, 100, 30);
    terminal.send("\x1b[A").unwrap();
    terminal.wait_for_text("❯ [Pasted text #1", LIMIT).unwrap();
    terminal.send("\r").unwrap();
    terminal.wait_for_text("Answer 1.", LIMIT).unwrap();
    assert_eq!(last_said(&server).trim_end(), long.trim_end());
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
    std::fs::remove_dir_all(program.home.path().join("pastes")).unwrap();
    let before = server.requests().len();
    let terminal = open(&program, 100, 30);
    terminal.send("\x1b[A").unwrap();
    terminal.wait_for_text("❯ [Pasted text #1", LIMIT).unwrap();
    terminal.send("\r").unwrap();
    terminal.wait_for_text("is gone", LIMIT).unwrap();
    terminal.wait_for_text("❯ [Pasted text #1", LIMIT).unwrap();
    assert_eq!(server.requests().len(), before);
    terminal.send("\x03").unwrap();
    leave(&terminal);
}
