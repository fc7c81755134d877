//! What `session_search` finds of the very conversation it is called in, and what a helper makes of others.

use std::time::{Duration, Instant};

use hermes_testkit::model_server::{
    Answer, ModelServer, RecordedRequest, Scenario, Step, error, text, tool_call,
};
use hermes_testkit::pty::Terminal;
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::program::Program;
use super::recall_lab::{LIMIT, asking, each, past, results, seed, told, with};

/// Says where a key is, talks on, shortens the conversation and has the model look for the key.
fn lost_and_found(settings: &str) -> (Vec<Json>, String) {
    let when_asked = |reply: Answer| Step::new(reply).when_user("where is the key");
    let call = |query: &str| when_asked(tool_call("session_search", json!({ "query": query })));
    let scenario = Scenario::new()
        .reply(Step::new(text("Goal: a shed.")).when_no_tools().repeat())
        .reply(call("flowerpot"))
        .reply(call("guttering"))
        .reply(when_asked(text("That was all I looked for.")))
        .reply(Step::new(text(format!("Noted. {}", "so it goes. ".repeat(900)))).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let config = format!("{}{settings}", program.home.read("config.yaml").unwrap());
    program.home.write_config(&config).unwrap();
    let started = program.run(&["chat", "-Q", "-q", "the shed"]).ok();
    let session = started.stderr.trim().strip_prefix("session_id: ").unwrap();
    // The beginning and the end of a conversation stay; the key is mentioned in between.
    for part in 0..10 {
        let question = match part {
            1 => "the spare key lies under the blue flowerpot".to_owned(),
            9 => "last of all the guttering".to_owned(),
            _ => format!("part {part} of the shed"),
        };
        program.run(&["-z", &question, "--resume", session]).ok();
    }
    let command = program.command(&["chat", "--plain", "--resume", session]);
    let terminal = Terminal::spawn(&command, 120, 60).unwrap();
    terminal.wait_for_text("Ctrl+D ends", LIMIT).unwrap();
    terminal.send("/compress\r").unwrap();
    terminal.wait_for_text("was shortened", LIMIT).unwrap();
    terminal.send("where is the key?\r").unwrap();
    terminal
        .wait_for_text("That was all I looked for.", LIMIT)
        .unwrap();
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    let requests = server.requests();
    let last = requests.iter().rev().find(|request| {
        let body = String::from_utf8_lossy(&request.body);
        body.contains("untrusted_tool_result source=\\\"session_search\\\"")
    });
    let told = results(last.unwrap().expect_json());
    (told, session.to_owned())
}

// LN-24
#[test]
fn what_was_compacted_away_from_this_chat_is_found_and_what_is_still_there_is_not() {
    let (told, session) = lost_and_found("");
    assert_eq!(each(&told[0], "session_id"), [session.as_str()]);
    let found = &told[0]["results"][0];
    assert_eq!(
        found["snippet"],
        "the spare key lies under the blue >>>flowerpot<<<"
    );
    assert_eq!(
        told[1]["count"], 0,
        "the model sees that still: {}",
        told[1]
    );
}

// LN-24
#[test]
fn the_same_when_the_chat_goes_on_in_another_session() {
    let (told, session) = lost_and_found("compression: {in_place: false}\n");
    assert_eq!(
        each(&told[0], "session_id"),
        [session.as_str()],
        "where it was said"
    );
    assert_eq!(
        told[1]["count"], 0,
        "carried on, so the model sees it: {}",
        told[1]
    );
}

/// A conversation's model that asks for summaries, and the model that is to make them.
fn with_helper(helper: Scenario, more: &str) -> (ModelServer, ModelServer, Program) {
    let helper = ModelServer::start(helper.extra_keys(["think"])).unwrap();
    let settings = format!(
        "providers: {{helper: {{base_url: '{}', context_length: 1000000}}}}\n\
         auxiliary: {{session_search: {{provider: 'custom:helper', model: small{more}}}}}\n",
        helper.base_url()
    );
    let call = json!({"query": "potoroo", "summarize": true, "limit": 9});
    let (server, program) = asking(&[call], &settings);
    let tool = json!({"role": "tool", "tool_name": "terminal", "tool_call_id": "c", "timestamp": 1_767_400_000.0,
                      "content": format!("BEGIN{}MIDDLE{}END", "a".repeat(600), "z".repeat(600))});
    let mut first = past("first", "cli", 1, &["feed the potoroo", "fed it"]);
    first["messages"].as_array_mut().unwrap().push(tool);
    let second = past("second", "cli", 2, &["a potoroo again", "yes"]);
    seed(
        &program,
        "default",
        &[with(first, json!({"title": "Feeding"})), second],
    );
    (server, helper, program)
}

fn asked(server: &ModelServer) -> Vec<RecordedRequest> {
    let mut all = server.requests();
    all.retain(|request| request.path.ends_with("/chat/completions"));
    all
}

// LN-25
#[test]
fn a_helper_summarises_what_was_found() {
    let scenario = Scenario::new()
        .reply(
            Step::new(text("They fed it."))
                .when_body("feed the potoroo")
                .repeat(),
        )
        .reply(Step::new(text("They met again.")).repeat());
    let (server, helper, program) = with_helper(scenario, "");
    let answer = told(&server, &program).remove(0);
    assert_eq!(answer["mode"], "discover");
    let mut both: Vec<(&str, &str)> = each(&answer, "session_id")
        .into_iter()
        .zip(each(&answer, "summary"))
        .collect();
    both.sort_unstable();
    assert_eq!(
        both,
        [("first", "They fed it."), ("second", "They met again.")]
    );
    for one in answer["results"].as_array().unwrap() {
        assert_eq!(
            (one.get("preview"), one.get("messages")),
            (None, None),
            "{one}"
        );
        for field in ["when", "source", "model"] {
            assert!(one[field].is_string(), "{one}");
        }
    }
    // What the helper read: the words, and the record with the output of tools cut.
    let requests = asked(&helper);
    assert_eq!(requests.len(), 2);
    let body = |words: &str| {
        let found = requests
            .iter()
            .map(|request| String::from_utf8_lossy(&request.body).into_owned());
        found.into_iter().find(|body| body.contains(words)).unwrap()
    };
    let feeding = body("feed the potoroo");
    assert!(feeding.contains("Searched for: potoroo"));
    assert!(
        feeding.contains("BEGINaaa") && feeding.contains("zzzEND"),
        "{feeding}"
    );
    assert!(!feeding.contains("MIDDLE"), "{feeding}");
}

// LN-25
#[test]
fn a_helper_that_fails_is_tried_three_times_and_then_the_text_is_shown() {
    let broken = Scenario::new().reply(Step::new(error(500)).repeat());
    let (server, helper, program) = with_helper(broken, "");
    let answer = told(&server, &program).remove(0);
    assert_eq!(
        (&answer["success"], &answer["count"]),
        (&json!(true), &json!(2))
    );
    let mut previews = each(&answer, "preview");
    previews.sort_unstable_by_key(|preview| preview.len());
    assert!(previews[0].contains("a potoroo again"), "{previews:?}");
    assert!(previews[1].contains("feed the potoroo"), "{previews:?}");
    for one in answer["results"].as_array().unwrap() {
        assert_eq!(one.get("summary"), None);
        assert!(
            one["note"].as_str().unwrap().contains("no summary"),
            "{one}"
        );
        assert!(
            one["preview"].as_str().unwrap().chars().count() <= 504,
            "{one}"
        );
    }
    assert_eq!(asked(&helper).len(), 6, "three times for each of two");
}

// LN-25
#[test]
fn a_helper_that_takes_too_long_is_not_waited_for() {
    let slow = Scenario::new().reply(Step::new(text("late")).delay(LIMIT * 5).repeat());
    let (server, _helper, program) = with_helper(slow, ", timeout: 1");
    let started = Instant::now();
    let answer = told(&server, &program).remove(0);
    assert!(
        started.elapsed() < Duration::from_secs(30),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(answer["count"], 2);
    assert!(
        each(&answer, "preview")
            .iter()
            .all(|preview| preview.contains("potoroo"))
    );
}
