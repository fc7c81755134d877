//! `hermes mcp install` of the servers that come with the program, with stand-ins for what they fetch.

use std::os::unix::fs::PermissionsExt as _;

use hermes_testkit::model_server::Scenario;
use hermes_testkit::{HermeticCommand, SYSTEM_PATH};

use super::mcp_lab::{LONG, Lab, fixture};

/// Puts a program of this name in front of all others.
fn stand_in(lab: &Lab, name: &str, script: &str) {
    let path = lab.state.join("bin").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A program that notes its arguments and is the server of the tests.
fn server(lab: &Lab) -> String {
    format!(
        "echo \"$@\" >> '{state}/arguments'\nMCP_STATE='{state}' exec python3 '{}'",
        fixture().display(),
        state = lab.state.display(),
    )
}

fn install(lab: &Lab, arguments: &[&str]) -> HermeticCommand {
    let bin = lab.state.join("bin");
    let path = format!("{}:{SYSTEM_PATH}", bin.display());
    let command = lab.program.command(&["mcp", "install"]).args(arguments);
    // Nobody is asked about the package.
    command
        .env("PATH", path)
        .env("OSV_ENDPOINT", "http://127.0.0.1:1/")
        .timeout(LONG)
}

// MCP-78, MCP-97
#[test]
fn a_package_is_installed_at_its_version_with_its_values_and_its_key_among_the_secrets() {
    let lab = Lab::new(Scenario::new());
    stand_in(&lab, "npx", &server(&lab));
    let values = [
        "--env",
        "N8N_API_URL=http://127.0.0.1:5678",
        "--env",
        "N8N_API_KEY=canary-key",
    ];
    let output = install(&lab, &["n8n"]).args(values).run().unwrap().ok();
    assert!(output.stdout.contains("n8n: saved"), "{}", output.stdout);
    assert!(
        output.stdout.contains("echo"),
        "its tools: {}",
        output.stdout
    );
    assert!(
        output.stdout.contains("Keys are made in n8n"),
        "what is left to do: {}",
        output.stdout
    );
    let asked = lab.lines("arguments");
    assert!(asked[0].starts_with("-y n8n-mcp@2."), "{asked:?}");
    let settings = lab.program.home.read("config.yaml").unwrap();
    for written in ["http://127.0.0.1:5678", "${N8N_API_KEY}", "MCP_MODE"] {
        assert!(settings.contains(written), "{settings}");
    }
    assert!(!settings.contains("canary"), "{settings}");
    let secrets = lab.program.home.read(".env").unwrap();
    assert!(secrets.contains("canary-key"));
    // What was chosen stays chosen when it is installed again.
    assert_eq!(lab.mcp(&["configure", "n8n", "--only", "echo"]).0, 0);
    install(&lab, &["n8n"]).run().unwrap().ok();
    let settings = lab.program.home.read("config.yaml").unwrap();
    assert!(settings.contains("include"), "{settings}");
}

// MCP-78, MCP-97
#[test]
fn a_repository_is_fetched_at_its_commit_and_nothing_is_saved_when_it_cannot_be() {
    let lab = Lab::new(Scenario::new());
    stand_in(&lab, "uv", &server(&lab));
    stand_in(&lab, "git", "echo 'fatal: no such host' >&2\nexit 128");
    let output = install(&lab, &["unreal-engine"]).run().unwrap();
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("no such host"), "{}", output.stderr);
    let settings = || lab.program.home.read("config.yaml").unwrap();
    assert!(!settings().contains("unreal"), "{}", settings());
    let folder = lab.program.home.path().join("mcp-installs/unreal-engine");
    assert!(!folder.exists());
    // One that notes what it is asked for, and makes the folder.
    let notes = lab.state.join("git").display().to_string();
    let git = format!(
        "echo \"$@\" >> '{notes}'\nfor last; do :; done\ncase \"$*\" in *' init '*) mkdir -p \"$last\";; esac"
    );
    stand_in(&lab, "git", &git);
    let output = install(&lab, &["unreal-engine"]).run().unwrap().ok();
    let asked = lab.lines("git").join("\n");
    let commit =
        "https://github.com/chongdashu/unreal-mcp.git 1b5d900295b7815653737da87329944dfcd9f8c6";
    assert!(asked.contains(commit), "{asked}");
    let python = format!("{}/Python", folder.display());
    assert!(settings().contains(&python), "{}", settings());
    assert!(output.stdout.contains("Plugins"), "{}", output.stdout);
}

// MCP-97
#[test]
fn a_program_whose_installation_was_killed_is_fetched_anew() {
    let lab = Lab::new(Scenario::new());
    stand_in(&lab, "uv", &server(&lab));
    // It makes half of the folder; the last step finds nobody to report to.
    let made = "for last; do :; done\ncase \"$*\" in *' init '*) mkdir -p \"$last\" && touch \"$last/half\";; ";
    stand_in(
        &lab,
        "git",
        &format!("{made}*' checkout '*) kill -9 $PPID;; esac"),
    );
    let killed = install(&lab, &["unreal-engine"]).run().unwrap();
    assert_ne!(killed.code, Some(0), "{}", killed.report());
    let folder = lab.program.home.path().join("mcp-installs/unreal-engine");
    assert!(folder.join("half").exists());
    let settings = || lab.program.home.read("config.yaml").unwrap();
    assert!(!settings().contains("unreal"), "{}", settings());

    let notes = lab.state.join("git").display().to_string();
    let whole = made.replace("half", "whole");
    stand_in(
        &lab,
        "git",
        &format!("echo \"$@\" >> '{notes}'\n{whole}esac"),
    );
    install(&lab, &["unreal-engine"]).run().unwrap().ok();
    assert!(folder.join("whole").exists() && !folder.join("half").exists());
    let fetched = lab.lines("git").len();
    // What is whole stays.
    install(&lab, &["unreal-engine"]).run().unwrap().ok();
    assert_eq!(lab.lines("git").len(), fetched);
}
