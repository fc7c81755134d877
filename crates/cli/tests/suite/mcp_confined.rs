//! What the programs of MCP servers may touch.

use std::path::Path;

use hermes_testkit::model_server::Scenario;
use serde_json::{Value as Json, json};

use super::mcp_lab::{LONG, Lab, fixture};

/// Calls a server's `echo` in a workspace, with a home of the user that has keys in it.
fn called(lab: &Lab, user: &Path, workspace: &Path, server: &str, arguments: &Json) -> String {
    let arguments = arguments.to_string();
    let all = ["mcp", "call", server, "echo", "--args", &arguments];
    let command = lab.program.command(&all).env("HOME", user);
    let output = command.current_dir(workspace).timeout(LONG).run().unwrap();
    let answer: Json = serde_json::from_str(&output.stdout).unwrap_or_default();
    let said = answer["answer"]["result"].as_str();
    said.unwrap_or_else(|| panic!("{output:?}")).to_owned()
}

// EX-58
#[test]
fn a_confined_server_keeps_to_the_workspace_and_sees_no_keys() {
    let lab = Lab::new(Scenario::new());
    let [workspace, user] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let key = user.path().join(".ssh/id");
    std::fs::create_dir(user.path().join(".ssh")).unwrap();
    std::fs::write(&key, "a private key").unwrap();
    let outside = format!("/var/hermes-mcp-planted-{}", std::process::id());
    let entry = |name: &str, more: &str| {
        format!(
            "  {name}:\n    command: python3\n    args: ['{}']\n    env: {{MCP_STATE: '{}'}}\n{more}",
            fixture().display(),
            workspace.path().display(),
        )
    };
    let servers = [
        entry("own", ""),
        entry("stranger", "    trust: untrusted\n"),
        entry("confined", "    sandbox: workspace-write\n"),
        entry("reader", "    sandbox: read-only\n"),
        entry("let-out", "    trust: untrusted\n    sandbox: 'off'\n"),
    ];
    lab.more(&format!("mcp_servers:\n{}", servers.concat()));
    let call = |server: &str, arguments: Json| {
        called(&lab, user.path(), workspace.path(), server, &arguments)
    };
    for open in ["own", "let-out"] {
        assert_eq!(call(open, json!({ "read": key })), "a private key");
        assert_eq!(call(open, json!({ "write": outside })), "written");
        std::fs::remove_file(&outside).unwrap();
    }
    let inside = workspace.path().join("made");
    for shut in ["stranger", "confined"] {
        let read = call(shut, json!({ "read": key }));
        assert!(read.starts_with("not possible"), "{shut}: {read}");
        let wrote = call(shut, json!({ "write": outside }));
        assert!(wrote.starts_with("not possible"), "{shut}: {wrote}");
        assert!(!Path::new(&outside).exists());
        assert_eq!(call(shut, json!({ "write": inside })), "written");
        std::fs::remove_file(&inside).unwrap();
    }
    // It cannot even note that it started, and so it ends.
    let all = ["mcp", "call", "reader", "echo"];
    let command = lab.program.command(&all).current_dir(workspace.path());
    let output = command.timeout(LONG).run().unwrap();
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(output.code == Some(1), "{said}");
    let noted = lab.program.home.read("logs/mcp-stderr.log").unwrap();
    assert!(
        noted.contains("Read-only file system") || noted.contains("Permission denied"),
        "{noted}"
    );
}

// EX-58
#[test]
fn the_network_of_confined_servers_is_that_of_confined_commands() {
    let lab = Lab::new(Scenario::new());
    let [workspace, user] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let entry = |name: &str, more: &str| {
        format!(
            "  {name}:\n    command: python3\n    args: ['{}']\n    env: {{MCP_STATE: '{}'}}\n{more}",
            fixture().display(),
            workspace.path().display(),
        )
    };
    lab.more(&format!(
        "terminal: {{sandbox: {{network: 'off'}}}}\nmcp_servers:\n{}{}",
        entry("own", ""),
        entry("confined", "    sandbox: workspace-write\n"),
    ));
    let arguments = json!({ "connect": port });
    let call = |server: &str| called(&lab, user.path(), workspace.path(), server, &arguments);
    assert_eq!(call("own"), "connected");
    let shut = call("confined");
    assert!(shut.starts_with("not possible"), "{shut}");
}

// EX-52, EX-58: what the user forbids is forbidden to the programs of servers too.
#[test]
fn a_server_whose_command_line_the_user_forbids_is_not_started() {
    let lab = Lab::new(Scenario::new());
    let marker = lab.state.join("marker");
    lab.more(&format!(
        "approvals: {{deny: ['git push*']}}\nmcp_servers:\n  bad:\n    command: bash\n    \
         args: ['-c', 'touch {}; env git push origin']\n",
        marker.display()
    ));
    let (code, said) = lab.mcp(&["status", "--json"]);
    assert!(code >= 0, "{said:?}");
    let said = serde_json::to_string(&said).unwrap();
    assert!(
        said.contains("`approvals.deny` forbids `git push*`"),
        "{said}"
    );
    assert!(!marker.exists());
    let log = lab.program.run(&["policy", "log", "--json"]).ok();
    let log: Json = serde_json::from_str(&log.stdout).unwrap();
    let decision = &log["decisions"][0];
    let told = [
        &decision["outcome"],
        &decision["decided_by"],
        &decision["place"],
    ];
    assert_eq!(told, ["refused", "rule: git push*", "mcp bad"], "{log}");
    assert!(
        decision["action"]
            .as_str()
            .unwrap()
            .contains("env git push origin"),
        "{log}"
    );
}

// EX-58
#[test]
fn a_server_whose_command_line_is_hard_blocked_is_not_started() {
    let lab = Lab::new(Scenario::new());
    let marker = lab.state.join("marker");
    lab.more(&format!(
        "mcp_servers:\n  bad:\n    command: bash\n    args: ['-c', 'touch {}; true || rm -rf /']\n",
        marker.display()
    ));
    let (code, said) = lab.mcp(&["status", "--json"]);
    assert!(code >= 0, "{said:?}");
    let said = serde_json::to_string(&said).unwrap();
    assert!(said.contains("refused like any command"), "{said}");
    assert!(!marker.exists());
}
