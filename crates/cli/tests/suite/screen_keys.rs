//! Keys on the real screen: what stops, what waits, what is found again.

use std::time::Duration;

use hermes_testkit::eventually;
use hermes_testkit::model_server::{Gate, ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::{Screen, Terminal};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::program::Program;
use super::screen::{LIMIT, READY, last_said, leave, open, quiet};
use super::screen_paste::PNG;

fn composer(screen: &Screen) -> String {
    let rows = screen.rows();
    // In full screen the sessions stand to the left of it.
    let beside = |row: &String| match row.split_once('│') {
        Some((_, right)) => right.to_owned(),
        None => row.clone(),
    };
    let mut rows = rows.iter().map(beside);
    rows.rfind(|row| row.starts_with('❯')).unwrap_or_default()
}

fn wait_composer(terminal: &Terminal, wanted: &str) {
    terminal
        .wait_for(|screen| composer(screen) == wanted, LIMIT)
        .unwrap();
}

// CL-18
#[test]
fn escape_stops_the_turn_and_nothing_else() {
    let endless = || Step::new(text("words and more words")).hang_after(2);
    let scenario = Scenario::new()
        .reply(endless())
        .reply(text("Second answer."))
        .reply(endless());
    let server = ModelServer::start(scenario).unwrap();
    for options in [&["chat"][..], &["chat", "--tui"]] {
        let program = quiet(&server, "");
        let command = program.command(options).env("TERM", "xterm-256color");
        let terminal = Terminal::spawn(&command, 100, 30).unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
        if options.len() > 1 {
            terminal.send("again\r").unwrap();
        } else {
            terminal.send("begin\r").unwrap();
        }
        terminal.wait_for_text("words and", LIMIT).unwrap();
        terminal.send("/he").unwrap();
        terminal.wait_for_text("list commands", LIMIT).unwrap();
        terminal.send("\x1b").unwrap();
        // The popup is closed; the turn goes on until the key comes again.
        let screen = terminal.wait_for(|screen| !screen.contains("list commands"), LIMIT);
        assert!(!screen.unwrap().contains("stopped"));
        terminal.send("\x1b").unwrap();
        terminal.wait_for_text("stopped", LIMIT).unwrap();
        wait_composer(&terminal, "❯ /he");
        terminal.send("\x03").unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
        if options.len() == 1 {
            terminal.send("go on\r").unwrap();
            terminal.wait_for_text("Second answer.", LIMIT).unwrap();
            // Esc is no message: what a message does meanwhile is not explained.
            assert!(
                !terminal
                    .screen()
                    .contains("A message while the agent works")
            );
        }
        leave(&terminal);
    }
}

// CL-18
#[test]
fn a_command_under_way_is_ended_with_its_turn_and_with_the_program() {
    let runs = || {
        let command = "echo $$ > child; echo under-way; sleep 300; echo late";
        tool_call("terminal", json!({ "command": command }))
    };
    let server = ModelServer::start(Scenario::new().reply(runs()).reply(runs())).unwrap();
    // Outside the sandbox, where numbers of processes mean what they say.
    let program = quiet(&server, "terminal: {sandbox: {mode: full}}\n");
    let file = program.home.workspace().join("child");
    let child = || {
        let pid = eventually(LIMIT, "the child", || {
            let pid = std::fs::read_to_string(&file).unwrap_or_default();
            pid.ends_with('\n').then(|| pid.trim().to_owned())
        });
        std::fs::remove_file(&file).unwrap();
        pid.unwrap()
    };
    let gone = |pid: &str| {
        eventually(LIMIT, "the child is gone", || {
            let path = format!("/proc/{pid}/cmdline");
            let line = std::fs::read_to_string(path).unwrap_or_default();
            line.is_empty().then_some(())
        })
        .unwrap();
    };
    let terminal = open(&program, 100, 30);
    terminal.send("begin\r").unwrap();
    terminal.wait_for_text("under-way", LIMIT).unwrap();
    let first = child();
    terminal.send("\x03").unwrap();
    terminal.wait_for_text("stopped", LIMIT).unwrap();
    gone(&first);
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("again\r").unwrap();
    let second = child();
    terminal.send("\x03\x03").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    gone(&second);
}

// CL-18
#[test]
fn what_is_queued_comes_next_and_what_is_steered_comes_at_once() {
    let waits = "while [ ! -e go ]; do sleep 0.1; done; rm go; echo slept";
    let slow = tool_call("terminal", json!({ "command": waits }));
    let scenario = Scenario::new()
        .reply(slow.clone())
        .reply(text("First done."))
        .reply(text("Queued done."))
        .reply(slow)
        .reply(text("Steered done."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "approvals: {mode: 'off'}\n");
    let terminal = open(&program, 100, 40);
    terminal.send("begin\r").unwrap();
    terminal.wait_for_text("while [", LIMIT).unwrap();
    terminal.send("/queue afterwards this\r").unwrap();
    terminal.wait_for_text("⋯ afterwards this", LIMIT).unwrap();
    program.home.write_work("go", "").unwrap();
    terminal.wait_for_text("First done.", LIMIT).unwrap();
    terminal.wait_for_text("● afterwards this", LIMIT).unwrap();
    terminal.wait_for_text("Queued done.", LIMIT).unwrap();
    assert_eq!(last_said(&server), "afterwards this");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal.send("once more\r").unwrap();
    eventually(LIMIT, "the second call", || {
        (server.requests().len() == 4).then_some(())
    })
    .unwrap();
    terminal.wait_for_text("a message stops", LIMIT).unwrap();
    terminal.send("/steer be brief\r").unwrap();
    terminal.wait_for_text("● be brief", LIMIT).unwrap();
    program.home.write_work("go", "").unwrap();
    terminal.wait_for_text("Steered done.", LIMIT).unwrap();
    // The remark reached the model within the turn, behind what the tool said.
    let last = server.requests().last().unwrap().expect_json().clone();
    let messages = last["messages"].as_array().unwrap();
    let place = |what: &str| {
        messages
            .iter()
            .rposition(|message| message["content"].to_string().contains(what))
    };
    assert!(place("be brief") >= place("slept"), "{last}");
    assert!(place("be brief").is_some() && place("slept").is_some());
    assert!(!terminal.screen().contains("stopped"));
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}

// CL-17
#[test]
fn what_was_sent_before_is_found_suggested_and_edited() {
    let scenario = ["One.", "Two.", "Three.", "Four."]
        .iter()
        .fold(Scenario::new(), |scenario, answer| {
            scenario.reply(text(*answer))
        });
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    program.home.write(
        ".hermes_history",
        "\n# 2026-01-01 10:00:00\n+water the garden\n\n# 2026-01-02 10:00:00\n+paint the fence\n+red\n",
    )
    .unwrap();
    let script = program.home.path().join("editor.sh");
    program
        .home
        .write("editor.sh", "#!/bin/sh\nprintf ' and blue\\n' >> \"$1\"\n")
        .unwrap();
    std::process::Command::new("chmod")
        .arg("+x")
        .arg(&script)
        .status()
        .unwrap();
    let command = program
        .command(&["chat"])
        .env("TERM", "xterm-256color")
        .env("VISUAL", &script);
    let terminal = Terminal::spawn(&command, 100, 30).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    // Ctrl+R finds by letters, and Enter takes it without sending.
    terminal.send("\x12gard").unwrap();
    terminal.wait_for_text("water the garden", LIMIT).unwrap();
    terminal.send("\r").unwrap();
    wait_composer(&terminal, "❯ water the garden");
    assert!(server.requests().is_empty());
    terminal.send("\r").unwrap();
    terminal.wait_for_text("One.", LIMIT).unwrap();
    assert_eq!(last_said(&server), "water the garden");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    // Esc leaves the search, and the draft is as it was.
    terminal.send("draft\x12fence").unwrap();
    terminal.wait_for_text("paint the fence", LIMIT).unwrap();
    terminal.send("\x1b").unwrap();
    wait_composer(&terminal, "❯ draft");
    terminal.send("\x03").unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    // The rest of what was sent before stands there, faint, until Tab takes it.
    terminal.send("wat").unwrap();
    let screen = terminal.wait_for_text("❯ water the garden", LIMIT).unwrap();
    let row = screen
        .rows()
        .iter()
        .position(|row| row.starts_with("❯ water"))
        .unwrap();
    let row = u16::try_from(row).unwrap();
    let (typed, ghost) = (screen.cell(row, 2).unwrap(), screen.cell(row, 8).unwrap());
    assert_ne!(
        (typed.foreground, typed.dim),
        (ghost.foreground, ghost.dim),
        "{screen}"
    );
    terminal.send("\t!\r").unwrap();
    terminal.wait_for_text("Two.", LIMIT).unwrap();
    assert_eq!(last_said(&server), "water the garden!");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    // Tab accepts what the popup offers.
    terminal.send("/pers").unwrap();
    terminal.wait_for_text("/personality", LIMIT).unwrap();
    terminal.send("\t").unwrap();
    wait_composer(&terminal, "❯ /personality");
    terminal.send("\x03").unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    // The editor has the terminal, and what it saved is sent.
    terminal.send("paint it red\x07").unwrap();
    terminal.wait_for_text("Three.", LIMIT).unwrap();
    assert_eq!(last_said(&server), "paint it red and blue");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}

#[test]
fn help_shows_commands_and_keys() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 30);
    for keys in ["/help\r", "\x1bOP"] {
        terminal.send(keys).unwrap();
        let screen = terminal.wait_for_text("Esc closes", LIMIT).unwrap();
        assert!(screen.contains("/new"), "{screen}");
        terminal.send("\x1b[F").unwrap();
        let screen = terminal.wait_for_text("F2, Ctrl+X", LIMIT).unwrap();
        assert!(screen.contains("Ctrl+O, click"), "{screen}");
        eventually(LIMIT, "the key that searches", || {
            terminal.send("\x1b[5~").ok()?;
            let soon = Duration::from_secs(1);
            let wanted = "search the messages sent before";
            terminal.wait_for_text(wanted, soon).ok()
        })
        .unwrap();
        terminal.send("\x1b").unwrap();
        terminal.wait_for_text(READY, LIMIT).unwrap();
    }
    leave(&terminal);
}

// CL-17
#[test]
fn a_message_that_cannot_be_sent_is_told_and_comes_back_as_a_draft() {
    let server = ModelServer::start(Scenario::new().reply(text("Seen."))).unwrap();
    let program = quiet(&server, "");
    program.home.write_work("shot.png", PNG).unwrap();
    let terminal = open(&program, 100, 30);
    terminal.send("/image shot.png\r").unwrap();
    // The badge is there when the file was looked at, not before.
    terminal.wait_for_text("[shot.png]", LIMIT).unwrap();
    std::fs::remove_file(program.home.workspace().join("shot.png")).unwrap();
    terminal.send("what is this?\r").unwrap();
    terminal.wait_for_text("No such file", LIMIT).unwrap();
    // What was written is there again with its picture, and nothing works on it.
    let back = |screen: &Screen| {
        screen.contains("❯ what is this?")
            && screen.contains("[shot.png]")
            && !screen.contains("a message stops")
    };
    terminal.wait_for(back, LIMIT).unwrap();
    assert_eq!(server.requests().len(), 0);
    // The picture is there again: the same message goes now.
    let picture = program.home.workspace().join("shot.png");
    std::fs::write(picture, PNG).unwrap();
    terminal.send("\r").unwrap();
    terminal.wait_for_text("Seen.", LIMIT).unwrap();
    let sent = server.requests().last().unwrap().expect_json().to_string();
    assert!(
        sent.contains("what is this?") && sent.contains("data:image/png;base64,"),
        "{sent}"
    );
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}

// CL-18
#[test]
fn a_long_turn_calls_at_its_end_and_a_short_one_does_not() {
    let scenario = Scenario::new()
        .reply(text("Quick."))
        .reply(Step::new(text("Slow.")).delay(Duration::from_secs(21)));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "display: {bell_on_complete: true}\n");
    let terminal = open(&program, 100, 30);
    terminal.send("quick\r").unwrap();
    terminal.wait_for_text("Quick.", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    assert_eq!((terminal.bells(), terminal.notifications().len()), (0, 0));
    terminal.send("slow\r").unwrap();
    terminal.wait_for_text("Slow.", 2 * LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    assert_eq!(terminal.bells(), 1);
    assert_eq!(terminal.notifications(), ["Hermes is done"]);
    leave(&terminal);
}

// CL-17
#[test]
fn shift_and_enter_begin_a_line_and_an_older_form_of_them_sends_nothing() {
    let server = ModelServer::start(Scenario::new().reply(text("Read."))).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 30);
    terminal
        .send("one\x1b[13;2utwo\x1b[27;2;13~three\r")
        .unwrap();
    terminal.wait_for_text("Read.", LIMIT).unwrap();
    let said = last_said(&server);
    assert!(said.starts_with("one\ntwo"), "{said}");
    assert_eq!(said.replace('\n', ""), "onetwothree");
    leave(&terminal);
}

// CL-18
#[test]
fn messages_that_are_queued_are_sent_one_after_the_other() {
    let gate = Gate::new();
    let scenario = Scenario::new()
        .reply(Step::new(text("First done.")).held(&gate))
        .reply(text("Alpha done."))
        .reply(text("Beta done."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 40);
    terminal.send("begin\r").unwrap();
    terminal.wait_for_text("a message stops", LIMIT).unwrap();
    terminal.send("/queue alpha one\r").unwrap();
    terminal.wait_for_text("⋯ alpha one", LIMIT).unwrap();
    terminal.send("/queue beta two\r").unwrap();
    terminal.wait_for_text("⋯ beta two", LIMIT).unwrap();
    gate.open();
    terminal.wait_for_text("Alpha done.", LIMIT).unwrap();
    terminal.wait_for_text("Beta done.", LIMIT).unwrap();
    assert_eq!(last_said(&server), "beta two");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}

// CL-18
#[test]
fn a_second_interrupt_soon_after_the_first_leaves_even_with_a_draft() {
    let endless = Step::new(text("words and more words")).hang_after(2);
    let server = ModelServer::start(Scenario::new().reply(endless)).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 30);
    terminal.send("begin\r").unwrap();
    terminal.wait_for_text("words and", LIMIT).unwrap();
    terminal.send("half a draft").unwrap();
    wait_composer(&terminal, "❯ half a draft");
    // Together, as the second counts only for a moment.
    terminal.send("\x03\x03").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}

/// A conversation whose editor is a script.
fn with_editor(program: &Program, script: &str) -> Terminal {
    let path = program.home.path().join("editor.sh");
    program.home.write("editor.sh", script).unwrap();
    let made = std::process::Command::new("chmod")
        .arg("+x")
        .arg(&path)
        .status();
    assert!(made.unwrap().success());
    let command = program.command(&["chat"]).env("TERM", "xterm-256color");
    let terminal = Terminal::spawn(&command.env("VISUAL", &path), 100, 30).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    terminal
}

// CL-17
#[test]
fn an_editor_that_saves_nothing_sends_nothing() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = quiet(&server, "");
    let done = program.home.path().join("left");
    let script = format!("#!/bin/sh\ntouch '{}'\n", done.display());
    let terminal = with_editor(&program, &script);
    terminal.send("half a draft\x07").unwrap();
    eventually(LIMIT, "the editor", || done.exists().then_some(())).unwrap();
    wait_composer(&terminal, "❯ half a draft");
    assert!(server.requests().is_empty());
    terminal.send("\x03").unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}

// CL-17
#[test]
fn an_interrupt_while_an_editor_has_the_terminal_is_not_for_us() {
    let server = ModelServer::start(Scenario::new().reply(text("Still here."))).unwrap();
    let program = quiet(&server, "");
    let begun = program.home.path().join("begun");
    let script = format!(
        "#!/bin/sh\ntrap 'echo now >> \"$1\"; exit 0' INT\ntouch '{}'\nwhile :; do sleep 0.1; done\n",
        begun.display()
    );
    let terminal = with_editor(&program, &script);
    terminal.send("do it \x07").unwrap();
    eventually(LIMIT, "the editor", || begun.exists().then_some(())).unwrap();
    terminal.send("\x03").unwrap();
    terminal.wait_for_text("Still here.", LIMIT).unwrap();
    assert_eq!(last_said(&server), "do it now");
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}

#[test]
fn a_program_that_is_told_to_end_does_not_wait_for_the_editor() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = quiet(&server, "");
    let begun = program.home.path().join("begun");
    let script = format!(
        "#!/bin/sh\necho $$ > '{}'\nexec sleep 600\n",
        begun.display()
    );
    let terminal = with_editor(&program, &script);
    terminal.send("do it \x07").unwrap();
    let editor = eventually(LIMIT, "the editor", || {
        let pid = std::fs::read_to_string(&begun).ok()?;
        pid.trim().parse::<i32>().ok()
    });
    kill(Pid::from_raw(terminal.pid()), Signal::SIGTERM).unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 143);
    let editor = Pid::from_raw(editor.unwrap());
    eventually(LIMIT, "the end of the editor", || {
        kill(editor, None).is_err().then_some(())
    })
    .unwrap();
}

// CL-37
#[test]
fn what_a_command_says_does_not_stand_in_the_middle_of_a_paragraph() {
    let words = |from: usize| -> String {
        let some = (from..from + 150).map(|number| format!("w{number:04}"));
        some.collect::<Vec<_>>().join(" ")
    };
    let answer = Step::new(text(format!("{}\n\n{}", words(0), words(150))))
        .chunk_chars(12)
        .pace(Duration::from_millis(5));
    let server = ModelServer::start(Scenario::new().reply(answer)).unwrap();
    let program = quiet(&server, "");
    let terminal = open(&program, 100, 40);
    terminal.send("tell me\r").unwrap();
    terminal.wait_for_text("w0010", LIMIT).unwrap();
    terminal.send("/whoami\r").unwrap();
    terminal.wait_for_text("w0299", LIMIT).unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    let seen = terminal.everything().join("\n");
    let place = |what: &str| seen.find(what).unwrap_or_else(|| panic!("{what}:\n{seen}"));
    assert!(place("w0149") < place("/whoami"), "{seen}");
    let said = place("profile default");
    assert!(said < place("w0150") || said > place("w0299"), "{seen}");
    leave(&terminal);
}
