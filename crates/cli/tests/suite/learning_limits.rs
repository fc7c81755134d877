//! What looking back may cost, who does it, and what it may not do on its own.

use hermes_testkit::model_server::{Scenario, Step, text, tool_call};
use serde_json::{Value as Json, json};

use super::learning::{LOOKING, Lab, keeping, looks_back, messages, scenario};
use super::program::Program;
use super::skills_lab::skill;

/// Every message is looked back on, for memory only.
const EAGER: &str = "memory: {nudge_interval: 1}\nskills: {creation_nudge_interval: 0}\n";

// LN-36: an answer of the scripted model costs 120 tokens, and those of the conversation do not count.
#[test]
fn when_the_tokens_of_the_day_are_spent_the_next_look_back_is_not_made() {
    let settings = format!("{EAGER}learning: {{daily_tokens: 120}}\n");
    let lab = Lab::new(&settings, scenario(keeping()));
    lab.say("I prefer tabs");
    let first = lab.reviews(1);
    assert_eq!(
        first[0]["summary"],
        "looked back: 1 kept, then the tokens for looking back are spent for today"
    );
    lab.say("I prefer tabs, as I said");
    let both = lab.reviews(2);
    assert_eq!(
        both[0]["summary"],
        "did not look back, because the tokens for looking back are spent for today"
    );
    lab.leave();
    let insights = lab.program.run(&["insights", "--json"]).ok().json();
    let learned = &insights["learning"];
    assert_eq!(learned["reviews"], 1, "only one was made: {learned}");
    assert_eq!(learned["latest"].as_array().unwrap().len(), 1, "{learned}");
    let asked = lab.asked();
    assert_eq!(
        asked.len(),
        3,
        "two answers, and one look back that ends with the tokens"
    );
    assert!(!looks_back(&asked[2]), "the last is an answer");
    assert_eq!(lab.about_user(), "Prefers tabs.");
}

// LN-36
#[test]
fn a_model_of_its_own_looks_back_on_the_conversation_in_short() {
    // Two dozen messages stay as they are; the first two turns are older than that.
    let settings = "memory: {nudge_interval: 14}\nskills: {creation_nudge_interval: 0}\n\
         providers: {helper: {base_url: 'URL', context_length: 100000}}\n\
         auxiliary: {title_generation: {enabled: false}, background_review: {provider: 'custom:helper', model: small}}\n";
    let lab = Lab::new(settings, scenario(keeping()).extra_keys(["think"]));
    for part in 1..=14 {
        lab.say(&format!("I prefer tabs, part {part}"));
    }
    assert_eq!(lab.reviews(1)[0]["summary"], "looked back: 1 kept");
    lab.leave();
    let asked = lab.asked();
    let (looks, answers): (Vec<_>, Vec<_>) = asked.iter().partition(|one| looks_back(one));
    assert_eq!((looks.len(), answers.len()), (2, 14));
    assert!(
        looks
            .iter()
            .all(|one| one.expect_json()["model"] == "small")
    );
    assert!(
        answers
            .iter()
            .all(|one| one.expect_json()["model"] == "scripted")
    );
    assert_eq!(
        answers.iter().map(|one| messages(one).len()).max(),
        Some(28),
        "all of it and the prompt"
    );
    let sent = messages(looks[0]);
    assert_eq!(
        sent.len(),
        28,
        "the prompt, the older in short, two dozen and the question"
    );
    let older = sent[1]["content"].to_string();
    assert!(older.contains("Earlier in this conversation:"), "{older}");
    assert!(older.contains("User: I prefer tabs, part 2"), "{older}");
    assert!(!older.contains("part 3"), "{older}");
    assert!(sent[3]["content"].to_string().contains("part 3"));
    assert_eq!(lab.about_user(), "Prefers tabs.");
}

// LN-36
#[test]
fn a_model_that_is_named_without_a_provider_looks_back_too() {
    let settings = format!(
        "{EAGER}auxiliary: {{title_generation: {{enabled: false}}, background_review: {{model: small}}}}\n"
    );
    let lab = Lab::new(&settings, scenario(keeping()).extra_keys(["think"]));
    lab.say("I prefer tabs");
    assert_eq!(lab.reviews(1)[0]["summary"], "looked back: 1 kept");
    lab.leave();
    let models = lab
        .asked()
        .into_iter()
        .map(|one| one.expect_json()["model"].clone());
    assert_eq!(models.collect::<Vec<_>>(), ["scripted", "small", "small"]);
}

// LN-36
#[test]
fn a_look_back_ends_after_sixteen_calls() {
    let endless = Step::new(tool_call("skills_list", json!({})));
    let steps = Scenario::new()
        .reply(endless.when_user(LOOKING).repeat())
        .reply(Step::new(text("so be it")).repeat());
    let lab = Lab::new(EAGER, steps);
    lab.say("I prefer tabs");
    let summary = lab.reviews(1)[0]["summary"].clone();
    assert_eq!(
        summary,
        "looked back: nothing kept, because 16 calls were not enough"
    );
    lab.leave();
    let looks = lab.asked().iter().filter(|one| looks_back(one)).count();
    assert_eq!(looks, 16);
}

/// A skill with what the program knows about it.
fn shelve(program: &Program, name: &str) -> (String, String) {
    let file = format!("skills/{name}/SKILL.md");
    let text = skill(name, "Count twice.");
    program.home.write(&file, &text).unwrap();
    (file, text)
}

// LN-30, LN-36
#[test]
fn a_look_back_changes_no_skill_that_is_not_its_own_or_was_not_read() {
    const NAMES: [&str; 4] = ["packed", "hubbed", "pinned", "unread"];
    let view = |name: &str| json!({ "name": name });
    let reading = tool_call("skill_view", view("packed"))
        .and_tool_call("skill_view", view("hubbed"))
        .and_tool_call("skill_view", view("pinned"));
    let patch = |name: &str| {
        let (old, new) = ("Count twice.", "Count once.");
        json!({"action": "patch", "name": name, "old_string": old, "new_string": new})
    };
    let writing = NAMES[1..].iter().fold(
        tool_call("skill_manage", patch(NAMES[0])),
        |answer, name| answer.and_tool_call("skill_manage", patch(name)),
    );
    let steps = Scenario::new()
        .reply(Step::new(reading).when_user(LOOKING))
        .reply(Step::new(writing).when_user(LOOKING))
        .reply(Step::new(text("nothing")).when_user(LOOKING).repeat())
        .reply(Step::new(text("so be it")).repeat());
    let mut kept = Vec::new();
    let lab = Lab::prepared(EAGER, steps, |program| {
        kept.extend(NAMES.map(|name| shelve(program, name)));
        let lock = r#"{"version":1,"installed":{"hubbed":{}}}"#;
        program.home.write("skills/.hub/lock.json", lock).unwrap();
        let manifest = "packed:0123\n";
        program
            .home
            .write("skills/.bundled_manifest", manifest)
            .unwrap();
        let own = json!({"created_by": "agent", "pinned": false});
        let pinned = json!({"created_by": "agent", "pinned": true});
        let usage = json!({"pinned": pinned, "unread": own, "packed": own, "hubbed": own});
        let usage = usage.to_string();
        program.home.write("skills/.usage.json", usage).unwrap();
    });
    lab.say("I prefer tabs");
    let review = lab.reviews(1).remove(0);
    assert_eq!(review["summary"], "looked back: nothing worth keeping");
    lab.leave();
    let asked = lab.asked();
    let last = asked.iter().rfind(|request| looks_back(request)).unwrap();
    let told = messages(last).iter();
    let told = told.filter(|message| message["role"] == "tool").skip(3);
    let told: Vec<&str> = told
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    let why = [
        "came with the program",
        "installed from elsewhere",
        "pinned",
        "skill_view first",
    ];
    assert_eq!(told.len(), why.len(), "{told:?}");
    for (told, why) in told.iter().zip(why) {
        assert!(told.contains(why), "{why}: {told}");
    }
    for (file, text) in kept {
        assert_eq!(lab.program.home.read(&file).unwrap(), text, "{file}");
    }
}

// LN-30, LN-36
#[test]
fn a_look_back_mends_a_skill_under_whatever_name_it_read_it() {
    let (view, patch) = (
        |name: &str| json!({ "name": name }),
        |name: &str, to: &str| json!({"action": "patch", "name": name, "old_string": "Count twice.", "new_string": to}),
    );
    let reading =
        tool_call("skill_view", view("ops/tea")).and_tool_call("skill_view", view("ops/twin"));
    let writing = tool_call("skill_manage", patch("ops/tea", "Count once."))
        .and_tool_call("skill_manage", patch("ops/twin", "Count never."))
        .and_tool_call("skill_manage", patch("home/twin", "Count never."));
    let steps = Scenario::new()
        .reply(Step::new(reading).when_user(LOOKING))
        .reply(Step::new(writing).when_user(LOOKING))
        .reply(Step::new(text("nothing")).when_user(LOOKING).repeat())
        .reply(Step::new(text("so be it")).repeat());
    let lab = Lab::prepared(EAGER, steps, |program| {
        for place in ["ops/tea", "ops/twin", "home/twin"] {
            let name = place.rsplit('/').next().unwrap();
            let file = format!("skills/{place}/SKILL.md");
            let text = skill(name, "Count twice.");
            program.home.write(&file, text).unwrap();
        }
        let own = json!({"created_by": "agent"});
        let usage = json!({"tea": own, "twin": own}).to_string();
        program.home.write("skills/.usage.json", usage).unwrap();
    });
    lab.say("I prefer tabs");
    lab.reviews(1);
    lab.leave();
    let says = |place: &str, words: &str| {
        let text = lab.program.home.read(&format!("skills/{place}/SKILL.md"));
        let text = text.unwrap();
        assert!(text.contains(words), "{place}: {text}");
    };
    says("ops/tea", "Count once.");
    says("ops/twin", "Count never.");
    // The other one of that name was not read.
    says("home/twin", "Count twice.");
}

/// The changes of one kind that wait.
fn waiting(lab: &Lab, kind: &str) -> Vec<Json> {
    let folder = lab.program.home.path().join("pending").join(kind);
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.filter(|file| file.path().extension().is_some_and(|end| end == "json"));
    files
        .map(|file| serde_json::from_str(&std::fs::read_to_string(file.path()).unwrap()).unwrap())
        .collect()
}

// LN-36, LN-10
#[test]
fn what_a_look_back_wants_to_keep_waits_where_the_user_wants_to_be_asked() {
    let settings = "memory: {nudge_interval: 1, write_approval: true}\n\
         skills: {creation_nudge_interval: 0, write_approval: true}\n";
    let kept = json!({"target": "user", "action": "add", "content": "Prefers tabs."});
    let written = skill("report", "Count twice.");
    let create = json!({"action": "create", "name": "report", "content": written});
    let both = tool_call("memory", kept).and_tool_call("skill_manage", create);
    let lab = Lab::new(settings, scenario(Step::new(both).when_user(LOOKING)));
    lab.say_until("I prefer tabs", "2 changes wait for your approval");
    assert_eq!(
        lab.reviews(1)[0]["summary"],
        "looked back: 2 waiting for approval"
    );
    lab.leave();
    assert_eq!(lab.about_user(), "");
    let file = "skills/report/SKILL.md";
    assert!(lab.program.home.read(file).is_err(), "nothing is written");
    for kind in ["memory", "skills"] {
        let waiting = waiting(&lab, kind);
        assert_eq!(waiting.len(), 1, "{kind}: {waiting:?}");
        assert_eq!(waiting[0]["origin"], "background_review", "{kind}");
    }
    lab.program.run(&["memory", "approve", "all"]).ok();
    assert_eq!(lab.about_user(), "Prefers tabs.");
    let log = lab.program.run(&["memory", "log", "--json"]).ok().json();
    assert_eq!(log["changes"][0]["origin"], "background_review");

    // The same for skills, without a conversation.
    let skills = |arguments: &[&str]| lab.program.run(&[&["skills"], arguments].concat());
    let listed = skills(&["pending", "--json"]).ok().json();
    let id = listed["pending"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(listed["pending"][0]["origin"], "background_review");
    let page = skills(&["pending"]).ok().stdout;
    assert!(page.contains(&id) && page.contains("report"), "{page}");
    assert!(page.contains("hermes skills diff ID"), "{page}");
    let diff = skills(&["diff", &id]).ok().stdout;
    assert!(diff.contains("Count twice."), "{diff}");
    let unknown = skills(&["approve", "00000000"]).code(1);
    let hint = "hint: hermes skills pending lists them";
    assert!(unknown.stderr.contains(hint), "{}", unknown.report());
    skills(&["approve", &id]).ok();
    assert_eq!(lab.program.home.read(file).unwrap(), written);
    let log = lab.log();
    assert_eq!(
        (&log[0]["subject"], &log[0]["origin"]),
        (&json!("skill:report"), &json!("background_review"))
    );
    assert!(waiting(&lab, "skills").is_empty());
    assert!(skills(&["reject", "all"]).ok().stdout.contains("No change"));
}

// LN-10
#[test]
fn a_change_of_a_skill_that_is_not_wanted_is_let_go_without_a_conversation() {
    let written = skill("report", "Count twice.");
    let create = json!({"action": "create", "name": "report", "content": written});
    let steps = Scenario::new().reply(tool_call("skill_manage", create));
    let (_server, program) = super::chat::served(steps.reply(text("done")));
    let config = program.home.read("config.yaml").unwrap();
    let config = format!("{config}skills: {{write_approval: true}}\n");
    program.home.write_config(&config).unwrap();
    program.run(&["chat", "-q", "go"]).ok();
    let listed = program.run(&["skills", "pending", "--json"]).ok().json();
    let id = listed["pending"][0]["id"].as_str().unwrap();
    let gone = program.run(&["skills", "reject", id]).ok().stdout;
    assert!(gone.contains("let go"), "{gone}");
    let listed = program.run(&["skills", "pending", "--json"]).ok().json();
    assert_eq!(listed, json!({"pending": []}));
    assert!(program.home.read("skills/report/SKILL.md").is_err());
}

// LN-36, LN-10
#[test]
fn what_was_allowed_for_the_session_is_not_allowed_to_a_look_back() {
    let settings = "memory: {nudge_interval: 2, write_approval: true}\n\
         skills: {creation_nudge_interval: 0}\n";
    let kept = json!({"target": "memory", "action": "add", "content": "The project uses tabs."});
    let own = Step::new(tool_call("memory", kept)).when_last("keep that");
    let mut steps = scenario(keeping());
    steps.steps.insert(0, own);
    let lab = Lab::new(settings, steps);
    lab.say_until("Please keep that", "May I do this?");
    lab.say("s");
    let noted = lab.program.home.read("memories/MEMORY.md").unwrap();
    assert_eq!(noted, "The project uses tabs.");
    for part in 1..=2 {
        lab.say(&format!("I prefer tabs, part {part}"));
    }
    assert_eq!(
        lab.reviews(1)[0]["summary"],
        "looked back: 1 waiting for approval"
    );
    lab.leave();
    assert_eq!(lab.about_user(), "");
    let waiting = waiting(&lab, "memory");
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    assert_eq!(waiting[0]["origin"], "background_review");
}
