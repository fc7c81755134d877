//! What a killed program leaves is cleared by the next one, and how long commands may take.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use serde_json::json;

use super::chat::with_model;
use super::hands::{run_in, terminal};

const LONG: Duration = Duration::from_secs(60);

fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.path());
    let mut dens: Vec<PathBuf> = names
        .filter(|path| path.is_dir() && path.to_string_lossy().contains("/hermes-"))
        .collect();
    dens.sort();
    dens
}

// EX-12: exported variables are nothing to leave lying about.
#[test]
fn the_states_of_a_killed_programs_shells_are_cleared_by_the_next_and_no_others() {
    let scenario = Scenario::new()
        .reply(Step::new(text("fine")).when_user("later").repeat())
        .reply(tool_call(
            "terminal",
            json!({"command": "export WORD=planted; echo up > up"}),
        ))
        .reply(tool_call("terminal", json!({"command": "sleep 200"})));
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let temporary = tempfile::tempdir().unwrap();
    let places = [
        program.home.path().join("cache/shells"),
        temporary.path().to_owned(),
    ];
    let lives = |flags: &[&str]| {
        let command = program.command(flags).env("TMPDIR", temporary.path());
        command.timeout(LONG).spawn().unwrap()
    };
    let first = lives(&["-z", "now"]);
    let up = program.home.workspace().join("up");
    eventually(LONG, "the first command has run", || {
        up.exists().then_some(())
    })
    .unwrap();
    let left = places.clone().map(|place| inside(&place));
    assert!(left.iter().all(|dens| dens.len() == 1), "{left:?}");

    // While it lives nothing of it is touched.
    let second = program
        .command(&["-z", "later"])
        .env("TMPDIR", temporary.path());
    assert_eq!(second.run().unwrap().ok().stdout, "fine\n");
    assert_eq!(places.clone().map(|place| inside(&place)), left);

    first.kill().unwrap();
    assert_eq!(places.clone().map(|place| inside(&place)), left);
    eventually(LONG, "what it left is gone", || {
        let next = program
            .command(&["-z", "later"])
            .env("TMPDIR", temporary.path());
        next.run().unwrap().ok();
        places
            .iter()
            .all(|place| inside(place).is_empty())
            .then_some(())
    })
    .unwrap();
}

// EX-9
#[test]
fn the_longest_time_in_the_foreground_is_the_users_to_say() {
    let call = |seconds: u64| {
        (
            "terminal",
            json!({"command": "echo ran", "timeout": seconds}),
        )
    };
    let calls = [call(7), call(8), terminal("echo usual")];
    let run = run_in(
        |program, environment| {
            environment.push(("TERMINAL_MAX_FOREGROUND_TIMEOUT", "7".to_owned()));
            program
        },
        "",
        &calls,
        &[],
    );
    assert_eq!(run.results[0]["output"], "ran", "{:?}", run.results);
    let told = run.results[1]["error"].as_str().unwrap();
    assert!(
        told.contains("7 s at most") && told.contains("background=true"),
        "{told}"
    );
    assert_eq!(run.results[1].as_object().unwrap().len(), 1, "{told}");
    assert_eq!(run.results[2]["output"], "usual", "{:?}", run.results);

    let settings = "terminal: {max_foreground_timeout: 900}\n";
    let run = run_in(|program, _| program, settings, &[call(900), call(901)], &[]);
    assert_eq!(run.results[0]["output"], "ran", "{:?}", run.results);
    assert!(
        run.results[1].to_string().contains("900 s at most"),
        "{:?}",
        run.results
    );
}

// EX-9
#[test]
fn what_belongs_behind_the_conversation_is_refused_with_the_way_to_do_it() {
    let at = |command: &str, workdir: &str| {
        ("terminal", json!({"command": command, "workdir": workdir}))
    };
    let calls = [
        terminal("nohup sleep 5"),
        terminal("python3 -m http.server 1"),
        terminal("echo 'nohup x &'"),
        at("pwd", "/usr;x"),
        at("pwd", "/usr"),
    ];
    let run = run_in(|program, _| program, "", &calls, &[]);
    let results = &run.results;
    for refused in &results[..2] {
        assert_eq!(refused["status"], "error", "{refused}");
        assert_eq!(refused["exit_code"], -1, "{refused}");
        assert!(
            refused["error"].as_str().unwrap().contains("background"),
            "{refused}"
        );
    }
    assert_eq!(results[2]["output"], "nohup x &", "{results:?}");
    assert_eq!(results[3]["status"], "blocked", "{results:?}");
    assert_eq!(results[4]["output"], "/usr", "{results:?}");
}
