//! The tools where commands run elsewhere, through the binary.

use std::os::unix::fs::PermissionsExt;

use hermes_testkit::{Dockerd, Sshd};
use serde_json::{Value as Json, json};

use super::hands::{run_in, terminal};

/// What a model does to files and scripts, wherever they are.
fn calls() -> Vec<(&'static str, Json)> {
    let code = "from hermes_tools import read_file, terminal\n\
                print(read_file('notes/a.txt')['content'])\n\
                print(terminal('cat notes/a.txt')['exit_code'])\n\
                open('made.txt', 'w').write('by a script')\n";
    vec![
        (
            "write_file",
            json!({"path": "notes/a.txt", "content": "alpha\nbeta\n"}),
        ),
        (
            "patch",
            json!({"path": "notes/a.txt", "old_string": "beta", "new_string": "gamma"}),
        ),
        ("read_file", json!({"path": "notes/a.txt"})),
        ("search_files", json!({"pattern": "gamm", "path": "notes"})),
        terminal("cat notes/a.txt; cat ~/.hermes/skills/demo/SKILL.md"),
        ("execute_code", json!({ "code": code })),
        terminal("mkdir sub && cd sub && echo inside > b.txt"),
        ("read_file", json!({"path": "b.txt"})),
        (
            "write_file",
            json!({"path": "~/.ssh/authorized_keys", "content": "x"}),
        ),
    ]
}

fn check(results: &[Json], backend: &str) {
    let [
        written,
        patched,
        read,
        found,
        shown,
        script,
        _,
        inside,
        refused,
    ] = results
    else {
        panic!("{results:?}");
    };
    assert_eq!(written["bytes_written"], 11, "{written}");
    assert_eq!(patched["success"], true, "{patched}");
    assert_eq!(read["content"], "1|alpha\n2|gamma\n", "{read}");
    assert_eq!(found["matches"][0]["line"], 2, "{found}");
    assert_eq!(shown["output"], "alpha\ngamma\na skill", "{shown}");
    assert!(
        shown["backend"].as_str().unwrap().starts_with(backend),
        "{shown}"
    );
    assert_eq!(script["status"], "success", "{script}");
    assert_eq!(script["tool_calls_made"], 2, "{script}");
    let output = script["output"].as_str().unwrap();
    assert_eq!(output, "1|alpha\n2|gamma\n\n0", "{output}");
    assert_eq!(inside["content"], "1|inside\n", "{inside}");
    assert!(refused.to_string().contains("credentials"), "{refused}");
}

// EX-12, EX-26, EX-34, EX-37, EX-40, EX-42, EX-46, EX-47
#[test]
fn files_skills_and_scripts_over_ssh() {
    let folder = tempfile::tempdir().unwrap();
    let user_home = folder.path().join("user");
    let server = Sshd::start_at(&user_home).unwrap();
    // The client keeps host keys in the real home of its user, which is none of ours.
    let ssh = folder.path().join("bin/ssh");
    std::fs::create_dir_all(ssh.parent().unwrap()).unwrap();
    let known = server.known_hosts().display().to_string();
    std::fs::write(
        &ssh,
        format!("#!/bin/sh\nexec /usr/bin/ssh -o UserKnownHostsFile={known} \"$@\"\n"),
    )
    .unwrap();
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!(
        "{}:/usr/local/bin:/usr/bin:/bin",
        ssh.parent().unwrap().display()
    );
    let settings = format!(
        "terminal: {{backend: ssh, ssh_host: 127.0.0.1, ssh_user: {}, ssh_port: {}, ssh_key: {}, env_passthrough: [PASSED]}}\n",
        server.user().unwrap(),
        server.port(),
        server.key().display()
    );
    let mut calls = calls();
    calls.push(terminal("echo $PASSED:$HELD"));
    let run = run_in(
        |program, environment| {
            program
                .home
                .write("skills/demo/SKILL.md", "a skill")
                .unwrap();
            environment.push(("PATH", path));
            environment.push(("PASSED", "through".to_owned()));
            environment.push(("HELD", "back".to_owned()));
            program
        },
        &settings,
        &calls,
        &[],
    );
    let (passed, results) = run.results.split_last().unwrap();
    assert_eq!(passed["output"], "through:", "{passed}");
    check(results, "ssh ");
    let there = |name: &str| std::fs::read_to_string(user_home.join(name)).unwrap();
    assert_eq!(there("notes/a.txt"), "alpha\ngamma\n");
    assert_eq!(there("made.txt"), "by a script");
    assert_eq!(there("sub/b.txt"), "inside\n");
    assert!(!run.program.home.workspace().join("notes").exists());
    assert_eq!(server.logins(), 1);
}

// EX-34, EX-37, EX-40, EX-42, EX-46, EX-47
#[test]
fn files_skills_and_scripts_in_a_container() {
    let engine = Dockerd::start_with_python().unwrap();
    let settings = format!(
        "terminal: {{backend: docker, docker_image: '{}', docker_network: false, container_memory: 512}}\n",
        engine.image()
    );
    let run = run_in(
        |program, environment| {
            program
                .home
                .write("skills/demo/SKILL.md", "a skill")
                .unwrap();
            environment.push(("DOCKER_HOST", engine.address()));
            program
        },
        &settings,
        &calls(),
        &[],
    );
    check(&run.results, "docker ");
    assert!(!run.program.home.workspace().join("notes").exists());
    let made = run
        .program
        .home
        .read("sandboxes/docker/default/home/notes/a.txt")
        .unwrap();
    assert_eq!(made, "alpha\ngamma\n");
}

// EX-12, EX-20, EX-52: what is let through reaches commands, and what ran unasked is on file.
#[test]
fn a_container_gets_the_variables_that_are_named_and_its_dangerous_commands_are_on_file() {
    let engine = Dockerd::start().unwrap();
    let settings = format!(
        "terminal: {{backend: docker, docker_image: '{}', docker_network: false, container_memory: 512, \
         env_passthrough: [PASSED, OPENAI_API_KEY], docker_forward_env: [FORWARDED, ABSENT]}}\n",
        engine.image()
    );
    let show = "echo \"passed $PASSED, key $OPENAI_API_KEY, forwarded $FORWARDED, other $OTHER\"";
    let run = run_in(
        |program, environment| {
            program
                .home
                .write_env("FORWARDED=from the file\nOTHER=kept here\n")
                .unwrap();
            environment.push(("DOCKER_HOST", engine.address()));
            environment.push(("PASSED", "through".to_owned()));
            environment.push(("OPENAI_API_KEY", "sk-planted-1234567890abcdef".to_owned()));
            program
        },
        &settings,
        &[terminal(show), terminal("mkdir d; rm -rf d; echo removed")],
        &[],
    );
    let [shown, removed] = &run.results[..] else {
        panic!("{:?}", run.results);
    };
    let expected = "passed through, key , forwarded from the file, other ";
    assert_eq!(
        shown["output"].as_str().unwrap().trim_end(),
        expected.trim_end(),
        "{shown}"
    );
    assert_eq!(removed["output"], "removed", "{removed}");
    let log = run.program.run(&["policy", "log", "--json"]).ok().json();
    let decision = &log["decisions"][0];
    assert_eq!(decision["outcome"], "once", "{log}");
    assert_eq!(decision["decided_by"], "the place is isolated", "{log}");
    assert_eq!(decision["categories"][0], "recursive-delete", "{log}");
    assert_eq!(log["decisions"].as_array().unwrap().len(), 1, "{log}");

    // The container is listed, and removed by its name or with all others.
    let sandbox = |arguments: &[&str]| {
        let mut all = vec!["sandbox"];
        all.extend(arguments);
        let command = run
            .program
            .command(&all)
            .env("DOCKER_HOST", engine.address());
        command.run().unwrap().ok()
    };
    for name in ["hermes-other1", "hermes-other2"] {
        let made = [
            "run",
            "-d",
            "--name",
            name,
            "--network=none",
            "--label",
            "hermes-agent=1",
        ];
        let labels = [
            "--label",
            "hermes-task-id=t",
            "--label",
            "hermes-profile=work",
        ];
        let what = [engine.image(), "sleep", "1000"];
        engine
            .docker(&[&made[..], &labels, &what].concat())
            .unwrap();
    }
    let stranger = ["run", "-d", "--name", "stranger", "--network=none"];
    engine
        .docker(&[&stranger[..], &[engine.image(), "sleep", "1000"]].concat())
        .unwrap();
    let names = || {
        let listed = sandbox(&["ls", "--json"]).json();
        let listed = listed["sandboxes"].as_array().unwrap().clone();
        listed
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect::<std::collections::BTreeSet<_>>()
    };
    let listed = sandbox(&["ls", "--json"]).json();
    let ours = listed["sandboxes"].as_array().unwrap().iter();
    let ours = ours.clone().find(|one| one["task"] == "default").unwrap();
    assert_eq!(ours["image"], engine.image(), "{listed}");
    assert_eq!(ours["lifetime_seconds"], 300, "{listed}");
    assert_eq!(names().len(), 3, "{listed}");
    assert!(!names().contains("stranger"), "{listed}");
    let told = sandbox(&["rm", "--yes", "hermes-other1"]).stdout;
    assert_eq!(told, "removed hermes-other1\n");
    assert_eq!(names().len(), 2);
    assert!(sandbox(&["ls"]).stdout.contains("hermes-other2"));
    let told = sandbox(&["rm", "--all", "--yes"]).stdout;
    assert_eq!(told.lines().count(), 2, "{told}");
    assert!(names().is_empty());
    assert_eq!(
        sandbox(&["rm", "--all", "--yes"]).stdout,
        "No containers of Hermes are here.\n"
    );
    let left = engine
        .docker(&["ps", "-a", "--format", "{{.Names}}"])
        .unwrap();
    assert_eq!(left.trim(), "stranger");
}

// EX-30
#[test]
fn a_place_that_cannot_be_reached_is_said_as_one_that_is_not_set_up() {
    let folder = tempfile::tempdir().unwrap();
    let engine = format!("unix://{}", folder.path().join("none.sock").display());
    let behind = json!({"command": "true", "background": true});
    let run = run_in(
        |program, environment| {
            environment.push(("DOCKER_HOST", engine));
            program
        },
        "terminal: {backend: docker}\n",
        &[terminal("true"), ("terminal", behind)],
        &[],
    );
    for answer in &run.results {
        assert_eq!(answer["status"], "disabled", "{answer}");
        assert_eq!(answer["exit_code"], -1, "{answer}");
        let told = answer["error"].as_str().unwrap();
        assert!(told.starts_with("docker cannot be used: "), "{told}");
    }
}

// EX-30
#[test]
fn a_place_that_is_not_set_up_is_said_and_nothing_runs_here_instead() {
    for (settings, missing) in [
        ("terminal: {backend: ssh}\n", "ssh_host"),
        (
            "terminal: {backend: modal, modal_mode: direct}\n",
            "MODAL_TOKEN_ID",
        ),
        ("terminal: {backend: daytona}\n", "DAYTONA_API_KEY"),
    ] {
        let marker = tempfile::tempdir().unwrap();
        let marker = marker.path().join("ran-here");
        let run = run_in(
            |program, _| program,
            settings,
            &[terminal(&format!("touch {}", marker.display()))],
            &[],
        );
        let answer = &run.results[0];
        assert_eq!(answer["status"], "disabled", "{settings}: {answer}");
        assert_eq!(answer["exit_code"], -1, "{settings}: {answer}");
        let told = answer["error"].as_str().unwrap();
        assert!(told.contains(missing), "{settings}: {told}");
        assert!(
            run.stderr.contains("Commands and files are switched off")
                && run.stderr.contains(missing),
            "{settings}: {}",
            run.stderr
        );
        assert!(!marker.exists(), "{settings}: it ran on this machine");
    }
}
