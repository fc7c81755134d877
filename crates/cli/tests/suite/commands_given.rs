//! Commands about secrets, speed, the line below answers, copies and skins.

use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::{Value as Json, json};

use super::program::Program;
use super::screen::{LIMIT, READY, leave, open, quiet};

fn answering(count: usize) -> ModelServer {
    let steps = (0..count).fold(Scenario::new(), |scenario, number| {
        scenario.reply(text(format!("Answer {number}.")))
    });
    ModelServer::start(steps).unwrap()
}

fn talk(program: &Program) -> Terminal {
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 140, 50).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    terminal
}

fn say(terminal: &Terminal, line: &str, shown: &str) {
    terminal.send(&format!("{line}\r")).unwrap();
    terminal.wait_for_text(shown, LIMIT).unwrap();
}

fn bye(terminal: &Terminal) {
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}

/// What was sent with the questions, without looks at who serves.
fn asked(server: &ModelServer) -> Vec<Json> {
    let requests = server.requests();
    let asked = requests.iter().filter(|one| one.protocol.is_some());
    asked.map(|one| one.expect_json().clone()).collect()
}

// CL-21
#[test]
fn secrets_that_changed_count_from_the_next_call_on() {
    let server = answering(2);
    let program = quiet(&server, "");
    let settings = program.home.read("config.yaml").unwrap();
    let settings = settings.replace("test-key-1234567890", "'${LAB_KEY}'");
    program.home.write_config(&settings).unwrap();
    let key = |key: &str| program.home.write_env(&format!("LAB_KEY={key}\n")).unwrap();
    key("first-key-1234567890");
    let terminal = talk(&program);
    say(&terminal, "one", "Answer 0.");
    say(
        &terminal,
        "/reload",
        "Nothing in the secrets file has changed.",
    );
    key("second-key-1234567890");
    say(&terminal, "/reload", "Read again: LAB_KEY.");
    say(&terminal, "two", "Answer 1.");
    // The screen never shows a key, old or new.
    assert!(!terminal.everything().join("\n").contains("-key-1234567890"));
    bye(&terminal);
    let requests = server.requests();
    let keys: Vec<&str> = requests
        .iter()
        .filter(|one| one.protocol.is_some())
        .filter_map(|one| one.header("authorization"))
        .collect();
    assert_eq!(
        keys,
        [
            "Bearer first-key-1234567890",
            "Bearer second-key-1234567890"
        ]
    );
    server.assert_done();
}

// CL-21
#[test]
fn quicker_answers_are_asked_for_until_they_are_not() {
    let server = answering(4);
    let program = quiet(&server, "");
    let terminal = talk(&program);
    say(&terminal, "one", "Answer 0.");
    say(&terminal, "/fast on", "in the tier priority");
    terminal
        .wait_for_text("scripted from custom", LIMIT)
        .unwrap();
    say(&terminal, "two", "Answer 1.");
    // It holds in the next conversation too.
    say(&terminal, "/new --yes", "This is a new conversation");
    say(&terminal, "three", "Answer 2.");
    say(
        &terminal,
        "/fast off",
        "as quick as the provider usually is",
    );
    say(&terminal, "four", "Answer 3.");
    say(&terminal, "/fast quick", "hint: /fast on");
    bye(&terminal);
    let tiers: Vec<Json> = asked(&server)
        .iter()
        .map(|body| body["service_tier"].clone())
        .collect();
    assert_eq!(
        tiers,
        [
            json!(null),
            json!("priority"),
            json!("priority"),
            json!(null)
        ]
    );
    let config = program.home.read("config.yaml").unwrap();
    assert!(!config.contains("service_tier"), "{config}");
    server.assert_done();
}

// CL-21
#[test]
fn a_line_of_facts_stands_below_answers_while_it_is_wanted() {
    let server = answering(3);
    let program = quiet(&server, "");
    let terminal = open(&program, 110, 40);
    let ask = |line: &str, shown: &str| {
        say(&terminal, line, shown);
        terminal.wait_for_text(READY, LIMIT).unwrap();
    };
    ask("one", "Answer 0.");
    assert!(!terminal.screen().contains("scripted · 0%"));
    ask("/footer on", "A line of facts stands below answers.");
    ask("two", "Answer 1.");
    terminal.wait_for_text("scripted · 0% · ", LIMIT).unwrap();
    leave(&terminal);
    let kept = program.stdout(&["config", "get", "display.runtime_footer.enabled"]);
    assert_eq!(kept, "true\n");
    // Also a line at a time, and with the facts that were chosen.
    program
        .run(&[
            "config",
            "set",
            "display.runtime_footer.fields",
            "[provider, model]",
        ])
        .ok();
    let command = program.command(&["chat", "--plain"]);
    let output = command.stdin("three\n/footer off\n").run().unwrap().ok();
    assert!(
        output.stdout.contains("custom · scripted\n"),
        "{}",
        output.report()
    );
    let kept = program.stdout(&["config", "get", "display.runtime_footer.enabled"]);
    assert_eq!(kept, "false\n");
    server.assert_done();
}

// CL-21
#[test]
fn what_is_printed_of_calls_is_chosen_a_line_at_a_time_too() {
    let call = || tool_call("terminal", json!({ "command": "echo printed-$((40 + 2))" }));
    let scenario = (0..2).fold(Scenario::new(), |scenario, number| {
        scenario
            .reply(call())
            .reply(text(format!("Answer {number}.")))
    });
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let command = program.command(&["chat", "--plain"]);
    let lines = "/verbose\none\n/verbose\ntwo\n/verbose\n/verbose\n";
    let output = command.stdin(lines).run().unwrap().ok();
    let said = &output.stdout;
    for shown in [
        "every call with arguments",
        "no calls",
        "another tool",
        "every call\n",
    ] {
        assert!(said.contains(shown), "{shown}: {said}");
    }
    let (one, rest) = said.split_once("Answer 0.").unwrap();
    assert!(one.contains("\nprinted-42\n"), "{said}");
    let (used, two) = rest.split_once("shown: no calls").unwrap();
    assert!(used.contains(" tokens in, "), "{said}");
    let (two, _) = two.split_once("Answer 1.").unwrap();
    assert!(!two.contains("printed-42") && !two.contains('┊'), "{said}");
    server.assert_done();
}

// CL-21 CL-25
#[test]
fn a_copy_of_the_state_is_taken_and_listed_in_a_conversation() {
    let server = answering(1);
    let program = quiet(&server, "");
    let command = program.command(&["chat", "--plain"]);
    let lines = "hello\n/snapshot\n/snapshot restore\n/snapshot create before-it\n/snapshot list\n/snap restore x\n/snapshot creat\n/snapshot prune some\n/snapshot prune 1\n";
    let output = command.stdin(lines).run().unwrap().ok();
    let mut rest = output.stdout.as_str();
    for shown in [
        "There are no snapshots",
        "There are no snapshots",
        "Copied ",
        "SNAPSHOT",
        "-before-it",
        "error: there is no snapshot x",
        "error: /snapshot knows no creat",
        "error: some is no number of snapshots to keep",
        "Removed 0 snapshots; 1 snapshot left.",
    ] {
        let found = rest.split_once(shown);
        rest = found
            .unwrap_or_else(|| panic!("no {shown}\n{}", output.report()))
            .1;
    }
    let tree = program.home.tree().unwrap();
    let copied =
        |name: &String| name.starts_with("state-snapshots/") && name.ends_with("/hermes.db");
    assert_eq!(tree.keys().filter(|name| copied(name)).count(), 1);
    server.assert_done();
}

fn conversations(program: &Program) -> usize {
    let list = program.run(&["sessions", "list", "--json"]).ok().json();
    list.as_array().unwrap().len()
}

// CL-21 CL-25
#[test]
fn going_back_to_a_copy_of_the_state_is_asked_about_and_ends_the_program() {
    let server = answering(2);
    let program = quiet(&server, "");
    let terminal = talk(&program);
    say(&terminal, "the first one", "Answer 0.");
    say(&terminal, "/snapshot create before-it", "Copied ");
    bye(&terminal);
    let settings = program.home.read("config.yaml").unwrap();
    let changed = format!("{settings}timezone: Europe/Berlin\n");
    program.home.write("config.yaml", &changed).unwrap();

    // A number picks it, and a no leaves everything as it is.
    let terminal = talk(&program);
    say(&terminal, "the second one", "Answer 1.");
    say(&terminal, "/snapshot restore", "Go back to");
    say(&terminal, "1", "Go back to this snapshot?");
    say(&terminal, "n", "Nothing was changed.");
    bye(&terminal);
    assert_eq!(program.home.read("config.yaml").unwrap(), changed);
    assert_eq!(conversations(&program), 2);

    let terminal = talk(&program);
    say(&terminal, "/snapshot restore", "Go back to");
    say(&terminal, "1", "Go back to this snapshot?");
    say(&terminal, "y", "Start hermes again to go on from there.");
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    assert!(terminal.screen().contains("What was there is in "));
    assert_eq!(program.home.read("config.yaml").unwrap(), settings);
    assert_eq!(conversations(&program), 1);

    // What there was before can be had back too, without a conversation.
    let kept = std::fs::read_dir(program.home.path().join("state-snapshots")).unwrap();
    let mut kept = kept.map(|one| one.unwrap().file_name().into_string().unwrap());
    let before = kept.find(|name| name.contains("-before-restore")).unwrap();
    program.stdout(&["import", "--force", &before]);
    assert_eq!(program.home.read("config.yaml").unwrap(), changed);
    assert_eq!(conversations(&program), 2);

    let terminal = talk(&program);
    say(&terminal, "/snapshot prune 1", "Remove 2 old snapshots?");
    say(&terminal, "y", "Removed 2 snapshots; 1 snapshot left.");
    bye(&terminal);
    server.assert_done();
}

// CL-30
#[test]
fn skins_are_listed_with_what_they_look_like() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = quiet(&server, "");
    program
        .home
        .write(
            "skins/dusk.yaml",
            "name: dusk\ndescription: the last light\n",
        )
        .unwrap();
    let terminal = open(&program, 110, 40);
    say(&terminal, "/skin", "Look like");
    terminal.send("dusk").unwrap();
    terminal.wait_for_text("the last light", LIMIT).unwrap();
    terminal.send("\x1b").unwrap();
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}

// CL-18
#[test]
fn calls_go_to_a_log_in_place_of_the_screen() {
    let secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789";
    let command = format!("echo {secret} > /dev/null");
    let scenario = Scenario::new()
        .reply(tool_call("terminal", json!({"command": command})))
        .reply(tool_call(
            "read_file",
            json!({"path": "/nowhere/at/all.txt"}),
        ))
        .reply(text("Done."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(
        &server,
        "display: {tool_progress: log}\napprovals: {mode: off}\n",
    );
    let command = program.command(&["chat", "--plain"]);
    let output = command.stdin("do it\n").run().unwrap().ok();
    assert!(
        output.stdout.contains("Done.") && !output.stdout.contains('┊'),
        "{}",
        output.stdout
    );
    let log = program.home.read("logs/tool_calls.log").unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert!(
        lines[0].contains(" INFO [") && lines[0].contains("tools.calls: terminal 0."),
        "{log}"
    );
    assert!(lines[0].contains("echo ") && !log.contains(secret), "{log}");
    assert!(
        lines[1].contains(" WARNING [") && lines[1].contains("read_file"),
        "{log}"
    );
    assert!(lines[1].contains("failed: "), "{log}");
    server.assert_done();
}
