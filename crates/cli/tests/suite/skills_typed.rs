//! Skills at the terminal: called for by name, asked for their keys.

use std::fs;
use std::path::Path;
use std::time::Duration;

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, RecordedRequest, Scenario, Step, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::chat::with_model;
use super::program::Program;
use super::skills::skill;

const LIMIT: Duration = Duration::from_secs(60);

fn open(program: &Program) -> Terminal {
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 160, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    screen
}

fn leave(screen: &Terminal) {
    screen.send("/exit\r").unwrap();
    assert_eq!(screen.wait_exit(LIMIT).unwrap().code, 0);
}

/// A model that always answers, and titles.
fn set_up(more: &str) -> (ModelServer, Program) {
    let scenario = Scenario::new()
        .reply(Step::new(text("so be it")).when_tools_offered().repeat())
        .reply(Step::new(text("a title")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let config = program.home.read("config.yaml").unwrap();
    program
        .home
        .write_config(&format!("{config}{more}"))
        .unwrap();
    (server, program)
}

/// What was said last in the conversations of a server, one text for each.
fn said(server: &ModelServer) -> Vec<String> {
    let requests: Vec<RecordedRequest> = server.requests();
    requests
        .iter()
        .filter(|request| request.expect_json().get("tools").is_some())
        .map(|request| {
            let messages = request.expect_json()["messages"]
                .as_array()
                .unwrap()
                .clone();
            messages.last().unwrap()["content"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

fn after(server: &ModelServer, count: usize) -> String {
    let arrived = || (said(server).len() == count).then_some(());
    eventually(LIMIT, "a message", arrived).unwrap();
    said(server).pop().unwrap()
}

// LN-31
#[test]
fn skills_are_called_for_by_a_slash_stacked_and_in_bundles() {
    let (server, program) = set_up("skills: {config: {report: {style: terse}}}\n");
    let own =
        "metadata:\n  hermes:\n    config:\n      - key: report.style\n        default: plain\n";
    let body = "See @file:secret.txt and ${HERMES_SKILL_DIR}. Today: !`echo from-$((40+2))`";
    skill(&program, "office/Code_Review", "Reviews", own, body);
    skill(&program, "mail", "Answers mail", "", "Be polite.");
    skill(&program, "help", "Taken", "", "Never seen.");
    program
        .home
        .write("skills/mail/references/tone.md", "x")
        .unwrap();
    program
        .home
        .write_work("secret.txt", "not in a skill")
        .unwrap();
    let bundle = "name: Morning\nskills: [mail, Code_Review]\ninstruction: First the mail.\n";
    program.home.write("skill-bundles/m.yaml", bundle).unwrap();
    // A bundle wins over a skill of its name.
    skill(
        &program,
        "morning",
        "Hidden by the bundle",
        "",
        "Not this one.",
    );
    let screen = open(&program);

    screen
        .send("/code-review look at @file:secret.txt\r")
        .unwrap();
    let first = after(&server, 1);
    let directory = program.home.path().join("skills/office/Code_Review");
    assert!(
        first.starts_with("look at"),
        "what was typed comes first: {first}"
    );
    let (typed, added) = first.split_once("<chosen_skills>").unwrap();
    assert!(
        typed.contains("not in a skill"),
        "references of the person are read: {typed}"
    );
    assert!(
        !added.contains("not in a skill"),
        "those of a skill are not: {added}"
    );
    assert!(added.contains(directory.to_str().unwrap()), "{added}");
    assert!(
        added.contains("!`echo from-$((40+2))`"),
        "commands are off by default: {added}"
    );

    screen.send("/code_review /mail /nothing go\r").unwrap();
    let second = after(&server, 2);
    assert!(second.starts_with("/nothing go\n"), "{second}");
    assert!(second.contains("Be polite.") && second.contains("## Skill Code_Review"));
    assert!(second.contains("Setting report.style: terse"), "{second}");
    assert!(second.contains("references/tone.md"), "{second}");

    screen.send("/morning\r").unwrap();
    let third = after(&server, 3);
    assert!(
        third.contains("First the mail.") && third.contains("Be polite."),
        "{third}"
    );
    assert!(!third.contains("Not this one."));

    screen.send("/help\r").unwrap();
    screen.wait_for_text("/reload-skills", LIMIT).unwrap();
    skill(&program, "late", "Came later", "", "Late.");
    screen.send("/reload-skills\r").unwrap();
    screen.wait_for_text("New: late.", LIMIT).unwrap();
    screen.send("/bundles\r").unwrap();
    screen
        .wait_for_text("/morning: mail, Code_Review", LIMIT)
        .unwrap();
    screen.send("/skills find polite mail\r").unwrap();
    screen.wait_for_text("mail: Answers mail", LIMIT).unwrap();
    screen.send("/late\r").unwrap();
    assert!(after(&server, 4).contains("Late."));
    leave(&screen);
    assert_eq!(said(&server).len(), 4, "/help was a command");
    let usage = program.home.read("skills/.usage.json").unwrap();
    let usage: serde_json::Value = serde_json::from_str(&usage).unwrap();
    assert_eq!(usage["mail"]["use_count"], 2);
}

// LN-31, EX-58
#[test]
fn commands_in_a_skill_run_when_they_are_switched_on_and_under_the_rules() {
    let (server, program) = set_up(
        "skills: {inline_shell: true, inline_shell_timeout: 2}\napprovals: {mode: manual}\n",
    );
    let body = "Here: !`pwd`\nSum: !`echo from-$((40+2))`\nBad: !`rm -rf /`\nSlow: !`sleep 30`";
    skill(&program, "report", "Reports", "", body);
    let screen = open(&program);
    screen.send("/report go\r").unwrap();
    let sent = after(&server, 1);
    let directory = program.home.path().join("skills/report");
    assert!(
        sent.contains(&format!("Here: {}", directory.display())),
        "{sent}"
    );
    assert!(sent.contains("Sum: from-42"), "{sent}");
    assert!(sent.contains("Bad: [not run: "), "{sent}");
    assert!(
        sent.contains("Slow: [not run: no end within 2 s]"),
        "{sent}"
    );
    leave(&screen);
}

// LN-10, LN-30
#[test]
fn changes_of_skills_wait_until_somebody_looks() {
    let content = "---\nname: bake\ndescription: Bakes\n---\n\nHeat the oven.\n";
    let create = json!({"action": "create", "name": "bake", "content": content});
    let scenario = Scenario::new()
        .reply(Step::new(tool_call("skill_manage", create)).when_user("keep it"))
        .reply(Step::new(text("so be it")).when_tools_offered().repeat())
        .reply(Step::new(text("a title")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let screen = open(&program);
    screen.send("/skills approval on\r").unwrap();
    screen
        .wait_for_text("You are asked before a skill is changed.", LIMIT)
        .unwrap();
    screen.send("keep it\r").unwrap();
    screen.wait_for_text("so be it", LIMIT).unwrap();
    let file = program.home.path().join("skills/bake/SKILL.md");
    assert!(!file.exists());
    screen.send("/skills pending\r").unwrap();
    screen.wait_for_text("new skill bake", LIMIT).unwrap();
    let waiting = fs::read_dir(program.home.path().join("pending/skills")).unwrap();
    let waiting = waiting
        .flatten()
        .next()
        .unwrap()
        .file_name()
        .into_string()
        .unwrap();
    let id = waiting.strip_suffix(".json").unwrap();
    screen.send(&format!("/skills diff {id}\r")).unwrap();
    screen.wait_for_text("+Heat the oven.", LIMIT).unwrap();
    screen.send("/skills approve all\r").unwrap();
    eventually(LIMIT, "the skill", || file.exists().then_some(())).unwrap();
    screen.send("/skills reject deadbeef\r").unwrap();
    screen
        .wait_for_text("no change of skills waits under deadbeef", LIMIT)
        .unwrap();
    leave(&screen);
    assert_eq!(fs::read_to_string(file).unwrap(), content);
}

/// Every file below a directory that holds some bytes.
fn holding(directory: &Path, bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, bytes));
        } else if let Ok(content) = fs::read(&path)
            && content.windows(bytes.len()).any(|part| part == bytes)
        {
            found.push(path.display().to_string());
        }
    }
    found
}

// LN-29
#[test]
fn a_key_a_skill_asks_for_goes_to_the_file_of_secrets_and_nowhere_else() {
    const SECRET: &str = "hunter2-very-secret-value";
    let scenario = Scenario::new()
        .reply(Step::new(tool_call("skill_view", json!({"name": "report"}))).when_user("go"))
        .reply(
            Step::new(tool_call(
                "terminal",
                json!({"command": "printf %s \"$REPORT_KEY\" | wc -c; echo \"$REPORT_KEY\""}),
            ))
            .when_body("readiness_status"),
        )
        .reply(Step::new(text("so be it")).when_tools_offered().repeat())
        .reply(Step::new(text("a title")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let fields = "required_environment_variables:\n  - name: REPORT_KEY\n    prompt: The key of the service.\n    help: https://example.org/keys\n";
    skill(&program, "report", "Reports", fields, "Use the key.");
    let screen = open(&program);
    screen.send("go\r").unwrap();
    screen
        .wait_for_text("The skill report needs REPORT_KEY", LIMIT)
        .unwrap();
    screen.send(&format!("{SECRET}\r")).unwrap();
    let shown = screen.wait_for_text("so be it", LIMIT).unwrap();
    assert!(!shown.text().contains(SECRET), "{}", shown.text());
    leave(&screen);
    let env = program.home.read(".env").unwrap();
    assert_eq!(env, format!("REPORT_KEY={SECRET}\n"));
    assert_eq!(program.home.mode(".env").unwrap(), 0o600);
    let bodies: Vec<String> = server
        .requests()
        .iter()
        .map(|request| request.expect_json().to_string())
        .collect();
    for body in &bodies {
        assert!(!body.contains(SECRET), "a request holds it");
    }
    let viewed = bodies
        .iter()
        .find(|body| body.contains("readiness_status"))
        .unwrap();
    assert!(
        viewed.contains(r#"\"readiness_status\":\"available\""#),
        "{viewed}"
    );
    let ran = bodies
        .iter()
        .rfind(|body| body.contains(r#"\"output\""#))
        .unwrap();
    let length = SECRET.len().to_string();
    assert!(
        ran.contains(&format!(r#"\"output\":\"{length}\\n"#)),
        "commands see it: {ran}"
    );
    assert_eq!(
        holding(&program.home.path(), SECRET.as_bytes()),
        [program.home.path().join(".env").display().to_string()]
    );
}

// CL-19 LN-29
#[test]
fn a_key_that_nobody_types_lets_the_turn_go_on() {
    let scenario = Scenario::new()
        .reply(Step::new(tool_call("skill_view", json!({"name": "report"}))).when_user("go"))
        .reply(Step::new(text("so be it")).when_tools_offered().repeat())
        .reply(Step::new(text("a title")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let settings = program.home.read("config.yaml").unwrap();
    let settings = format!("{settings}approvals: {{timeout: 1}}\n");
    program.home.write_config(&settings).unwrap();
    let fields = "required_environment_variables: [REPORT_KEY]\n";
    skill(&program, "report", "Reports", fields, "Use the key.");
    let screen = open(&program);
    screen.send("go\r").unwrap();
    screen.wait_for_text("needs REPORT_KEY", LIMIT).unwrap();
    screen.wait_for_text("so be it", LIMIT).unwrap();
    leave(&screen);
    let bodies = server.requests().into_iter();
    let mut bodies = bodies.map(|request| request.expect_json().to_string());
    assert!(bodies.any(|body| body.contains(r#"\"setup_skipped\":true"#)));
    assert!(!program.home.path().join(".env").exists());
}

// AG-6, LN-29
#[test]
fn skills_read_side_by_side_ask_once_for_the_key_they_share() {
    let both = tool_call("skill_view", json!({"name": "report"}))
        .and_tool_call("skill_view", json!({"name": "digest"}));
    let scenario = Scenario::new()
        .reply(Step::new(both).when_user("go"))
        .reply(Step::new(text("so be it")).when_tools_offered().repeat())
        .reply(Step::new(text("a title")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let fields = "required_environment_variables: [REPORT_KEY]\n";
    skill(&program, "report", "Reports", fields, "Use the key.");
    skill(&program, "digest", "Digests", fields, "Use the key.");
    let screen = open(&program);
    screen.send("go\r").unwrap();
    screen.wait_for_text("needs REPORT_KEY", LIMIT).unwrap();
    screen.send("typed-once\r").unwrap();
    screen.wait_for_text("so be it", LIMIT).unwrap();
    leave(&screen);
    let env = program.home.read(".env").unwrap();
    assert_eq!(env, "REPORT_KEY=typed-once\n");
    let bodies = server.requests().into_iter();
    let mut bodies = bodies.map(|request| request.expect_json().to_string());
    let ready = r#"\"readiness_status\":\"available\""#;
    assert!(bodies.any(|body| body.matches(ready).count() == 2));
}

// LN-29
#[test]
fn a_key_that_is_not_given_leaves_a_skill_unready() {
    let scenario = Scenario::new()
        .reply(Step::new(tool_call("skill_view", json!({"name": "report"}))).when_user("go"))
        .reply(Step::new(text("so be it")).when_tools_offered().repeat())
        .reply(Step::new(text("a title")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let fields = "required_environment_variables: [REPORT_KEY]\nsetup:\n  help: Sign up first.\n";
    skill(&program, "report", "Reports", fields, "Use the key.");
    let screen = open(&program);
    screen.send("go\r").unwrap();
    screen.wait_for_text("needs REPORT_KEY", LIMIT).unwrap();
    screen.send("\r").unwrap();
    screen.wait_for_text("so be it", LIMIT).unwrap();
    leave(&screen);
    let told = server
        .requests()
        .iter()
        .map(|request| request.expect_json().to_string())
        .find(|body| body.contains("setup_skipped"))
        .unwrap();
    for part in [
        r#"\"setup_skipped\":true"#,
        r#"\"readiness_status\":\"setup_needed\""#,
        "Sign up first.",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    assert!(!program.home.path().join(".env").exists());
    // With nobody there it is not asked for.
    let server = ModelServer::start(
        Scenario::new()
            .reply(tool_call("skill_view", json!({"name": "report"})))
            .reply(text("done")),
    )
    .unwrap();
    let program = with_model(&server.base_url());
    skill(&program, "report", "Reports", fields, "Use the key.");
    program.run(&["-z", "go"]).ok();
    let last = server.requests().pop().unwrap();
    let told = last.expect_json().to_string();
    assert!(told.contains("setup_needed") && !told.contains(r#"\"setup_skipped\":true"#));
}

// LN-31
#[test]
fn learn_makes_a_skill_of_a_source() {
    let content = super::skills::text_of("tea", "Steep for 4 minutes.");
    let create = json!({"action": "create", "name": "tea", "content": content});
    let scenario = Scenario::new()
        .reply(
            Step::new(tool_call("read_file", json!({"path": "notes.md"})))
                .when_last("Make a skill of this: notes.md"),
        )
        .reply(Step::new(tool_call("skill_manage", create)).when_last("Steep for 4 minutes"))
        .reply(Step::new(text("so be it")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let notes = "Tea\n\nSteep for 4 minutes.\n";
    program.home.write_work("notes.md", notes).unwrap();
    let screen = open(&program);
    screen.send("/learn\r").unwrap();
    screen.wait_for_text("/learn FILE", LIMIT).unwrap();
    screen.send("/learn notes.md\r").unwrap();
    screen.wait_for_text("so be it", LIMIT).unwrap();
    let made = program.home.read("skills/tea/SKILL.md").unwrap();
    assert_eq!(made, content);
    // Alone it is about what was just done.
    screen.send("/learn\r").unwrap();
    let asked = || {
        let said = said(&server).pop()?;
        said.contains("what we just did").then_some(())
    };
    eventually(LIMIT, "it is asked about this conversation", asked).unwrap();
    leave(&screen);
}

// LN-29, LN-31
#[test]
fn a_skill_that_is_called_for_by_name_asks_for_its_key_before_it_is_sent() {
    let fields = "required_environment_variables: [REPORT_KEY]\n";
    for (flags, typed) in [
        (&["chat", "--plain"][..], "/report about tea"),
        (&["chat", "--plain", "--skills", "report"][..], "go"),
    ] {
        for key in ["typed-at-the-terminal", ""] {
            let (server, program) = set_up("");
            skill(&program, "report", "Reports", fields, "Use the key.");
            let screen = Terminal::spawn(&program.command(flags), 160, 60).unwrap();
            screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
            screen.send(&format!("{typed}\r")).unwrap();
            screen
                .wait_for_text("The skill report needs REPORT_KEY", LIMIT)
                .unwrap();
            screen.send(&format!("{key}\r")).unwrap();
            screen.wait_for_text("so be it", LIMIT).unwrap();
            leave(&screen);
            let sent = server.requests().remove(0).expect_json().to_string();
            assert!(sent.contains("Use the key."), "{sent}");
            let given = !key.is_empty();
            for (words, stands) in [
                ("REPORT_KEY is missing", !given),
                ("read it again with skill_view", !given),
                ("no need to read it again", given),
            ] {
                assert_eq!(sent.contains(words), stands, "{typed}, {words}: {sent}");
            }
            let kept = given.then(|| format!("REPORT_KEY={key}\n"));
            assert_eq!(program.home.read(".env").ok(), kept, "{typed}");
        }
    }
}
