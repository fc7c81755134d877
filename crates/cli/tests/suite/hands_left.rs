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
fn the_states_of_a_killed_programs_shells_are_cleared_by_the_next_command_and_no_others() {
    let scenario = Scenario::new()
        .reply(Step::new(text("fine")).when_user("later").repeat())
        .reply(
            Step::new(text("cleared"))
                .when_body("echo cleaner")
                .repeat(),
        )
        .reply(
            Step::new(tool_call("terminal", json!({"command": "echo cleaner"})))
                .when_user("next")
                .repeat(),
        )
        .reply(tool_call(
            "terminal",
            json!({"command": "export WORD=planted; echo up > up"}),
        ))
        .reply(tool_call("terminal", json!({"command": "sleep 200"})));
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let temporary = tempfile::tempdir().unwrap();
    let place = program.home.path().join("cache/shells");
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
    let left = inside(&place);
    assert_eq!(left.len(), 1, "{left:?}");
    // Where everybody may write nothing lies.
    assert!(inside(temporary.path()).is_empty());

    // While it lives nothing of it is touched.
    let second = program
        .command(&["-z", "later"])
        .env("TMPDIR", temporary.path());
    assert_eq!(second.run().unwrap().ok().stdout, "fine\n");
    assert_eq!(inside(&place), left);

    first.kill().unwrap();
    assert_eq!(inside(&place), left);
    eventually(LONG, "what it left is gone", || {
        let next = program
            .command(&["-z", "next"])
            .env("TMPDIR", temporary.path());
        assert_eq!(next.run().unwrap().ok().stdout, "cleared\n");
        inside(&place).is_empty().then_some(())
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
        terminal("(sleep 61853 &) ; echo ok"),
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
    assert_eq!(results[5]["output"], "ok", "{results:?}");
}

// EX-7, EX-68: what a sandbox ended is not lost without a word.
#[test]
fn a_command_that_leaves_something_running_is_told_that_it_was_ended() {
    let calls = [
        terminal("echo x > >(exec >/dev/null 2>&1; sleep 61854; echo late > late); echo ok"),
        terminal("echo x > >(exec >/dev/null 2>&1; sleep 0.1; echo soon > soon); echo ok"),
        terminal("cat soon; ls"),
    ];
    let run = run_in(|program, _| program, "", &calls, &[]);
    let [ended, waited, seen] = &run.results[..] else {
        panic!("{:?}", run.results);
    };
    assert_eq!(ended["output"], "ok", "{ended}");
    let told = ended["left_running"].as_str().unwrap();
    assert!(told.contains("background=true"), "{told}");
    assert_eq!(waited["output"], "ok", "{waited}");
    assert_eq!(waited.get("left_running"), None, "{waited}");
    assert_eq!(seen["output"], "soon\nsoon", "{seen}");
}

// EX-2
#[test]
fn a_session_can_begin_in_the_home_directory() {
    // Inside a container commands have a home of their own.
    let here = "[ \"$PWD\" -ef \"$HERMES_REAL_HOME\" ] && echo home";
    for cwd in ["~", "~/."] {
        let settings = format!("terminal: {{cwd: '{cwd}'}}\n");
        let run = run_in(|program, _| program, &settings, &[terminal(here)], &[]);
        assert_eq!(run.results[0]["output"], "home", "{cwd}: {:?}", run.results);
        assert_eq!(run.results[0].get("directory_note"), None);
    }
}

// EX-1, EX-32: what is wrong is named, and not something else.
#[test]
fn a_directory_for_temporary_files_that_cannot_be_made_is_said() {
    let calls = [
        terminal("echo ran"),
        ("execute_code", json!({"code": "print('ran')"})),
    ];
    let run = run_in(
        |program, _| {
            program.home.write("cache/shells", "in the way").unwrap();
            program
        },
        "",
        &calls,
        &[],
    );
    for result in &run.results {
        let told = result.to_string();
        assert!(
            told.contains("cache/shells/") && told.contains("cannot be made"),
            "{told}"
        );
        assert!(
            !told.contains("bash") && !told.contains("python3"),
            "{told}"
        );
    }
}

/// A disk of 64 kB, there as long as the value.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` without the right to mount; where all tests must count, there has to be one.
    fn mount(folder: PathBuf) -> Option<Self> {
        std::fs::create_dir_all(&folder).unwrap();
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k,mode=1777", "tmpfs"])
            .arg(&folder)
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(folder));
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "whether all tests must count is said in the environment"
        )]
        let must_count = std::env::var_os("CI").is_some();
        assert!(!must_count, "cannot mount a small disk");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = std::process::Command::new("umount")
            .arg("-l")
            .arg(&self.0)
            .status();
        drop(unmounted);
    }
}

// EX-1, EX-2, EX-32: on a full disk nothing is lost without a word.
#[test]
fn a_full_disk_for_temporary_files_is_said_by_commands_and_scripts() {
    let calls = [
        terminal("export KEPT=before"),
        terminal("export LATER=$(head -c 100000 /dev/zero | tr '\\0' x); echo said"),
        ("execute_code", json!({"code": "print('ran')"})),
        terminal("echo \"$KEPT${LATER:+ later}\""),
        ("execute_code", json!({"code": "print('ran')"})),
    ];
    let mut disk = None;
    let run = run_in(
        |program, _| {
            disk = SmallDisk::mount(program.home.path().join("cache/shells"));
            program
        },
        "",
        &calls,
        &[],
    );
    let Some(place) = disk.map(|disk| disk.0.display().to_string()) else {
        return;
    };
    let [first, full, script, next, later] = &run.results[..] else {
        panic!("{:?}", run.results);
    };
    assert_eq!(first.get("state_note"), None, "{first}");
    assert_eq!(
        (&full["output"], &full["exit_code"]),
        (&json!("said"), &json!(0)),
        "{full}"
    );
    let note = full["state_note"].as_str().unwrap();
    assert!(
        note.contains(&place) && note.contains("no space left"),
        "{note}"
    );
    assert_eq!(script["status"], "error", "{script}");
    let told = script["error"].as_str().unwrap();
    assert!(told.contains("No space left on device"), "{told}");
    assert_eq!(next["output"], "before", "{next}");
    assert_eq!(next.get("state_note"), None, "{next}");
    assert_eq!(later["output"], "ran", "{later}");
}

fn backwards(text: &str) -> String {
    text.chars().rev().collect()
}

const PLANTED: [(&str, &str); 15] = [
    ("OPENROUTER_API_KEY", "planted-openrouter-0001"),
    ("ANTHROPIC_API_KEY", "planted-anthropic-0002"),
    ("TELEGRAM_BOT_TOKEN", "planted-telegram-0003"),
    ("GH_TOKEN", "planted-github-0004"),
    ("AUXILIARY_VISION_API_KEY", "planted-vision-0005"),
    ("MY_LLM_KEY", "planted-provider-0007"),
    ("MY_OTHER_KEY", "planted-fallback-0008"),
    ("SPELLED_ONE", "planted-api-key-env"),
    ("SPELLED_TWO", "planted-key-env-joined"),
    ("SPELLED_THREE", "planted-api-key-env-joined"),
    ("SPELLED_FOUR", "planted-fallback-api-key-env"),
    ("SPELLED_FIVE", "planted-fallback-joined"),
    ("LAB_KEY", "planted-in-a-setting"),
    ("LAB_HEADER", "planted-in-a-header"),
    ("ACME_WORD", "planted-in-a-profile"),
];

// EX-12: keys in our environment and in `.env` never reach a command, not even when the settings let their names
// through; other variables do.
#[test]
fn planted_keys_do_not_reach_commands_and_scripts() {
    let shown = [
        ("HARMLESS", "planted-harmless"),
        ("LET_THROUGH", "planted-through"),
    ];
    // Backwards, because known values are masked wherever they are printed.
    let code =
        "import os; print(' '.join(f'{k}={v}' for k, v in sorted(os.environ.items()))[::-1])";
    let print = "env | rev";
    let run = run_in(
        |program, environment| {
            let all = PLANTED.iter().chain(&shown);
            environment.extend(all.map(|(name, value)| (*name, (*value).to_owned())));
            program
                .home
                .write_env("OPENAI_API_KEY=planted-openai-0006\n")
                .unwrap();
            let profile = "id: acme\nname: Acme\nprotocol: chat_completions\nbase_url: http://127.0.0.1:9/v1\nkey_env: [ACME_WORD]\n";
            let place = "plugins/model-providers/acme/profile.yaml";
            program.home.write(place, profile).unwrap();
            program
        },
        "terminal: {env_passthrough: [LET_THROUGH, OPENROUTER_API_KEY, ANTHROPIC_API_KEY, OPENAI_API_KEY, MY_LLM_KEY, \
         SPELLED_ONE, SPELLED_TWO, SPELLED_THREE, SPELLED_FOUR, SPELLED_FIVE, LAB_KEY, \
         LAB_HEADER, ACME_WORD]}\n\
         providers:\n\
         \x20 mine: {base_url: 'http://127.0.0.1:9/v1', key_env: MY_LLM_KEY}\n\
         \x20 one: {base_url: 'http://127.0.0.1:9/v1', api_key_env: SPELLED_ONE}\n\
         \x20 two: {base_url: 'http://127.0.0.1:9/v1', keyEnv: SPELLED_TWO}\n\
         \x20 three: {base_url: 'http://127.0.0.1:9/v1', apiKeyEnv: SPELLED_THREE}\n\
         \x20 lab: {base_url: 'http://127.0.0.1:9/v1', api_key: '${LAB_KEY}', extra_headers: {Authorization: 'Bearer ${env:LAB_HEADER}'}}\n\
         fallback_providers:\n\
         - {provider: mine, model: other, key_env: MY_OTHER_KEY}\n\
         - {provider: one, model: other, api_key_env: SPELLED_FOUR}\n\
         - {provider: two, model: other, keyEnv: SPELLED_FIVE}\n",
        &[terminal(print), ("execute_code", json!({ "code": code }))],
        &["--yolo"],
    );
    for result in &run.results {
        let said = result.to_string();
        assert!(said.contains(&backwards("planted-through")), "{said}");
        let known = ("OPENAI_API_KEY", "planted-openai-0006");
        for (name, value) in PLANTED.iter().chain([&known]) {
            assert!(!said.contains(&backwards(value)), "{name}: {said}");
        }
    }
    let said = run.results[0].to_string();
    assert!(said.contains(&backwards("planted-harmless")), "{said}");
}
