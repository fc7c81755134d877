//! `hermes sandbox`, and what becomes of a place that cannot be reached, through the binary.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use hermes_testkit::clouds::{Daytona, Modal};
use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use hermes_testkit::{Dockerd, Sshd, eventually};
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::hands::{run_in, terminal};
use super::program::Program;

/// Long enough for a loaded machine; nothing takes this long unless it is broken.
const LONG: Duration = Duration::from_secs(120);

/// Apptainer as far as instances go: it knows them by files and runs commands here.
const APPTAINER: &str = r#"#!/bin/bash
known=$HOME/instances
mkdir -p "$known"
case "$1 $2" in
'instance start') : >"$known/${!#}" ;;
'instance stop') for pid in $(cat "$known/$3"); do kill -9 "$pid"; done 2>/dev/null; rm "$known/$3" ;;
'instance list')
    all=''
    for one in "$known"/*; do [ -e "$one" ] && all="$all,{\"instance\":\"${one##*/}\"}"; done
    printf '{"instances":[%s]}' "${all#,}" ;;
exec*)
    shift; while [ "${1#instance:}" = "$1" ]; do shift; done
    echo $$ >>"$known/${1#instance://}"; shift; exec "$@" ;;
esac
"#;

/// A program on a path of its own.
fn program_in(folder: &Path, name: &str, script: &str) -> String {
    let file = folder.join("bin").join(name);
    fs::create_dir_all(folder.join("bin")).unwrap();
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}/bin:/usr/local/bin:/usr/bin:/bin", folder.display())
}

/// The command with the settings and variables of a test.
fn hermes(
    program: &Program,
    variables: &[(&str, String)],
    words: &[&str],
) -> hermes_testkit::Output {
    let mut command = program.command(words).timeout(LONG);
    for (name, value) in variables {
        command = command.env(name, value);
    }
    command.run().unwrap().ok()
}

fn listed(program: &Program, variables: &[(&str, String)]) -> Vec<Json> {
    let listed = hermes(program, variables, &["sandbox", "ls", "--json"]).json();
    listed["sandboxes"].as_array().unwrap().clone()
}

// EX-22: an engine that is not there matters only to those who use it.
#[test]
fn without_an_engine_the_list_is_empty_unless_one_is_used() {
    let program = Program::new();
    let nowhere = format!("unix://{}/none.sock", program.home.path().display());
    let variables = [("DOCKER_HOST", nowhere.clone())];
    assert_eq!(listed(&program, &variables), Vec::<Json>::new());
    let said = hermes(&program, &variables, &["sandbox", "rm", "--all"]);
    assert!(said.stdout.contains("No containers"), "{}", said.stdout);

    program
        .home
        .write("config.yaml", "terminal: {backend: docker}\n")
        .unwrap();
    let asked = program.command(&["sandbox", "ls"]);
    let failed = asked.env("DOCKER_HOST", nowhere).run().unwrap();
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    assert!(failed.stderr.contains("Start Docker"), "{}", failed.stderr);
}

// EX-22, EX-28, EX-29: whoever runs the sandboxes, they are listed while they are used and removed by their name.
#[test]
fn sandboxes_of_every_kind_are_listed_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (daytona, modal) = (Daytona::start().unwrap(), Modal::start().unwrap());
    let path = program_in(folder.path(), "apptainer", APPTAINER);
    let (id, secret) = modal.token();
    let kinds = [
        (
            "singularity",
            "singularity_image: /image.sif, cwd: /",
            vec![("PATH", path)],
            "/image.sif",
        ),
        (
            "daytona",
            "daytona_image: 'debian:12'",
            vec![
                ("DAYTONA_API_URL", daytona.url()),
                ("DAYTONA_API_KEY", daytona.key().to_owned()),
            ],
            "",
        ),
        (
            "modal",
            "modal_mode: direct, modal_image: 'debian:12'",
            vec![
                ("MODAL_SERVER_URL", modal.url()),
                ("MODAL_TOKEN_ID", id.to_owned()),
                ("MODAL_TOKEN_SECRET", secret.to_owned()),
            ],
            "",
        ),
    ];
    for (kind, settings, variables, image) in kinds {
        let there = folder.path().join(kind);
        // Who is told that the place is gone may come again and finds a mark.
        let command = format!(
            "[ ! -e {0} ] || exit 0; touch {0}; sleep 100; touch {0}-whole",
            there.display()
        );
        let scenario = Scenario::new()
            .reply(tool_call("terminal", json!({ "command": command })))
            .reply(text("done"));
        let server = ModelServer::start(scenario).unwrap();
        let program = with_model(&server.base_url());
        let config = program.home.read("config.yaml").unwrap();
        let config = format!("{config}terminal: {{backend: {kind}, {settings}}}\n");
        program.home.write_config(&config).unwrap();
        std::thread::scope(|scope| {
            let chat = scope.spawn(|| hermes(&program, &variables, &["-z", "go"]));
            eventually(LONG, "the command", || there.exists().then_some(())).unwrap();
            let all = listed(&program, &variables);
            assert_eq!(all.len(), 1, "{kind}: {all:?}");
            let sandbox = &all[0];
            assert_eq!(sandbox["running"], true, "{kind}: {sandbox}");
            assert_eq!(sandbox["task"], "default", "{kind}: {sandbox}");
            assert_eq!(sandbox["profile"], "default", "{kind}: {sandbox}");
            let users = sandbox["leases"].as_array().unwrap();
            assert_eq!(users.len(), 1, "{kind}: {sandbox}");
            if !image.is_empty() {
                assert_eq!(sandbox["image"], image, "{kind}: {sandbox}");
            }
            // It is in use, so tidying up leaves it alone.
            let told = hermes(&program, &variables, &["sandbox", "rm", "--idle"]).stdout;
            assert!(
                told.starts_with("All containers are in use"),
                "{kind}: {told}"
            );
            let name = sandbox["name"].as_str().unwrap();
            let told = hermes(&program, &variables, &["sandbox", "rm", "--yes", name]).stdout;
            assert_eq!(told, format!("removed {name}\n"), "{kind}");
            chat.join().unwrap();
        });
        assert!(!folder.path().join(format!("{kind}-whole")).exists());
        hermes(
            &program,
            &variables,
            &["sandbox", "rm", "--all", "--yes", "--files"],
        );
        assert_eq!(listed(&program, &variables), [Json::Null; 0], "{kind}");
    }
    assert!(daytona.sandboxes().is_empty());
    assert!(modal.sandboxes().is_empty());
}

/// Writes that the sandbox was used so many seconds earlier.
fn make_older(program: &Program, seconds: i64) {
    let leases = program.home.path().join("sandboxes/leases");
    for entry in fs::read_dir(leases).unwrap() {
        let path = entry.unwrap().path();
        let mut lease: Json = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        lease["used_at"] = json!(lease["used_at"].as_i64().unwrap() - seconds);
        fs::write(&path, lease.to_string()).unwrap();
    }
}

// EX-22, EX-20
#[test]
fn idle_containers_are_stopped_then_removed_and_their_files_go_only_when_that_is_said() {
    let engine = Dockerd::start().unwrap();
    let settings = format!(
        "terminal: {{backend: docker, docker_image: '{}', docker_network: false, container_memory: 256}}\n",
        engine.image()
    );
    let variables = [("DOCKER_HOST", engine.address())];
    let ran = || {
        run_in(
            |program, environment| {
                environment.push(("DOCKER_HOST", engine.address()));
                program
            },
            &settings,
            &[terminal("echo kept > file")],
            &[],
        )
        .program
    };
    let kept = "sandboxes/docker/default/home/file";

    let program = ran();
    let idle = || hermes(&program, &variables, &["sandbox", "rm", "--idle"]).stdout;
    let all = listed(&program, &variables);
    let name = all[0]["name"].as_str().unwrap().to_owned();
    assert!(idle().starts_with("All containers are in use"));
    make_older(&program, 400);
    assert_eq!(idle(), format!("stopped {name}\n"));
    assert_eq!(listed(&program, &variables)[0]["running"], false);
    make_older(&program, 400);
    assert_eq!(idle(), format!("removed {name}\n"));
    assert_eq!(program.home.read(kept).unwrap(), "kept\n");

    let program = ran();
    let all = listed(&program, &variables);
    let files = program.home.path().join("sandboxes/docker/default");
    let expected = json!([files.join("home"), files.join("workspace")]);
    assert_eq!(all[0]["files"], expected);
    let asked = program
        .command(&["sandbox", "rm", "--all"])
        .env("DOCKER_HOST", engine.address())
        .run()
        .unwrap();
    assert!(
        asked.stderr.contains("kept files stay; --files"),
        "{}",
        asked.stderr
    );
    let told = hermes(
        &program,
        &variables,
        &["sandbox", "rm", "--all", "--files", "--yes"],
    )
    .stdout;
    let name = all[0]["name"].as_str().unwrap();
    let gone =
        ["home", "workspace"].map(|part| format!("removed {}\n", files.join(part).display()));
    assert_eq!(told, format!("removed {name}\n{}", gone.concat()));
    assert!(!program.home.path().join(kept).exists());
}

// EX-30
#[test]
fn an_engine_or_a_machine_that_is_down_is_said_and_nothing_runs_here_instead() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("unix://{}/no.sock", folder.path().display());
    for (number, (settings, cause, next)) in [
        ("backend: docker".to_owned(), "no.sock", "Start Docker"),
        (
            format!("backend: ssh, ssh_host: 127.0.0.1, ssh_user: nobody, ssh_port: {port}"),
            "Connection refused",
            "ssh_port",
        ),
        (
            "backend: singularity".to_owned(),
            "neither apptainer nor singularity",
            "Install apptainer",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let marker = folder.path().join(format!("ran-here-{number}"));
        let written = folder.path().join(format!("written-here-{number}"));
        let run = run_in(
            |program, environment| {
                environment.push(("DOCKER_HOST", socket.clone()));
                program
            },
            &format!("terminal: {{{settings}}}\n"),
            &[
                terminal(&format!("touch {}", marker.display())),
                ("write_file", json!({"path": written, "content": "x"})),
                (
                    "execute_code",
                    json!({"code": format!("open('{}', 'w')", marker.display())}),
                ),
            ],
            &[],
        );
        let [ran, wrote, script] = &run.results[..] else {
            panic!("{settings}: {:?}", run.results);
        };
        assert_eq!(ran["exit_code"], -1, "{settings}: {ran}");
        for answer in [ran, wrote, script] {
            let told = answer.to_string();
            assert!(
                told.contains(cause) && told.contains(next),
                "{settings}: {told}"
            );
        }
        assert!(
            !marker.exists() && !written.exists(),
            "{settings}: it ran here"
        );
    }
}

// EX-27: what was changed elsewhere is said, shown and removed, and never put in the place of our own files.
#[test]
fn files_that_were_changed_elsewhere_are_told_about_shown_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let user_home = folder.path().join("user");
    let server = Sshd::start_at(&user_home).unwrap();
    let known = server.known_hosts().display().to_string();
    let ssh = format!("#!/bin/sh\nexec /usr/bin/ssh -o UserKnownHostsFile={known} \"$@\"\n");
    let variables = [("PATH", program_in(folder.path(), "ssh", &ssh))];
    let change =
        "cd ~/.hermes/skills && printf 'worse\\033[2J\\n' > demo/SKILL.md && echo new > planted.md";
    let scenario = Scenario::new()
        .reply(tool_call("terminal", json!({ "command": change })))
        .reply(text("done"))
        .reply(text("again"));
    let model = ModelServer::start(scenario).unwrap();
    let program = with_model(&model.base_url());
    let config = program.home.read("config.yaml").unwrap();
    let settings = format!(
        "{config}terminal: {{backend: ssh, ssh_host: 127.0.0.1, ssh_user: {}, ssh_port: {}, ssh_key: {}}}\n",
        server.user().unwrap(),
        server.port(),
        server.key().display()
    );
    program.home.write_config(&settings).unwrap();
    program
        .home
        .write("skills/demo/SKILL.md", "a skill\n")
        .unwrap();
    let returned = |words: &[&str]| {
        let words = [&["sandbox", "returned"], words].concat();
        hermes(&program, &variables, &words)
    };
    assert_eq!(returned(&[]).stdout, "Nothing came back from elsewhere.\n");

    let first = hermes(&program, &variables, &["-z", "go"]);
    assert!(
        first
            .stderr
            .contains("Files of ours were changed elsewhere (2 in"),
        "{}",
        first.stderr
    );
    assert_eq!(
        program.home.read("skills/demo/SKILL.md").unwrap(),
        "a skill\n"
    );
    assert!(!program.home.path().join("skills/planted.md").exists());
    let all = returned(&["ls", "--json"]).json();
    let one = &all["returned"][0];
    let changes = &one["changes"];
    assert_eq!(
        changes["skills/demo/SKILL.md"]["change"], "changed",
        "{all}"
    );
    assert_eq!(changes["skills/planted.md"]["change"], "added", "{all}");
    assert!(one["from"].as_str().unwrap().starts_with("ssh: "), "{all}");
    let name = one["name"].as_str().unwrap();
    assert!(first.stderr.contains(name), "{}", first.stderr);
    let shown = returned(&["show", name]).stdout;
    for line in [
        "changed: skills/demo/SKILL.md",
        "-a skill",
        "+worse[2J",
        "added: skills/planted.md",
        "+new",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }

    // Whoever did not look is reminded in the next session, until it is gone.
    let second = hermes(&program, &variables, &["-z", "go"]);
    assert!(
        second.stderr.contains(&format!("returned show {name}")),
        "{}",
        second.stderr
    );
    assert_eq!(
        returned(&["rm", "--yes", name]).stdout,
        format!("removed {name}\n")
    );
    assert_eq!(
        returned(&["rm", "--yes", "--all"]).stdout,
        "Nothing came back from elsewhere.\n"
    );
    // What was sent there is remembered; nothing that came back is left.
    let left = fs::read_dir(program.home.path().join("cache/sync")).unwrap();
    let mut names = left.map(|one| one.unwrap().file_name().into_string().unwrap());
    assert!(names.all(|name| name.ends_with(".sent")));
    let wrong = program.run(&["sandbox", "returned", "show", "nothing"]);
    assert!(wrong.stderr.contains("returned ls"), "{}", wrong.stderr);
}
