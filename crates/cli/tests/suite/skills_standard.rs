//! The standard for skills, by its own validator: what comes with the program, and what the agent writes.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::hands::Run;
use super::mcp_strangers::python;
use super::program::Program;
use super::skills::{answers, run, text_of};
use super::skills_lab::Lab;

fn validated(skill: &Path) -> std::process::Output {
    // As `scripts/setup` installs it.
    let validator = python("agentskills");
    let said = Command::new(validator).arg("validate").arg(skill).output();
    said.unwrap()
}

#[track_caller]
fn is_valid(skill: &Path) {
    let said = validated(skill);
    assert!(
        said.status.success(),
        "{}: {}{}",
        skill.display(),
        String::from_utf8_lossy(&said.stdout),
        String::from_utf8_lossy(&said.stderr)
    );
}

// LN-26
#[test]
fn every_skill_that_comes_along_is_valid() {
    let program = Program::new();
    let list = program.command(&["skills", "list", "--source", "builtin", "--json"]);
    let listed = list.env("HERMES_BUNDLED_SKILLS", "").run().unwrap();
    let listed = listed.ok().json();
    let names = listed["skills"].as_array().unwrap();
    assert!(names.len() >= 25, "{}", names.len());
    let tree = program.home.tree().unwrap();
    let files: Vec<&String> = tree
        .keys()
        .filter(|path| path.starts_with("skills/") && path.ends_with("/SKILL.md"))
        .collect();
    assert_eq!(files.len(), names.len());
    for file in files {
        is_valid(program.home.path().join(file).parent().unwrap());
    }
}

// LN-26, LN-30
#[test]
fn what_the_agent_writes_is_valid_and_what_would_not_be_is_refused() {
    let full = "---\nname: full\ndescription: All fields\nlicense: MIT\ncompatibility: Linux\n\
                metadata:\n  hermes:\n    tags:\n      - a\n      - b\n---\n\nDo it.\n";
    let own = "---\nname: own-fields\ndescription: Ours\nmetadata:\n  hermes:\n    version: '1'\n\
               \x20   platforms:\n      - linux\n    requires_tools:\n      - terminal\n---\n\nDo it.\n";
    let made = |name: &str, content: &str| {
        let call = json!({"action": "create", "name": name, "content": content});
        ("skill_manage", call)
    };
    let run = run(
        |_| {},
        "",
        &[
            made("plain", &text_of("plain", "Do it.")),
            made("full", full),
            made("two-names", &text_of("other", "Do it.")),
            made("empty", "---\nname: empty\ndescription: x\n---\n\n"),
            made("own-fields", own),
        ],
    );
    assert_eq!(successes(&run), [true, true, false, false, true]);
    for name in ["plain", "full", "own-fields"] {
        is_valid(&run.program.home.path().join("skills").join(name));
    }
}

/// Whether each call did what it was to do.
fn successes(run: &Run) -> Vec<bool> {
    let results = answers(run);
    results
        .iter()
        .map(|result| result["success"] == true)
        .collect()
}

// LN-26, LN-30
#[test]
fn what_the_validator_rejects_the_agent_cannot_write() {
    let head = |name: &str, fields: &str| {
        format!("---\nname: {name}\ndescription: x\n{fields}---\n\nDo it.\n")
    };
    let long = format!("compatibility: {}\n", "x".repeat(600));
    let bad = [
        ("my_skill", ""),
        ("a.b", ""),
        ("a--b", ""),
        ("a-", ""),
        ("versioned", "version: '1.0'\n"),
        ("on-linux", "platforms:\n  - linux\n"),
        ("in-flow", "metadata:\n  tags: [x]\n"),
        ("mapped", "metadata:\n  hermes: {}\n"),
        ("anchored", "metadata:\n  a: &b c\n"),
        ("long", &long),
    ];
    let calls: Vec<_> = bad
        .iter()
        .map(|(name, fields)| {
            let content = head(name, fields);
            let call = json!({"action": "create", "name": name, "content": content});
            ("skill_manage", call)
        })
        .collect();
    let run = run(|_| {}, "", &calls);
    assert_eq!(successes(&run), vec![false; bad.len()], "{:?}", run.results);
    for (answer, (name, fields)) in answers(&run).iter().zip(bad) {
        assert!(answer["hint"].is_string(), "{name}: {answer}");
        let skill = run.program.home.path().join("rejected").join(name);
        std::fs::create_dir_all(&skill).unwrap();
        std::fs::write(skill.join("SKILL.md"), head(name, fields)).unwrap();
        let said = validated(&skill);
        assert!(!said.status.success(), "{name} is refused for nothing");
    }
}

// LN-26, LN-32
#[test]
fn an_agent_of_lobehub_becomes_a_valid_skill() {
    let lab = Lab::new();
    let agent = json!({
        "identifier": "My_Agent.v2", "author": "a: --- \"b\"",
        "meta": {"title": "T", "description": "use --- when: it breaks", "tags": ["x", "y]", "&z"]},
        "config": {"systemRole": "You write short letters."},
    });
    let path = "/lobe/My_Agent.v2.json";
    lab.hubs.page(path, "application/json", agent.to_string());
    lab.install("lobehub/My_Agent.v2").ok();
    is_valid(&lab.program.home.path().join("skills/my-agent-v2"));
}
