//! Skills in a conversation: what the prompt says, and messages that call for some.

use hermes_core::{Event, Op, TurnEnd};
use hermes_testkit::model_server::{Scenario, Step, text};
use serde_json::json;

use super::fixture::{Fixture, Scripted};

fn skill(fixture: &Fixture, name: &str, body: &str) {
    let folder = fixture.folder.path().join("skills").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("---\nname: {name}\ndescription: About {name}\n---\n\n{body}\n");
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
}

fn talkative() -> Fixture {
    let fixture = Fixture::new(Scenario::new().reply(Step::new(text("fine")).repeat()));
    fixture.tool(Scripted::saying("skill_view", "read"))
}

fn messages(fixture: &Fixture, request: usize) -> Vec<(String, String)> {
    let body = fixture.server.requests()[request].expect_json().clone();
    let all = body["messages"].as_array().unwrap().iter();
    all.map(|one| {
        let field = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
        (field("role"), field("content"))
    })
    .collect()
}

async fn call_for(fixture: &Fixture, skills: &[&str], typed: &str) -> (Vec<Event>, TurnEnd) {
    let session = fixture.open();
    session.send(Op::UseSkills {
        skills: skills.iter().map(|name| (*name).to_owned()).collect(),
        instruction: String::new(),
        text: typed.to_owned(),
        media: Vec::new(),
    });
    let mut events = Vec::new();
    loop {
        match session.next_event().await.unwrap() {
            Event::TurnFinished { why, .. } => return (events, why),
            event => events.push(event),
        }
    }
}

// LN-27
#[tokio::test]
async fn the_list_is_part_of_the_prompt_and_stays_as_it_was() {
    let fixture = talkative();
    skill(&fixture, "bake", "Heat.");
    fixture.ask("hello").await;
    skill(&fixture, "mail", "Write.");
    fixture.ask("and again").await;
    let (first, second) = (messages(&fixture, 0), messages(&fixture, 1));
    assert!(first[0].1.contains("- bake: About bake"), "{}", first[0].1);
    assert_eq!(
        first[0], second[0],
        "a new skill waits for the next conversation"
    );
}

// LN-31
#[tokio::test]
async fn a_message_that_calls_for_skills_holds_them_behind_what_was_typed() {
    let fixture = talkative();
    skill(&fixture, "bake", "Heat @file:work/x.txt.");
    let (_, why) = call_for(&fixture, &["bake"], "a cake, please").await;
    assert_eq!(why, TurnEnd::Done);
    let sent = messages(&fixture, 0).pop().unwrap().1;
    assert!(sent.starts_with("a cake, please\n"), "{sent}");
    assert!(sent.contains("Heat @file:work/x.txt."), "{sent}");
    let kept = fixture.store.history(&Fixture::id()).await.unwrap();
    assert_eq!(kept[0].to_message().plain_text(), sent);
}

// LN-31
#[tokio::test]
async fn skills_that_are_not_there_are_told_and_without_any_nothing_is_asked() {
    let fixture = talkative();
    skill(&fixture, "bake", "Heat.");
    let (events, why) = call_for(&fixture, &["nothing", "bake"], "").await;
    assert_eq!(why, TurnEnd::Done);
    let told = |event: &Event| matches!(event, Event::Notice { text } if text.contains("nothing"));
    assert!(events.iter().any(told), "{events:?}");
    assert!(
        messages(&fixture, 0)
            .pop()
            .unwrap()
            .1
            .starts_with("Use the skill nothing, bake.")
    );
    let fixture = talkative();
    let (_, why) = call_for(&fixture, &["nothing"], "go").await;
    assert!(matches!(why, TurnEnd::Failed { message, .. } if message.contains("nothing")));
    assert!(fixture.server.requests().is_empty());
}

// LN-31
#[tokio::test]
async fn preloaded_skills_stand_in_the_prompt_unless_rules_are_left_out() {
    let mut fixture = talkative();
    skill(&fixture, "bake", "Heat the oven.");
    fixture.skills = &["bake", "nothing"];
    fixture.ask("hello").await;
    assert!(messages(&fixture, 0)[0].1.contains("Heat the oven."));
    let mut fixture = talkative();
    skill(&fixture, "bake", "Heat the oven.");
    fixture.skills = &["bake"];
    fixture.ignore_rules = true;
    fixture.ask("hello").await;
    assert!(!messages(&fixture, 0)[0].1.contains("Heat the oven."));
}

// LN-31
#[tokio::test]
async fn commands_in_skills_run_through_the_session_when_they_are_switched_on() {
    let answer = json!({"output": "from-42", "exit_code": 0, "error": null}).to_string();
    let mut fixture = talkative().tool(Scripted::saying("terminal", &answer));
    skill(&fixture, "bake", "Sum: !`echo from-42`.");
    call_for(&fixture, &["bake"], "one").await;
    assert!(
        messages(&fixture, 0)
            .pop()
            .unwrap()
            .1
            .contains("Sum: !`echo from-42`.")
    );
    fixture.config.skills.inline_shell = true;
    call_for(&fixture, &["bake"], "two").await;
    let sent = messages(&fixture, 1).pop().unwrap().1;
    assert!(sent.contains("Sum: from-42."), "{sent}");
}
