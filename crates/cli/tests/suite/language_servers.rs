//! What a language server finds after an edit, through the binary and a real server process.

use std::time::{Duration, Instant};

use hermes_testkit::eventually;
use hermes_testkit::process::find_by_env_marker;
use serde_json::{Value as Json, json};

use super::hands::{Run, run_in, terminal};

const LAB: &str = include_str!("language_servers/lab.py");
const PATIENCE: Duration = Duration::from_secs(20);

fn write(content: &str) -> (&'static str, Json) {
    ("write_file", json!({"path": "a.lab", "content": content}))
}

fn change(old: &str, new: &str) -> (&'static str, Json) {
    let arguments = json!({"path": "a.lab", "old_string": old, "new_string": new});
    ("patch", arguments)
}

/// A run with the lab's server in this manner. Nothing of it is left behind.
fn edits(manner: &str, more: &str, calls: &[(&str, Json)]) -> Run {
    let mark = format!("lab-{manner}-{}", std::process::id());
    let settings = format!(
        "lsp:\n  servers: {{lab: {{command: [python3, ./lab.py, {manner}], extensions: [.lab]}}}}\n{more}"
    );
    // Who changes something is asked to try it before the end.
    let mut calls = calls.to_vec();
    calls.push(terminal("true"));
    let mut run = run_in(
        |program, environment| {
            program.home.write_work("lab.py", LAB).unwrap();
            environment.push(("LAB_MARK", mark.clone()));
            program
        },
        &settings,
        &calls,
        &[],
    );
    run.results.pop();
    eventually(PATIENCE, "nothing of the server is left", || {
        find_by_env_marker("LAB_MARK", &mark)
            .is_empty()
            .then_some(())
    })
    .unwrap();
    run
}

fn log(run: &Run) -> String {
    let path = run.program.home.workspace().join("lab.log");
    std::fs::read_to_string(path).unwrap_or_default()
}

fn file(run: &Run) -> String {
    std::fs::read_to_string(run.program.home.workspace().join("a.lab")).unwrap()
}

// EX-49
#[test]
fn only_errors_that_an_edit_brought_are_told() {
    let run = edits(
        "well",
        "",
        &[
            write("fine\nBAD one\nWARN careful\n"),
            // The old mistake moves down, and is not told again.
            change("fine", "fine\nalso fine"),
            change("also fine", "BAD two"),
            change("BAD two", "mended"),
            // Two files at once, one of them wrong.
            (
                "patch",
                json!({"mode": "patch", "patch":
                    "*** Begin Patch\n*** Add File: b.lab\n+BAD three\n*** Update File: a.lab\n-mended\n+good\n*** End Patch"}),
            ),
            // Nobody knows this kind of file.
            ("write_file", json!({"path": "c.unknown", "content": "BAD"})),
        ],
    );
    let told: Vec<&Json> = run
        .results
        .iter()
        .map(|result| &result["lsp_diagnostics"])
        .collect();
    assert_eq!(
        *told[0], "line 2, column 1: BAD one (lab L1)",
        "{:?}",
        run.results
    );
    assert_eq!(*told[1], Json::Null, "{:?}", run.results);
    assert_eq!(*told[2], "line 2, column 1: BAD two (lab L1)");
    assert_eq!(*told[3], Json::Null);
    let several = told[4]
        .as_str()
        .unwrap_or_else(|| panic!("{}", run.results[4]));
    assert!(
        several.ends_with("/b.lab:\nline 1, column 1: BAD three (lab L1)"),
        "{several}"
    );
    assert_eq!(*told[5], Json::Null);
    assert_eq!(log(&run).matches("started").count(), 1, "{}", log(&run));
    assert!(!log(&run).contains("saved"), "{}", log(&run));
}

// EX-49
#[test]
fn a_server_that_ends_is_started_again_but_not_for_ever() {
    let mut calls = Vec::new();
    for number in 0..5 {
        calls.push(write(&format!("CRASH {number}\n")));
    }
    let run = edits("crash", "", &calls);
    for result in &run.results {
        assert_eq!(result["bytes_written"], 8, "{result}");
        assert_eq!(result["lsp_diagnostics"], Json::Null, "{result}");
    }
    assert_eq!(file(&run), "CRASH 4\n");
    assert_eq!(log(&run).matches("crashed").count(), 3, "{}", log(&run));
}

// EX-49
#[test]
fn a_server_that_hangs_or_talks_nonsense_costs_the_set_time_and_no_edit() {
    let waiting = "  wait_timeout: 0.3\n";
    let calls: Vec<_> = (0..6)
        .map(|number| write(&format!("BAD {number}\n")))
        .collect();
    let before = Instant::now();
    let run = edits("hang", waiting, &calls);
    assert_eq!(file(&run), "BAD 5\n");
    // Three changes wait for it, then it is ended and two more are tried.
    assert!(before.elapsed() < PATIENCE, "{:?}", before.elapsed());
    let run = edits("garbage", "", &[write("BAD\n"), change("BAD", "WORSE")]);
    assert_eq!(file(&run), "WORSE\n");
    for result in &run.results {
        assert_eq!(result["lsp_diagnostics"], Json::Null, "{result}");
    }
}

// EX-49, EX-58
#[test]
fn a_server_is_confined_as_commands_are_and_can_be_switched_off() {
    let peek = "  wait_mode: full\nterminal: {sandbox: {network: off}}\n";
    let run = edits("well", peek, &[write("BAD one\n")]);
    assert_eq!(
        run.results[0]["lsp_diagnostics"],
        "line 1, column 1: BAD one (lab L1)"
    );
    assert!(log(&run).contains("saved"), "{}", log(&run));
    for off in [
        "  enabled: false\n",
        "terminal: {sandbox: {mode: read-only}}\n",
    ] {
        let run = edits("well", off, &[write("BAD one\n")]);
        assert_eq!(run.results[0]["lsp_diagnostics"], Json::Null);
        assert_eq!(log(&run), "", "{off}");
    }
}

// EX-49
#[test]
fn a_missing_server_is_named_once_to_who_wants_to_know() {
    let zig = |content: &str| {
        let arguments = json!({"path": "a.zig", "content": content});
        ("write_file", arguments)
    };
    let missing = "    zls: {command: [there-is-no-such-zls]}\n";
    let told = |strategy: &str| {
        let servers = format!("lsp:\n  install_strategy: {strategy}\n  servers:\n{missing}");
        let calls = [zig("a\n"), zig("b\n"), terminal("true")];
        let run = run_in(|program, _| program, &servers, &calls, &[]);
        assert_eq!(run.results[1]["bytes_written"], 2, "{:?}", run.results);
        run.stderr.matches("there-is-no-such-zls").count()
    };
    assert_eq!(told("manual"), 1);
    assert_eq!(told("auto"), 0);
}
