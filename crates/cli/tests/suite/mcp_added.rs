//! `hermes mcp add`: what is probed, what is written, and what is kept of a server that cannot be reached.

use hermes_testkit::mcp_server::{McpServer, Profile};
use hermes_testkit::model_server::Scenario;

use super::mcp_lab::{LONG, Lab, fixture};

// MCP-52
#[test]
fn a_server_is_probed_with_its_variables_filled_in_and_written_with_their_names() {
    let server = McpServer::start(Profile::default()).unwrap();
    let lab = Lab::new(Scenario::new());
    let base = format!("BASE={}\n", server.url(""));
    lab.program.home.write(".env", base).unwrap();
    let add = ["mcp", "add", "far", "--url", "${BASE}/mcp", "--yes"];
    let output = lab.program.command(&add).timeout(LONG).run().unwrap().ok();
    assert!(output.stdout.contains("echo"), "{}", output.stdout);
    let program = fixture().display().to_string();
    let add = lab.program.command(&[
        "mcp",
        "add",
        "own",
        "--yes",
        "--command",
        "python3",
        "--env",
        "MCP_STATE=${env:PLACE}",
        "--env",
        "MCP_EXTRA=${NOWHERE}",
        "--args",
        &program,
    ]);
    let add = add.env("PLACE", lab.state.display().to_string());
    let output = add.timeout(LONG).run().unwrap().ok();
    assert_eq!(lab.lines("starts").len(), 1, "it found its folder");
    assert!(
        output
            .stderr
            .contains("env.MCP_EXTRA of own refers to NOWHERE"),
        "{}",
        output.stderr
    );
    let settings = lab.program.home.read("config.yaml").unwrap();
    for written in ["${BASE}/mcp", "${env:PLACE}", "${NOWHERE}"] {
        assert!(settings.contains(written), "{settings}");
    }
    assert!(!settings.contains("\n    enabled: "), "{settings}");
    // What is wrong at the address is said without the value.
    let secret = "HOST=http://127.0.0.1:1/canary-path\n";
    lab.program.home.write(".env", secret).unwrap();
    let add = ["mcp", "add", "gone", "--url", "${HOST}/mcp", "--yes"];
    let output = lab.program.command(&add).timeout(LONG).run().unwrap();
    assert_eq!(output.code, Some(1));
    assert!(!output.stderr.contains("canary"), "{}", output.stderr);
    let next = "whether its address is right";
    assert!(output.stderr.contains(next), "{}", output.stderr);
}

// MCP-78
#[test]
fn a_server_that_cannot_be_signed_in_to_is_kept_switched_off_when_that_is_asked_for() {
    let lab = Lab::new(Scenario::new());
    let url = "http://127.0.0.1:1/mcp";
    let add = ["mcp", "add", "far", "--url", url, "--auth", "oauth"];
    let run = |more: &[&str]| {
        let command = lab.program.command(&add).args(more);
        let output = command.timeout(LONG).run().unwrap();
        (output.code, output.stdout, output.stderr)
    };
    let settings = || lab.program.home.read("config.yaml").unwrap();
    let (code, _, stderr) = run(&[]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("nothing was saved"), "{stderr}");
    assert!(!settings().contains("far"), "{}", settings());
    let (code, stdout, _) = run(&["--yes"]);
    assert_eq!(code, Some(1), "it is no success");
    assert!(stdout.contains("hermes mcp login far"), "{stdout}");
    let (_, listed) = lab.mcp(&["list", "--json"]);
    let row = &listed[0]["servers"][0];
    assert_eq!(row["name"], "far");
    assert_eq!(row["enabled"], false);
    assert_eq!(row["auth"], "needs login");
}
