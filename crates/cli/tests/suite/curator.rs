//! Looking after skills: `hermes curator`, `/curator`, and runs behind a conversation.

use std::time::Duration;

use hermes_core::{Clock as _, SystemClock};
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};
use hermes_testkit::pty::Terminal;
use hermes_testkit::{HermeticCommand, Output, eventually};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value as Json, json};

use super::chat::with_model;
use super::program::Program;
use super::skills_lab::skill;

/// Long enough for a loaded machine; nothing takes this long unless it is broken.
const LIMIT: Duration = Duration::from_secs(60);

/// A home with skills of different ages: where each lies, how many days ago it was used, who wrote it.
const SKILLS: &[(&str, i64, &str)] = &[
    ("fresh", 2, "agent"),
    ("aging", 40, "agent"),
    ("office/old", 100, "agent"),
    ("nightly", 100, "agent"),
    ("mine", 100, ""),
];

struct Lab {
    program: Program,
}

fn ago(days: i64) -> String {
    let then = SystemClock
        .now()
        .checked_sub(SignedDuration::from_hours(days * 24));
    then.unwrap().to_string()
}

impl Lab {
    fn new() -> Self {
        Self::of(Program::new())
    }

    fn of(program: Program) -> Self {
        std::fs::create_dir(program.home.user_home().join("none")).unwrap();
        let mut usage = Map::new();
        for (place, days, by) in SKILLS {
            let name = place.rsplit('/').next().unwrap();
            let file = format!("skills/{place}/SKILL.md");
            program.home.write(&file, skill(name, "Do it.")).unwrap();
            let record = json!({"created_by": by, "created_at": ago(200), "last_used_at": ago(*days), "use_count": 3});
            usage.insert(name.to_owned(), record);
        }
        let usage = Json::Object(usage).to_string();
        program.home.write("skills/.usage.json", usage).unwrap();
        let jobs = json!({"jobs": [{"id": "1", "skills": ["nightly"]}]});
        program
            .home
            .write("cron/jobs.json", jobs.to_string())
            .unwrap();
        Self { program }
    }

    /// A home without the skills of the program.
    fn command(&self, arguments: &[&str]) -> HermeticCommand {
        let none = self.program.home.user_home().join("none");
        self.program
            .command(arguments)
            .env("HERMES_BUNDLED_SKILLS", none)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let all: Vec<&str> = [&["curator"][..], arguments].concat();
        self.command(&all).run().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Json {
        let all: Vec<&str> = [arguments, &["--json"]].concat();
        self.run(&all).ok().json()
    }

    /// The copies of all skills, newest first.
    fn copies(&self) -> Vec<String> {
        let listed = self.json(&["rollback", "--list"]);
        let copies = listed["backups"].as_array().unwrap().iter();
        copies
            .map(|copy| copy["name"].as_str().unwrap().to_owned())
            .collect()
    }

    fn back_up(&self) -> String {
        self.run(&["backup"]).ok();
        self.copies().remove(0)
    }

    fn has(&self, place: &str) -> bool {
        self.program.home.path().join("skills").join(place).exists()
    }

    fn old_is_away(&self) -> bool {
        self.has(".archive/old/SKILL.md") && !self.has("office/old")
    }

    fn record(&self, name: &str) -> Json {
        let text = self.program.home.read("skills/.usage.json").unwrap();
        let records: Json = serde_json::from_str(&text).unwrap();
        records[name].clone()
    }

    /// Fails with these words and a next step.
    #[track_caller]
    fn refused(&self, arguments: &[&str], code: i32, words: &str) {
        let output = self.run(arguments).code(code);
        assert!(output.stderr.contains(words), "{}", output.report());
        assert!(output.stderr.contains("hint: "), "{}", output.report());
    }
}

/// Name and new state of each step.
fn moves(document: &Json) -> Vec<(&str, &str)> {
    let steps = document["moves"].as_array().unwrap().iter();
    steps
        .map(|step| (step["name"].as_str().unwrap(), step["to"].as_str().unwrap()))
        .collect()
}

// LN-35
#[test]
fn unused_skills_become_stale_are_put_away_and_come_back() {
    let lab = Lab::new();
    let expected = [("aging", "stale"), ("old", "archived")];
    let planned = lab.json(&["run", "--dry-run"]);
    assert_eq!(moves(&planned), expected, "{planned}");
    assert!(lab.has("office/old/SKILL.md"), "a dry run changes nothing");
    let status = lab.json(&["status"]);
    assert_eq!(
        (
            &status["run_count"],
            status["due"].as_array().unwrap().len()
        ),
        (&json!(0), 2),
        "{status}"
    );

    let run = lab.json(&["run"]);
    assert_eq!(moves(&run), expected, "{run}");
    assert!(lab.old_is_away());
    for kept in ["fresh", "aging", "nightly", "mine"] {
        assert!(lab.has(&format!("{kept}/SKILL.md")), "{kept}");
    }
    assert_eq!(lab.record("aging")["state"], "stale");
    let status = lab.json(&["status"]);
    assert_eq!(
        (&status["archived"], &status["stale"], &status["run_count"]),
        (&json!(1), &json!(1), &json!(1)),
        "{status}"
    );
    let report = status["last_report_path"].as_str().unwrap();
    let page = std::fs::read_to_string(format!("{report}/REPORT.md")).unwrap();
    assert!(page.contains("old: put away"), "{page}");
    let document = std::fs::read_to_string(format!("{report}/run.json")).unwrap();
    let document: Json = serde_json::from_str(&document).unwrap();
    assert_eq!(moves(&document), expected);

    let archived = lab.json(&["list-archived"]);
    assert_eq!(archived["archived"][0]["name"], "old", "{archived}");
    lab.run(&["restore", "old"]).ok();
    assert!(lab.has("office/old/SKILL.md") && !lab.has(".archive/old"));
    assert_eq!(
        moves(&lab.json(&["run"])),
        [("", ""); 0],
        "it counts as used"
    );
    lab.refused(&["restore", "old"], 1, "not among the skills");
    lab.refused(&["archive", "nobody"], 1, "there is no skill nobody");
}

// LN-35
#[test]
fn what_was_put_away_is_journalled_and_can_be_taken_back() {
    let lab = Lab::new();
    lab.run(&["run"]).ok();
    let log = ["learning", "log", "--origin", "curator", "--json"];
    let log = lab.command(&log).run().unwrap().ok().json();
    let row = &log["changes"][0];
    assert_eq!(
        (&row["subject"], &row["origin"]),
        (&json!("skill:old"), &json!("curator")),
        "{log}"
    );
    let id = row["id"].to_string();
    let undo = ["learning", "undo", id.as_str()];
    lab.command(&undo).run().unwrap().ok();
    assert!(lab.has("office/old/SKILL.md"));
    let again = lab.command(&undo).run().unwrap().code(1);
    assert!(
        again.stderr.contains("taken back already"),
        "{}",
        again.report()
    );
}

// LN-35
#[test]
fn pinned_skills_stay() {
    let lab = Lab::new();
    lab.run(&["pin", "old"]).ok();
    assert_eq!(moves(&lab.json(&["run"])), [("aging", "stale")]);
    lab.refused(&["archive", "old"], 1, "old is pinned");
    assert!(lab.has("office/old/SKILL.md"));
    lab.refused(&["pin", "nobody"], 1, "there is no skill nobody");
    let used = lab.json(&["usage"]);
    let skills = used["skills"].as_array().unwrap();
    let old = skills.iter().find(|skill| skill["name"] == "old").unwrap();
    assert_eq!(
        (&old["pinned"], &old["use_count"]),
        (&json!(true), &json!(3))
    );
    lab.run(&["unpin", "old"]).ok();
    assert_eq!(moves(&lab.json(&["run"])), [("old", "archived")]);
}

// LN-35
#[test]
fn of_two_skills_with_one_name_each_can_be_put_away() {
    let lab = Lab::new();
    for place in ["ops/twin", "home/twin"] {
        let file = format!("skills/{place}/SKILL.md");
        let text = skill("twin", "Do it.");
        lab.program.home.write(&file, text).unwrap();
    }
    lab.refused(&["archive", "twin"], 2, "home/twin, ops/twin");
    lab.refused(&["pin", "twin"], 2, "home/twin, ops/twin");
    lab.run(&["archive", "ops/twin"]).ok();
    assert!(!lab.has("ops/twin") && lab.has("home/twin/SKILL.md"));
    lab.run(&["restore", "twin"]).ok();
    assert!(lab.has("ops/twin/SKILL.md"));
    let usage = lab.program.home.read("skills/.usage.json").unwrap();
    let mut usage: Json = serde_json::from_str(&usage).unwrap();
    usage["twin"] =
        json!({"created_by": "agent", "created_at": ago(400), "last_used_at": ago(322)});
    let usage = usage.to_string();
    lab.program.home.write("skills/.usage.json", usage).unwrap();
    let run = lab.json(&["run"]);
    assert_eq!(run["failed"], json!([]), "{run}");
    let away = moves(&run)
        .iter()
        .filter(|(name, _)| *name == "twin")
        .count();
    assert_eq!(away, 2, "{run}");
    assert!(!lab.has("ops/twin") && !lab.has("home/twin"));
    assert!(lab.has(".archive/twin/SKILL.md") && lab.has(".archive/twin-2/SKILL.md"));
}

// LN-35
#[test]
fn what_is_installed_goes_back_to_a_copy_together_with_its_list() {
    let lab = Lab::new();
    let list = |names: &[&str]| {
        let installed: Map<String, Json> = names
            .iter()
            .map(|name| ((*name).to_owned(), json!({"install_path": name})))
            .collect();
        json!({"version": 1, "installed": installed}).to_string()
    };
    let write = |file: &str, text: &str| lab.program.home.write(file, text).unwrap();
    write("skills/before/SKILL.md", &skill("before", "Do it."));
    write("skills/.hub/lock.json", &list(&["before"]));
    let backup = lab.back_up();
    // One is installed since, another removed.
    write("skills/since/SKILL.md", &skill("since", "Do it."));
    std::fs::remove_dir_all(lab.program.home.path().join("skills/before")).unwrap();
    write("skills/.hub/lock.json", &list(&["since"]));
    lab.run(&["rollback", &backup, "-y"]).ok();
    assert!(lab.has("before/SKILL.md") && !lab.has("since"));
    let names = || {
        let lock = lab.program.home.read("skills/.hub/lock.json").unwrap();
        let lock: Json = serde_json::from_str(&lock).unwrap();
        let installed = lock["installed"].as_object().unwrap();
        installed.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(names(), ["before"]);
    // Going back is itself undone by the copy it made.
    lab.run(&["rollback", &lab.copies()[0], "-y"]).ok();
    assert!(lab.has("since/SKILL.md") && !lab.has("before"));
    assert_eq!(names(), ["since"]);
}

/// A version of the program with one skill.
fn packed(lab: &Lab, text: &str) -> std::path::PathBuf {
    let bundled = lab.program.home.user_home().join("bundled");
    std::fs::create_dir_all(bundled.join("office/packed")).unwrap();
    let file = bundled.join("office/packed/SKILL.md");
    std::fs::write(file, skill("packed", text)).unwrap();
    bundled
}

// LN-34, LN-35
#[test]
fn a_skill_of_the_program_that_nobody_uses_is_put_away_and_does_not_come_back_by_itself() {
    let lab = Lab::new();
    let bundled = packed(&lab, "Do it.");
    let run = |arguments: &[&str]| {
        let command = lab.program.command(arguments);
        let command = command.env("HERMES_BUNDLED_SKILLS", &bundled);
        command.run().unwrap().ok()
    };
    run(&["skills", "opt-in", "--sync"]);
    assert!(lab.has("office/packed/SKILL.md"));
    let usage = lab.program.home.read("skills/.usage.json").unwrap();
    let mut usage: Json = serde_json::from_str(&usage).unwrap();
    usage["packed"] = json!({"created_at": ago(200), "last_used_at": ago(100)});
    // What the program counts on stays, however old it is.
    let plan = skill("plan", "Do it.");
    lab.program
        .home
        .write("skills/plan/SKILL.md", plan)
        .unwrap();
    usage["plan"] =
        json!({"created_by": "agent", "created_at": ago(200), "last_used_at": ago(100)});
    let usage = usage.to_string();
    lab.program.home.write("skills/.usage.json", usage).unwrap();

    let spared = "curator: {prune_builtins: false}\n";
    lab.program.home.write_config(spared).unwrap();
    let planned = run(&["curator", "run", "--dry-run", "--json"]).json();
    assert_eq!(moves(&planned), [("aging", "stale"), ("old", "archived")]);
    lab.program.home.write_config("").unwrap();
    let done = run(&["curator", "run", "--json"]).json();
    assert_eq!(
        moves(&done),
        [
            ("aging", "stale"),
            ("old", "archived"),
            ("packed", "archived")
        ]
    );
    let suppressed = || lab.program.home.read("skills/.curator_suppressed");
    assert_eq!(suppressed().unwrap().trim(), "packed");
    assert!(lab.has("plan/SKILL.md"));

    // A newer version of it does not bring it back.
    packed(&lab, "Do it better.");
    run(&["skills", "opt-in", "--sync"]);
    assert!(!lab.has("office/packed") && lab.has(".archive/packed"));
    // Who wants it gets it, and its updates with it.
    run(&["curator", "restore", "packed"]);
    assert!(lab.has("office/packed/SKILL.md"));
    assert_eq!(suppressed().unwrap_or_default().trim(), "");
    run(&["skills", "opt-in", "--sync"]);
    let text = lab.program.home.read("skills/office/packed/SKILL.md");
    assert!(text.unwrap().contains("Do it better."));
}

// LN-34, LN-35
#[test]
fn a_skill_of_ones_own_under_a_name_of_the_program_is_never_put_away() {
    let lab = Lab::new();
    let own = skill("packed", "My own way.");
    let file = "skills/packed/SKILL.md";
    lab.program.home.write(file, &own).unwrap();
    let usage = lab.program.home.read("skills/.usage.json").unwrap();
    let mut usage: Json = serde_json::from_str(&usage).unwrap();
    usage["packed"] = json!({"created_at": ago(200), "last_used_at": ago(200)});
    let usage = usage.to_string();
    lab.program.home.write("skills/.usage.json", usage).unwrap();
    let bundled = packed(&lab, "Do it.");
    let run = |arguments: &[&str]| {
        let command = lab.program.command(arguments);
        let command = command.env("HERMES_BUNDLED_SKILLS", &bundled);
        command.run().unwrap().ok()
    };
    for _ in 0..2 {
        run(&["skills", "opt-in", "--sync"]);
        let planned = run(&["curator", "run", "--dry-run", "--json"]).json();
        assert_eq!(moves(&planned), [("aging", "stale"), ("old", "archived")]);
    }
    run(&["curator", "run"]);
    assert_eq!(lab.program.home.read(file).unwrap(), own);
}

// LN-35
#[test]
fn only_the_newest_copies_are_kept() {
    let lab = Lab::new();
    let mut made = Vec::new();
    for _ in 0..7 {
        made.push(lab.back_up());
    }
    made.reverse();
    assert_eq!(lab.copies(), made[..5]);
}

// LN-35
#[test]
fn all_skills_go_back_to_a_copy_and_deleting_needs_a_yes() {
    let lab = Lab::new();
    let none = lab.run(&["rollback"]).code(1);
    assert!(
        none.stderr.contains("hermes curator backup"),
        "{}",
        none.report()
    );
    let backup = lab.json(&["run"])["backup"].as_str().unwrap().to_owned();
    assert!(lab.old_is_away());
    lab.refused(&["rollback", "nosuch", "-y"], 1, "there is no copy nosuch");
    lab.refused(&["rollback"], 2, "needs a yes");
    assert!(lab.old_is_away(), "nobody said yes");
    lab.run(&["rollback", &backup, "-y"]).ok();
    assert!(lab.has("office/old/SKILL.md") && !lab.has(".archive/old"));
    assert_ne!(lab.record("aging")["state"], "stale");
    let copies = lab.json(&["rollback", "--list"]);
    assert_eq!(copies["backups"].as_array().unwrap().len(), 2, "{copies}");

    lab.run(&["archive", "old"]).ok();
    assert!(lab.old_is_away());
    lab.refused(&["prune", "--days", "0"], 2, "needs a yes");
    assert!(lab.old_is_away());
    let early = lab.run(&["prune", "--days", "1", "-y"]).ok();
    assert!(early.stdout.contains("No skill"), "{}", early.report());
    lab.run(&["prune", "--days", "0", "-y"]).ok();
    assert!(!lab.has(".archive/old"));
}

// LN-35
#[test]
fn what_killed_programs_left_is_cleared_away_after_a_day() {
    let lab = Lab::new();
    let left = lab.program.home.path().join("skills/.sync");
    for (name, days) in [("fresh.1", 0), ("old.2", 2)] {
        let place = left.join(name);
        std::fs::create_dir_all(&place).unwrap();
        let at: Timestamp = ago(days).parse().unwrap();
        let directory = std::fs::File::open(&place).unwrap();
        directory.set_modified(at.into()).unwrap();
    }
    lab.run(&["run"]).ok();
    assert!(left.join("fresh.1").exists() && !left.join("old.2").exists());
}

// LN-35
#[test]
fn of_two_skills_of_one_name_the_one_put_away_last_comes_back() {
    let lab = Lab::new();
    lab.run(&["archive", "old"]).ok();
    let again = skill("old", "Do it anew.");
    let place = "skills/office/old/SKILL.md";
    lab.program.home.write(place, &again).unwrap();
    lab.run(&["archive", "old"]).ok();
    let away = lab.json(&["list-archived"]);
    assert_eq!(away["archived"].as_array().unwrap().len(), 2, "{away}");
    lab.run(&["restore", "old"]).ok();
    assert_eq!(lab.program.home.read(place).unwrap(), again);
    assert!(lab.has(".archive/old/SKILL.md"), "the older one stays");
}

/// A home whose model answers, at the prompt.
fn at_the_prompt(state: Option<Json>) -> (ModelServer, Lab, Terminal) {
    let scenario = Scenario::new().reply(Step::new(text("so be it")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let lab = Lab::of(with_model(&server.base_url()));
    if let Some(state) = state {
        let home = &lab.program.home;
        home.write("skills/.curator_state", state.to_string())
            .unwrap();
    }
    let screen = Terminal::spawn(&lab.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    (server, lab, screen)
}

fn leave(screen: &Terminal) {
    screen.send("/exit\r").unwrap();
    assert_eq!(screen.wait_exit(LIMIT).unwrap().code, 0);
}

// LN-35
#[test]
fn a_run_that_is_due_happens_behind_a_conversation() {
    let (_server, lab, screen) = at_the_prompt(Some(json!({"last_run_at": ago(8)})));
    let away = || lab.old_is_away().then_some(());
    eventually(LIMIT, "the skill is put away", away).unwrap();
    let noted = || {
        let log = ["learning", "log", "--origin", "curator", "--json"];
        let log = lab.command(&log).run().unwrap().ok().json();
        log["changes"][0]["summary"].as_str().map(str::to_owned)
    };
    let summary = eventually(LIMIT, "the journal tells of it", noted).unwrap();
    assert!(summary.starts_with("skill old put away"), "{summary}");
    leave(&screen);
}

// LN-35
#[test]
fn nothing_runs_by_itself_while_paused_or_on_the_first_day() {
    let paused = json!({"last_run_at": ago(8), "paused": true});
    let (_server, lab, screen) = at_the_prompt(Some(paused));
    leave(&screen);
    assert!(lab.has("office/old/SKILL.md") && !lab.has(".curator_backups"));

    let (_server, lab, screen) = at_the_prompt(None);
    let begun = || lab.has(".curator_state").then_some(());
    eventually(LIMIT, "the clock is started", begun).unwrap();
    leave(&screen);
    assert!(lab.has("office/old/SKILL.md") && !lab.has(".curator_backups"));
}

// LN-35
#[test]
fn nothing_runs_by_itself_before_a_week_or_while_somebody_is_here() {
    let said = |screen: &Terminal| {
        screen.send("hello\r").unwrap();
        screen.wait_for_text("so be it", LIMIT).unwrap();
    };
    let (_server, lab, screen) = at_the_prompt(Some(json!({"last_run_at": ago(3)})));
    said(&screen);
    leave(&screen);
    assert!(lab.has("office/old/SKILL.md") && !lab.has(".curator_backups"));
    // A week is over, and the last words are a moment old.
    let state = json!({"last_run_at": ago(8)}).to_string();
    let home = &lab.program.home;
    home.write("skills/.curator_state", state).unwrap();
    let screen = Terminal::spawn(&lab.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    said(&screen);
    leave(&screen);
    assert!(lab.has("office/old/SKILL.md") && !lab.has(".curator_backups"));
    // The same home, where no pause is asked for.
    let config = home.read("config.yaml").unwrap();
    let config = format!("{config}curator: {{min_idle_hours: 0}}\n");
    home.write_config(&config).unwrap();
    let screen = Terminal::spawn(&lab.command(&["chat", "--plain"]), 120, 60).unwrap();
    let away = || lab.old_is_away().then_some(());
    eventually(LIMIT, "the skill is put away", away).unwrap();
    leave(&screen);
}

// LN-35
#[test]
fn the_same_is_done_in_a_conversation_and_what_deletes_asks_first() {
    let (_server, lab, screen) = at_the_prompt(None);
    let say = |line: &str, until: &str| {
        screen.send(&format!("{line}\r")).unwrap();
        screen.wait_for_text(until, LIMIT).unwrap();
    };
    say("/curator", "A run would change 2 now");
    say("/curator run", "1 stale, 1 put away");
    assert!(lab.old_is_away());
    say("/curator prune --days 0", "y = this time");
    assert!(lab.old_is_away(), "nobody said yes yet");
    say("y", "deleted: old");
    assert!(!lab.has(".archive/old"));
    say("/curator dance", "/curator status, run");
    leave(&screen);
}
