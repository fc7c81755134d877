//! Homes with conversations of the past, and a model that looks into them.

use std::fmt::Write as _;
use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::program::Program;

/// Long enough for a loaded machine; nothing takes this long unless it is broken.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

/// A conversation of the past: what was said by user and assistant in turn, a minute apart.
pub(super) fn past(id: &str, source: &str, day: u32, texts: &[&str]) -> Json {
    let started = 1_767_225_600.0 + f64::from(day) * 86_400.0;
    let messages: Vec<Json> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let role = ["user", "assistant"][index % 2];
            json!({"role": role, "content": text, "timestamp": started + 60.0 * index as f64})
        })
        .collect();
    json!({"id": id, "source": source, "model": "old-model", "started_at": started, "messages": messages})
}

/// The same with further columns.
pub(super) fn with(mut session: Json, columns: Json) -> Json {
    let more = columns.as_object().unwrap().clone();
    session.as_object_mut().unwrap().extend(more);
    session
}

/// Puts conversations into the store of a profile. Their messages are numbered from 1 on, in this order.
pub(super) fn seed(program: &Program, profile: &str, sessions: &[Json]) {
    let mut lines = String::new();
    for session in sessions {
        writeln!(lines, "{session}").unwrap();
    }
    program.home.write_work("past.jsonl", lines).unwrap();
    program
        .run(&["-p", profile, "sessions", "import", "past.jsonl"])
        .ok();
}

/// A home whose model makes these calls of `session_search`, one after the other.
pub(super) fn asking(calls: &[Json], more: &str) -> (ModelServer, Program) {
    let mut scenario = Scenario::new();
    for arguments in calls {
        scenario = scenario.reply(tool_call("session_search", arguments.clone()));
    }
    let server = ModelServer::start(scenario.reply(text("done"))).unwrap();
    let program = with_model(&server.base_url());
    let settings = program.home.read("config.yaml").unwrap();
    program
        .home
        .write_config(&format!("{settings}{more}"))
        .unwrap();
    (server, program)
}

/// Runs the calls and gives what the model was told.
pub(super) fn told(server: &ModelServer, program: &Program) -> Vec<Json> {
    let output = program
        .command(&["-z", "go"])
        .timeout(LIMIT)
        .run()
        .unwrap()
        .ok();
    assert_eq!(output.stdout, "done\n");
    let requests = server.requests();
    results(requests.last().unwrap().expect_json())
}

/// The calls with conversations of the past before them.
pub(super) fn searched(sessions: &[Json], calls: &[Json]) -> Vec<Json> {
    let (server, program) = asking(calls, "");
    seed(&program, "default", sessions);
    told(&server, &program)
}

/// What a request tells the model about its calls: JSON inside a fence, or the words of a failure.
pub(super) fn results(request: &Json) -> Vec<Json> {
    let messages = request["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results
        .map(|message| unfenced(message["content"].as_str().unwrap()))
        .collect()
}

fn unfenced(content: &str) -> Json {
    if content.starts_with("[TOOL_ERROR]") {
        return Json::String(content.to_owned());
    }
    let fence = "<untrusted_tool_result source=\"session_search\">\n";
    let inside = content
        .strip_prefix(fence)
        .unwrap_or_else(|| panic!("no fence: {content}"));
    let inside = inside.strip_suffix("\n</untrusted_tool_result>").unwrap();
    let (_, document) = inside.split_once('\n').unwrap();
    serde_json::from_str(document).unwrap()
}

/// The names of an object's fields, in alphabetical order.
pub(super) fn keys(object: &Json) -> Vec<&str> {
    let mut keys: Vec<&str> = object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}

/// One field of each result.
pub(super) fn each<'j>(answer: &'j Json, field: &str) -> Vec<&'j str> {
    let results = answer["results"].as_array().unwrap();
    results
        .iter()
        .map(|one| one[field].as_str().unwrap_or_default())
        .collect()
}
