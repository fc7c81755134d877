//! A home the reference has lived in, opened by this program.

use super::program::{Program, reference};

/// What this program adds to a home; everything else belongs to the reference.
fn is_ours(path: &str) -> bool {
    path.starts_with("hermes.db") || path.starts_with("blobs") || path.starts_with("logs")
}

fn lived_in() -> Program {
    let program = Program::after_the_reference();
    let write = |name: &str, content: &str| program.home.write(name, content).unwrap();
    let config = std::fs::read_to_string(reference("config/migrate/11/expected.yaml")).unwrap();
    write("config.yaml", &config);
    program.home.write_env("OPENROUTER_API_KEY=sk-or-v1-0000111122223333444455556666\nexport TELEGRAM_BOT_TOKEN='123:abc'\n").unwrap();
    write("SOUL.md", "You are a careful helper.\n");
    write(
        "memories/MEMORY.md",
        "The user likes tea.\n§\nThe server is called atlas.\n",
    );
    write("memories/USER.md", "Name: Kim\n");
    write(
        "skins/dusk.yaml",
        "name: dusk\ncolors: {banner_title: '#FFB000'}\n",
    );
    write(".hermes_history", "\n# 2026-01-01 10:00:00\n+hello there\n");
    write("cron/jobs.json", "{\"jobs\": []}\n");
    write(
        "profiles/work/config.yaml",
        "model:\n  default: acme/small\n  provider: openrouter\n",
    );
    write("profiles/work/.env", "");
    write("active_profile", "default\n");
    program
}

// CL-5
#[test]
fn everything_is_there_and_nothing_of_theirs_changes() {
    let program = lived_in();
    let before = program.home.tree().unwrap();
    let check = program.run(&["config", "check", "--json"]).ok().json();
    // Some wait for what is not there yet, which is nothing wrong with them.
    let mut findings = check["findings"].as_array().unwrap().iter();
    assert!(
        findings.all(|one| one["severity"] == "note"),
        "their settings are all understood: {}",
        check["findings"]
    );
    assert_eq!(check["version"], 33);
    assert!(
        program
            .stdout(&["config", "show"])
            .contains("OPENROUTER_API_KEY")
    );
    let profiles = program.run(&["profile", "list", "--json"]).ok().json();
    let names: Vec<_> = profiles
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["default", "work"]);
    assert_eq!(
        program.stdout(&["-p", "work", "config", "get", "model.default"]),
        "acme/small\n"
    );
    assert_eq!(
        program
            .run(&["sessions", "list", "--json"])
            .ok()
            .json()
            .as_array()
            .unwrap()
            .len(),
        10
    );
    for wanted in ["20250615_175320_0000aa", "20250615_17", "Refactor"] {
        let shown = program
            .run(&["sessions", "show", wanted, "--json"])
            .ok()
            .json();
        assert_eq!(
            shown["session_id"], "20250615_182640_0000ac",
            "{wanted} goes on at its end"
        );
    }
    program.run(&["insights", "--days", "36500"]).ok();
    program.run(&["status"]).ok();
    let mut after = program.home.tree().unwrap();
    after.retain(|path, _| !is_ours(path));
    let mut before = before;
    before.retain(|path, _| !is_ours(path));
    assert_eq!(after, before);
}

// CL-5
#[test]
fn both_programs_can_be_used_side_by_side() {
    let program = lived_in();
    program.run(&["sessions", "list"]).ok();
    let sql = "INSERT INTO messages (session_id, role, content, timestamp) \
               VALUES ('20250615_150640_a1b2c3', 'user', 'a word about narwhals', 1750100000.5)";
    program
        .shell(&format!(
            "sqlite3 {}/state.db \"{sql}\"",
            program.home.path().display()
        ))
        .ok();
    let hits = program
        .run(&["sessions", "search", "narwhals", "--json"])
        .ok()
        .json();
    assert_eq!(
        hits.as_array().unwrap().len(),
        1,
        "what the reference wrote since is found"
    );
}

// CL-5
#[test]
fn a_home_that_moves_stays_connected_to_the_reference() {
    let program = lived_in();
    program
        .run(&["sessions", "delete", "Zebra talk", "--yes"])
        .ok();
    let moved = program.home.user_home().join("moved");
    std::fs::rename(program.home.path(), &moved).unwrap();
    let listed = program
        .command(&["sessions", "list"])
        .env("HERMES_HOME", &moved)
        .run()
        .unwrap()
        .ok();
    assert!(
        !listed.stdout.contains("Zebra"),
        "what was deleted stays deleted: {}",
        listed.stdout
    );
    assert_eq!(listed.stderr, "");
}
