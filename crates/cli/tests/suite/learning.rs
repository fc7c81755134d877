//! Looking back behind answers: when, with which request, with which hands, and what is left of it.

use std::time::Duration;

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, RecordedRequest, Scenario, Step, text, tool_call};
use hermes_testkit::pty::{Key, Screen, Terminal};
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::program::Program;

/// Long enough for a loaded machine; nothing takes this long unless it is broken.
const LIMIT: Duration = Duration::from_secs(60);
/// How a look back begins.
pub(crate) const LOOKING: &str = "This is not from the user";
/// Only what a test is about asks the model.
const QUIET: &str = "auxiliary: {title_generation: {enabled: false}}\n";

/// A conversation at the prompt, and a model that keeps something when it looks back.
pub(crate) struct Lab {
    server: ModelServer,
    pub(crate) program: Program,
    screen: Terminal,
}

impl Lab {
    /// With settings in which `URL` stands for the address of the model.
    pub(crate) fn new(settings: &str, scenario: Scenario) -> Self {
        Self::prepared(settings, scenario, |_| {})
    }

    /// The same in a home with more in it.
    pub(crate) fn prepared(
        settings: &str,
        scenario: Scenario,
        prepare: impl FnOnce(&Program),
    ) -> Self {
        let server = ModelServer::start(scenario).unwrap();
        let program = with_model(&server.base_url());
        let config = program.home.read("config.yaml").unwrap();
        let quiet = match settings.contains("auxiliary:") {
            true => "",
            false => QUIET,
        };
        let settings = settings.replace("URL", &server.base_url());
        program
            .home
            .write_config(&format!("{config}{quiet}{settings}"))
            .unwrap();
        prepare(&program);
        Self {
            screen: at_the_prompt(&program, &["chat", "--plain"]),
            server,
            program,
        }
    }

    /// Goes on with the last conversation in another process.
    pub(crate) fn go_on(&mut self) {
        self.leave();
        self.screen = at_the_prompt(&self.program, &["chat", "--plain", "--continue"]);
    }

    /// Begins another conversation in another process.
    pub(crate) fn begin_anew(&mut self) {
        self.leave();
        self.screen = at_the_prompt(&self.program, &["chat", "--plain"]);
    }

    /// Types a line and waits until it was answered.
    pub(crate) fn say(&self, line: &str) {
        self.say_until(line, "so be it");
    }

    /// Types a line and waits until something is told once more.
    pub(crate) fn say_until(&self, line: &str, until: &str) {
        let count = |text: &str| text.matches(until).count();
        let before = count(&self.screen.screen().text());
        self.screen.send(&format!("{line}\r")).unwrap();
        let answered = |page: &Screen| count(&page.text()) > before;
        let told = self.screen.wait_for(answered, LIMIT);
        assert!(told.is_ok(), "{line}: {told:?}");
    }

    /// The calls of the model, without looks at the server.
    pub(crate) fn asked(&self) -> Vec<RecordedRequest> {
        let mut all = self.server.requests();
        all.retain(|request| request.path.ends_with("/chat/completions"));
        all
    }

    pub(crate) fn wait_for_calls(&self, count: usize) -> Vec<RecordedRequest> {
        let enough = || Some(self.asked()).filter(|asked| asked.len() >= count);
        eventually(LIMIT, &format!("{count} calls"), enough).unwrap()
    }

    pub(crate) fn about_user(&self) -> String {
        let read = self.program.home.read("memories/USER.md");
        read.unwrap_or_default()
    }

    pub(crate) fn log(&self) -> Vec<Json> {
        let log = self.program.run(&["learning", "log", "--json"]).ok().json();
        log["changes"].as_array().unwrap().clone()
    }

    /// The row that tells how a look back went.
    fn reviewed(&self) -> Json {
        self.reviews(1).remove(0)
    }

    /// What so many looks back were written down with, newest first, also those that did not come about.
    pub(crate) fn reviews(&self, count: usize) -> Vec<Json> {
        let told = |row: &Json| row["subject"].as_str().unwrap().starts_with("review");
        let rows = || {
            let mut rows = self.log();
            rows.retain(told);
            Some(rows).filter(|rows| rows.len() >= count)
        };
        eventually(LIMIT, "the looks back are written down", rows).unwrap()
    }

    pub(crate) fn leave(&self) {
        self.screen.send("/exit\r").unwrap();
        assert_eq!(self.screen.wait_exit(LIMIT).unwrap().code, 0);
    }
}

fn at_the_prompt(program: &Program, arguments: &[&str]) -> Terminal {
    let screen = Terminal::spawn(&program.command(arguments), 120, 200).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    screen
}

/// Keeps something, and tries a tool that is not for looking back.
pub(crate) fn keeping() -> Step {
    let kept = json!({"target": "user", "action": "add", "content": "Prefers tabs."});
    let calls = tool_call("memory", kept)
        .and_tool_call("terminal", json!({"command": "touch looked-back"}));
    Step::new(calls).when_user(LOOKING)
}

pub(crate) fn scenario(looking: Step) -> Scenario {
    Scenario::new()
        .reply(looking)
        .reply(Step::new(text("nothing")).when_user(LOOKING).repeat())
        .reply(Step::new(text("so be it")).repeat())
}

pub(crate) fn looks_back(request: &RecordedRequest) -> bool {
    String::from_utf8_lossy(&request.body).contains(LOOKING)
}

/// How many bytes two requests begin with alike.
fn alike(one: &RecordedRequest, other: &RecordedRequest) -> usize {
    let pairs = one.body.iter().zip(&other.body);
    pairs.take_while(|(one, other)| one == other).count()
}

pub(crate) fn messages(request: &RecordedRequest) -> &Vec<Json> {
    request.expect_json()["messages"].as_array().unwrap()
}

// LN-36 AG-26 AG-27
#[test]
fn after_ten_turns_the_conversation_is_looked_back_on_without_holding_it_up() {
    let slow = keeping().delay(Duration::from_secs(5));
    let lab = Lab::new("", scenario(slow));
    for part in 1..=10 {
        assert!(!lab.asked().iter().any(looks_back), "before part {part}");
        lab.say(&format!("I prefer tabs, part {part}"));
    }
    let asked = lab.wait_for_calls(11);
    let (parent, look) = (&asked[9], &asked[10]);
    assert!(looks_back(look) && !looks_back(parent));
    assert!(parent.answered_at.unwrap() <= look.arrived_at);

    // The same prefix: the prompt, the tools and all messages.
    let (before, now) = (parent.expect_json(), look.expect_json());
    assert!(before["tools"].is_array());
    assert_eq!(before["tools"].to_string(), now["tools"].to_string());
    let (before, now) = (messages(parent), messages(look));
    assert_eq!(before[0]["role"], "system");
    assert_eq!(now[..before.len()], before[..]);
    assert_eq!(now.len(), before.len() + 2, "the answer and the question");
    let body = String::from_utf8_lossy(&parent.body).into_owned();
    let last_words = body.find("part 10").unwrap();
    assert!(alike(parent, look) > last_words, "byte for byte");

    // The next message does not wait for it.
    lab.say("And what is 2+2?");
    assert_eq!(
        lab.about_user(),
        "",
        "the look back still waits for its model"
    );

    let asked = lab.wait_for_calls(13);
    let second = asked.iter().rfind(|request| looks_back(request)).unwrap();
    let results: Vec<&str> = messages(second)
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert_eq!(results.len(), 2, "{results:?}");
    assert!(results[0].contains("success"), "{results:?}");
    assert!(
        results[1].contains("does not work while looking back"),
        "{results:?}"
    );
    assert!(!lab.program.home.workspace().join("looked-back").exists());
    let review = lab.reviewed();
    lab.leave();
    assert_eq!(lab.about_user(), "Prefers tabs.");
    assert_eq!(review["summary"], "looked back: 1 kept");
    assert_eq!(review["origin"], "background_review");

    let log = lab.log();
    let change = log.iter().find(|row| row["subject"] == "user").unwrap();
    assert_eq!(
        (&change["origin"], &change["after"]),
        (&json!("background_review"), &json!("Prefers tabs."))
    );
    let session = change["session"].as_str().unwrap();
    let export = ["sessions", "export", "-", "--all", "--session-id", session];
    let rows = lab.program.run(&export).ok().stdout;
    assert!(rows.contains("part 10") && rows.contains("2+2"), "{rows}");
    for trace in [
        LOOKING,
        "does not work while",
        "Prefers tabs.",
        "looked-back",
    ] {
        assert!(!rows.contains(trace), "{trace}: {rows}");
    }

    let learned = |kept: u64| {
        let insights = lab.program.run(&["insights", "--json"]).ok().json();
        let mut learned = insights["learning"].clone();
        let latest = learned.as_object_mut().unwrap().remove("latest").unwrap();
        let counts =
            json!({"reviews": 1, "entries_kept": kept, "skills_written": 0, "skills_mended": 0});
        assert_eq!(learned, counts);
        latest.as_array().unwrap().clone()
    };
    let latest = learned(1);
    assert_eq!(latest.len(), 1, "{latest:?}");
    assert_eq!(
        (&latest[0]["subject"], &latest[0]["summary"]),
        (&change["subject"], &change["summary"])
    );
    let page = lab.program.stdout(&["insights"]);
    assert!(page.contains("1 entry kept"), "{page}");
    assert!(page.contains(change["summary"].as_str().unwrap()), "{page}");
    let id = change["id"].to_string();
    lab.program.run(&["learning", "undo", &id]).ok();
    assert_eq!(lab.about_user(), "");
    assert_eq!(learned(0), Vec::<Json>::new());
    let again = lab.program.run(&["learning", "undo", &id]).code(1);
    assert!(
        again.stderr.contains("taken back already"),
        "{}",
        again.report()
    );
    for (id, words) in [
        (review["id"].to_string(), "only tells what happened"),
        ("4711".to_owned(), "there is no change 4711"),
    ] {
        let refused = lab.program.run(&["learning", "undo", &id]).code(1);
        assert!(refused.stderr.contains(words), "{}", refused.report());
        assert!(refused.stderr.contains("hint: "), "{}", refused.report());
    }
}

// LN-36 AG-26
#[test]
fn a_stopped_turn_starts_no_look_back() {
    let never = Step::new(text("never heard"))
        .when_user("stop this")
        .delay(Duration::from_secs(60));
    let settings = "memory: {nudge_interval: 2}\nskills: {creation_nudge_interval: 0}\n";
    let steps = Scenario::new().reply(never).reply(keeping());
    let steps = steps
        .reply(Step::new(text("nothing")).when_user(LOOKING).repeat())
        .reply(Step::new(text("so be it")).repeat());
    let lab = Lab::new(settings, steps);
    lab.say("I prefer tabs");
    lab.screen.send("I always stop this\r").unwrap();
    lab.wait_for_calls(2);
    lab.screen.send_key(Key::CtrlC).unwrap();
    lab.screen.wait_for_text("[stopped]", LIMIT).unwrap();
    // A command is carried out in between, so that there was time for a look back.
    lab.screen.send("/version\r").unwrap();
    let version = concat!("hermes ", env!("CARGO_PKG_VERSION"));
    lab.screen.wait_for_text(version, LIMIT).unwrap();
    assert!(!lab.asked().iter().any(looks_back));
    assert!(lab.log().is_empty(), "{:?}", lab.log());
    // The one that ends well does.
    lab.say("I prefer tabs, as I said");
    let asked = lab.wait_for_calls(4);
    assert!(asked[3..].iter().any(looks_back));
    lab.reviewed();
    lab.leave();
    assert_eq!(lab.about_user(), "Prefers tabs.");
}

// LN-36
#[test]
fn without_tokens_for_it_nothing_is_looked_back_on_until_there_are_some() {
    let settings = "memory: {nudge_interval: 1}\nlearning: {daily_tokens: 0}\n";
    let mut lab = Lab::new(settings, scenario(keeping()));
    lab.say("I prefer tabs");
    lab.leave();
    assert_eq!(lab.asked().len(), 1);
    assert_eq!(lab.log(), Vec::<Json>::new(), "nobody tried");
    let insights = lab.program.run(&["insights", "--json"]).ok().json();
    assert_eq!(insights["learning"]["reviews"], 0);

    // What was said meanwhile is still there.
    let config = lab.program.home.read("config.yaml").unwrap();
    let config = config.replace("daily_tokens: 0", "daily_tokens: 1000");
    lab.program.home.write_config(&config).unwrap();
    lab.screen = at_the_prompt(&lab.program, &["chat", "--plain", "--continue"]);
    lab.say("What is 2+2?");
    assert_eq!(lab.reviewed()["summary"], "looked back: 1 kept");
    lab.leave();
    assert_eq!(lab.about_user(), "Prefers tabs.");
}

/// A turn in which the model makes one call.
fn calls(program: &Program, name: &str, arguments: Json) {
    let made = Scenario::new().reply(tool_call(name, arguments));
    let server = ModelServer::start(made.reply(text("done"))).unwrap();
    let config = with_model(&server.base_url()).home.read("config.yaml");
    program.home.write_config(&config.unwrap()).unwrap();
    program.run(&["chat", "-q", "go"]).ok();
}

// LN-36
#[test]
fn skills_are_taken_back_file_by_file_unless_they_were_changed_since() {
    let program = Program::new();
    let file = "skills/report/SKILL.md";
    let written = super::skills_lab::skill("report", "Count twice.");
    let create = json!({"action": "create", "name": "report", "content": written});
    calls(&program, "skill_manage", create);
    assert_eq!(program.home.read(file).unwrap(), written);
    let log = || {
        let log = program.run(&["learning", "log", "--json"]).ok().json();
        log["changes"][0].clone()
    };
    let row = log();
    assert_eq!(
        (&row["subject"], &row["origin"]),
        (&json!("skill:report"), &json!("foreground"))
    );
    let id = row["id"].to_string();
    let by_hand = format!("{written}\nBy hand.\n");
    program.home.write(file, &by_hand).unwrap();
    let refused = program.run(&["learning", "undo", &id]).code(1);
    assert!(
        refused.stderr.contains("report/SKILL.md"),
        "{}",
        refused.report()
    );
    assert!(refused.stderr.contains("hint: "), "{}", refused.report());
    assert_eq!(program.home.read(file).unwrap(), by_hand);

    program.home.write(file, &written).unwrap();
    program.run(&["learning", "undo", &id]).ok();
    assert!(program.home.read(file).is_err(), "what was written is gone");
    // Taking it back is a change like any other.
    let back = log();
    assert_eq!(back["origin"], "user");
    program
        .run(&["learning", "undo", &back["id"].to_string()])
        .ok();
    assert_eq!(program.home.read(file).unwrap(), written);
}
