//! Skills that the reference installed, in a home that is taken over.

use hermes_testkit::Output;
use serde_json::{Value as Json, json};

use super::skills_lab::{Lab, skill, zipped};

const SCRIPT: &str = "#!/bin/sh\necho one\n";
/// The hashes the reference writes for what is offered here.
const TOOL: &str = "sha256:e73c80f201e407f8";
const PACKED: &str = "sha256:cb0e1bb328b6bc0e";

fn entry(source: &str, identifier: &str, hash: &str, path: &str) -> Json {
    json!({
        "source": source, "identifier": identifier, "trust_level": "community", "scan_verdict": "safe",
        "content_hash": hash, "install_path": path, "files": ["SKILL.md"], "metadata": {}, "scan_provenance": {},
        "installed_at": "2026-01-01T00:00:00+00:00", "updated_at": "2026-01-01T00:00:00+00:00",
    })
}

/// A home with a skill of a repository and one of ClawHub, as the reference leaves them.
fn taken_over() -> Lab {
    let lab = Lab::new();
    let tool = skill("tool", "Run scripts/run.sh.");
    lab.hubs.repository(
        "somebody/skills",
        &[("tool/SKILL.md", &tool), ("tool/scripts/run.sh", SCRIPT)],
    );
    let packed = skill("packed", "Text.");
    lab.hubs
        .pack("packed", "1.0.0", zipped(&[("SKILL.md", &packed)]));
    let home = &lab.program.home;
    home.write("skills/tool/SKILL.md", &tool).unwrap();
    home.write("skills/tool/scripts/run.sh", SCRIPT).unwrap();
    home.write("skills/work/packed/SKILL.md", &packed).unwrap();
    let lock = json!({"version": 1, "installed": {
        "tool": entry("github", "somebody/skills/tool", TOOL, "tool"),
        "packed": entry("clawhub", "packed", PACKED, "work/packed"),
    }});
    home.write("skills/.hub/lock.json", lock.to_string())
        .unwrap();
    lab
}

fn checked(lab: &Lab) -> Vec<(String, String, bool)> {
    let checked = lab.json(&["check"]);
    let rows = checked["skills"].as_array().unwrap().iter();
    let word = |row: &Json, key: &str| row[key].as_str().unwrap().to_owned();
    rows.map(|row| {
        (
            word(row, "name"),
            word(row, "status"),
            row["modified"] == true,
        )
    })
    .collect()
}

fn row(name: &str, status: &str, modified: bool) -> (String, String, bool) {
    (name.to_owned(), status.to_owned(), modified)
}

// LN-32
#[test]
fn what_the_reference_installed_is_looked_after_and_changes_are_kept() {
    let lab = taken_over();
    assert_eq!(
        checked(&lab),
        [
            row("packed", "current", false),
            row("tool", "current", false)
        ]
    );
    let home = &lab.program.home;
    home.write("skills/tool/scripts/run.sh", "#!/bin/sh\necho mine\n")
        .unwrap();
    // Changed here is not newer there.
    assert_eq!(checked(&lab)[1], row("tool", "current", true));
    lab.hubs.change(
        "somebody/skills",
        "tool/scripts/run.sh",
        "#!/bin/sh\necho two\n",
    );
    assert_eq!(checked(&lab)[1], row("tool", "outdated", true));
    let updated = lab.run(&["update", "-y"]).ok().stdout;
    assert!(updated.contains("packed is current."), "{updated}");
    assert!(
        updated.contains("What you had changed is kept in"),
        "{updated}"
    );
    let backups = home.path().join("skills/.hub/backups");
    let kept = std::fs::read_dir(&backups)
        .unwrap()
        .flatten()
        .next()
        .unwrap();
    let script = std::fs::read_to_string(kept.path().join("scripts/run.sh")).unwrap();
    assert_eq!(script, "#!/bin/sh\necho mine\n");
    assert!(lab.text("tool/scripts/run.sh").unwrap().contains("two"));
    assert_eq!(checked(&lab)[1], row("tool", "current", false));
    lab.nothing_waits();
}

// LN-32
#[test]
fn under_a_hash_that_nobody_knows_a_copy_is_kept() {
    let lab = taken_over();
    let mut lock = lab.lock();
    lock["installed"]["packed"]["content_hash"] = json!("md5:0123");
    let home = &lab.program.home;
    home.write("skills/.hub/lock.json", lock.to_string())
        .unwrap();
    let removed = lab.run(&["uninstall", "packed", "-y"]).ok().stdout;
    assert!(removed.contains("is kept in"), "{removed}");
    assert_eq!(lab.text("work/packed/SKILL.md"), None);
    // One that is known and was not changed leaves nothing behind.
    let removed = lab.run(&["uninstall", "tool", "-y"]).ok().stdout;
    assert!(!removed.contains("is kept in"), "{removed}");
    let backups = home.path().join("skills/.hub/backups");
    assert_eq!(std::fs::read_dir(backups).unwrap().count(), 1);
}

// LN-32
#[test]
fn a_list_the_reference_wrote_is_installed() {
    let lab = taken_over();
    for name in ["packed", "tool"] {
        lab.run(&["uninstall", name, "-y"]).ok();
    }
    let list = json!({
        "hermes_version": "0.1.0", "exported_at": "2026-01-01T00:00:00+00:00",
        "skills": [
            {"name": "packed", "source": "clawhub", "identifier": "packed", "category": "work"},
            {"name": "tool", "source": "github", "identifier": "somebody/skills/tool", "category": ""},
        ],
        "taps": [{"repo": "me/own", "path": "skills/"}],
    });
    let file = lab.program.home.workspace().join("list.json");
    std::fs::write(&file, list.to_string()).unwrap();
    let file = file.display().to_string();
    lab.run(&["snapshot", "import", &file, "-y"]).ok();
    assert!(lab.text("work/packed/SKILL.md").is_some());
    assert!(lab.text("tool/scripts/run.sh").is_some());
    assert_eq!(lab.entry("packed")["identifier"], json!("clawhub/packed"));
    let taps = lab.json(&["tap", "list"]);
    assert_eq!(taps["taps"][0]["repo"], json!("me/own"), "{taps}");
}

fn curator(lab: &Lab, arguments: &[&str]) -> Output {
    let all: Vec<&str> = [&["curator"][..], arguments].concat();
    let none = lab.program.home.user_home().join("none");
    let command = lab.program.command(&all).env("HERMES_BUNDLED_SKILLS", none);
    command.run().unwrap().ok()
}

// LN-35
#[test]
fn all_skills_go_back_to_a_copy_the_reference_made() {
    let lab = taken_over();
    curator(&lab, &["backup"]);
    let copies = lab.program.home.path().join("skills/.curator_backups");
    let made = std::fs::read_dir(&copies)
        .unwrap()
        .flatten()
        .next()
        .unwrap();
    // The same copy as the reference lists it.
    let name = "2026-05-01T10-00-00Z";
    let theirs = copies.join(name);
    std::fs::rename(made.path(), &theirs).unwrap();
    std::fs::remove_file(theirs.join("hub-lock.json")).unwrap();
    let manifest = json!({
        "id": name, "reason": "pre-run", "created_at": "2026-05-01T10:00:00.123456+00:00", "archive": "skills.tar.gz",
        "archive_bytes": 1, "skill_files": 2, "cron_jobs": {"backed_up": false, "jobs_count": 0},
    });
    std::fs::write(theirs.join("manifest.json"), manifest.to_string()).unwrap();
    let before = lab.text("tool/SKILL.md");
    let home = &lab.program.home;
    home.write("skills/tool/SKILL.md", skill("tool", "Worse."))
        .unwrap();
    let listed = curator(&lab, &["rollback", "--list", "--json"]).json();
    let first = &listed["backups"][0];
    assert_eq!(
        (&first["name"], &first["reason"], &first["skills"]),
        (&json!(name), &json!("pre-run"), &json!(2))
    );
    curator(&lab, &["rollback", name, "-y"]);
    assert_eq!(lab.text("tool/SKILL.md"), before);
}

// LN-35
#[test]
fn an_old_copy_goes_from_its_own_place_whatever_is_written_in_it() {
    let lab = taken_over();
    let home = &lab.program.home;
    home.write_config("curator: {backup: {keep: 1}}\n").unwrap();
    home.write("memories/MEMORY.md", "Uses tabs.").unwrap();
    let manifest = json!({"id": "../../memories", "created_at": "2000-01-01T00:00:00Z"});
    let old = "skills/.curator_backups/20000101T000000Z/manifest.json";
    home.write(old, manifest.to_string()).unwrap();
    curator(&lab, &["backup"]);
    assert!(home.read(old).is_err(), "there are more than are kept");
    assert_eq!(home.read("memories/MEMORY.md").unwrap(), "Uses tabs.");
}
