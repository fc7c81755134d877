//! When a conversation is looked back on: two counts that go on apart, and what begins them anew.

use std::time::Duration;

use hermes_testkit::model_server::{RecordedRequest, Scenario, Step, text, tool_call};
use serde_json::json;

use super::learning::{LOOKING, Lab, keeping, looks_back, messages, scenario};
use super::skills_lab::skill;

/// What a look back for memory asks, and what one for skills does.
const FOR_MEMORY: &str = "Memory: did the user say";
const FOR_SKILLS: &str = "Skills: did something take";

fn body(request: &RecordedRequest) -> String {
    String::from_utf8_lossy(&request.body).into_owned()
}

/// The looks back so far, as they were sent.
fn looks(lab: &Lab) -> Vec<String> {
    let asked = lab.asked();
    let looks = asked.iter().filter(|request| looks_back(request));
    looks.map(body).collect()
}

// AG-26, LN-36
#[test]
fn what_a_look_back_for_skills_has_read_is_still_there_for_memory() {
    let mut steps = Scenario::new();
    for number in 1..=10 {
        let item = json!({"id": "1", "content": format!("step {number}"), "status": "pending"});
        let work = tool_call("todo", json!({"todos": [item]}));
        steps = steps.reply(Step::new(work).when_user("Work on it"));
    }
    let steps = steps
        .reply(Step::new(text("nothing")).when_user(LOOKING).repeat())
        .reply(Step::new(text("so be it")).repeat());
    let lab = Lab::new("", steps);
    lab.say("I always prefer tabs. Work on it.");
    assert_eq!(lab.reviews(1).len(), 1);
    for number in 2..=9 {
        lab.say(&format!("What is {number}+{number}?"));
    }
    let before = looks(&lab);
    assert_eq!(before.len(), 1, "eleven calls, and nine messages");
    assert!(before[0].contains(FOR_SKILLS) && !before[0].contains(FOR_MEMORY));
    lab.say("What is 10+10?");
    assert_eq!(lab.reviews(2).len(), 2);
    lab.leave();
    let all = looks(&lab);
    assert_eq!(all.len(), 2);
    assert!(all[1].contains(FOR_MEMORY) && !all[1].contains(FOR_SKILLS));
    assert!(all[1].contains("I always prefer tabs."));
}

// LN-36
#[test]
fn small_talk_is_not_looked_back_on_until_something_is_said() {
    let settings = "memory: {nudge_interval: 2}\nskills: {creation_nudge_interval: 2}\n";
    let lab = Lab::new(settings, scenario(keeping()));
    for line in [
        "Add a column to the schema of the table",
        "List the common errors",
        "How many companies are there?",
        "Is access denied?",
        "Rename dummy to swimmer",
    ] {
        lab.say(line);
    }
    assert_eq!(looks(&lab).len(), 0, "{:?}", looks(&lab));
    lab.say("No, use tabs");
    lab.reviews(1);
    lab.leave();
    assert_eq!(lab.about_user(), "Prefers tabs.");
}

// AG-26
#[test]
fn using_memory_in_the_conversation_begins_the_count_anew() {
    let kept = json!({"target": "memory", "action": "add", "content": "The project uses tabs."});
    let own = Step::new(tool_call("memory", kept)).when_last("part 2");
    let mut steps = scenario(keeping());
    steps.steps.insert(0, own);
    let settings = "memory: {nudge_interval: 3}\nskills: {creation_nudge_interval: 0}\n";
    let lab = Lab::new(settings, steps);
    for part in 1..=5 {
        lab.say(&format!("I prefer tabs, part {part}"));
    }
    lab.reviews(1);
    lab.leave();
    let first = looks(&lab).remove(0);
    assert!(first.contains("part 5"), "three messages after it was used");
}

// AG-26
#[test]
fn writing_a_skill_in_the_conversation_begins_the_count_anew() {
    let written = skill("report", "Count twice.");
    let create = json!({"action": "create", "name": "report", "content": written});
    let own = Step::new(tool_call("skill_manage", create)).when_last("part 2");
    let mut steps = scenario(keeping());
    steps.steps.insert(0, own);
    let settings = "memory: {nudge_interval: 0}\nskills: {creation_nudge_interval: 4}\n";
    let lab = Lab::new(settings, steps);
    for part in 1..=5 {
        lab.say(&format!("I prefer tabs, part {part}"));
    }
    lab.reviews(1);
    lab.leave();
    let first = looks(&lab).remove(0);
    assert!(first.contains("part 5"), "four calls after it was used");
    assert!(first.contains(FOR_SKILLS) && !first.contains(FOR_MEMORY));
}

// AG-26
#[test]
fn what_was_held_back_for_want_of_a_sign_is_still_there_in_the_next_process() {
    let settings = "memory: {nudge_interval: 3}\nskills: {creation_nudge_interval: 0}\n";
    let mut lab = Lab::new(settings, scenario(keeping()));
    for number in 1..=4 {
        lab.say(&format!("What is {number}+{number}?"));
    }
    lab.go_on();
    lab.say("I prefer tabs, part 5");
    lab.reviews(1);
    // What was read is not read again: the next three are counted from here.
    for number in 6..=8 {
        lab.say(&format!("What is {number}+{number}?"));
    }
    lab.go_on();
    lab.say("What is 9+9?");
    lab.leave();
    let all = looks(&lab);
    assert!(all[0].contains("part 5"));
    assert_eq!(all.len(), 2, "one look back, of two calls");
}

// AG-26
#[test]
fn all_conversations_are_counted_together_and_read_together() {
    let settings = "memory: {nudge_interval: 10}\nskills: {creation_nudge_interval: 0}\n";
    let mut lab = Lab::new(settings, scenario(keeping()));
    lab.say("I always prefer tabs, as I said");
    for number in 2..=4 {
        lab.say(&format!("What is {number}+{number}?"));
    }
    lab.begin_anew();
    for number in 5..=8 {
        lab.say(&format!("What is {number}+{number}?"));
    }
    lab.begin_anew();
    lab.say("What is 9+9?");
    assert_eq!(looks(&lab).len(), 0, "nine messages");
    lab.say("What is 10+10?");
    lab.reviews(1);
    for number in 11..=12 {
        lab.say(&format!("What is {number}+{number}?"));
    }
    lab.leave();
    assert_eq!(lab.about_user(), "Prefers tabs.");
    let all = looks(&lab);
    assert_eq!(all.len(), 2, "one look back, of two calls");
    // The conversation it follows stands in front as it is; of the others there are lines in the question.
    let asked = lab.asked();
    let at = asked.iter().position(looks_back).unwrap();
    let (parent, look) = (messages(&asked[at - 1]), messages(&asked[at]));
    assert_eq!(look[..parent.len()], parent[..]);
    let question = look[look.len() - 1]["content"].to_string();
    assert!(
        question.contains("User: I always prefer tabs, as I said"),
        "{question}"
    );
    assert!(question.contains("User: What is 8+8?"), "{question}");
    assert!(!question.contains("10+10"), "{question}");
}

// AG-26
#[test]
fn single_questions_are_looked_back_on_in_the_next_conversation() {
    let settings = "memory: {nudge_interval: 3}\nskills: {creation_nudge_interval: 0}\n";
    let lab = Lab::prepared(settings, scenario(keeping()), |program| {
        for line in ["I always prefer tabs", "What is 2+2?", "What is 3+3?"] {
            program.run(&["chat", "-q", line]).ok();
        }
    });
    assert_eq!(looks(&lab).len(), 0, "a run that answers once is over");
    lab.say("What is 4+4?");
    lab.reviews(1);
    lab.leave();
    assert_eq!(lab.about_user(), "Prefers tabs.");
    assert!(looks(&lab)[0].contains("User: I always prefer tabs"));
}

// AG-26, LN-36
#[test]
fn taking_back_saying_again_and_shortening_count_nothing_and_start_nothing() {
    let settings = "memory: {nudge_interval: 3}\nskills: {creation_nudge_interval: 0}\n";
    let lab = Lab::new(settings, scenario(keeping()));
    lab.say("I prefer tabs, part 1");
    lab.say("I prefer tabs, part 2");
    lab.say_until("/undo now", "Taken back: I prefer tabs, part 2");
    lab.say("/retry");
    lab.say("I prefer tabs, part 3");
    lab.say_until("/undo now", "Taken back: I prefer tabs, part 3");
    lab.say("I prefer tabs, part 4");
    assert_eq!(looks(&lab).len(), 0, "two messages are left");
    lab.say("I prefer tabs, part 5");
    lab.reviews(1);
    lab.leave();
    let first = looks(&lab).remove(0);
    assert!(first.contains("part 5") && !first.contains("part 2"));
}

// LN-36
#[test]
fn what_a_message_brings_along_is_not_what_the_user_said() {
    let settings = "memory: {nudge_interval: 1}\nskills: {creation_nudge_interval: 0}\n";
    let lab = Lab::prepared(settings, scenario(keeping()), |program| {
        let notes = "I always prefer my own way, never yours. ".repeat(20);
        std::fs::write(program.home.workspace().join("notes.md"), notes).unwrap();
    });
    lab.say("How many words are in @file:notes.md ?");
    let asked = lab.asked();
    assert!(body(&asked[0]).contains("never yours"), "it was attached");
    lab.say("And how many lines?");
    assert_eq!(looks(&lab).len(), 0);
    lab.say("I prefer tabs");
    lab.reviews(1);
    lab.leave();
}

// LN-36
#[test]
fn a_look_back_outlives_the_conversation_it_follows() {
    let settings = "memory: {nudge_interval: 1}\nskills: {creation_nudge_interval: 0}\n";
    let slow = keeping().delay(Duration::from_secs(3));
    let lab = Lab::new(settings, scenario(slow));
    lab.say("I prefer tabs");
    lab.wait_for_calls(2);
    lab.say_until("/new now", "This is a new conversation");
    assert_eq!(lab.about_user(), "", "it still waits for its model");
    assert_eq!(lab.reviews(1)[0]["summary"], "looked back: 1 kept");
    lab.leave();
    assert_eq!(lab.about_user(), "Prefers tabs.");
}

// LN-36
#[test]
fn a_look_back_that_was_cut_off_is_made_by_the_next_process() {
    let settings = "memory: {nudge_interval: 1}\nskills: {creation_nudge_interval: 0}\n";
    let mut steps = scenario(keeping());
    let never = Step::new(text("never heard"))
        .when_user(LOOKING)
        .delay(Duration::from_secs(60));
    steps.steps.insert(0, never);
    let mut lab = Lab::new(settings, steps);
    lab.say("I prefer tabs");
    lab.wait_for_calls(2);
    lab.go_on();
    assert_eq!(lab.about_user(), "");
    lab.say("What is 2+2?");
    assert_eq!(lab.reviews(1)[0]["summary"], "looked back: 1 kept");
    lab.leave();
    assert_eq!(lab.about_user(), "Prefers tabs.");
    let rows = lab.log();
    assert_eq!(rows.len(), 2, "what was cut off is not told: {rows:?}");
}

// LN-6, LN-36
#[test]
fn a_look_back_counts_failures_of_its_own() {
    let gone = |number: u32| {
        let words = format!("nobody wrote this {number}");
        json!({"target": "user", "action": "remove", "old_text": words})
    };
    let calls = (2..=4).fold(tool_call("memory", gone(1)), |calls, number| {
        calls.and_tool_call("memory", gone(number))
    });
    let mut steps = scenario(Step::new(tool_call("memory", gone(5))).when_user(LOOKING));
    steps
        .steps
        .insert(0, Step::new(calls).when_last("forget that"));
    let settings = "memory: {nudge_interval: 0}\nskills: {creation_nudge_interval: 1}\n";
    let lab = Lab::new(settings, steps);
    lab.say("I always forget that");
    lab.reviews(1);
    lab.leave();
    let asked = lab.asked();
    let results = |request: &RecordedRequest| -> Vec<String> {
        let told = messages(request).iter();
        let told = told.filter(|message| message["role"] == "tool");
        told.map(|message| message["content"].as_str().unwrap().to_owned())
            .collect()
    };
    let of_turn = results(&asked[1]);
    assert!(of_turn[3].contains("\"done\":true"), "{of_turn:?}");
    let last = asked.iter().rfind(|request| looks_back(request)).unwrap();
    let of_look = results(last).pop().unwrap();
    assert!(!of_look.contains("\"done\":true"), "{of_look}");
    assert!(of_look.contains("current_entries"), "{of_look}");
}
