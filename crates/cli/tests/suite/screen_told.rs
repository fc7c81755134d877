//! What goes wrong on the screen is told, with what helps; what takes long can be stopped.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::process;
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::program::Program;
use super::screen::{LIMIT, READY, last_said, leave, open, quiet};
use super::screen_paste::PNG;

fn answering() -> ModelServer {
    let step = Step::new(text("Answered.")).repeat();
    ModelServer::start(Scenario::new().reply(step)).unwrap()
}

/// A program of the user's, in a folder of programs.
fn script(program: &Program, name: &str, body: &str) -> PathBuf {
    let path = program.home.path().join("bin").join(name);
    program
        .home
        .write(&format!("bin/{name}"), format!("#!/bin/sh\n{body}\n"))
        .unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn spawn(program: &Program, name: &str, value: &str) -> Terminal {
    let command = program
        .command(&["chat"])
        .env("TERM", "xterm-256color")
        .env(name, value);
    let terminal = Terminal::spawn(&command, 110, 40).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal
}

// EX-10
#[test]
fn a_search_that_finds_nothing_is_no_failure() {
    let call = |command: &str| Step::new(tool_call("terminal", json!({ "command": command })));
    let scenario = Scenario::new()
        .reply(call("grep -r nowhere-to-be-found ."))
        .reply(call("cat nowhere-to-be-found"))
        .reply(text("Nothing there."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 110, 40);
    terminal.send("look for it\r").unwrap();
    let screen = terminal.wait_for_text("Nothing there.", LIMIT).unwrap();
    let card = |words: &str| {
        let rows = screen.rows();
        let row = rows
            .iter()
            .find(|row| row.contains('┊') && row.contains(words));
        row.unwrap_or_else(|| panic!("{}", screen.text())).clone()
    };
    assert!(!card("grep").contains('✗'), "{}", screen.text());
    assert!(card("cat").contains("✗ exit 1"), "{}", screen.text());
    leave(&terminal);
}

// CL-17
#[test]
fn an_editor_that_fails_is_told_and_the_text_stays() {
    let server = answering();
    let program = quiet(&server, "");
    let failing = script(&program, "failing", "exit 3");
    for (editor, told, helps) in [
        (
            "no-such-editor",
            "no-such-editor could not be started",
            true,
        ),
        (failing.to_str().unwrap(), "ended with 3", true),
        ("true", "nothing was saved; the text is as it was", false),
    ] {
        let terminal = spawn(&program, "VISUAL", editor);
        terminal.send("my draft").unwrap();
        terminal.wait_for_text("❯ my draft", LIMIT).unwrap();
        terminal.send("\x07").unwrap();
        terminal.wait_for_text(told, LIMIT).unwrap();
        let screen = terminal.wait_for_text("❯ my draft", LIMIT).unwrap();
        assert_eq!(screen.contains("set VISUAL or EDITOR"), helps, "{screen}");
        terminal.send("\x03").unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
        leave(&terminal);
    }
    assert!(server.requests().is_empty());
    // One that works, by the other keys.
    let writing = script(&program, "writing", "echo 'from the editor' > \"$1\"");
    let terminal = spawn(&program, "VISUAL", writing.to_str().unwrap());
    terminal.send("\x18\x05").unwrap();
    terminal.wait_for_text("Answered.", LIMIT).unwrap();
    assert_eq!(last_said(&server), "from the editor");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}

// CL-17
#[test]
fn a_clipboard_that_cannot_be_read_is_told_with_what_helps() {
    let server = answering();
    let program = quiet(&server, "");
    program.home.write_work("here.png", PNG).unwrap();
    let picture = program.home.workspace().join("here.png");
    let folder = program.home.path().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    // No program of the machine is found here.
    let terminal = spawn(&program, "PATH", folder.to_str().unwrap());
    let paste = |told: &str, helps: &str| {
        terminal.send("/clear now\r").unwrap();
        terminal
            .wait_for(|screen| !screen.contains("/image PATH"), LIMIT)
            .unwrap();
        terminal.send("/paste\r").unwrap();
        terminal.wait_for_text(told, LIMIT).unwrap();
        terminal.wait_for_text(helps, LIMIT).unwrap();
    };
    paste("no program here reads pictures", "install wl-clipboard");
    script(&program, "xclip", "exit 1");
    paste("there is no picture on the clipboard", "copy one first");
    script(&program, "xclip", "printf '%%PDF-1.7'");
    paste("there is no picture on the clipboard", "copy one first");
    let large = format!(
        "/bin/cat '{}'; exec /usr/bin/head -c 21000000 /dev/zero",
        picture.display()
    );
    script(&program, "xclip", &large);
    paste("is larger than 20 MB", "make it smaller");
    script(&program, "xclip", "exec /bin/sleep 60");
    paste("xclip did not answer within 3 s", "try again");
    assert!(server.requests().is_empty());
    leave(&terminal);
}

// CL-17
#[test]
fn every_reader_of_a_clipboard_is_used() {
    let server = answering();
    let program = quiet(&server, "");
    program.home.write_work("here.png", PNG).unwrap();
    let picture = program.home.workspace().join("here.png");
    let folder = program.home.path().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let terminal = spawn(&program, "PATH", folder.to_str().unwrap());
    let raw = format!("exec /bin/cat '{}'", picture.display());
    let digits: String = PNG.iter().map(|byte| format!("{byte:02X}")).collect();
    let digits = format!("echo '«data PNGf{digits}»'");
    for (number, (reader, body)) in [
        ("xclip", &raw),
        ("pngpaste", &raw),
        ("osascript", &digits),
        ("powershell.exe", &raw),
    ]
    .into_iter()
    .enumerate()
    {
        let path = script(&program, reader, body);
        terminal.send("\x1bv").unwrap();
        terminal.wait_for_text("clip_", LIMIT).unwrap();
        terminal.send("what is it?\r").unwrap();
        let asked = || (server.requests().len() == number + 1).then_some(());
        eventually(LIMIT, reader, asked).unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
        let sent = server.requests().last().unwrap().expect_json().to_string();
        assert_eq!(
            sent.matches("data:image/png").count(),
            number + 1,
            "{reader}"
        );
        std::fs::remove_file(path).unwrap();
        terminal.send("\x0c").unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
    }
    leave(&terminal);
}

// CL-17
#[test]
fn a_picture_that_is_not_there_is_told() {
    let server = answering();
    let program = quiet(&server, "");
    program.home.write_work("notes.txt", "words").unwrap();
    let terminal = open(&program, 140, 30);
    for (name, told) in [
        ("nosuch.png", "there is no file"),
        ("notes.txt", "is no picture that models take"),
    ] {
        terminal.send(&format!("/image {name}\r")).unwrap();
        terminal.wait_for_text(told, LIMIT).unwrap();
        terminal
            .wait_for_text("/image PATH takes a PNG", LIMIT)
            .unwrap();
        // It is not typed for the user.
        terminal.wait_for_text(READY, LIMIT).unwrap();
    }
    leave(&terminal);
}

// CL-18 CL-21
#[test]
fn a_command_that_takes_long_is_seen_and_stopped_with_what_it_started() {
    let server = answering();
    let program = quiet(
        &server,
        "quick_commands:\n  slow: {type: exec, command: 'echo $$ > started; exec sleep 60'}\n",
    );
    let terminal = open(&program, 110, 30);
    for stop in ["\x1b", "\x03", "\x11"] {
        terminal.send("/slow\r").unwrap();
        terminal
            .wait_for_text("a command runs; Esc stops it", LIMIT)
            .unwrap();
        let pid = || -> Option<i32> {
            let text = std::fs::read_to_string(program.home.workspace().join("started")).ok()?;
            text.trim().parse().ok()
        };
        let pid = eventually(LIMIT, "the command", pid).unwrap();
        terminal.send(stop).unwrap();
        terminal.wait_for_text("stopped: /slow", LIMIT).unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
        eventually(LIMIT, "its end", || (!process::alive(pid)).then_some(())).unwrap();
        std::fs::remove_file(program.home.workspace().join("started")).unwrap();
        terminal.send("/clear now\r").unwrap();
        terminal
            .wait_for(|screen| !screen.contains("stopped: /slow"), LIMIT)
            .unwrap();
    }
    // Nothing waits behind it.
    terminal.send("hello\r").unwrap();
    terminal.wait_for_text("Answered.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}
