//! What the sandbox was in the way of, and what it was not: who is asked, and what then runs outside.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::hands::{results_in, run_in, terminal};

/// A file outside every workspace. Gone again when this is dropped.
pub(crate) struct Outside(pub(crate) PathBuf);

impl Outside {
    pub(crate) fn new(name: &str) -> Self {
        Self(format!("/var/hermes-{name}-{}", std::process::id()).into())
    }

    /// A script that makes it, and says where its own text lies.
    fn script(&self) -> String {
        format!(
            "from hermes_tools import read_file\n\
             print(__file__, read_file('f')['content'])\n\
             open('{}', 'w').write('made')\n",
            self.0.display()
        )
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

// EX-58, EX-68: a script is let out as a command is, by a person and once.
#[test]
fn a_script_that_the_sandbox_refused_something_is_asked_about_and_runs_outside() {
    let outside = Outside::new("script");
    let code = outside.script();
    let scenario = Scenario::new()
        .reply(tool_call("execute_code", json!({ "code": code })))
        .reply(text("finished"));
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    program.home.write_work("f", "text\n").unwrap();
    let settings = program.home.read("config.yaml").unwrap();
    let quiet = "auxiliary: {title_generation: {enabled: false}}\n";
    let settings = format!("{settings}{quiet}approvals: {{mode: manual}}\n");
    program.home.write_config(&settings).unwrap();
    let limit = Duration::from_secs(60);
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 160, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends", limit).unwrap();
    screen.send("go\r").unwrap();
    screen
        .wait_for_text("refused by the sandbox", limit)
        .unwrap();
    assert!(!outside.0.exists());
    screen.send("y\r").unwrap();
    screen.wait_for_text("finished", limit).unwrap();
    screen.send("/exit\r").unwrap();
    assert_eq!(screen.wait_exit(limit).unwrap().code, 0);
    let results = results_in(server.requests().last().unwrap().expect_json());
    let ran = &results[0];
    assert_eq!(ran["status"], "success", "{ran}");
    assert_eq!(ran["sandbox"], "outside the sandbox, as allowed", "{ran}");
    assert_eq!(ran["tool_calls_made"], 1, "{ran}");
    assert_eq!(std::fs::read_to_string(&outside.0).unwrap(), "made");
    // Its text lay where no confined command could have changed it.
    let printed = ran["output"].as_str().unwrap();
    let lay = Path::new(printed.split(' ').next().unwrap());
    assert!(lay.starts_with(program.home.path()), "{printed}");
    assert!(printed.ends_with("1|text"), "{printed}");
}

// EX-55, EX-68
#[test]
fn with_nobody_to_ask_a_script_stays_inside_and_the_result_says_so() {
    let outside = Outside::new("kept");
    let code = outside.script();
    let prepare = |program: super::program::Program, _: &mut Vec<(&'static str, String)>| {
        program.home.write_work("f", "text\n").unwrap();
        program
    };
    let calls = [("execute_code", json!({ "code": code }))];
    let run = run_in(prepare, "", &calls, &["--yolo"]);
    assert!(!outside.0.exists(), "{:?}", run.results);
    assert_eq!(run.results[0]["status"], "error", "{:?}", run.results);
    let told = run.results[0]["sandbox_note"].as_str().unwrap();
    assert!(told.contains("Only a person"), "{told}");
}

// EX-68: a name that cannot be looked up while the network is open, and words of a command that was stopped, are not
// the sandbox's doing.
#[test]
fn the_sandbox_is_not_blamed_for_what_it_did_not_do() {
    let calls = [
        terminal("echo 'curl: (6) Could not resolve host: nowhere.invalid' >&2; exit 6"),
        (
            "terminal",
            json!({"command": "echo 'x: Permission denied'; sleep 600", "timeout": 2}),
        ),
        (
            "execute_code",
            json!({"code": "raise OSError('Network is unreachable')"}),
        ),
    ];
    let run = run_in(|program, _| program, "", &calls, &[]);
    for (result, code) in run.results.iter().zip([6, 124, 1]) {
        assert_eq!(result["exit_code"], code, "{result}");
        assert_eq!(result.get("sandbox_note"), None, "{result}");
    }
    let log = run.program.run(&["policy", "log", "--json"]).ok();
    let log: Json = serde_json::from_str(&log.stdout).unwrap();
    assert_eq!(log["decisions"], json!([]), "{log}");
    // Without a network it may well be.
    let off = "terminal:\n  sandbox:\n    network: \"off\"\n";
    let run = run_in(|program, _| program, off, &calls[..1], &[]);
    assert!(
        run.results[0]["sandbox_note"].is_string(),
        "{:?}",
        run.results
    );
}
