//! The suite of the protocol's authors, against our client.

use std::path::Path;
use std::process::Command;

// MCP-66, MCP-75
#[test]
fn every_client_scenario_of_the_conformance_suite_passes() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/conformance");
    let binary = Path::new(env!("CARGO_BIN_EXE_mcp-conformance"));
    let output = Command::new(script)
        .arg("client")
        .env("CONFORMANCE_BINARIES", binary.parent().unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complaints}");
    assert!(said.contains("26 passed, 0 failed"), "{said}");
}
