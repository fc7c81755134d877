//! Skills through the binary: what the prompt says, what can be read and written, what comes with the program.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::hands::{Run, run_in};
use super::program::Program;

/// Adds a skill; `fields` are further lines of its head.
pub(super) fn skill(program: &Program, place: &str, description: &str, fields: &str, body: &str) {
    let name = place.rsplit('/').next().unwrap();
    let text = format!("---\nname: {name}\ndescription: {description}\n{fields}---\n\n{body}\n");
    let path = format!("skills/{place}/SKILL.md");
    program.home.write(&path, text).unwrap();
}

/// What a model is told before anything is said.
pub(super) fn system(request: &Json) -> String {
    let first = &request["messages"][0];
    assert_eq!(first["role"], "system", "{request}");
    first["content"].as_str().unwrap().to_owned()
}

/// The list of skills in a prompt.
fn listed(prompt: &str) -> Vec<&str> {
    let Some((_, list)) = prompt.split_once("<available_skills>\n") else {
        return Vec::new();
    };
    let (list, _) = list.split_once("</available_skills>").unwrap();
    list.lines().collect()
}

/// A server that always answers the same.
pub(super) fn talkative() -> ModelServer {
    ModelServer::start(Scenario::new().reply(Step::new(text("fine")).repeat())).unwrap()
}

// LN-27
#[test]
fn the_prompt_lists_skills_that_are_of_use_the_same_way_every_time() {
    let server = talkative();
    let program = with_model(&server.base_url());
    skill(&program, "office/report", &"d".repeat(80), "", "Do it.");
    skill(&program, "office/mail", "Answers mail", "", "Do it.");
    skill(&program, "plain", "No category", "", "Do it.");
    skill(&program, "for-mac", "x", "platforms: [macos]\n", "Do it.");
    skill(&program, "off", "x", "", "Do it.");
    let needs = "metadata:\n  hermes:\n    requires_tools: [no_such_tool]\n";
    skill(&program, "needs", "x", needs, "Do it.");
    let instead = "metadata:\n  hermes:\n    fallback_for_toolsets: [terminal]\n";
    skill(&program, "instead", "x", instead, "Do it.");
    program
        .home
        .write(
            "skills/office/DESCRIPTION.md",
            "---\ndescription: Papers\n---\n",
        )
        .unwrap();
    let config = program.home.read("config.yaml").unwrap();
    let config = format!("{config}skills: {{disabled: ['off']}}\n");
    program.home.write_config(&config).unwrap();
    for _ in 0..2 {
        program.run(&["-z", "hello"]).ok();
    }
    let requests = server.requests();
    let prompts: Vec<String> = requests
        .iter()
        .map(|one| system(one.expect_json()))
        .collect();
    let cut = format!("- report: {}...", "d".repeat(57));
    assert_eq!(
        listed(&prompts[0]),
        [
            "general:",
            "- plain: No category",
            "office: Papers",
            "- mail: Answers mail",
            &cut
        ]
    );
    assert_eq!(prompts[0], prompts[1], "byte for byte");
    let offered = requests[0].expect_json()["tools"].to_string();
    for tool in ["skills_list", "skill_view", "skill_manage"] {
        assert!(offered.contains(tool), "{tool}");
    }
    // Without the tools there is nothing to say.
    program.run(&["-z", "hello", "--toolsets", "terminal"]).ok();
    let last = server.requests().pop().unwrap();
    assert!(!system(last.expect_json()).contains("available_skills"));
}

pub(super) fn run(prepare: impl FnOnce(&Program), more: &str, calls: &[(&str, Json)]) -> Run {
    let prepare = |program: Program, _: &mut Vec<_>| {
        prepare(&program);
        program
    };
    run_in(prepare, more, calls, &[])
}

/// What the tools answered, without what the engine remarked about calls that fail again and again.
pub(super) fn answers(run: &Run) -> Vec<Json> {
    let results = run.results.iter();
    results
        .map(|result| match result {
            Json::String(text) => {
                let answer = text.split("\n\n[").next().unwrap_or_default();
                serde_json::from_str(answer).unwrap_or_else(|_| result.clone())
            }
            other => other.clone(),
        })
        .collect()
}

fn view(name: &str) -> (&'static str, Json) {
    ("skill_view", json!({ "name": name }))
}

fn view_file(name: &str, path: &str) -> (&'static str, Json) {
    ("skill_view", json!({"name": name, "file_path": path}))
}

/// An answer without the remark that may follow it when calls fail again and again.
fn unremarked(result: &Json) -> Json {
    let answer = result
        .as_str()
        .and_then(|text| text.split("\n\n[Note:").next());
    let answer = answer.and_then(|text| serde_json::from_str(text).ok());
    answer.unwrap_or_else(|| result.clone())
}

// LN-28
#[test]
fn skills_are_listed_and_read_and_nothing_else_is() {
    let prepare = |program: &Program| {
        skill(
            program,
            "office/report",
            "Makes reports",
            "tags: [a]\nrelated_skills: [mail]\ncompatibility: any\n",
            "Run ${HERMES_SKILL_DIR}/scripts/make.sh in ${HERMES_SESSION_ID}.",
        );
        skill(program, "office/same", "one", "", "Do it.");
        skill(program, "home/same", "two", "", "Do it.");
        let write = |path: &str, text: &str| program.home.write(path, text).unwrap();
        write(
            "skills/office/report/scripts/make.sh",
            "#!/bin/sh\necho made\n",
        );
        write("skills/office/report/references/style.md", "Be brief.");
        write("secret.txt", "not for you");
        let root = program.home.path().join("skills/office/report");
        symlink(program.home.path(), root.join("assets")).unwrap();
        symlink(
            program.home.path().join("secret.txt"),
            root.join("templates"),
        )
        .unwrap();
    };
    let run = run(
        prepare,
        "",
        &[
            ("skills_list", json!({})),
            ("skills_list", json!({"category": "office"})),
            ("skills_list", json!({"query": "reports please"})),
            view("report"),
            view_file("report", "references/style.md"),
            view_file("report", "../../../secret.txt"),
            view_file("report", "/etc/passwd"),
            view_file("report", "assets/secret.txt"),
            view_file("report", "templates"),
            view_file("report", "references/none.md"),
            view("same"),
            view("home/same"),
            view("nothing"),
        ],
    );
    let results: Vec<Json> = run.results.iter().map(unremarked).collect();
    let [
        all,
        office,
        found,
        report,
        style,
        up,
        root,
        link,
        file,
        none,
        same,
        home,
        nothing,
    ] = &results[..]
    else {
        panic!("{:?}", run.results);
    };
    assert_eq!((&all["success"], &all["count"]), (&json!(true), &json!(3)));
    assert_eq!(all["categories"], json!(["home", "office"]));
    assert_eq!(office["count"], 2);
    assert_eq!(found["skills"][0]["name"], "report");
    assert_eq!(found["skills"][0]["category"], "office");
    assert_eq!(report["success"], true, "{report}");
    let directory = run.program.home.path().join("skills/office/report");
    let content = report["content"].as_str().unwrap();
    let script = directory.join("scripts/make.sh");
    assert!(content.contains(script.to_str().unwrap()), "{content}");
    assert!(!content.contains("${"), "{content}");
    for (field, value) in [
        ("name", json!("report")),
        ("description", json!("Makes reports")),
        ("tags", json!(["a"])),
        ("related_skills", json!(["mail"])),
        ("compatibility", json!("any")),
        ("skill_dir", json!(directory.display().to_string())),
        ("readiness_status", json!("available")),
        ("setup_needed", json!(false)),
        ("missing_required_environment_variables", json!([])),
    ] {
        assert_eq!(report[field], value, "{field}");
    }
    assert_eq!(
        report["linked_files"]["scripts"],
        json!(["scripts/make.sh"])
    );
    assert_eq!(style["content"], "Be brief.");
    assert_eq!(style["file_type"], ".md");
    for refused in [up, root, link, file, none] {
        assert_eq!(refused["success"], false, "{refused}");
        assert!(!refused.to_string().contains("not for you"), "{refused}");
    }
    let none = none.to_string();
    let files = r#""available_files":["references/style.md","scripts/make.sh"]"#;
    assert!(none.contains(files), "{none}");
    assert_eq!(same["matches"], json!(["home/same", "office/same"]));
    assert_eq!(home["description"], "two");
    let names = nothing["available_skills"].to_string();
    assert!(
        names.contains("report") && names.contains("same"),
        "{names}"
    );
    let usage: Json =
        serde_json::from_str(&run.program.home.read("skills/.usage.json").unwrap()).unwrap();
    assert_eq!(usage["report"]["view_count"], 1);
    assert_eq!(usage["report"]["use_count"], 1);
}

pub(super) fn text_of(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}\n---\n\n{body}\n")
}

fn version(folder: &Path, skills: &[(&str, &str)]) {
    for (place, says) in skills {
        let name = place.rsplit('/').next().unwrap();
        let file = folder.join(place).join("SKILL.md");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text_of(name, says)).unwrap();
    }
}

// LN-34
#[test]
fn skills_of_the_program_come_into_a_home_and_the_owner_keeps_what_they_changed() {
    let server = talkative();
    let program = with_model(&server.base_url());
    let shipped = tempfile::tempdir().unwrap();
    let (first, second) = (shipped.path().join("1"), shipped.path().join("2"));
    version(
        &first,
        &[("a/kept", "one"), ("a/mine", "one"), ("a/gone", "one")],
    );
    version(
        &second,
        &[
            ("a/kept", "two"),
            ("a/mine", "two"),
            ("a/gone", "two"),
            ("a/new", "two"),
        ],
    );
    let run = |folder: &Path, arguments: &[&str]| {
        let command = program.command(arguments);
        command
            .env("HERMES_BUNDLED_SKILLS", folder)
            .run()
            .unwrap()
            .ok()
    };
    run(&first, &["--version"]);
    run(&first, &["-z", "hello", "--toolsets", "terminal"]);
    let skills = program.home.path().join("skills");
    assert!(!skills.exists(), "nobody needed any");
    run(&first, &["-z", "hello"]);
    let says = |place: &str| {
        let text = fs::read_to_string(skills.join(place).join("SKILL.md")).ok()?;
        Some(text.trim().lines().last()?.to_owned())
    };
    assert_eq!(says("a/kept").as_deref(), Some("one"));
    let prompt = system(server.requests().pop().unwrap().expect_json());
    assert_eq!(
        listed(&prompt),
        [
            "a:",
            "- gone: About gone",
            "- kept: About kept",
            "- mine: About mine"
        ],
        "they are there for the first conversation"
    );
    fs::write(skills.join("a/mine/SKILL.md"), text_of("mine", "changed")).unwrap();
    fs::remove_dir_all(skills.join("a/gone")).unwrap();
    run(&second, &["-z", "hello"]);
    assert_eq!(says("a/kept").as_deref(), Some("two"));
    assert_eq!(says("a/mine").as_deref(), Some("changed"));
    assert_eq!(says("a/gone"), None);
    assert_eq!(says("a/new").as_deref(), Some("two"));
    let log = fs::read_to_string(program.home.path().join("logs/agent.log")).unwrap_or_default();
    assert!(log.contains("mine"), "the conflict is told: {log}");
}

// LN-31, CL-21
#[test]
fn skills_can_be_preloaded_and_unknown_ones_are_told() {
    let server = talkative();
    let program = with_model(&server.base_url());
    skill(
        &program,
        "office/report",
        "Makes reports",
        "",
        "Always use a table.",
    );
    skill(&program, "mail", "Answers mail", "", "Be polite.");
    let output = program
        .run(&["-z", "hello", "--skills", "report,nothing", "-s", "mail"])
        .ok();
    assert!(output.stderr.contains("nothing"), "{}", output.stderr);
    let prompt = system(server.requests().pop().unwrap().expect_json());
    assert!(prompt.contains("Always use a table.") && prompt.contains("Be polite."));
    let failed = program
        .run(&["-z", "hello", "--skills", "nothing,more"])
        .code(2);
    assert!(
        failed.stderr.contains("there is no skill nothing"),
        "{}",
        failed.stderr
    );
    assert_eq!(server.requests().len(), 1, "nothing was asked");
    program
        .run(&["-z", "hello", "--skills", "report", "--ignore-rules"])
        .ok();
    let prompt = system(server.requests().pop().unwrap().expect_json());
    assert!(!prompt.contains("Always use a table."));
}

// LN-31
#[test]
fn bundles_are_made_listed_and_deleted() {
    let program = Program::new();
    skill(&program, "mail", "Answers mail", "", "Be polite.");
    let made = program
        .run(&[
            "bundles",
            "create",
            "Morning Round",
            "mail",
            "later",
            "--instruction",
            "Mail first.",
        ])
        .ok();
    assert!(
        made.stdout.contains("there is no skill later"),
        "{}",
        made.stdout
    );
    assert!(
        made.stdout.contains("/morning-round is in "),
        "{}",
        made.stdout
    );
    let listed = program.run(&["bundles", "list", "--json"]).ok().json();
    assert_eq!(listed["bundles"][0]["name"], "morning-round");
    assert_eq!(listed["bundles"][0]["skills"], json!(["mail", "later"]));
    let shown = program.stdout(&["bundles", "show", "morning_round"]);
    assert!(shown.contains("Mail first."), "{shown}");
    program
        .run(&["bundles", "create", "morning-round", "mail"])
        .code(2);
    program.run(&["bundles", "delete", "morning-round"]).ok();
    program.run(&["bundles", "delete", "morning-round"]).code(2);
    let elsewhere = program.command(&["bundles", "create", "x", "mail"]);
    let elsewhere = elsewhere.env("HERMES_BUNDLES_DIR", program.home.workspace());
    elsewhere.run().unwrap().ok();
    assert!(program.home.workspace().join("x.yaml").exists());
}

// LN-28
#[test]
fn skills_of_a_plugin_carry_its_name() {
    let run = run(
        |program| {
            let mail = super::skills_lab::skill("sort", "Sort by sender.");
            let home = &program.home;
            home.write("plugins/mail/skills/sort/SKILL.md", &mail)
                .unwrap();
            home.write("plugins/off/skills/hidden/SKILL.md", &mail)
                .unwrap();
            skill(program, "sort", "Sorts files", "", "Sort by date.");
        },
        "plugins: {enabled: [mail, 'off', ../mail], disabled: ['off']}\n",
        &[
            ("skill_view", json!({"name": "mail:sort"})),
            ("skill_view", json!({"name": "sort"})),
            ("skill_view", json!({"name": "off:hidden"})),
        ],
    );
    let results = answers(&run);
    let text = |at: usize| results[at]["content"].as_str().unwrap_or_default();
    assert!(text(0).contains("Sort by sender."), "{}", results[0]);
    assert!(text(1).contains("Sort by date."), "{}", results[1]);
    assert_eq!(results[2]["success"], false, "{}", results[2]);
    let listed = run.program.run(&["skills", "list", "--json"]).ok().json();
    let names = listed["skills"].as_array().unwrap().iter();
    let names: Vec<&str> = names.filter_map(|one| one["name"].as_str()).collect();
    assert!(
        names.contains(&"mail:sort") && names.contains(&"sort"),
        "{names:?}"
    );
}
