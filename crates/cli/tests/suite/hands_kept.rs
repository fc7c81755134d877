//! What stays inside the sandbox, whatever is switched off, listed or defined, and what file tools make of it.

use std::path::Path;

use serde_json::json;

use super::hands::{run_in, terminal};

/// A file outside every workspace, which a test may look for.
fn outside(name: &str) -> String {
    format!("/var/hermes-{name}-{}", std::process::id())
}

// EX-11, EX-68: asking sudo whether it needs a password is done outside, without what was made inside.
#[test]
fn a_function_made_inside_the_sandbox_does_not_run_outside() {
    let file = outside("probe");
    let define = format!("sudo() {{ touch {file}; }}");
    let calls = [terminal(&define), terminal("sudo true")];
    let run = run_in(|program, _| program, "", &calls, &["--yolo"]);
    assert!(!Path::new(&file).exists(), "{:?}", run.results);
    assert_ne!(run.results[1]["exit_code"], 0, "{:?}", run.results);
}

// EX-68: only a person lets a command out.
#[test]
fn nothing_but_a_person_opens_the_sandbox() {
    let file = outside("opened");
    let write = format!("touch {file}");
    let settings = "approvals: {mode: \"off\", headless_mode: approve}\ncommand_allowlist: ['touch *', outside-sandbox]\n";
    for flags in [&["--yolo"][..], &[]] {
        let run = run_in(|program, _| program, settings, &[terminal(&write)], flags);
        assert!(!Path::new(&file).exists(), "{:?}", run.results);
        let told = run.results[0]["sandbox_note"].as_str().unwrap();
        assert!(told.contains("Only a person"), "{told}");
    }
    let open = "terminal:\n  sandbox:\n    mode: full\n";
    let run = run_in(|program, _| program, open, &[terminal(&write)], &[]);
    assert_eq!(run.results[0]["exit_code"], 0, "{:?}", run.results);
    std::fs::remove_file(&file).unwrap();
}

// EX-52, EX-58: what the user forbids is forbidden to scripts too.
#[test]
fn forbidden_commands_do_not_run_from_scripts() {
    let code = "import subprocess\nsubprocess.run(['git', 'push', 'origin'])\nprint('pushed')\n";
    let settings = "approvals:\n  deny: ['git push*']\n";
    let calls = [("execute_code", json!({ "code": code }))];
    let run = run_in(|program, _| program, settings, &calls, &["--yolo"]);
    assert_eq!(run.results[0]["status"], "error", "{:?}", run.results);
    assert!(
        run.results[0].to_string().contains("approvals.deny"),
        "{:?}",
        run.results
    );
}

// EX-68: the file tools go no further than a command could.
#[test]
fn file_tools_keep_to_the_sandbox() {
    let file = outside("written");
    let write = |path: &str| ("write_file", json!({"path": path, "content": "x\n"}));
    let calls = [
        write("inside.txt"),
        write(&file),
        write("~/.bashrc"),
        write(".git/hooks/pre-commit"),
        ("read_file", json!({"path": "~/.aws/credentials"})),
        (
            "patch",
            json!({"path": "inside.txt", "old_string": "x", "new_string": "y"}),
        ),
        (
            "search_files",
            json!({"pattern": "planted-word", "path": "~"}),
        ),
    ];
    let prepare = |program: super::program::Program, _: &mut Vec<(&'static str, String)>| {
        let user_home = program.home.user_home();
        for name in [".aws/credentials", ".netrc", "plain"] {
            let path = user_home.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "planted-word\n").unwrap();
        }
        program
    };
    let run = run_in(prepare, "", &calls, &["--yolo"]);
    let results = &run.results;
    assert_eq!(results[0]["bytes_written"], 2, "{results:?}");
    for refused in &results[1..4] {
        let told = refused.to_string();
        assert!(
            told.contains("workspace-write") && told.contains("Only a person"),
            "{told}"
        );
    }
    assert!(!Path::new(&file).exists());
    assert!(
        results[4].to_string().contains("hidden by the sandbox"),
        "{results:?}"
    );
    assert_eq!(results[5]["success"], true, "{results:?}");
    let found = results[6].to_string();
    assert!(
        found.contains("plain") && !found.contains("netrc") && !found.contains("aws"),
        "{found}"
    );
    let read_only = "terminal:\n  sandbox:\n    mode: read-only\n";
    let run = run_in(|program, _| program, read_only, &calls[..1], &["--yolo"]);
    assert!(
        run.results[0]
            .to_string()
            .contains("the sandbox is read-only"),
        "{:?}",
        run.results
    );
    let open = "terminal:\n  sandbox:\n    mode: full\n";
    let run = run_in(
        |program, _| program,
        open,
        &[write(&file), terminal("true")],
        &[],
    );
    assert_eq!(run.results[0]["bytes_written"], 2, "{:?}", run.results);
    std::fs::remove_file(&file).unwrap();
}

// EX-68: other profiles, and the root around a profile, are as hidden from the file tools as from commands.
#[test]
fn file_tools_see_no_other_profile() {
    const OTHER: &str = "profiles/other/memories/MEMORY.md";
    const ROOT: &str = "cache/requests/1.json";
    let read = |path: &str| ("read_file", json!({"path": format!("~/.hermes/{path}")}));
    let search = json!({"pattern": "planted-word", "path": "~/.hermes"});
    for in_profile in [false, true] {
        let run = run_in(
            |program, environment| {
                for path in [OTHER, ROOT] {
                    program.home.write(path, "planted-word\n").unwrap();
                }
                let root = program.home.path();
                let profile = root.join("profiles/work");
                std::fs::create_dir_all(&profile).unwrap();
                std::fs::copy(root.join("config.yaml"), profile.join("config.yaml")).unwrap();
                if in_profile {
                    environment.push(("HERMES_HOME", profile.display().to_string()));
                }
                program
            },
            "",
            &[read(OTHER), read(ROOT), ("search_files", search.clone())],
            &["--yolo"],
        );
        let told: Vec<String> = run.results.iter().map(ToString::to_string).collect();
        let is_hidden = |told: &str| told.contains("hidden by the sandbox");
        assert!(is_hidden(&told[0]), "{told:?}");
        assert_eq!(is_hidden(&told[1]), in_profile, "{told:?}");
        assert!(!told[2].contains("profiles/other"), "{told:?}");
    }
}

// EX-52, EX-54: two calls do not lift what one could not.
#[test]
fn what_an_earlier_command_defined_is_followed() {
    let calls = [
        terminal("alias d='rm -rf'; f() { \"$@\"; }; echo defined"),
        terminal("d /"),
        terminal("f rm -rf /"),
        terminal("f echo fine"),
        terminal("printf 'g() { rm -rf \"$1\"; }\\n' > defs.sh && . ./defs.sh && echo read"),
        terminal("g /"),
        terminal("export x='rm -rf /' y; echo handed"),
        terminal("y=$x"),
        terminal("$y"),
        terminal("y='echo fine'"),
        terminal("$y"),
    ];
    let run = run_in(|program, _| program, "", &calls, &["--yolo"]);
    let results = &run.results;
    assert_eq!(results[0]["output"], "defined", "{results:?}");
    assert_eq!(results[6]["output"], "handed", "{results:?}");
    assert_eq!(results[10]["output"], "fine", "{results:?}");
    assert_eq!(results[3]["output"], "fine", "{results:?}");
    assert_eq!(results[4]["output"], "read", "{results:?}");
    for refused in [&results[1], &results[2], &results[5], &results[8]] {
        assert_eq!(refused["status"], "blocked", "{results:?}");
        assert!(
            refused.to_string().contains("never runs such commands"),
            "{refused}"
        );
    }
}

// EX-58: a server's program runs with the user's rights, so only a person adds one.
#[test]
fn a_model_adds_no_server_by_itself() {
    let code = "import subprocess\n\
                subprocess.run(['hermes', 'mcp', 'add', 'planted', '--command', 'python3'])\n\
                print('asked for it')\n";
    let calls = [
        terminal("hermes mcp add planted --command python3 --args server.py"),
        ("execute_code", json!({ "code": code })),
    ];
    let open = "approvals: {mode: \"off\", headless_mode: approve}\n";
    for settings in ["", open] {
        let run = run_in(|program, _| program, settings, &calls, &[]);
        let kept = run.program.home.read("config.yaml").unwrap();
        assert!(!kept.contains("planted"), "{:?}", run.results);
        if settings == open {
            continue;
        }
        assert_eq!(run.results[0]["status"], "blocked", "{:?}", run.results);
        assert_eq!(run.results[1]["status"], "error", "{:?}", run.results);
        let log = run.program.run(&["policy", "log", "--json"]).ok();
        let log: serde_json::Value = serde_json::from_str(&log.stdout).unwrap();
        let decisions = log["decisions"].as_array().unwrap();
        assert_eq!(decisions.len(), 2, "{log}");
        for decision in decisions {
            assert_eq!(decision["outcome"], "refused", "{decision}");
            let categories = decision["categories"].as_array().unwrap();
            assert!(categories.contains(&json!("write-product")), "{decision}");
        }
    }
}
