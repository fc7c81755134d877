//! `kill -9` in the middle of a turn, in the real program, at many moments.

use std::net::TcpListener;
use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use hermes_testkit::pty::Terminal;
use hermes_testkit::{Signal, eventually};
use serde_json::json;

use super::chat::served;
use super::program::Program;
use super::speakers::{SPEAKERS, Speaker, configure};

// AG-34
#[test]
fn a_killed_turn_is_gone_on_with_and_nothing_acknowledged_is_lost() {
    for speaker in &SPEAKERS {
        let scenario = Scenario::new()
            .reply(Step::new(text("Going on.")).when_user("and now").repeat())
            .reply(
                Step::new(
                    tool_call("todo", json!({}))
                        .and_tool_call("read_file", json!({"path": "/etc/hostname"})),
                )
                .pace(Duration::from_millis(3))
                .repeat(),
            );
        let server = ModelServer::start(scenario).unwrap();
        let program = Program::new();
        let mode = configure(&program, &server, speaker, 100_000);
        // The first one says which session is meant from here on.
        let started = program.run(&["chat", "-Q", "-q", "and now what?"]).ok();
        let session = started
            .stderr
            .trim()
            .strip_prefix("session_id: ")
            .unwrap()
            .to_owned();
        for trial in 0..12u64 {
            let before = rows(&program, &session);
            let running = program
                .command(&["-z", "work", "--resume", &session, "--max-turns", "1000"])
                .spawn()
                .unwrap();
            let seen = server.requests().len();
            let _ = server.wait_for_requests(seen + 1, Duration::from_secs(10));
            std::thread::sleep(Duration::from_millis(7 * trial));
            running.kill().unwrap();
            let after = rows(&program, &session);
            assert!(
                after.len() > before.len(),
                "{mode} {trial}: the message was kept before it was sent"
            );
            assert_eq!(
                after[..before.len()],
                before,
                "{mode} {trial}: nothing is lost"
            );
            let answer = program.run(&["-z", "and now?", "--resume", &session]).ok();
            assert_eq!(
                answer.stdout, "Going on.\n",
                "{mode} {trial}: {}",
                answer.stderr
            );
        }
        let spoken: Vec<_> = server
            .requests()
            .iter()
            .filter_map(|request| request.protocol)
            .collect();
        assert!(spoken.windows(2).all(|two| two[0] == two[1]), "{mode}");
        let refused: Vec<_> = server
            .requests()
            .into_iter()
            .flat_map(|request| request.violations)
            .collect();
        assert!(refused.is_empty(), "{mode}: {refused:?}");
        let check = program.run(&["sessions", "repair", "--check-only"]);
        assert_eq!(check.code, Some(0), "{}", check.stdout);
    }
}

/// Kills the program while the model is asked to go on with what it said, and says what is left of that.
fn killed_in_the_middle(speaker: &Speaker, first: Step, said: &str) {
    let scenario = Scenario::new()
        // Helpers ask servers on this machine not to think.
        .extra_keys(["think"])
        .reply(Step::new(text("Going on.")).when_user("and now").repeat())
        .reply(first)
        .reply(Step::new(text("never heard")).delay(Duration::from_secs(60)));
    let server = ModelServer::start(scenario).unwrap();
    let program = Program::new();
    let mode = configure(&program, &server, speaker, 100_000);
    program
        .run(&["config", "set", "agent.intent_ack_continuation", "on"])
        .ok();
    let asked = || {
        let requests = server.requests().into_iter();
        requests
            .filter(|request| request.protocol.is_some())
            .count()
    };
    let running = program.command(&["-z", "tell me"]).spawn().unwrap();
    eventually(
        Duration::from_secs(20),
        "the model is asked to go on",
        || (asked() >= 2).then_some(()),
    )
    .unwrap();
    running.kill().unwrap();
    let listed = program.run(&["sessions", "list", "--json"]).ok().json();
    let session = listed[0]["session_id"].as_str().unwrap();
    let kept = [
        "\"user\" \"tell me\"".to_owned(),
        format!("\"assistant\" {said:?}"),
    ];
    assert_eq!(rows(&program, session), kept, "{mode}");
    let answer = program.run(&["-z", "and now?", "--resume", session]).ok();
    assert_eq!(answer.stdout, "Going on.\n", "{mode}: {}", answer.stderr);
    let refused: Vec<_> = server
        .requests()
        .into_iter()
        .flat_map(|request| request.violations)
        .collect();
    assert!(refused.is_empty(), "{mode}: {refused:?}");
}

// AG-34, AG-17: what was shown of an answer that ran into its limit is a row before the rest is asked for.
#[test]
fn a_kill_while_an_answer_is_gone_on_with_keeps_what_was_said() {
    for speaker in &SPEAKERS {
        let said = "Once upon a time there was";
        let first = Step::new(text(said).finish_reason("length"));
        killed_in_the_middle(speaker, first, said);
    }
}

// AG-34, AG-37: so is an answer that came too early.
#[test]
fn a_kill_while_the_model_is_held_to_its_word_keeps_what_was_said() {
    for speaker in &SPEAKERS {
        let said = "I'll check the logs.";
        killed_in_the_middle(speaker, Step::new(text(said)), said);
    }
}

// AG-34, AG-8: what was typed is a row before servers with tools are waited for, and a stop does not wait for them.
#[test]
fn a_message_is_kept_when_its_program_ends_while_servers_come_up() {
    let limit = Duration::from_secs(30);
    for signal in [Signal::SIGKILL, Signal::SIGINT] {
        // It takes connections and says nothing.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        silent.set_nonblocking(true).unwrap();
        let (server, program) = served(Scenario::new().reply(text("never heard")));
        let settings = program.home.read("config.yaml").unwrap();
        let address = silent.local_addr().unwrap();
        let far = format!("{settings}mcp_servers: {{far: {{url: 'http://{address}/mcp'}}}}\n");
        program.home.write_config(&far).unwrap();
        let running = program.command(&["-z", "plant a tree"]).spawn().unwrap();
        let _held = eventually(limit, "the server is asked", || silent.accept().ok()).unwrap();
        // The first it does with a message is to keep it.
        let kept = || program.run(&["sessions", "search", "tree"]).stdout;
        eventually(limit, "the message is kept", || {
            kept().contains("plant a").then_some(())
        })
        .unwrap();
        running.signal(signal).unwrap();
        let ended = running.wait(limit).unwrap();
        if signal == Signal::SIGINT {
            assert_eq!(ended.code, Some(130), "{}", ended.report());
        }
        assert!(kept().contains("plant a"), "{signal:?}: {}", kept());
        assert!(server.requests().is_empty(), "{signal:?}: nobody was asked");
    }
}

// AG-34: a call that another program still runs is not lost, and who comes second waits for it.
#[test]
fn what_another_program_has_under_way_is_neither_closed_nor_asked_for_again() {
    let limit = Duration::from_secs(30);
    let pay = json!({"command": "while [ ! -e go ]; do sleep 0.05; done; echo PAID-INVOICE-77"});
    let scenario = Scenario::new()
        .reply(Step::new(text("Hello.")).when_user("good morning"))
        .reply(
            Step::new(text("It was invoice 77."))
                .when_user("which one")
                .repeat(),
        )
        .reply(tool_call("terminal", pay))
        .reply(text("It is paid."));
    let (server, program) = served(scenario);
    program.run(&["-z", "good morning"]).ok();
    let paying = program.command(&["-z", "pay it", "-c"]).spawn().unwrap();
    let asked = || server.requests().len();
    eventually(limit, "the call is made", || (asked() >= 2).then_some(())).unwrap();
    let listed = program.run(&["sessions", "list", "--json"]).ok().json();
    let session = listed[0]["session_id"].as_str().unwrap().to_owned();
    eventually(limit, "the call is a row", || {
        (rows(&program, &session).len() >= 4).then_some(())
    })
    .unwrap();
    let asking = program.command(&["-z", "which one?", "-c"]);
    let second = Terminal::spawn(&asking, 120, 20).unwrap();
    let waits = "is working in this conversation; waiting for it";
    second.wait_for_text(waits, limit).unwrap();
    program.home.write_work("go", "").unwrap();
    let paid = paying.wait(limit).unwrap().ok();
    assert_eq!(paid.stdout, "It is paid.\n", "{}", paid.stderr);
    second.wait_for_text("It was invoice 77.", limit).unwrap();
    assert_eq!(second.wait_exit(limit).unwrap().code, 0);
    let last = server.requests().pop().unwrap();
    let body = String::from_utf8(last.body).unwrap();
    assert_eq!(body.matches("PAID-INVOICE-77").count(), 2, "{body}");
    assert!(!body.contains("TOOL_ERROR"), "{body}");
    let kept = rows(&program, &session);
    assert!(!kept.join("\n").contains("cut off"), "{kept:?}");
    // Nothing is left of it.
    let folder = program.home.path().join("cache/turns");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
}

/// The texts of a session, oldest first.
pub(super) fn rows(program: &Program, session: &str) -> Vec<String> {
    let shown = program
        .run(&["sessions", "show", session, "--json"])
        .ok()
        .json();
    shown["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| format!("{} {}", message["role"], message["content"]))
        .collect()
}
