//! `hermes security audit`

use hermes_testkit::Output;
use hermes_testkit::model_server::Scenario;
use serde_json::{Value as Json, json};

use super::mcp_lab::{LONG, Lab};
use super::mcp_malware::List;

fn audit(lab: &Lab, list: &List, flags: &[&str]) -> Output {
    let command = lab.program.command(&["security", "audit"]).args(flags);
    let command = command.env("OSV_ENDPOINT", &list.url).timeout(LONG);
    command.run().unwrap()
}

fn lab(servers: &str) -> Lab {
    let lab = Lab::new(Scenario::new());
    lab.more(&format!("mcp_servers:\n{servers}"));
    lab
}

const SERVERS: &str = "  one:\n    command: uvx\n    args: ['--from', shaky==1.0.0, shaky-server]\n  \
                       two:\n    command: npx\n    args: ['-y', open]\n    enabled: false\n  \
                       three:\n    command: npx\n    args: ['-y', fine@2.0.0]\n  \
                       four:\n    url: 'http://127.0.0.1:1/mcp'\n";

// MCP-96
#[test]
fn packages_at_a_fixed_version_are_looked_up_and_the_others_are_named() {
    let list = List::start();
    let lab = lab(SERVERS);
    let output = audit(&lab, &list, &["--json"]).ok();
    let report: Json = serde_json::from_str(&output.stdout).unwrap();
    let packages = report["packages"].as_array().unwrap();
    assert_eq!(packages.len(), 2, "{report}");
    let shaky = &packages[0];
    assert_eq!(shaky["server"], "one");
    assert_eq!(
        (&shaky["ecosystem"], &shaky["version"]),
        (&json!("PyPI"), &json!("1.0.0"))
    );
    // The worst comes first.
    let found: Vec<(&Json, &Json)> = shaky["advisories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (&one["id"], &one["severity"]))
        .collect();
    assert_eq!(
        found,
        [
            (&json!("GHSA-1"), &json!("high")),
            (&json!("PYSEC-2"), &json!("low"))
        ]
    );
    assert_eq!(packages[1]["advisories"], json!([]));
    let open = report["unpinned"].as_array().unwrap();
    assert_eq!((open.len(), &open[0]["package"]), (1, &json!("open")));
    let mut asked = list.asked();
    asked.sort();
    assert_eq!(asked, ["fine", "shaky"], "nobody is asked about the newest");
    let shown = audit(&lab, &list, &[]).ok().stdout;
    for part in [
        "GHSA-1",
        "high",
        "reads any file",
        "npm:open is fetched in whatever",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

// MCP-96
#[test]
fn the_audit_fails_at_the_level_it_is_told_and_when_nobody_answers() {
    let list = List::start();
    let lab_ = lab(SERVERS);
    for (level, code) in [("low", 1), ("high", 1), ("critical", 0)] {
        let output = audit(&lab_, &list, &["--fail-on", level]);
        assert_eq!(output.code, Some(code), "{level}: {output:?}");
    }
    assert_eq!(audit(&lab_, &list, &["--fail-on", "bad"]).code, Some(2));
    let before = list.asked().len();
    let left_out = audit(&lab_, &list, &["--skip-mcp", "--fail-on", "low"]).ok();
    assert!(left_out.stdout.contains("left out"), "{left_out:?}");
    assert_eq!(list.asked().len(), before);
    let evil = lab("  bad:\n    command: npx\n    args: [evil@1.0.0]\n");
    let output = audit(&evil, &list, &["--fail-on", "critical"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.contains("MAL-1"), "{}", output.stdout);
    // What could not be looked up is no good news.
    let nobody = evil.program.command(&["security", "audit"]);
    let nobody = nobody
        .env("OSV_ENDPOINT", "http://127.0.0.1:1/")
        .timeout(LONG);
    let output = nobody.run().unwrap();
    assert_eq!(output.code, Some(1));
    assert!(
        output.stdout.contains("nobody could be asked"),
        "{output:?}"
    );
    assert!(output.stderr.contains("OSV_ENDPOINT"), "{}", output.stderr);
}
