//! Every place skills come from, end to end.

use std::time::Duration;

use hermes_testkit::skill_hubs::Trouble;
use serde_json::{Value as Json, json};

use super::skills_lab::{Lab, skill, zipped};

/// A lab in which every place offers one skill, each called after its place.
fn stocked() -> Lab {
    let lab = Lab::new();
    let hubs = &lab.hubs;
    hubs.repository(
        "openai/skills",
        &[
            (
                "skills/.curated/from-github/SKILL.md",
                &skill("from-github", "Run `scripts/run.sh`; see notes.md."),
            ),
            (
                "skills/.curated/from-github/scripts/run.sh",
                "#!/bin/sh\necho hi\n",
            ),
            ("skills/.curated/from-github/notes.md", "Notes.\n"),
            ("skills/.curated/from-github/evals/huge.json", "{}"),
        ],
    );
    hubs.repository(
        "somebody/tools",
        &[(
            "skills/from-skills-sh/SKILL.md",
            &skill("from-skills-sh", "Text."),
        )],
    );
    hubs.list_on_skills_sh("somebody/tools/from-skills-sh", "from-skills-sh", 41);
    hubs.repository(
        "anthropics/skills",
        &[
            (
                ".claude-plugin/marketplace.json",
                r#"{"name": "m", "plugins": [{"name": "from-marketplace", "source": "./plugins/one", "description": "about it"}]}"#,
            ),
            ("plugins/one/skills/from-marketplace/SKILL.md", &skill("from-marketplace", "Text.")),
        ],
    );
    hubs.page(
        "/.well-known/skills/index.json",
        "application/json",
        json!({ "skills": [{ "name": "from-site", "description": "about it", "files": ["SKILL.md", "references/a.md"] }] }).to_string(),
    );
    hubs.page(
        "/.well-known/skills/from-site/SKILL.md",
        "text/markdown",
        skill("from-site", "Text."),
    );
    hubs.page(
        "/.well-known/skills/from-site/references/a.md",
        "text/markdown",
        "A.",
    );
    hubs.page(
        "/pages/from-url/SKILL.md",
        "text/markdown",
        skill("from-url", "Text."),
    );
    let files = [
        ("SKILL.md", &*skill("from-clawhub", "Text.")),
        ("references/b.md", "B."),
    ];
    hubs.pack("from-clawhub", "1.0.0", zipped(&files));
    hubs.page(
        "/lobe/index.json",
        "application/json",
        json!({ "agents": [{ "identifier": "from-lobehub", "meta": { "title": "From", "description": "about it", "tags": ["t"] } }] }).to_string(),
    );
    hubs.page(
        "/lobe/from-lobehub.json",
        "application/json",
        json!({
            "identifier": "from-lobehub", "author": "somebody",
            "meta": { "title": "From LobeHub", "description": "about it", "tags": ["t"] },
            "config": { "systemRole": "You write short letters." },
        })
        .to_string(),
    );
    hubs.page(
        "/browse/api/skills",
        "application/json",
        json!({ "skills": [{ "slug": "shop.test/from-browse-ab12", "name": "from-browse", "title": "Buy", "description": "about it" }] }).to_string(),
    );
    hubs.page(
        "/browse/api/skills/shop.test/from-browse-ab12",
        "application/json",
        json!({ "skillMdUrl": hubs.url("/cdn/from-browse.md") }).to_string(),
    );
    hubs.page(
        "/cdn/from-browse.md",
        "text/markdown",
        skill("from-browse", "Text."),
    );
    let official = format!("optional-skills/writing/{}/SKILL.md", "from-official");
    lab.program
        .home
        .write(&official, skill("from-official", "Text."))
        .unwrap();
    lab
}

/// What is installed from where: identifier, trust, files.
fn offers(lab: &Lab) -> Vec<(String, &'static str, &'static str, Vec<&'static str>)> {
    let site = lab.hubs.url("");
    let only = || vec!["SKILL.md"];
    vec![
        (
            "official/writing/from-official".to_owned(),
            "from-official",
            "builtin",
            only(),
        ),
        (
            "openai/skills/skills/.curated/from-github".to_owned(),
            "from-github",
            "trusted",
            vec!["SKILL.md", "notes.md", "scripts/run.sh"],
        ),
        (
            "skills-sh/somebody/tools/from-skills-sh".to_owned(),
            "from-skills-sh",
            "community",
            only(),
        ),
        (
            "claude-marketplace/anthropics/skills/from-marketplace".to_owned(),
            "from-marketplace",
            "trusted",
            only(),
        ),
        (
            format!("well-known:{site}/from-site"),
            "from-site",
            "community",
            vec!["SKILL.md", "references/a.md"],
        ),
        (
            format!("{site}/pages/from-url/SKILL.md"),
            "from-url",
            "community",
            only(),
        ),
        (
            "clawhub/from-clawhub".to_owned(),
            "from-clawhub",
            "community",
            vec!["SKILL.md", "references/b.md"],
        ),
        (
            "lobehub/from-lobehub".to_owned(),
            "from-lobehub",
            "community",
            only(),
        ),
        (
            "browse-sh/shop.test/from-browse-ab12".to_owned(),
            "from-browse",
            "community",
            only(),
        ),
    ]
}

// LN-32
#[test]
fn a_skill_of_every_place_is_installed_listed_and_removed() {
    let lab = stocked();
    for (identifier, name, trust, files) in offers(&lab) {
        let shown = lab.json(&["inspect", &identifier]);
        assert_eq!(
            (&shown["name"], &shown["trust"]),
            (&json!(name), &json!(trust)),
            "{shown}"
        );
        assert_eq!(
            lab.text(&format!("{name}/SKILL.md")),
            None,
            "inspect installs nothing"
        );
        let output = lab.install(&identifier).ok();
        assert!(
            output.stdout.contains(&format!("Installed {name}")),
            "{}",
            output.report()
        );
        let entry = lab.entry(name);
        assert_eq!(entry["identifier"], json!(identifier));
        assert_eq!(entry["trust_level"], json!(trust));
        assert_eq!(entry["scan_verdict"], json!("safe"));
        assert_eq!(entry["files"], json!(files));
        assert_eq!(entry["install_path"], json!(name));
        assert_eq!(
            entry["scan_provenance"]["scanner"],
            json!("skills-guard-v1")
        );
        assert_eq!(entry["content_hash"].as_str().unwrap().len(), 71);
        assert!(entry.get("pending").is_none());
        for file in files {
            assert!(
                lab.text(&format!("{name}/{file}")).is_some(),
                "{name}/{file}"
            );
        }
        assert!(
            lab.audit().contains(&format!(" INSTALL {name} ")),
            "{}",
            lab.audit()
        );
        lab.nothing_waits();
    }
    let listed = lab.json(&["list", "--source", "hub"]);
    assert_eq!(listed["skills"].as_array().unwrap().len(), 9, "{listed}");
    assert_eq!(
        lab.program
            .home
            .mode("skills/from-github/scripts/run.sh")
            .unwrap()
            & 0o100,
        0o100
    );
    let checked = lab.json(&["check"]);
    for one in checked["skills"].as_array().unwrap() {
        assert_eq!(one["status"], json!("current"), "{one}");
    }
    for (_, name, _, _) in offers(&lab) {
        lab.run(&["uninstall", name, "-y"]).ok();
        assert_eq!(lab.text(&format!("{name}/SKILL.md")), None);
        assert!(lab.audit().contains(&format!(" UNINSTALL {name} ")));
    }
    assert_eq!(lab.lock()["installed"], json!({}));
    lab.nothing_waits();
}

// LN-32
#[test]
fn all_places_are_searched_at_once() {
    let lab = stocked();
    // There is no list of many places here, which is told and keeps nobody from answering.
    let found = lab.json(&["search", "from"]);
    let names: Vec<&str> = found["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    for name in [
        "from-official",
        "from-github",
        "from-skills-sh",
        "from-marketplace",
        "from-clawhub",
        "from-lobehub",
        "from-browse",
    ] {
        assert!(names.contains(&name), "{name}: {found}");
    }
    let failed: Vec<&str> = found["failed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["source"].as_str().unwrap())
        .collect();
    assert!(failed.contains(&"hermes-index"), "{found}");
    assert!(failed.contains(&"github (garrytan/gstack)"), "{found}");
    let only = lab.json(&["search", "from", "--source", "clawhub"]);
    assert_eq!(only["skills"].as_array().unwrap().len(), 1);
    assert_eq!(only["failed"], json!([]));
    let site = lab.json(&["search", &lab.hubs.url("")]);
    assert_eq!(site["skills"][0]["name"], json!("from-site"), "{site}");
    let table = lab.run(&["search", "from-lobehub"]).ok().stdout;
    assert!(table.contains("lobehub/from-lobehub"), "{table}");
    assert!(table.contains("hermes-index did not answer"), "{table}");
    assert_eq!(
        lab.run(&["search", "x", "--source", "nowhere"]).code,
        Some(2)
    );
}

/// Makes what is kept of lists a day older.
fn make_old(lab: &Lab) {
    let cache = lab.program.home.path().join("skills/.hub/index-cache");
    for file in std::fs::read_dir(cache).unwrap() {
        let file = file.unwrap().path();
        let mut kept: Json = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        kept["fetched_at"] = json!(kept["fetched_at"].as_i64().unwrap() - 86_400);
        std::fs::write(&file, kept.to_string()).unwrap();
    }
}

// LN-32
#[test]
fn the_list_of_many_places_saves_asking_them() {
    let lab = stocked();
    let rows = json!({ "version": 1, "skills": [
        { "name": "from-clawhub", "description": "d", "source": "clawhub", "identifier": "clawhub/from-clawhub", "trust_level": "builtin", "tags": ["t"] },
        { "name": "from-github", "description": "d", "source": "github", "identifier": "openai/skills/skills/.curated/from-github", "trust_level": "community" },
        { "name": "from-nowhere", "description": "d", "source": "odd", "identifier": "??" },
        { "name": "from-elsewhere", "description": "d", "source": "official", "identifier": "official/x/from-elsewhere" },
    ]});
    lab.hubs
        .page("/index.json", "application/json", rows.to_string());
    let found = lab.json(&["search", "from"]);
    let shown: Vec<(&str, &str)> = found["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["name"].as_str().unwrap(),
                one["trust"].as_str().unwrap(),
            )
        })
        .collect();
    // Whom to trust is ours to say, not the list's.
    assert_eq!(
        shown,
        [
            ("from-official", "builtin"),
            ("from-github", "trusted"),
            ("from-clawhub", "community")
        ]
    );
    assert_eq!(lab.hubs.requests("/claw/") + lab.hubs.requests("/sh/"), 0);
    // It is kept for hours, and used longer when it cannot be had.
    lab.json(&["search", "from"]);
    assert_eq!(lab.hubs.requests("/index.json"), 1);
    for trouble in [Trouble::Status(500), Trouble::Slow(Duration::from_secs(60))] {
        make_old(&lab);
        lab.hubs.fault("/index.json", trouble, 9);
        let settings = "security: {allow_private_urls: true}\nskills: {hub: {search_timeout: 3}}\n";
        lab.program.home.write_config(settings).unwrap();
        assert_eq!(lab.json(&["search", "from"]), found, "{trouble:?}");
    }
    assert_eq!(lab.hubs.requests("/claw/") + lab.hubs.requests("/sh/"), 0);
    let page = lab.json(&["browse", "--size", "2", "--page", "2"]);
    assert_eq!(
        (&page["page"], &page["pages"], &page["total"]),
        (&json!(2), &json!(2), &json!(3))
    );
    assert_eq!(page["skills"].as_array().unwrap().len(), 1);
    // A name is enough when only one skill has it.
    lab.install("from-clawhub").ok();
    assert_eq!(lab.entry("from-clawhub")["source"], json!("clawhub"));
}

// LN-32
#[test]
fn the_best_is_found_among_more_than_are_shown() {
    const OTHERS: usize = 2_100;
    let lab = stocked();
    let row = |name: &str| json!({ "name": name, "description": "works with pdf files", "identifier": format!("clawhub/{name}") });
    let others = (0..OTHERS).map(|number| row(&format!("helper-{number}")));
    let rows: Vec<Json> = others.chain([row("pdf")]).collect();
    let list = json!({ "version": 1, "skills": rows }).to_string();
    lab.hubs.page("/index.json", "application/json", list);
    let files = [("SKILL.md", &*skill("pdf", "Text."))];
    lab.hubs.pack("pdf", "1.0.0", zipped(&files));
    let found = lab.json(&["search", "pdf"]);
    let shown = found["skills"].as_array().unwrap();
    assert_eq!((shown.len(), &shown[0]["name"]), (25, &json!("pdf")));
    assert_eq!(found["total"], json!(OTHERS + 1));
    let page = lab.json(&["browse", "--size", "100", "--page", "22"]);
    assert_eq!(page["total"], json!(OTHERS + 2), "and the official one");
    assert_eq!(page["skills"].as_array().unwrap().len(), 2);
    lab.install("pdf").ok();
    assert_eq!(lab.entry("pdf")["identifier"], json!("clawhub/pdf"));
}

// LN-32
#[test]
fn names_and_categories_are_the_users_choice() {
    let lab = stocked();
    let output = lab.run(&[
        "install",
        "clawhub/from-clawhub",
        "--name",
        "mine",
        "--category",
        "writing",
        "-y",
    ]);
    output.ok();
    let text = lab.text("writing/mine/SKILL.md").unwrap();
    assert!(text.starts_with("---\nname: mine\n"), "{text}");
    let listed = lab.json(&["list"]);
    assert_eq!(listed["skills"][0]["name"], json!("mine"), "{listed}");
    assert_eq!(
        lab.json(&["check"])["skills"][0]["status"],
        json!("current")
    );
    assert_eq!(lab.json(&["check"])["skills"][0]["modified"], json!(false));
    let again = lab.run(&["install", "clawhub/from-clawhub", "--name", "mine", "-y"]);
    assert!(
        again.stderr.contains("installed already"),
        "{}",
        again.report()
    );
    for bad in [
        ["--name", "../x"],
        ["--category", ".hub"],
        ["--category", "a/b"],
    ] {
        let mut arguments = vec!["install", "clawhub/from-clawhub", "-y"];
        arguments.extend(bad);
        assert_eq!(lab.run(&arguments).code, Some(2), "{bad:?}");
    }
    // A skill of the user's own is never overwritten, whatever is said.
    lab.program
        .home
        .write("skills/notes/from-lobehub/SKILL.md", "mine")
        .unwrap();
    let taken = lab.run(&["install", "lobehub/from-lobehub", "-y", "--force"]);
    assert!(taken.stderr.contains("--name"), "{}", taken.report());
    assert_eq!(
        lab.text("notes/from-lobehub/SKILL.md").as_deref(),
        Some("mine")
    );
    lab.run(&["uninstall", "mine", "-y"]).ok();
    assert_eq!(lab.text("writing/mine/SKILL.md"), None);
    assert!(!lab.program.home.path().join("skills/writing").exists());
    assert_eq!(lab.run(&["uninstall", "mine", "-y"]).code, Some(1));
}

// LN-32
#[test]
fn the_key_for_github_goes_to_github_only() {
    let lab = stocked();
    lab.hubs
        .repository("me/private", &[("SKILL.md", &skill("hidden", "Text."))]);
    lab.hubs.protect("me/private", "a-token-nobody-guesses");
    lab.nothing_came_of(&lab.install("me/private"), &["not there"]);
    lab.program
        .home
        .write_env("GITHUB_TOKEN=a-token-nobody-guesses\n")
        .unwrap();
    let output = lab.install("me/private").ok();
    assert!(!output.stdout.contains("nobody-guesses"));
    lab.install("clawhub/from-clawhub").ok();
    lab.install(&format!("{}/pages/from-url/SKILL.md", lab.hubs.url("")))
        .ok();
    for seen in lab.hubs.seen() {
        let is_github = seen.line.contains(" /gh/");
        if let Some(key) = &seen.authorization {
            assert_eq!(key, "Bearer a-token-nobody-guesses");
            assert!(is_github, "{}", seen.line);
        }
    }
}

// LN-32
#[test]
fn a_repository_that_moved_is_not_trusted_by_its_old_name() {
    let lab = Lab::new();
    lab.hubs.repository(
        "stranger/skills",
        &[("skills/a/SKILL.md", &skill("a", "Text."))],
    );
    lab.hubs.moves("openai/skills", "stranger/skills");
    lab.install("openai/skills/skills/a").ok();
    assert_eq!(lab.entry("a")["trust_level"], json!("community"));
}
