//! What sessions keep for themselves stays theirs, and a sandbox without mounts of its own leaves commands and
//! scripts what they need.

use std::os::unix::net::UnixListener;

use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::chat::with_model;
use super::hands::results_in;
use super::screen::{LIMIT, quiet};

/// Sends a line and waits for what it leads to.
fn say(terminal: &Terminal, line: &str, answer: &str) {
    terminal.send(&format!("{line}\r")).unwrap();
    terminal.wait_for_text(answer, LIMIT).unwrap();
}

// EX-68: what a shell finds in its state it runs, so no session may write what another one keeps, also within one
// program.
#[test]
fn a_session_cannot_change_what_another_session_of_the_same_program_runs() {
    let plant = "for state in {~/.hermes/cache/shells,$TMPDIR}/{,*/}{,*/}{,*/}hermes-shell-*/state-*; do \
                 [ -e $state ] && echo 'export PLANTED=yes' >> $state; done; echo tried";
    let call = |command: &str| tool_call("terminal", json!({ "command": command }));
    let temporary = tempfile::tempdir().unwrap();
    let scenario = Scenario::new()
        .reply(call("export WORD=own; echo begun"))
        .reply(text("First done."))
        .reply(call(plant))
        .reply(text("Second done."))
        .reply(call("echo \"$WORD $PLANTED.\""))
        .reply(text("Third done."));
    let server = ModelServer::start(scenario).unwrap();
    let program = quiet(&server, "");
    let command = program.command(&["chat", "--plain"]);
    let command = command.env("TMPDIR", temporary.path());
    let terminal = Terminal::spawn(&command, 120, 60).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    say(&terminal, "begin", "First done.");
    say(&terminal, "/title first", "is called first");
    say(&terminal, "/new --yes", "This is a new conversation");
    say(&terminal, "go on", "Second done.");
    say(&terminal, "/resume first", "↻ first");
    say(&terminal, "look", "Third done.");
    terminal.send("\x04").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    let requests = server.requests();
    let last = |number: usize| results_in(requests[number].expect_json()).pop().unwrap();
    let sandbox = last(3)["sandbox"].as_str().unwrap().to_owned();
    assert!(sandbox.starts_with("workspace-write ("), "{sandbox}");
    assert_eq!(last(3)["output"], "tried");
    assert_eq!(last(5)["output"], "own .", "in {sandbox}");
}

// EX-68, EX-32: as in a container with default settings, where nothing can be mounted. A terminal multiplexer in
// the temporary directory must not be reached; that takes neither temporary files nor the internet from commands,
// nor tools from scripts.
#[test]
fn without_mounts_temporary_files_the_internet_and_the_tools_of_scripts_are_there() {
    const NO_NAMESPACES: &str = "echo 0 >/proc/sys/user/max_user_namespaces && \
                                 echo 0 >/proc/sys/user/max_mnt_namespaces && exec \"$HERMES\" -z go";
    let code = "import socket, tempfile, threading\n\
                from hermes_tools import read_file, terminal\n\
                tempfile.NamedTemporaryFile().close()\n\
                try:\n\
                \x20   socket.socket(socket.AF_UNIX)\n\
                except PermissionError:\n\
                \x20   print('shut')\n\
                socket.socket(socket.AF_INET).close()\n\
                several = [threading.Thread(target=read_file, args=('f', 1, 1)) for _ in range(9)]\n\
                [one.start() for one in several]; [one.join() for one in several]\n\
                print(read_file('f', limit=1)['content'])\n\
                print(terminal('mktemp >/dev/null && echo made')['output'])\n";
    let scenario = Scenario::new()
        .reply(tool_call("execute_code", json!({ "code": code })))
        .reply(text("done"));
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    program.home.write_work("f", "text\n").unwrap();
    let temporary = tempfile::tempdir().unwrap();
    std::fs::create_dir(temporary.path().join("tmux-0")).unwrap();
    let _door = UnixListener::bind(temporary.path().join("tmux-0/default")).unwrap();
    let command = program.home.command("/usr/bin/unshare");
    let command = command
        .args(["--user", "--map-root-user", "sh", "-c", NO_NAMESPACES])
        .env("HERMES", env!("CARGO_BIN_EXE_hermes"))
        .env("TMPDIR", temporary.path());
    let output = command.timeout(LIMIT * 2).run().unwrap().ok();
    assert_eq!(output.stdout, "done\n", "{}", output.stderr);
    let requests = server.requests();
    let ran = results_in(requests.last().unwrap().expect_json())
        .pop()
        .unwrap();
    let sandbox = ran["sandbox"].as_str().unwrap();
    assert!(sandbox.contains("without mounts"), "{ran}");
    assert_eq!(ran["output"], "shut\n1|text\n\nmade", "{ran}");
    assert_eq!(ran["tool_calls_made"], 11, "{ran}");
}

// EX-68: whoever starts the program may have left anything open, as a shell does with `9</`.
#[test]
fn commands_do_not_get_what_was_open_when_the_program_was_started() {
    let look = "readlink /proc/self/fd/* | grep -c left-open; cat /proc/self/fd/21/note";
    let calls = [
        json!({ "command": look }),
        json!({ "command": look, "pty": true }),
    ];
    for mode in ["workspace-write", "full"] {
        let mut scenario = Scenario::new();
        for call in &calls {
            scenario = scenario.reply(tool_call("terminal", call.clone()));
        }
        let server = ModelServer::start(scenario.reply(text("done"))).unwrap();
        let program = with_model(&server.base_url());
        let settings = program.home.read("config.yaml").unwrap();
        let settings = format!("{settings}terminal: {{sandbox: {{mode: {mode}}}}}\n");
        program.home.write_config(&settings).unwrap();
        let outside = tempfile::tempdir().unwrap();
        let open = outside.path().join("left-open");
        std::fs::create_dir(&open).unwrap();
        std::fs::write(open.join("note"), "OUTSIDE").unwrap();
        let command = program.home.command("bash");
        let command = command
            .args(["-c", "exec \"$HERMES\" -z go 21<\"$OPEN\""])
            .env("HERMES", env!("CARGO_BIN_EXE_hermes"))
            .env("OPEN", &open);
        command.timeout(LIMIT).run().unwrap().ok();
        let requests = server.requests();
        let results = results_in(requests.last().unwrap().expect_json());
        assert_eq!(results.len(), calls.len(), "{results:?}");
        for ran in results {
            let output = ran["output"].as_str().unwrap();
            assert!(output.starts_with("0"), "{mode}: {ran}");
            assert!(!output.contains("OUTSIDE"), "{mode}: {ran}");
        }
    }
}
