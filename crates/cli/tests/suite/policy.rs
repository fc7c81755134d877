//! `hermes policy`, through the binary.

use serde_json::{Value as Json, json};

use super::program::Program;

fn check(program: &Program, command: &str) -> Json {
    let output = program.run(&["policy", "check", "--json", "--", command]);
    serde_json::from_str(&output.ok().stdout).unwrap()
}

fn keys(value: &Json) -> Vec<&str> {
    let mut keys: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}

// EX-54
#[test]
fn a_check_says_what_would_become_of_a_command() {
    let program = Program::new();
    for (command, verdict, category) in [
        ("ls -l", "allow", None),
        ("rm -r build", "ask", Some("recursive-delete")),
        ("perf stat rm -rf /", "deny", Some("delete-system")),
        ("echo 'x", "ask", Some("unreadable")),
    ] {
        let found = check(&program, command);
        assert_eq!(
            keys(&found),
            [
                "brings_password",
                "categories",
                "commands",
                "findings",
                "isolation",
                "reason",
                "verdict"
            ]
        );
        assert_eq!(found["verdict"], verdict, "{found}");
        let Some(category) = category else {
            assert_eq!(found["findings"], json!([]));
            assert_eq!(found["reason"], "");
            continue;
        };
        let findings = found["findings"].as_array().unwrap();
        let finding = findings
            .iter()
            .find(|finding| finding["category"] == category);
        let finding = finding.unwrap_or_else(|| panic!("{found}"));
        assert_eq!(keys(finding), ["category", "reason", "severity", "span"]);
        assert_eq!(keys(&finding["span"]), ["end", "start"]);
        assert_ne!(found["reason"], "", "{found}");
    }
}

// EX-52
#[test]
fn a_check_follows_the_settings_and_names_them() {
    let program = Program::new();
    let settings = "approvals:\n  deny: ['git push*']\ncommand_allowlist: ['rm -r build']\n";
    program.home.write_config(settings).unwrap();
    for (command, verdict, setting) in [
        ("git push origin main", "deny", "approvals.deny"),
        ("rm -r build", "allow", "command_allowlist"),
        ("rm -r other", "ask", ""),
        ("rm -rf /", "deny", ""),
    ] {
        let found = check(&program, command);
        assert_eq!(found["verdict"], verdict, "{found}");
        let reason = found["reason"].as_str().unwrap();
        assert!(reason.contains(setting) && !reason.is_empty(), "{found}");
    }
    let told = program.stdout(&["policy", "check", "--", "git push"]);
    assert!(
        told.starts_with("deny: ") && told.contains("approvals.deny"),
        "{told}"
    );
}

// EX-53: the homes of all profiles are ours, whichever is in use.
#[test]
fn what_other_profiles_keep_is_asked_about_in_each() {
    let program = Program::new();
    program.run(&["profile", "create", "work"]).ok();
    let root = program.home.path();
    let root = root.display();
    for path in [
        "auth.json",
        "profiles/work/auth.json",
        "profiles/other/auth.json",
    ] {
        let command = format!("cat {root}/{path}");
        for profile in ["default", "work"] {
            let asked = ["-p", profile, "policy", "check", "--json", "--", &command];
            let found: Json = serde_json::from_str(&program.run(&asked).ok().stdout).unwrap();
            assert_eq!(found["verdict"], "ask", "{profile}: {found}");
        }
    }
}
