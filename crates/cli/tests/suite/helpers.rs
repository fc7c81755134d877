//! Helper tasks beside a conversation: their own model, time, effort and attempts, and who they leave alone.

use std::time::{Duration, Instant};

use hermes_testkit::eventually;
use hermes_testkit::model_server::{ModelServer, RecordedRequest, Scenario, Step, error, text};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::chat::with_model;
use super::program::Program;

pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A conversation's model, a helper's model, and settings for the helper's tasks.
fn set_up(helper: Scenario, auxiliary: &str) -> (ModelServer, ModelServer, Program) {
    let main = Scenario::new()
        .reply(
            Step::new(text("from the main model"))
                .when_no_tools()
                .repeat(),
        )
        .reply(Step::new(text(format!("Noted. {}", "so it goes. ".repeat(900)))).repeat());
    // Helpers are told not to think, in a word of local servers' own.
    let main = ModelServer::start(main.extra_keys(["think"])).unwrap();
    let helper = ModelServer::start(helper.extra_keys(["think"])).unwrap();
    let program = with_model(&main.base_url());
    let config = program.home.read("config.yaml").unwrap();
    let config = format!(
        "{config}providers: {{helper: {{base_url: '{}', context_length: 100000}}}}\nauxiliary: {{{auxiliary}}}\n",
        helper.base_url()
    );
    program.home.write_config(&config).unwrap();
    (main, helper, program)
}

/// The calls of a model, without looks at the server.
pub(crate) fn asked(server: &ModelServer) -> Vec<RecordedRequest> {
    let mut all = server.requests();
    all.retain(|request| request.path.ends_with("/chat/completions"));
    all
}

fn calls(server: &ModelServer) -> usize {
    asked(server).len()
}

pub(crate) fn chat(program: &Program) -> Terminal {
    let screen = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    screen.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    screen
}

pub(crate) fn leave(screen: &Terminal) {
    screen.send("/exit\r").unwrap();
    assert_eq!(screen.wait_exit(LIMIT).unwrap().code, 0);
}

// PV-21
#[test]
fn a_helper_that_wants_to_be_paid_is_left_alone_by_all_tasks() {
    let broke = Scenario::new().reply(Step::new(error(402).message("no credit left")).repeat());
    let own = "provider: 'custom:helper', model: small";
    let tasks = format!("title_generation: {{{own}}}, compression: {{{own}}}");
    let (main, helper, program) = set_up(broke, &tasks);
    let screen = chat(&program);
    let talked = |parts: usize| {
        let all = asked(&main).into_iter();
        let with_tools = all.filter(|request| request.expect_json().get("tools").is_some());
        (with_tools.count() == parts).then_some(())
    };
    screen.send("the shed\r").unwrap();
    eventually(LIMIT, "an answer", || talked(1)).unwrap();
    // The title goes to the helper first, which has no credit, and then to the main model.
    let titled = || (calls(&main) == 2).then_some(());
    eventually(LIMIT, "a title", titled).unwrap();
    assert_eq!(calls(&helper), 1);
    for part in 2..10 {
        screen.send(&format!("part {part} of it\r")).unwrap();
        eventually(LIMIT, "an answer", || talked(part)).unwrap();
    }
    screen.send("/compress\r").unwrap();
    screen.wait_for_text("was shortened", LIMIT).unwrap();
    assert_eq!(calls(&helper), 1, "it was not asked again");
    leave(&screen);
    let listed = program.stdout(&["sessions", "list"]);
    assert!(listed.contains("from the main model"), "{listed}");
}

// PV-21: a helper that was named is left only when it has no room: what it refuses, others are not asked.
#[test]
fn a_helper_that_was_named_is_not_left_for_what_it_refuses() {
    for status in [400, 401] {
        let refusing = Scenario::new().reply(Step::new(error(status)).repeat());
        let title = "title_generation: {provider: 'custom:helper', model: small}";
        let (main, helper, program) = set_up(refusing, title);
        let screen = chat(&program);
        screen.send("the shed\r").unwrap();
        let refused = || (calls(&helper) == 1).then_some(());
        eventually(LIMIT, "the helper is asked", refused).unwrap();
        screen.send("part 2 of it\r").unwrap();
        let talked = || (calls(&main) == 2).then_some(());
        eventually(LIMIT, "the conversation goes on", talked).unwrap();
        leave(&screen);
        assert_eq!(calls(&main), 2, "{status}: only the conversation's own");
        let titles = asked(&main).into_iter();
        let titles = titles.filter(|request| request.expect_json().get("tools").is_none());
        assert_eq!(titles.count(), 0, "{status}");
        let listed = program.stdout(&["sessions", "list"]);
        assert!(!listed.contains("from the main model"), "{listed}");
    }
}

// PV-21
#[test]
fn a_helper_that_cannot_be_used_is_named_once_and_its_work_is_done() {
    let own = "title_generation: {provider: openrouter, model: z-ai/glm-5.2}";
    let (main, helper, program) = set_up(Scenario::new(), own);
    let screen = chat(&program);
    for (number, said) in (1..).zip(["hello", "hello again"]) {
        screen.send(&format!("{said}\r")).unwrap();
        let answered = || {
            let with_tools = asked(&main).into_iter();
            let with_tools =
                with_tools.filter(|request| request.expect_json().get("tools").is_some());
            (with_tools.count() == number).then_some(())
        };
        eventually(LIMIT, "the conversation goes on", answered).unwrap();
    }
    let note = "note: auxiliary.title_generation cannot be used";
    screen.wait_for_text(note, LIMIT).unwrap();
    leave(&screen);
    let seen = screen.everything().join("\n");
    assert_eq!(seen.matches(note).count(), 1, "{seen}");
    assert_eq!(calls(&helper), 0);
}

// PV-21
#[test]
fn a_helper_thinks_as_hard_and_tries_as_often_as_it_is_told() {
    let shaky = || {
        Scenario::new()
            .reply(error(503))
            .reply(Step::new(text("A good title")).repeat())
    };
    let title =
        "title_generation: {provider: 'custom:helper', model: small, reasoning_effort: high}";
    let (main, helper, program) = set_up(shaky(), &format!("transient_retries: 1, {title}"));
    let screen = chat(&program);
    screen.send("the shed\r").unwrap();
    let twice = || (calls(&helper) == 2).then_some(());
    eventually(LIMIT, "another attempt", twice).unwrap();
    leave(&screen);
    for request in asked(&helper) {
        assert_eq!(request.expect_json()["reasoning_effort"], "high");
        assert_eq!(request.expect_json()["model"], "small");
    }
    assert_eq!(calls(&main), 1);
    assert!(
        program
            .stdout(&["sessions", "list"])
            .contains("A good title")
    );

    // Without attempts to spare it is the next one's turn.
    let (main, helper, program) = set_up(shaky(), &format!("transient_retries: 0, {title}"));
    let screen = chat(&program);
    screen.send("the shed\r").unwrap();
    let both = || (calls(&main) == 2).then_some(());
    eventually(LIMIT, "the main model makes the title", both).unwrap();
    assert_eq!(calls(&helper), 1);
    leave(&screen);
}

// AG-28, PV-21: only those are told how long an answer may be who want to be told: Anthropic's protocol, and a model
// whose limit was set.
#[test]
fn a_helper_is_told_the_limit_of_its_answer_only_where_it_must_be() {
    for (more, protocol, limit) in [
        ("", "chat_completions", None),
        ("", "anthropic_messages", Some(true)),
        (", max_tokens: 77", "chat_completions", Some(false)),
    ] {
        let titled = Scenario::new().reply(Step::new(text("A good title")).repeat());
        let own = "title_generation: {provider: 'custom:helper', model: small}";
        let (main, helper, program) = set_up(titled, own);
        let config = program.home.read("config.yaml").unwrap();
        let more = format!("context_length: 100000, api_mode: {protocol}{more}}}}}");
        let config = config.replace("context_length: 100000}}", &more);
        program.home.write_config(&config).unwrap();
        let screen = chat(&program);
        screen.send("the shed\r").unwrap();
        let asked = || {
            let mut all = helper.requests();
            all.retain(|request| request.method == "POST" && request.body.len() > 2);
            all.pop()
        };
        let asked = eventually(LIMIT, "the helper is asked", asked).unwrap();
        leave(&screen);
        let told = &asked.expect_json()["max_tokens"];
        match limit {
            None => assert!(told.is_null(), "{protocol}: {told}"),
            Some(true) => assert!(told.as_u64().is_some_and(|told| told < 5_000), "{told}"),
            Some(false) => assert_eq!(told, 77),
        }
        assert!(asked.expect_json().get("max_completion_tokens").is_none());
        drop(main);
    }
}

// PV-21
#[test]
fn a_helper_that_takes_too_long_is_not_waited_for() {
    let slow = Scenario::new().reply(Step::new(text("a rose")).delay(LIMIT * 5).repeat());
    let vision = "vision: {provider: 'custom:helper', model: seer, timeout: 1}";
    let (main, helper, program) = set_up(slow, vision);
    program
        .run(&["config", "set", "agent.image_input_mode", "text"])
        .ok();
    let picture = b"\x89PNG\r\n\x1a\nnot really";
    program.home.write_work("rose.png", picture).unwrap();
    let started = Instant::now();
    program
        .run(&["chat", "-Q", "-q", "what is it?", "--image", "rose.png"])
        .ok();
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
    assert_eq!((calls(&helper), calls(&main)), (1, 1));
}

// AG-12, AG-28, AG-22: a server that does not know the word of local ones for thinking is asked again without it,
// and not with it a second time.
#[test]
fn a_helper_that_cannot_be_told_not_to_think_is_asked_again_without() {
    let forbidden = json!({"object": "error", "type": "invalid_request_error", "message": {"detail": [
        {"type": "extra_forbidden", "loc": ["body", "think"], "msg": "Extra inputs are not permitted"},
    ]}});
    let refusals = [
        error(400).message("Unrecognized request argument supplied: think"),
        error(400).message("property 'think' is unsupported"),
        error(422).body(forbidden),
    ];
    for refusal in refusals {
        let strict = Scenario::new()
            .reply(Step::new(refusal).when_body("\"think\":").repeat())
            .reply(Step::new(text("A good title")).repeat());
        let own = "provider: 'custom:helper', model: small";
        let tasks = format!("title_generation: {{{own}}}, compression: {{{own}}}");
        let (main, helper, program) = set_up(strict, &tasks);
        let screen = chat(&program);
        screen.send("the shed\r").unwrap();
        let asked_for = |count: usize| {
            let asked = || (calls(&helper) == count).then_some(());
            eventually(LIMIT, "the helper is asked", asked).unwrap();
        };
        asked_for(2);
        for part in 2..10 {
            screen.send(&format!("part {part} of it\r")).unwrap();
            let talked = || (calls(&main) == part).then_some(());
            eventually(LIMIT, "an answer", talked).unwrap();
        }
        screen.send("/compress\r").unwrap();
        screen.wait_for_text("was shortened", LIMIT).unwrap();
        asked_for(3);
        leave(&screen);
        let seen = screen.everything().join("\n");
        assert!(!seen.contains("only its outline was kept"), "{seen}");
        let listed = program.stdout(&["sessions", "list"]);
        assert!(listed.contains("A good title"), "{listed}");
    }
}
