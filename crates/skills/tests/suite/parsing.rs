//! `SKILL.md` in every form that is accepted.

use hermes_skills::{Form, RequiredVariable, Skill};
use serde_json::json;

const FULL: &str = r#"---
name: report-maker
description: >
  Makes reports
  from tables.
version: 1.10
author: Ada
license: MIT
compatibility: Needs a network
platforms: [Linux, macos]
environments: docker
prerequisites:
  env_vars: [OLD_KEY, REPORT_KEY]
  commands: [pandoc, git]
required_environment_variables:
  - REPORT_KEY
  - name: REPORT_URL
    prompt: Where is it?
    help: https://example.org/keys
    required_for: sending
    optional: true
  - name: "not a name"
  - name: LD_PRELOAD
required_credential_files:
  - google_token.json
  - path: keys/report.json
    description: made by the vendor
setup:
  help: Sign up first.
  collect_secrets:
    - env_var: REPORT_TOKEN
      prompt: Token
      provider_url: https://example.org/token
      secret: true
    - env_var: REPORT_USER
      secret: false
allowed-tools: Bash(git add:*) Read, Write
unknown: [1, 2]
metadata:
  hermes:
    tags: [tables, office]
    related_skills: [pdf]
    category: office
    homepage: https://example.org
    requires_toolsets: [terminal]
    requires_tools: [read_file]
    fallback_for_toolsets: [web]
    fallback_for_tools: [web_search]
    config:
      - key: report.style
        description: The style
        default: plain
        prompt: Which style?
      - description: without a key
    blueprint:
      schedule: 0 9 * * *
      deliver: telegram
      prompt: Make the report
      no_agent: yes
      model: small
      provider: local
      enabled_toolsets: [terminal, file]
---

# Report

Do it.
"#;

// LN-26
#[test]
fn every_field_is_read() {
    let skill = Skill::parse(FULL, "directory");
    assert_eq!(skill.name, "report-maker");
    assert_eq!(skill.description, "Makes reports from tables.");
    assert_eq!(skill.version.as_deref(), Some("1.10"));
    assert_eq!(skill.author.as_deref(), Some("Ada"));
    assert_eq!(skill.license.as_deref(), Some("MIT"));
    assert_eq!(skill.compatibility.as_deref(), Some("Needs a network"));
    assert_eq!(skill.platforms, ["linux", "macos"]);
    assert_eq!(skill.environments, ["docker"]);
    assert_eq!(skill.commands, ["pandoc", "git"]);
    assert_eq!(skill.allowed_tools, ["Bash(git add:*)", "Read", "Write"]);
    assert_eq!(skill.tags, ["tables", "office"]);
    assert_eq!(skill.related_skills, ["pdf"]);
    assert_eq!(skill.setup.help.as_deref(), Some("Sign up first."));
    assert_eq!(skill.setup.secrets.len(), 2);
    assert_eq!(skill.body, "# Report\n\nDo it.\n");
    assert_eq!(skill.form, Form::Yaml);
    assert_eq!(
        skill.metadata.as_ref().map(|all| &all["hermes"]["tags"]),
        Some(&json!(["tables", "office"]))
    );
}

// LN-26
#[test]
fn what_a_skill_needs_is_one_list_without_names_no_shell_could_use() {
    let skill = Skill::parse(FULL, "directory");
    let names: Vec<&str> = skill
        .required_variables
        .iter()
        .map(|variable| variable.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "REPORT_KEY",
            "REPORT_URL",
            "REPORT_TOKEN",
            "REPORT_USER",
            "OLD_KEY"
        ]
    );
    let named = |name: &str| -> &RequiredVariable {
        let mut all = skill.required_variables.iter();
        all.find(|variable| variable.name.as_str() == name).unwrap()
    };
    let url = named("REPORT_URL");
    assert_eq!(url.prompt.as_deref(), Some("Where is it?"));
    assert_eq!(url.help.as_deref(), Some("https://example.org/keys"));
    assert_eq!(url.required_for.as_deref(), Some("sending"));
    assert!(url.optional && url.secret);
    let token = named("REPORT_TOKEN");
    assert_eq!(token.help.as_deref(), Some("https://example.org/token"));
    assert!(token.secret && !token.optional);
    assert!(!named("REPORT_USER").secret);
    let files: Vec<(&str, Option<&str>)> = skill
        .credential_files
        .iter()
        .map(|file| (file.path.as_str(), file.description.as_deref()))
        .collect();
    assert_eq!(
        files,
        [
            ("google_token.json", None),
            ("keys/report.json", Some("made by the vendor"))
        ]
    );
}

// LN-26
#[test]
fn our_own_fields_stand_below_metadata() {
    let hermes = Skill::parse(FULL, "directory").hermes;
    assert_eq!(hermes.category.as_deref(), Some("office"));
    assert_eq!(hermes.homepage.as_deref(), Some("https://example.org"));
    assert_eq!(hermes.requires_toolsets, ["terminal"]);
    assert_eq!(hermes.requires_tools, ["read_file"]);
    assert_eq!(hermes.fallback_for_toolsets, ["web"]);
    assert_eq!(hermes.fallback_for_tools, ["web_search"]);
    assert_eq!(hermes.config.len(), 1);
    let item = &hermes.config[0];
    assert_eq!(item.key, "report.style");
    assert_eq!(item.description.as_deref(), Some("The style"));
    assert_eq!(item.default, Some(json!("plain")));
    assert_eq!(item.prompt.as_deref(), Some("Which style?"));
    let blueprint = hermes.blueprint.unwrap();
    assert_eq!(blueprint.schedule.as_deref(), Some("0 9 * * *"));
    assert_eq!(blueprint.deliver.as_deref(), Some("telegram"));
    assert_eq!(blueprint.prompt.as_deref(), Some("Make the report"));
    assert!(blueprint.no_agent);
    assert_eq!(blueprint.model.as_deref(), Some("small"));
    assert_eq!(blueprint.provider.as_deref(), Some("local"));
    assert_eq!(blueprint.enabled_toolsets, ["terminal", "file"]);
}

// LN-26
#[test]
fn a_skill_of_the_open_standard_needs_nothing_of_ours() {
    let skill = Skill::parse(
        "---\nname: pdf-processing\ndescription: Reads PDFs.\nlicense: Apache-2.0\ncompatibility: Any\nmetadata:\n  author: someone\n  version: \"1.0\"\nallowed-tools: Bash(jq:*) Read\ntags: [pdf]\n---\nText",
        "pdf-processing",
    );
    assert_eq!(skill.name, "pdf-processing");
    assert_eq!(skill.allowed_tools, ["Bash(jq:*)", "Read"]);
    assert_eq!(skill.tags, ["pdf"]);
    assert_eq!(
        skill.metadata,
        Some(json!({"author": "someone", "version": "1.0"}))
    );
    assert_eq!(skill.hermes, hermes_skills::Hermes::default());
}

// LN-26
#[test]
fn byte_order_marks_and_line_ends_of_windows_change_nothing() {
    let plain = Skill::parse(FULL, "directory");
    let windows = format!("\u{feff}{}", FULL.replace('\n', "\r\n"));
    let mut read = Skill::parse(&windows, "directory");
    assert_eq!(read.body, "# Report\r\n\r\nDo it.\r\n");
    read.body = plain.body.clone();
    assert_eq!(read, plain);
}

// LN-26
#[test]
fn broken_yaml_costs_only_the_broken_field() {
    let skill = Skill::parse(
        "---\nname: fixer\ndescription: Use when: things break\nplatforms: [linux]\nmetadata:\n  hermes:\n    requires_tools: [terminal]\n\tbad: [\n---\nText",
        "fixer",
    );
    assert_eq!(skill.form, Form::Lines);
    assert_eq!(skill.description, "Use when: things break");
    assert_eq!(skill.platforms, ["linux"]);
}

// LN-26
#[test]
fn what_is_missing_comes_from_the_directory_and_the_text() {
    let skill = Skill::parse("# Title\n\n  First line.\nSecond.", "my-skill");
    assert_eq!(skill.form, Form::Absent);
    assert_eq!(skill.name, "my-skill");
    assert_eq!(skill.description, "First line.");
    let long = format!(
        "---\nname: {}\ndescription: \"{}\"\n---\n",
        "n".repeat(70),
        "d".repeat(2_000)
    );
    let skill = Skill::parse(&long, "x");
    assert_eq!(skill.name.chars().count(), 64);
    assert_eq!(skill.description.chars().count(), 1_024);
    let broken = Skill::parse("---\nname: \"a\\nb\"\n---\n", "x");
    assert_eq!(broken.name, "a b");
}
