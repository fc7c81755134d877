//! What the prompt says inside a software project.

use std::fs;

use hermes_config::CodingContext;
use hermes_testkit::model_server::{Scenario, Step, text};

use super::fixture::{Fixture, Scripted};
use super::prefix::growing;

/// The system prompt of a first message, with the work directory prepared by `prepare`.
async fn prompt(prepare: impl FnOnce(&mut Fixture, &std::path::Path)) -> String {
    let scenario = Scenario::new().reply(Step::new(text("ok")).repeat());
    let mut fixture = Fixture::new(scenario).tool(Scripted::saying("look", "x"));
    let work = fixture.folder.path().join("work");
    prepare(&mut fixture, &work);
    fixture.ask("hi").await;
    // Whatever happens to the project, the session keeps the prompt it began with.
    fs::write(work.join("Makefile"), "verify:\n").unwrap();
    fixture.ask("again").await;
    let requests = fixture.requests();
    assert!(requests[1].body.starts_with(growing(&requests[0].body)));
    let system = &requests[0].expect_json()["messages"][0]["content"];
    system.as_str().unwrap().to_owned()
}

// AG-3, AG-42
#[tokio::test]
async fn a_project_is_described_to_a_programmer_once_and_for_all() {
    let said = prompt(|fixture, work| {
        fs::create_dir_all(work.join(".git")).unwrap();
        fs::write(work.join(".git/HEAD"), "ref: refs/heads/roof\n").unwrap();
        fs::write(work.join("Cargo.toml"), "[package]").unwrap();
        fs::write(work.join("Makefile"), "all:\nlint: all\n\ttrue\n").unwrap();
        let scripts = r#"{"scripts": {"test": "vitest", "start": "vite"}}"#;
        fs::write(work.join("package.json"), scripts).unwrap();
        fixture.config.agent.coding_instructions = "Tabs, please.".to_owned();
    })
    .await;
    for part in [
        "working on a program",
        "run what checks it",
        "on the branch roof",
        "cargo test",
        "npm run test",
        "make lint",
        "Tabs, please.",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(
        !said.contains("npm run start") && !said.contains("make verify"),
        "{said}"
    );
    let order = ["working directory", "working on a program", "in a terminal"];
    let places: Vec<_> = order.iter().map(|mark| said.find(mark).unwrap()).collect();
    assert!(places.is_sorted(), "{said}");
}

// AG-42
#[tokio::test]
async fn a_directory_is_a_project_by_its_marker_or_as_a_repository_with_code() {
    let is_coding = |said: String| said.contains("working on a program");
    assert!(!is_coding(prompt(|_, _| {}).await), "an empty directory");
    let repository = |name: &'static str| {
        prompt(move |_, work| {
            fs::create_dir_all(work.join(".git")).unwrap();
            fs::write(work.join(name), "x").unwrap();
        })
    };
    assert!(is_coding(repository("shed.py").await));
    assert!(!is_coding(repository("notes.md").await), "only prose");
    let above = prompt(|fixture, work| {
        fs::write(work.join("go.mod"), "module shed").unwrap();
        fixture.directory = "work/a/b";
        fs::create_dir_all(work.join("a/b")).unwrap();
    });
    assert!(is_coding(above.await), "from a directory inside");
    for (context, surface, wanted) in [
        (CodingContext::Auto, "telegram", false),
        (CodingContext::On, "telegram", true),
        (CodingContext::Off, "cli", false),
    ] {
        let said = prompt(|fixture, work| {
            fs::write(work.join("go.mod"), "module shed").unwrap();
            fixture.config.agent.coding_context = context;
            fixture.surface = surface;
        });
        assert_eq!(is_coding(said.await), wanted, "{context:?} {surface}");
    }
}

// AG-3
#[cfg(unix)]
#[tokio::test]
async fn the_programs_of_the_machine_are_named_where_commands_run() {
    use std::os::unix::fs::PermissionsExt as _;

    let programs = |fixture: &mut Fixture| {
        let folder = fixture.folder.path().join("bin");
        fs::create_dir(&folder).unwrap();
        for (name, mode) in [("git", 0o755), ("cargo", 0o700), ("node", 0o644)] {
            fs::write(folder.join(name), "#!/bin/sh\nexit 1\n").unwrap();
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        fixture.programs = vec![fixture.folder.path().join("nowhere"), folder];
        fixture
            .tools
            .push(std::sync::Arc::new(Scripted::saying("terminal", "x")));
    };
    let line = "Programs on this machine: git, cargo. Not there: gh, rg,";
    let said = prompt(|fixture, _| programs(fixture)).await;
    assert!(said.contains(line) && said.contains(", node,"), "{said}");
    let place = |mark: &str| said.find(mark).unwrap();
    assert!(place("working directory") < place("Programs on this machine"));
    assert!(place("Programs on this machine") < place("in a terminal"));

    let off = prompt(|fixture, _| {
        programs(fixture);
        fixture.config.agent.environment_probe = false;
    })
    .await;
    assert!(!off.contains("Programs on this machine"), "{off}");
    let elsewhere = prompt(|fixture, _| {
        programs(fixture);
        fixture.config.terminal.backend = hermes_config::Backend::Docker;
    })
    .await;
    assert!(
        !elsewhere.contains("Programs on this machine"),
        "{elsewhere}"
    );
}

// AG-3: what is true here is not told about a place where it is not.
#[tokio::test]
async fn a_place_elsewhere_is_described_and_this_machine_is_not() {
    use hermes_config::Backend;

    let elsewhere = |backend: Backend, change: fn(&mut hermes_config::Terminal)| {
        prompt(move |fixture, work| {
            fs::write(work.join("Cargo.toml"), "[package]").unwrap();
            let terminal = &mut fixture.config.terminal;
            terminal.backend = backend;
            terminal.docker_image = "forge:1".to_owned();
            terminal.ssh_host = "shed.example".to_owned();
            change(terminal);
        })
    };
    for (backend, place) in [
        (Backend::Docker, "in a container of the image forge:1"),
        (Backend::Ssh, "on the machine shed.example over SSH"),
        (Backend::Modal, "in a Modal sandbox of the image"),
        (Backend::Daytona, "in a Daytona sandbox of the image"),
        (
            Backend::Singularity,
            "in a container of the image docker://",
        ),
    ] {
        let said = elsewhere(backend, |_| {}).await;
        assert!(said.contains(place), "{backend:?}: {said}");
        assert!(said.contains("Work starts in the home directory there."));
        for ours in ["The machine runs", "/work", "The project is in", "cargo"] {
            assert!(!said.contains(ours), "{backend:?} {ours}: {said}");
        }
    }
    let named = elsewhere(Backend::Ssh, |terminal| {
        terminal.cwd = "/home/anna/shed".to_owned();
        terminal.ssh_user = "anna".to_owned();
    });
    let named = named.await;
    assert!(named.contains("over SSH, as anna"), "{named}");
    assert!(named.contains("Work starts in /home/anna/shed."), "{named}");
    // What is mounted is seen, under the name it has there.
    let mounted = elsewhere(Backend::Docker, |terminal| {
        terminal.cwd = "/workspace".to_owned();
        terminal.docker_mount_cwd_to_workspace = true;
    });
    let mounted = mounted.await;
    for part in [
        "Work starts in /workspace.",
        "The directory the user works in is seen there as /workspace.",
        "The project is in /workspace. It is checked with: cargo check",
    ] {
        assert!(mounted.contains(part), "{part}: {mounted}");
    }
    assert!(!mounted.contains("/work\n") && !mounted.contains("/work."));
}
