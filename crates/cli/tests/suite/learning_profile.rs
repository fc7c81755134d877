//! What is known of the user grows and is put right from conversation to conversation, by looks back alone.

use hermes_testkit::model_server::{Scenario, Step, text, tool_call};
use serde_json::json;

use super::learning::{LOOKING, Lab, looks_back};

const SETTINGS: &str = "memory: {nudge_interval: 2}\nskills: {creation_nudge_interval: 0}\n";

// LN-36
#[test]
fn looks_back_deepen_what_is_known_of_the_user() {
    let user = |action: &str, more: serde_json::Value| {
        let mut change = json!({"target": "user", "action": action});
        let fields = more.as_object().unwrap().clone();
        change.as_object_mut().unwrap().extend(fields);
        tool_call("memory", change)
    };
    let first = user("add", json!({"content": "Lives in Oslo."}));
    // The second one knows what the first one kept, and puts it right.
    let moved = json!({"old_text": "Lives in Oslo.", "content": "Lives in Bergen."});
    let second = user("replace", moved);
    let third = user("add", json!({"content": "Has a dog called Bo."}));
    let steps = Scenario::new()
        .reply(
            Step::new(first)
                .when_user(LOOKING)
                .when_body("I am from Oslo")
                .when_system_lacks("Lives in"),
        )
        .reply(
            Step::new(second)
                .when_user(LOOKING)
                .when_body("I moved to Bergen")
                .when_system("Lives in Oslo."),
        )
        .reply(
            Step::new(third)
                .when_user(LOOKING)
                .when_body("my dog Bo")
                .when_system("Lives in Bergen."),
        )
        .reply(Step::new(text("nothing")).when_user(LOOKING).repeat())
        .reply(Step::new(text("so be it")).repeat());
    let mut lab = Lab::new(SETTINGS, steps);
    lab.say("I am from Oslo");
    lab.say("What is 2+2?");
    lab.reviews(1);
    assert_eq!(lab.about_user(), "Lives in Oslo.");
    lab.begin_anew();
    lab.say("I moved to Bergen with my boat");
    lab.say("What is 3+3?");
    lab.reviews(2);
    assert_eq!(lab.about_user(), "Lives in Bergen.");
    lab.begin_anew();
    lab.say("I walk my dog Bo at noon");
    lab.say("What is 4+4?");
    lab.reviews(3);
    lab.leave();
    assert_eq!(
        lab.about_user(),
        "Lives in Bergen.\n§\nHas a dog called Bo."
    );
    let log = lab.log();
    let by_looks = log.iter().filter(|row| row["subject"] == "user");
    assert!(
        by_looks.clone().count() == 3
            && by_looks
                .clone()
                .all(|row| row["origin"] == "background_review"),
        "{log:?}"
    );
    let looks = lab.asked().iter().filter(|one| looks_back(one)).count();
    assert_eq!(looks, 6, "a change and its end, three times");
}
