//! The tools that touch the world, through the binary: what the model is answered, what really happened.

use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::program::Program;

/// Long enough for a loaded machine; nothing takes this long unless it is broken.
const LONG: Duration = Duration::from_secs(240);

/// A run of the binary in which the model makes these calls, one after the other.
pub(super) struct Run {
    pub(super) program: Program,
    pub(super) results: Vec<Json>,
    /// What the user saw beside the answer.
    pub(super) stderr: String,
}

fn run(more: &str, calls: &[(&str, Json)], flags: &[&str]) -> Run {
    run_in(|program, _| program, more, calls, flags)
}

/// The same, in a home and with an environment that `prepare` gives it.
pub(super) fn run_in(
    prepare: impl FnOnce(Program, &mut Vec<(&'static str, String)>) -> Program,
    more: &str,
    calls: &[(&str, Json)],
    flags: &[&str],
) -> Run {
    let mut scenario = Scenario::new();
    for (name, arguments) in calls {
        scenario = scenario.reply(tool_call(*name, arguments.clone()));
    }
    let server = ModelServer::start(scenario.reply(text("done"))).unwrap();
    let program = with_model(&server.base_url());
    let settings = program.home.read("config.yaml").unwrap();
    program
        .home
        .write_config(&format!("{settings}{more}"))
        .unwrap();
    let mut environment = Vec::new();
    let program = prepare(program, &mut environment);
    let mut command = program.command(&["-z", "go"]).args(flags).timeout(LONG);
    for (name, value) in environment {
        command = command.env(name, value);
    }
    let output = command.run().unwrap().ok();
    assert_eq!(output.stdout, "done\n");
    let requests = server.requests();
    let results = results_in(requests.last().unwrap().expect_json());
    Run {
        program,
        results,
        stderr: output.stderr,
    }
}

/// What a request tells the model about its calls.
pub(super) fn results_in(request: &Json) -> Vec<Json> {
    let messages = request["messages"].as_array().unwrap();
    messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| {
            let content = message["content"].as_str().unwrap();
            serde_json::from_str(content).unwrap_or_else(|_| Json::String(content.to_owned()))
        })
        .collect()
}

pub(super) fn terminal(command: &str) -> (&'static str, Json) {
    ("terminal", json!({ "command": command }))
}

// EX-1, EX-2, EX-4
#[test]
fn commands_answer_with_the_usual_fields_and_go_on_where_they_ended() {
    let run = run(
        "",
        &[
            terminal("echo hi; cd /usr && export A=1; exit 2"),
            terminal("pwd; echo $A"),
        ],
        &[],
    );
    let [first, second] = &run.results[..] else {
        panic!("{:?}", run.results);
    };
    assert_eq!(first["output"], "hi");
    assert_eq!(first["exit_code"], 2);
    assert_eq!(first["error"], Json::Null);
    assert_eq!(first["backend"], "local");
    assert!(
        first["sandbox"]
            .as_str()
            .unwrap()
            .starts_with("workspace-write"),
        "{first}"
    );
    assert_eq!(second["output"], "/usr\n1");
}

// AG-6: a name means what it means after the calls before it.
#[test]
fn two_names_of_one_file_do_not_meet_in_one_batch() {
    let program = with_model("http://127.0.0.1:9");
    let whole = program.home.workspace().join("sub/a.txt");
    let both = |text: &str| {
        tool_call("write_file", json!({"path": "a.txt", "content": text}))
            .and_tool_call("read_file", json!({"path": whole, "limit": text.len()}))
    };
    let server = ModelServer::start(
        Scenario::new()
            .reply(tool_call(
                "terminal",
                json!({"command": "mkdir sub; cd sub; echo one > a.txt"}),
            ))
            .reply(both("two"))
            .reply(both("three"))
            .reply(
                tool_call("terminal", json!({"command": "cd .."}))
                    .and_tool_call(
                        "write_file",
                        json!({"path": "sub/a.txt", "content": "four"}),
                    )
                    .and_tool_call("read_file", json!({"path": whole})),
            )
            .reply(text("done")),
    )
    .unwrap();
    let settings = with_model(&server.base_url())
        .home
        .read("config.yaml")
        .unwrap();
    program.home.write_config(&settings).unwrap();
    program
        .command(&["-z", "go"])
        .timeout(LONG)
        .run()
        .unwrap()
        .ok();
    let results = results_in(server.requests().last().unwrap().expect_json());
    let read: Vec<_> = [2, 4, 7]
        .map(|index: usize| &results[index]["content"])
        .to_vec();
    assert_eq!(read, ["1|two\n", "1|three\n", "1|four\n"], "{results:?}");
}

// AG-5
#[test]
fn rules_of_a_directory_are_told_however_a_call_names_it() {
    let patch = "*** Begin Patch\n*** Add File: patched/new.txt\n+x\n*** End Patch";
    let run = run_in(
        |program, environment| {
            for folder in ["tilde", "gone/to", "patched"] {
                let rule = format!("Rule of {folder}.");
                program
                    .home
                    .write_work(&format!("{folder}/AGENTS.md"), rule)
                    .unwrap();
                program
                    .home
                    .write_work(&format!("{folder}/a.txt"), "a")
                    .unwrap();
            }
            let home = program.home.workspace().display().to_string();
            environment.push(("HOME", home));
            program
        },
        "",
        &[
            ("read_file", json!({"path": "~/tilde/a.txt"})),
            (
                "patch",
                json!({"mode": "patch", "path": "b.txt", "patch": patch}),
            ),
            terminal("cd gone"),
            ("read_file", json!({"path": "to/a.txt"})),
        ],
        &[],
    );
    let told: Vec<String> = run.results.iter().map(Json::to_string).collect();
    for (index, folder) in [(0, "tilde"), (1, "patched"), (3, "gone/to")] {
        let rule = format!("Rule of {folder}.");
        assert!(told[index].contains(&rule), "{rule}: {told:?}");
    }
}

// EX-69
#[test]
fn a_result_that_was_too_long_can_be_read_page_by_page() {
    let first = run(
        "",
        &[terminal(
            "for i in $(seq 7000); do echo a; echo \"$i\"; done; exit 4",
        )],
        &[],
    );
    let shown = first.results[0].as_str().unwrap();
    assert!(shown.contains("\nexit_code: 4\n"), "{shown}");
    let path = shown
        .split("saved to: ")
        .nth(1)
        .unwrap()
        .lines()
        .next()
        .unwrap();
    let page = |offset: u32| {
        tool_call(
            "read_file",
            json!({"path": path, "offset": offset, "limit": 2000}),
        )
    };
    let scenario = Scenario::new().reply(page(1)).reply(page(12_001));
    let server = ModelServer::start(scenario.reply(text("done"))).unwrap();
    let home = &first.program.home;
    let settings = with_model(&server.base_url())
        .home
        .read("config.yaml")
        .unwrap();
    home.write_config(&settings).unwrap();
    first
        .program
        .command(&["-z", "go"])
        .timeout(LONG)
        .run()
        .unwrap()
        .ok();
    let pages = results_in(server.requests().last().unwrap().expect_json());
    let lines = |page: &Json| -> Vec<String> {
        let content = page["content"].as_str().unwrap().lines();
        content
            .map(|line| line.split_once('|').unwrap().1.to_owned())
            .collect()
    };
    let (begins, ends) = (lines(&pages[0]), lines(&pages[1]));
    let head = begins.iter().position(|line| line == "output:").unwrap() + 1;
    let output: Vec<String> = (1..=7000)
        .flat_map(|number: u32| ["a".to_owned(), number.to_string()])
        .collect();
    assert_eq!(begins[head..], output[..2000 - head]);
    let expected = &output[12_000 - head..14_000 - head];
    assert_eq!(ends, expected);
}

// EX-52, EX-55
#[test]
fn with_nobody_to_ask_a_dangerous_command_does_not_run_and_the_decision_is_kept() {
    let run = run(
        "",
        &[terminal("echo x > keep; rm -r keep; rm -rf /")],
        &["--yolo"],
    );
    assert_eq!(run.results[0]["status"], "blocked");
    assert_eq!(run.results[0]["exit_code"], -1);
    let again = self::run("", &[terminal("mkdir d; rm -r d")], &[]);
    assert_eq!(again.results[0]["status"], "blocked", "{:?}", again.results);
    let told = again.results[0]["error"].as_str().unwrap();
    assert!(told.contains("No person refused it"), "{told}");
    let log = again.program.run(&["policy", "log", "--json"]).ok();
    let log: Json = serde_json::from_str(&log.stdout).unwrap();
    assert_eq!(log["decisions"][0]["outcome"], "refused");
    assert_eq!(log["decisions"][0]["decided_by"], "runtime");
    assert_eq!(log["decisions"][0]["categories"][0], "recursive-delete");
}

// EX-52: the variable counts as the option does, and lifts no more than it.
#[test]
fn a_variable_turns_questions_off_as_the_option_does() {
    let calls = [
        terminal("mkdir d && rm -r d && echo gone"),
        terminal("rm -rf /"),
    ];
    let with = |value: &str| {
        let value = value.to_owned();
        run_in(
            |program, environment| {
                environment.push(("HERMES_YOLO_MODE", value));
                program
            },
            "",
            &calls,
            &[],
        )
        .results
    };
    let on = with("1");
    assert_eq!(on[0]["output"], "gone", "{on:?}");
    assert_eq!(on[1]["status"], "blocked", "{on:?}");
    let off = with("0");
    assert_eq!(off[0]["status"], "blocked", "{off:?}");
}

// EX-55
#[test]
fn who_opted_in_gets_dangerous_commands_without_a_person() {
    let run = run(
        "approvals: {headless_mode: approve}\n",
        &[terminal("mkdir d && rm -r d && echo gone")],
        &[],
    );
    assert_eq!(run.results[0]["output"], "gone", "{:?}", run.results);
}

// EX-68
#[test]
fn commands_are_kept_in_their_sandbox() {
    let file = format!("/var/hermes-planted-{}", std::process::id());
    let write = format!("echo x > {file}");
    let run = run(
        "",
        &[
            terminal(&write),
            terminal("cat $HERMES_HOME/.env; ls $HERMES_HOME"),
        ],
        &[],
    );
    assert_ne!(run.results[0]["exit_code"], 0, "{:?}", run.results);
    assert!(!std::path::Path::new(&file).exists());
    assert!(
        !run.results[1].to_string().contains("config.yaml"),
        "{:?}",
        run.results
    );
}

// EX-32, EX-58
#[test]
fn scripts_call_tools_and_pass_the_same_policy() {
    let code = "from hermes_tools import terminal, read_file\n\
                print(terminal('echo from the shell')['output'])\n\
                open('note.txt', 'w').write('kept')\n\
                print(read_file('note.txt')['content'])\n";
    let bad = "import subprocess\nsubprocess.run(['rm', '-rf', '/'])\n";
    let run = run(
        "",
        &[
            ("execute_code", json!({ "code": code })),
            ("execute_code", json!({ "code": bad })),
        ],
        &[],
    );
    let [good, refused] = &run.results[..] else {
        panic!("{:?}", run.results);
    };
    assert_eq!(good["status"], "success", "{good}");
    assert_eq!(good["tool_calls_made"], 2);
    let output = good["output"].as_str().unwrap();
    assert!(
        output.contains("from the shell") && output.contains("1|kept"),
        "{output}"
    );
    assert_eq!(refused["status"], "error", "{refused}");
    assert_eq!(refused["tool_calls_made"], 0);
}

// EX-14
#[test]
fn a_background_process_is_started_and_listed() {
    let server = ModelServer::start(
        Scenario::new()
            .reply(tool_call(
                "terminal",
                json!({"command": "echo one; read line; echo got $line", "background": true}),
            ))
            .reply(tool_call("process", json!({"action": "list"})))
            .reply(text("done")),
    )
    .unwrap();
    let program = with_model(&server.base_url());
    program.run(&["-z", "go"]).ok();
    let requests = server.requests();
    let results = results_in(requests.last().unwrap().expect_json());
    let [started, listed] = &results[..] else {
        panic!("{results:?}");
    };
    let id = started["session_id"].as_str().unwrap();
    assert!(id.starts_with("proc_") && id.len() == 17, "{started}");
    assert_eq!(started["exit_code"], 0, "{started}");
    assert!(started["pid"].is_u64(), "{started}");
    let all = listed["processes"].as_array().unwrap();
    assert_eq!(all.len(), 1, "{listed}");
    assert_eq!(all[0]["session_id"], id);
    assert_eq!(all[0]["status"], "running", "{listed}");
    assert_eq!(all[0]["pid"], started["pid"]);
    assert_eq!(all[0]["command"], "echo one; read line; echo got $line");
}

// EX-37, EX-40, EX-42, EX-47
#[test]
fn files_are_read_written_and_patched_within_the_rules() {
    let run = run(
        "",
        &[
            (
                "write_file",
                json!({"path": "a.txt", "content": "alpha\nbeta\n"}),
            ),
            (
                "patch",
                json!({"path": "a.txt", "old_string": "beta", "new_string": "gamma"}),
            ),
            ("read_file", json!({"path": "a.txt"})),
            (
                "write_file",
                json!({"path": "~/.ssh/authorized_keys", "content": "x"}),
            ),
        ],
        &[],
    );
    assert_eq!(run.results[0]["bytes_written"], 11, "{:?}", run.results);
    assert_eq!(run.results[1]["success"], true);
    assert_eq!(run.results[2]["content"], "1|alpha\n2|gamma\n");
    assert!(
        run.results[3].to_string().contains("credentials"),
        "{:?}",
        run.results[3]
    );
}

// EX-52: a person is asked, a yes for the session covers the like of it, a no carries its reason.
#[test]
fn a_person_allows_for_the_session_and_refuses_with_a_reason() {
    let delete = |name: &str| {
        tool_call(
            "terminal",
            json!({"command": format!("mkdir {name}; rm -r {name}")}),
        )
    };
    let scenario = Scenario::new()
        .reply(delete("one"))
        .reply(delete("two"))
        .reply(text("deleted"))
        .reply(tool_call(
            "terminal",
            json!({"command": "git push --force"}),
        ))
        .reply(text("not pushed"));
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let settings = program.home.read("config.yaml").unwrap();
    let manual = "approvals: {mode: manual}\nauxiliary: {title_generation: {enabled: false}}\n";
    program
        .home
        .write_config(&format!("{settings}{manual}"))
        .unwrap();
    let limit = Duration::from_secs(30);
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    let say = |line: &str, shown: &str| {
        screen.send(&format!("{line}\r")).unwrap();
        screen.wait_for_text(shown, limit).unwrap();
    };
    screen.wait_for_text("Ctrl+D ends", limit).unwrap();
    say("delete them", "s = in this session");
    say("s", "deleted");
    say("push", "May I do this? git push --force");
    say("use a branch", "not pushed");
    say("/exit", "hermes chat --resume");
    assert_eq!(screen.wait_exit(limit).unwrap().code, 0);
    let last = server.requests().last().unwrap().expect_json().to_string();
    assert!(last.contains("saying: use a branch"), "{last}");
    let log = program.run(&["policy", "log", "--json"]).ok();
    let log: Json = serde_json::from_str(&log.stdout).unwrap();
    let outcomes: Vec<&str> = log["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|decision| decision["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["refused", "once", "session"], "{log}");
}

// EX-68: what the sandbox refused is asked about once, and runs outside without anything made inside.
#[test]
fn a_command_let_out_of_the_sandbox_means_what_it_says() {
    let file = format!("/var/hermes-let-out-{}", std::process::id());
    let command = format!("probe; touch {file}");
    let scenario = Scenario::new()
        .reply(tool_call(
            "terminal",
            json!({"command": "probe() { echo made inside; }"}),
        ))
        .reply(tool_call("terminal", json!({ "command": command })))
        .reply(text("finished"));
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let settings = program.home.read("config.yaml").unwrap();
    program
        .home
        .write_config(&format!("{settings}approvals: {{mode: manual}}\n"))
        .unwrap();
    let limit = Duration::from_secs(30);
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 160, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends", limit).unwrap();
    screen.send("go\r").unwrap();
    screen
        .wait_for_text("refused by the sandbox", limit)
        .unwrap();
    screen.send("y\r").unwrap();
    screen.wait_for_text("finished", limit).unwrap();
    screen.send("/exit\r").unwrap();
    assert_eq!(screen.wait_exit(limit).unwrap().code, 0);
    let made = std::fs::remove_file(&file);
    // The last request may be about the title.
    let results: Vec<Json> = server
        .requests()
        .iter()
        .map(|request| results_in(request.expect_json()))
        .max_by_key(Vec::len)
        .unwrap();
    let ran = results.last().unwrap();
    assert_eq!(ran["exit_code"], 0, "{ran}");
    assert_eq!(ran["sandbox"], "outside the sandbox, as allowed");
    assert!(
        !ran["output"].as_str().unwrap().contains("made inside"),
        "{ran}"
    );
    made.unwrap();
}

// EX-68
#[test]
fn a_network_of_listed_hosts_is_a_proxy_and_nothing_else() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let address = server.base_url().replace("http://", "").replace("/v1", "");
    let port = address.rsplit(':').next().unwrap();
    let fetch = format!(
        "python3 - <<'E'\nimport os, socket, urllib.request, urllib.error\nfor name in ('no_proxy', 'NO_PROXY'): os.environ.pop(name, None)\n\
         def get(host):\n try:\n  return urllib.request.urlopen(f'http://{{host}}:{port}/v1/models', timeout=10).status\n \
         except urllib.error.HTTPError as e:\n  return e.code\n except OSError as e:\n  return type(e).__name__\n\
         print('listed', get('127.0.0.1'), 'other', get('localhost'))\n\
         s = socket.socket()\ns.settimeout(5)\nprint('direct', s.connect_ex(('127.0.0.1', {port})) == 0)\nE"
    );
    let run = run(
        &format!(
            "terminal:\n  sandbox:\n    network: only\n    allow_hosts: ['127.0.0.1:{port}']\n"
        ),
        &[terminal(&fetch)],
        &["--yolo"],
    );
    let output = run.results[0]["output"].as_str().unwrap();
    assert!(output.contains("other 403"), "{output}");
    assert!(output.contains("direct False"), "{output}");
    assert!(output.contains("listed 200"), "{output}");
}
