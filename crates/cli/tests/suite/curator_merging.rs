//! A model merges skills that overlap: on its own slot, with hands for skills only, and nothing is put away whose
//! words the wider skill does not hold.

use std::time::Duration;

use hermes_core::{Clock as _, SystemClock};
use hermes_testkit::model_server::{ModelServer, Scenario, Step, error, text, tool_call};
use hermes_testkit::pty::Terminal;
use hermes_testkit::{HermeticCommand, Output, eventually};
use jiff::SignedDuration;
use serde_json::{Map, Value as Json, json};

use super::chat::with_model;
use super::program::Program;
use super::skills_lab::skill;

/// Long enough for a loaded machine; nothing takes this long unless it is broken.
const LIMIT: Duration = Duration::from_secs(120);
/// What the model merges.
const POSTGRES: &str = "Run `pg_dump` first.\n\nNever migrate on a Friday.";
const MYSQL: &str = "Run `mysqldump` first.\n\nWait 30 seconds for replicas.";
/// All of it but one line.
const WIDE: &str = "## Postgres\n\nRun `pg_dump` first.\n\nNever migrate on a Friday.\n\n## MySQL\n\nRun `mysqldump` first.";
const LEFT_OUT: &str = "Wait 30 seconds for replicas.";
const UMBRELLA: &str = "migrate-database";
const NARROW: [(&str, &str); 2] = [("migrate-postgres", POSTGRES), ("migrate-mysql", MYSQL)];

struct Lab {
    server: ModelServer,
    program: Program,
}

fn put_away(name: &str) -> Json {
    json!({"action": "delete", "name": name, "absorbed_into": UMBRELLA})
}

/// Reads both, writes the wide one with a line missing, is refused, mends it.
fn merging() -> Scenario {
    let view = |name: &str| json!({ "name": name });
    let wide = skill(UMBRELLA, WIDE);
    let create = json!({"action": "create", "name": UMBRELLA, "content": wide});
    let mend = json!({"action": "patch", "name": UMBRELLA,
        "old_string": "Run `mysqldump` first.",
        "new_string": format!("Run `mysqldump` first.\n\n{LEFT_OUT}")});
    Scenario::new()
        .models(["scripted", "tidy"])
        .reply(
            Step::new(
                tool_call("skill_view", view("migrate-postgres"))
                    .and_tool_call("skill_view", view("migrate-mysql"))
                    .and_tool_call("terminal", json!({"command": "touch tidied"})),
            )
            .when_model("tidy")
            .when_last("migrate-postgres: about"),
        )
        .reply(Step::new(tool_call("skill_manage", create)).when_last("terminal does not work"))
        .reply(
            Step::new(
                tool_call("skill_manage", put_away("migrate-postgres"))
                    .and_tool_call("skill_manage", put_away("migrate-mysql")),
            )
            .when_last("new skill migrate-database"),
        )
        .reply(Step::new(tool_call("skill_manage", mend)).when_last(LEFT_OUT))
        .reply(
            Step::new(tool_call("skill_manage", put_away("migrate-mysql")))
                .when_last("skill migrate-database changed"),
        )
        .reply(Step::new(text("done")).when_last("migrate-mysql put away"))
}

impl Lab {
    fn new(scenario: Scenario) -> Self {
        let server = ModelServer::start(scenario).unwrap();
        let program = with_model(&server.base_url());
        let config = program.home.read("config.yaml").unwrap();
        let own = format!(
            "{config}providers: {{helper: {{base_url: '{}', context_length: 100000}}}}\n\
             auxiliary: {{title_generation: {{enabled: false}}, curator: {{provider: 'custom:helper', model: tidy}}}}\n",
            server.base_url()
        );
        program.home.write_config(&own).unwrap();
        std::fs::create_dir(program.home.user_home().join("none")).unwrap();
        let mut usage = Map::new();
        let now = SystemClock.now().to_string();
        for (name, body) in NARROW.iter().chain(&[("mine", "By hand.")]) {
            let file = format!("skills/{name}/SKILL.md");
            program.home.write(&file, skill(name, body)).unwrap();
            let by = if *name == "mine" { "" } else { "agent" };
            let record = json!({"created_by": by, "created_at": now, "last_used_at": now});
            usage.insert((*name).to_owned(), record);
        }
        let usage = Json::Object(usage).to_string();
        program.home.write("skills/.usage.json", usage).unwrap();
        let jobs = json!({"jobs": [{"id": "nightly", "skills": ["migrate-mysql", "mine"]}]});
        let jobs = jobs.to_string();
        program.home.write("cron/jobs.json", jobs).unwrap();
        Self { server, program }
    }

    fn command(&self, arguments: &[&str]) -> HermeticCommand {
        let none = self.program.home.user_home().join("none");
        self.program
            .command(arguments)
            .env("HERMES_BUNDLED_SKILLS", none)
            .timeout(LIMIT)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let all: Vec<&str> = [&["curator"][..], arguments].concat();
        self.command(&all).run().unwrap()
    }

    fn text(&self, place: &str) -> Option<String> {
        self.program.home.read(&format!("skills/{place}")).ok()
    }

    fn jobs(&self) -> Json {
        let text = self.program.home.read("cron/jobs.json").unwrap();
        serde_json::from_str::<Json>(&text).unwrap()["jobs"][0]["skills"].clone()
    }

    fn log(&self) -> Vec<Json> {
        let log = self.command(&["learning", "log", "--json"]).run().unwrap();
        let log = log.ok().json();
        log["changes"].as_array().unwrap().clone()
    }

    /// The skills as files.
    fn skills(&self) -> Vec<(String, String)> {
        let tree = self.program.home.tree().unwrap().into_iter();
        let ours = |path: &str| path.contains("skills/") && path.ends_with("SKILL.md");
        tree.filter(|(path, _)| ours(path)).collect()
    }
}

fn absorbed(run: &Json) -> Vec<(&str, &str)> {
    let all = run["absorbed"].as_array().unwrap().iter();
    all.map(|one| (one["name"].as_str().unwrap(), one["into"].as_str().unwrap()))
        .collect()
}

// LN-35
#[test]
fn a_model_merges_skills_and_nothing_of_them_is_lost() {
    let lab = Lab::new(merging());
    let run = lab.run(&["run", "--consolidate", "--json"]).ok().json();
    assert_eq!(
        absorbed(&run),
        [("migrate-mysql", UMBRELLA), ("migrate-postgres", UMBRELLA)],
        "{run}"
    );
    assert_eq!(run["written"], json!([UMBRELLA]));
    assert_eq!(
        (&run["merging"]["model"], &run["merging"]["cut_short"]),
        (&json!("tidy"), &Json::Null),
        "{run}"
    );
    let wide = lab.text("migrate-database/SKILL.md").unwrap();
    assert!(wide.contains(LEFT_OUT), "{wide}");
    for (name, body) in NARROW {
        assert!(lab.text(&format!("{name}/SKILL.md")).is_none(), "{name}");
        let away = lab.text(&format!(".archive/{name}/SKILL.md")).unwrap();
        assert!(away.contains(body), "{away}");
    }
    assert!(lab.text("mine/SKILL.md").is_some(), "it is the user's");

    // It had hands for skills and nothing else, and only the skills it may merge were named.
    let asked = lab.server.requests();
    let first = asked
        .iter()
        .find(|request| request.path.ends_with("/chat/completions"));
    let first = first.unwrap().expect_json();
    let tools = first["tools"].as_array().unwrap().iter();
    let tools: Vec<&str> = tools
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(tools, ["skill_manage", "skill_view", "skills_list"]);
    let question = first["messages"][1]["content"].as_str().unwrap();
    assert!(!question.contains("mine: about"), "{question}");
    assert!(!lab.program.home.workspace().join("tidied").exists());

    // The job follows, and the report tells all of it.
    assert_eq!(lab.jobs(), json!([UMBRELLA, "mine"]));
    let status = lab.run(&["status", "--json"]).ok().json();
    let report = status["last_report_path"].as_str().unwrap();
    let page = std::fs::read_to_string(format!("{report}/REPORT.md")).unwrap();
    for words in [
        "migrate-mysql: put away, migrate-database says all of it",
        "job nightly: uses migrate-database in place of migrate-mysql",
    ] {
        assert!(page.contains(words), "{page}");
    }
    let rewrites = std::fs::read_to_string(format!("{report}/cron_rewrites.json")).unwrap();
    let rewrites: Json = serde_json::from_str(&rewrites).unwrap();
    assert_eq!(rewrites[0]["from"], "migrate-mysql");
    let origins: Vec<Json> = lab
        .log()
        .into_iter()
        .map(|row| row["origin"].clone())
        .collect();
    assert!(!origins.is_empty() && origins.iter().all(|origin| origin == "curator"));

    // One of them comes back, or all of it as it was.
    lab.run(&["restore", "migrate-mysql"]).ok();
    assert!(lab.text("migrate-mysql/SKILL.md").unwrap().contains(MYSQL));
    let backup = run["backup"].as_str().unwrap();
    lab.run(&["rollback", backup, "-y"]).ok();
    for (name, body) in NARROW {
        let back = lab.text(&format!("{name}/SKILL.md")).unwrap();
        assert!(back.contains(body), "{back}");
    }
    assert!(lab.text("migrate-database/SKILL.md").is_none());
    assert_eq!(lab.jobs(), json!(["migrate-mysql", "mine"]));
}

// LN-35
#[test]
fn a_dry_run_merges_a_copy_and_leaves_everything_as_it_is() {
    let lab = Lab::new(merging());
    let before = lab.skills();
    let run = lab.run(&["run", "--dry-run", "--consolidate", "--json"]);
    let run = run.ok().json();
    assert_eq!(run["dry_run"], true);
    assert_eq!(absorbed(&run).len(), 2, "{run}");
    assert_eq!(run["rewrites"][0]["to"], UMBRELLA);
    assert_eq!(lab.skills(), before);
    assert_eq!(lab.jobs(), json!(["migrate-mysql", "mine"]));
    assert_eq!(lab.log(), Vec::<Json>::new());
    let left = std::fs::read_dir(lab.program.home.path().join("skills/.sync"));
    assert_eq!(left.into_iter().flatten().count(), 0, "the copy is gone");
    let status = lab.run(&["status", "--json"]).ok().json();
    assert_eq!(
        (&status["run_count"], &status["backups"]),
        (&json!(0), &json!(0))
    );
}

// LN-35
#[test]
fn a_model_that_insists_puts_nothing_away_that_would_be_lost() {
    let insists = Step::new(tool_call(
        "skill_manage",
        json!({"action": "delete", "name": "migrate-mysql", "absorbed_into": "migrate-postgres"}),
    ));
    let view = tool_call("skill_view", json!({"name": "migrate-mysql"}));
    let users = json!({"action": "delete", "name": "mine", "absorbed_into": "migrate-postgres"});
    let scenario = Scenario::new()
        .reply(view)
        .reply(insists.clone())
        .reply(insists)
        .reply(tool_call("skill_manage", users))
        .reply(text("so be it"));
    let lab = Lab::new(scenario);
    let before = lab.skills();
    let run = lab.run(&["run", "--consolidate", "--json"]).ok().json();
    assert_eq!(absorbed(&run), [("", ""); 0]);
    assert_eq!(lab.skills().len(), before.len());
    let asked = lab.server.requests();
    let said = String::from_utf8_lossy(&asked.last().unwrap().body).into_owned();
    for words in [LEFT_OUT, "does not hold all", "the agent did not make it"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

// LN-35
#[test]
fn when_the_model_fails_the_rest_of_a_run_is_done_and_it_is_told() {
    let broken = Step::new(error(400).message("out of order")).repeat();
    let lab = Lab::new(Scenario::new().reply(broken));
    let run = lab.run(&["run", "--consolidate"]).ok();
    assert!(
        run.stdout.contains("merging was not finished: "),
        "{}",
        run.report()
    );
    assert!(run.stdout.contains("0 merged"), "{}", run.report());
    let status = lab.run(&["status", "--json"]).ok().json();
    assert_eq!(status["run_count"], 1);
    // It is not asked for where nobody wants it.
    let asked = lab.server.requests().len();
    lab.run(&["run"]).ok();
    assert_eq!(lab.server.requests().len(), asked);
}

/// A conversation behind which skills are to be merged.
fn merging_behind(lab: &Lab) -> Terminal {
    let home = &lab.program.home;
    let config = home.read("config.yaml").unwrap();
    let config = format!("{config}curator: {{consolidate: true}}\n");
    home.write_config(&config).unwrap();
    let then = SystemClock.now();
    let then = then.checked_sub(SignedDuration::from_hours(200)).unwrap();
    let state = json!({"last_run_at": then.to_string()}).to_string();
    home.write("skills/.curator_state", state).unwrap();
    let screen = Terminal::spawn(&lab.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    screen
}

fn leave(screen: &Terminal) {
    screen.send("/exit\r").unwrap();
    assert_eq!(screen.wait_exit(LIMIT).unwrap().code, 0);
}

// LN-35
#[test]
fn where_it_is_wished_skills_are_merged_behind_a_conversation() {
    let lab = Lab::new(merging());
    let screen = merging_behind(&lab);
    let merged = || {
        let away = lab.text(".archive/migrate-mysql/SKILL.md")?;
        (lab.jobs() == json!([UMBRELLA, "mine"])).then_some(away)
    };
    eventually(LIMIT, "the skills are merged", merged).unwrap();
    leave(&screen);
}

// LN-35
#[test]
fn leaving_a_conversation_ends_a_merge_that_waits_for_its_model() {
    let never = Step::new(text("late")).delay(LIMIT * 5).repeat();
    let lab = Lab::new(Scenario::new().reply(never));
    let before = lab.skills();
    let screen = merging_behind(&lab);
    let asked = || {
        let count = lab.server.requests().into_iter();
        let mut asked = count.filter(|one| one.path.ends_with("/chat/completions"));
        asked.next()
    };
    eventually(LIMIT, "the model is asked", asked).unwrap();
    leave(&screen);
    assert_eq!(lab.skills(), before);
    // Nobody holds the skills any more.
    lab.run(&["pin", "migrate-mysql"]).ok();
}
