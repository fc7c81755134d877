//! Taps, lists to take along, publishing, and what is offered.

use hermes_testkit::model_server::Scenario;
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::mcp_lab;
use super::skills_lab::{LONG, Lab, skill, zipped};

// LN-32
#[test]
fn repositories_can_be_added_to_the_search() {
    let lab = Lab::new();
    lab.hubs.repository(
        "me/own",
        &[("pack/gardening/SKILL.md", &skill("gardening", "Text."))],
    );
    assert_eq!(lab.json(&["search", "gardening"])["skills"], json!([]));
    lab.run(&["tap", "add", "me/own", "--path", "pack"]).ok();
    assert!(
        lab.run(&["tap", "add", "me/own", "--path", "pack"])
            .ok()
            .stdout
            .contains("already")
    );
    assert_eq!(lab.run(&["tap", "add", "nonsense"]).code, Some(2));
    let taps = lab.json(&["tap", "list"]);
    assert_eq!(
        taps["taps"][0],
        json!({ "repo": "me/own", "path": "pack", "built_in": false })
    );
    assert!(taps["taps"].as_array().unwrap().len() > 5);
    let written: serde_json::Value =
        serde_json::from_str(&lab.program.home.read("skills/.hub/taps.json").unwrap()).unwrap();
    assert_eq!(
        written,
        json!({ "taps": [{ "repo": "me/own", "path": "pack" }] })
    );
    let found = lab.json(&["search", "gardening"]);
    assert_eq!(
        found["skills"][0]["identifier"],
        json!("me/own/pack/gardening"),
        "{found}"
    );
    assert_eq!(found["skills"][0]["description"], json!("about gardening"));
    lab.install("gardening").ok();
    lab.run(&["tap", "remove", "me/own"]).ok();
    assert_eq!(lab.json(&["search", "gardening"])["skills"], json!([]));
}

// LN-32
#[test]
fn what_is_installed_can_be_installed_elsewhere_by_the_same_rules() {
    let lab = Lab::new();
    lab.hubs.pack(
        "good",
        "1.0.0",
        zipped(&[("SKILL.md", &skill("good", "Text."))]),
    );
    let bad = [
        ("SKILL.md", &*skill("bad", "Text.")),
        ("a.sh", "sudo rm x\n"),
    ];
    lab.hubs.pack("bad", "1.0.0", zipped(&bad));
    lab.run(&["tap", "add", "me/own"]).ok();
    lab.run(&["install", "clawhub/good", "--category", "work", "-y"])
        .ok();
    lab.run(&["install", "clawhub/bad", "--force", "-y"]).ok();
    let file = lab
        .program
        .home
        .workspace()
        .join("skills.json")
        .display()
        .to_string();
    lab.run(&["snapshot", "export", &file]).ok();
    let shown = lab.run(&["snapshot", "export"]).ok().json();
    assert_eq!(shown["skills"].as_array().unwrap().len(), 2);
    for name in ["good", "bad"] {
        lab.run(&["uninstall", name, "-y"]).ok();
    }
    lab.run(&["tap", "remove", "me/own"]).ok();
    // A finding that was accepted there is not accepted here.
    let output = lab.run(&["snapshot", "import", &file, "-y"]);
    assert_eq!(output.code, Some(1), "{}", output.report());
    assert!(
        output.stdout.contains("bad: bad is caution"),
        "{}",
        output.report()
    );
    assert!(lab.text("work/good/SKILL.md").is_some());
    assert_eq!(lab.text("bad/SKILL.md"), None);
    assert_eq!(
        lab.json(&["tap", "list"])["taps"][0]["repo"],
        json!("me/own")
    );
    lab.run(&["snapshot", "import", &file, "-y", "--force"])
        .ok();
    assert!(lab.text("bad/SKILL.md").is_some());
    assert_eq!(
        lab.run(&["snapshot", "import", "/nowhere.json", "-y"]).code,
        Some(1)
    );
    lab.program
        .home
        .write_work("broken.json", "{\"skills\": 7}")
        .unwrap();
    let broken = lab.run(&["snapshot", "import", "broken.json", "-y"]);
    for words in ["broken.json is no list of skills", "snapshot export FILE"] {
        assert!(broken.stderr.contains(words), "{}", broken.report());
    }
}

// LN-32
#[test]
fn a_skill_is_published_as_a_pull_request_or_as_a_version() {
    let lab = Lab::new();
    lab.program
        .home
        .write_work("mine/SKILL.md", skill("mine", "Text."))
        .unwrap();
    lab.program
        .home
        .write_work("mine/scripts/a.sh", "#!/bin/sh\necho\n")
        .unwrap();
    // No text: a tree would take it for one.
    let picture = b"\x89PNG\r\n\x1a\n\xff\x00\xfe";
    lab.program
        .home
        .write_work("mine/assets/a.png", picture)
        .unwrap();
    lab.program
        .home
        .write_work("mine/.skillignore", "private/\n")
        .unwrap();
    lab.program
        .home
        .write_work("mine/private/notes.md", "secret plans")
        .unwrap();
    lab.hubs.repository("them/skills", &[("README.md", "x")]);
    lab.hubs.repository("me/skills", &[("README.md", "x")]);
    let publish = ["publish", "mine", "--to", "github", "--repo", "them/skills"];
    let mut agreed = publish.to_vec();
    agreed.push("-y");
    assert_eq!(lab.run(&publish).code, Some(2), "nobody can be asked");
    let output = lab.run(&agreed);
    for words in [
        "publishing needs GITHUB_TOKEN",
        "hint: hermes config set GITHUB_TOKEN",
    ] {
        assert!(output.stderr.contains(words), "{}", output.report());
    }
    lab.program
        .home
        .write_env("GITHUB_TOKEN=tok-of-mine\nCLAWHUB_TOKEN=clh-of-mine\n")
        .unwrap();
    let output = lab.run(&agreed).ok();
    assert!(
        output
            .stdout
            .contains("https://github.com/them/skills/pull/1"),
        "{}",
        output.report()
    );
    let seen = lab.hubs.seen();
    let body_of = |line: &str| {
        let request = seen
            .iter()
            .find(|seen| seen.line.starts_with(line))
            .unwrap();
        serde_json::from_slice::<serde_json::Value>(&request.body).unwrap()
    };
    let tree = body_of("POST /gh/repos/me/skills/git/trees");
    let paths: Vec<&str> = tree["tree"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "skills/mine/SKILL.md",
            "skills/mine/assets/a.png",
            "skills/mine/scripts/a.sh"
        ]
    );
    let blob = body_of("POST /gh/repos/me/skills/git/blobs");
    assert_eq!(
        blob,
        json!({ "content": "iVBORw0KGgr/AP4=", "encoding": "base64" })
    );
    let leaf = &tree["tree"][1];
    assert!(
        leaf["sha"].is_string() && leaf["content"].is_null(),
        "{leaf}"
    );
    assert!(tree["tree"][2]["content"].is_string(), "{tree}");
    assert_eq!(
        body_of("POST /gh/repos/them/skills/pulls")["base"],
        json!("main")
    );
    // ClawHub's answer to an upload does not matter here, what is sent does.
    lab.run(&["publish", "mine", "--to", "clawhub", "-y"]);
    let sent = lab
        .hubs
        .seen()
        .into_iter()
        .find(|seen| seen.line.starts_with("POST /claw"));
    let sent = sent.unwrap();
    assert_eq!(sent.authorization.as_deref(), Some("Bearer clh-of-mine"));
    let text = String::from_utf8_lossy(&sent.body).into_owned();
    assert!(
        text.contains("\"slug\":\"mine\"") && !text.contains("secret plans"),
        "{text}"
    );
    // What is a secret here goes nowhere.
    let secret = "zq81Xw0c7Lk25Tn9Vb4R";
    lab.program
        .home
        .write_env(&format!(
            "GITHUB_TOKEN=tok-of-mine\nTEA_SHOP_TOKEN={secret}\n"
        ))
        .unwrap();
    lab.program
        .home
        .write_work("mine/references/shop.md", format!("Tea.\nSay {secret}.\n"))
        .unwrap();
    let before = lab.hubs.seen().len();
    let refused = lab.run(&agreed).code(1);
    assert!(
        refused.stderr.contains("references/shop.md:2") && refused.stderr.contains("hint: "),
        "{}",
        refused.report()
    );
    assert_eq!(lab.hubs.seen().len(), before);
    let shop = lab.program.home.workspace().join("mine/references/shop.md");
    std::fs::remove_file(shop).unwrap();
    // What is dangerous goes nowhere.
    lab.program
        .home
        .write_work("mine/x.sh", "rm -rf /\n")
        .unwrap();
    let before = lab.hubs.seen().len();
    assert_eq!(lab.run(&agreed).code, Some(1));
    assert_eq!(lab.hubs.seen().len(), before);
}

#[test]
fn skills_are_switched_off_and_on() {
    let lab = Lab::new();
    for name in ["one", "two"] {
        let path = format!("skills/{name}/SKILL.md");
        lab.program.home.write(&path, skill(name, "Text.")).unwrap();
    }
    lab.run(&["config", "--disable", "one"]).ok();
    assert_eq!(lab.json(&["config"])["disabled"], json!(["one"]));
    let listed = lab.json(&["list", "--enabled-only"]);
    assert_eq!(listed["skills"].as_array().unwrap().len(), 1);
    lab.run(&["config", "--enable", "one"]).ok();
    lab.run(&["config", "--disable", "two", "--platform", "telegram"])
        .ok();
    assert_eq!(lab.json(&["config"])["disabled"], json!([]));
    let there = lab.json(&["config", "--platform", "telegram"]);
    assert_eq!(there["disabled"], json!(["two"]));
    assert_eq!(lab.run(&["config", "--disable", "nobody"]).code, Some(2));
    let screen = Terminal::spawn(&lab.command(&["config"]), 100, 30).unwrap();
    screen.wait_for_text("[x] one", LONG).unwrap();
    screen.send("2\r").unwrap();
    screen.wait_for_text("Switched off: two", LONG).unwrap();
    screen.wait_exit(LONG).unwrap();
    assert_eq!(lab.json(&["config"])["disabled"], json!(["two"]));
}

#[test]
fn skills_of_the_program_can_be_changed_restored_and_kept_out() {
    let lab = Lab::new();
    let shipped = lab.program.home.user_home().join("none");
    std::fs::create_dir_all(shipped.join("writing/letters")).unwrap();
    std::fs::write(
        shipped.join("writing/letters/SKILL.md"),
        skill("letters", "Old."),
    )
    .unwrap();
    let listed = lab.json(&["list", "--source", "builtin"]);
    assert_eq!(listed["skills"][0]["name"], json!("letters"), "{listed}");
    assert_eq!(lab.json(&["list-modified"])["skills"], json!([]));
    lab.program
        .home
        .write("skills/writing/letters/SKILL.md", skill("letters", "Mine."))
        .unwrap();
    assert_eq!(
        lab.json(&["list-modified"])["skills"][0]["name"],
        json!("letters")
    );
    let diff = lab.run(&["diff", "letters"]).ok().stdout;
    assert!(diff.contains("-Old.") && diff.contains("+Mine."), "{diff}");
    assert_eq!(lab.run(&["repair-official", "letters", "-y"]).code, Some(1));
    assert_eq!(lab.run(&["reset", "letters", "--restore"]).code, Some(2));
    let restored = lab
        .run(&["reset", "letters", "--restore", "-y"])
        .ok()
        .stdout;
    assert!(restored.contains("Yours is kept in"), "{restored}");
    assert!(
        lab.text("writing/letters/SKILL.md")
            .unwrap()
            .contains("Old.")
    );
    std::fs::remove_dir_all(lab.program.home.path().join("skills/writing/letters")).unwrap();
    lab.run(&["repair-official", "letters"]).ok();
    assert!(lab.text("writing/letters/SKILL.md").is_some());
    lab.run(&["opt-out", "--remove", "-y"]).ok();
    assert_eq!(lab.text("writing/letters/SKILL.md"), None);
    assert_eq!(lab.json(&["list"])["skills"], json!([]));
    assert!(lab.program.home.path().join(".no-bundled-skills").exists());
    lab.run(&["opt-in", "--sync"]).ok();
    assert!(lab.text("writing/letters/SKILL.md").is_some());
    assert_eq!(lab.run(&["diff", "nobody"]).code, Some(1));
}

// LN-32
#[test]
fn a_conversation_finds_and_installs_skills_too() {
    let lab = Lab::new();
    lab.hubs.pack(
        "tool",
        "1.0.0",
        zipped(&[("SKILL.md", &skill("tool", "Text."))]),
    );
    let model = mcp_lab::Lab::new(Scenario::new());
    let settings = model.program.home.read("config.yaml").unwrap();
    let settings = format!("{settings}security:\n  allow_private_urls: true\n");
    model.program.home.write_config(&settings).unwrap();
    let mut chat = model.program.command(&["chat", "--plain"]);
    for (name, value) in lab.hubs.variables() {
        chat = chat.env(name, value);
    }
    let screen = Terminal::spawn(&chat, 120, 40).unwrap();
    screen
        .send("/skills search tool --source clawhub\r")
        .unwrap();
    screen.wait_for_text("clawhub/tool", LONG).unwrap();
    screen.send("/skills install clawhub/tool\r").unwrap();
    screen.wait_for_text("y = this time", LONG).unwrap();
    assert!(!model.program.home.path().join("skills/tool").exists());
    screen.send("y\r").unwrap();
    screen.wait_for_text("Installed tool", LONG).unwrap();
    assert!(
        model
            .program
            .home
            .path()
            .join("skills/tool/SKILL.md")
            .exists()
    );
    screen.send("/skills nonsense\r").unwrap();
    screen
        .wait_for_text("unrecognized subcommand", LONG)
        .unwrap();
    screen.send("/quit\r").unwrap();
    screen.wait_exit(LONG).unwrap();
}

// LN-26
#[test]
fn a_skill_that_cannot_be_read_is_named_with_the_reason() {
    let lab = Lab::new();
    let home = &lab.program.home;
    let huge = skill("huge", &"x".repeat(10 * 1024 * 1024));
    home.write("skills/huge/SKILL.md", huge).unwrap();
    let words = "huge/SKILL.md is larger than the 1048576 bytes";
    let listed = lab.run(&["list"]).ok();
    assert!(listed.stdout.contains(words), "{}", listed.report());
    let left = lab.json(&["list"])["left_out"].clone();
    assert_eq!(left.as_array().unwrap().len(), 1, "{left}");
    let doctor = lab.program.run(&["doctor", "--json"]).json();
    let findings = doctor["findings"].as_array().unwrap().iter();
    let told = findings
        .filter(|one| one["about"] == "skills")
        .any(|one| one["text"].as_str().unwrap().contains(words));
    assert!(told, "{doctor}");
}
