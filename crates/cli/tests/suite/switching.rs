//! One conversation that goes from protocol to protocol.

use std::time::Duration;

use hermes_testkit::model_server::{ModelServer, Protocol, Scenario, Step, Usage, text};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::program::Program;

const LIMIT: Duration = Duration::from_secs(30);

/// What is typed to get there, what is shown then, and how it is spoken to.
const STATIONS: [(&str, &str, Protocol); 6] = [
    (
        "/model custom:b:two",
        "two from custom:b",
        Protocol::Responses,
    ),
    (
        "/model custom:c:three",
        "three from custom:c",
        Protocol::Anthropic,
    ),
    (
        "/model gemini-3.5-flash --provider gemini",
        "gemini-3.5-flash from gemini",
        Protocol::Gemini,
    ),
    (
        "/model amazon.nova-pro-v1:0 --provider bedrock",
        "amazon.nova-pro-v1:0 from bedrock",
        Protocol::Converse,
    ),
    (
        "/model custom:a:one",
        "one from custom:a",
        Protocol::ChatCompletions,
    ),
    (
        "/model custom:c:three",
        "three from custom:c",
        Protocol::Anthropic,
    ),
];

// PV-5, PV-19
#[test]
fn a_conversation_goes_on_in_whatever_protocol_the_next_model_speaks() {
    let mut scenario = Scenario::new();
    for answer in 0..=STATIONS.len() {
        let looking = text("Looking.").and_tool_call("todo", json!({}));
        scenario = scenario
            .reply(looking.and_tool_call("read_file", json!({"path": "/etc/hostname"})))
            .reply(text(format!("This is answer {answer}.")));
    }
    let server = ModelServer::start(scenario).unwrap();
    let origin = server.origin();
    let program = Program::new();
    let entry = |name: &str, path: &str, mode: &str| {
        format!(
            "  - {{name: {name}, base_url: '{origin}{path}', api_mode: {mode}, context_length: 100000}}\n"
        )
    };
    let config = format!(
        "custom_providers:\n{}{}{}model: {{provider: 'custom:a', default: one}}\n\
         auxiliary: {{title_generation: {{enabled: false}}}}\n",
        entry("a", "/v1", "chat_completions"),
        entry("b", "/v1", "codex_responses"),
        entry("c", "/anthropic", "anthropic_messages"),
    );
    program.home.write_config(&config).unwrap();
    let keys = format!(
        "GEMINI_API_KEY=key-1234567890\nGEMINI_BASE_URL={origin}\n\
         AWS_BEARER_TOKEN_BEDROCK=key-1234567890\nBEDROCK_BASE_URL={origin}\n"
    );
    program.home.write_env(&keys).unwrap();
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    terminal.wait_for_text("Ctrl+D ends", LIMIT).unwrap();
    let ask = |number: usize| {
        terminal.send(&format!("question {number}\r")).unwrap();
        let answer = format!("This is answer {number}.");
        terminal.wait_for_text(&answer, LIMIT).unwrap();
    };
    ask(0);
    for (number, (typed, shown, _)) in (1..).zip(&STATIONS) {
        terminal.send(&format!("{typed}\r")).unwrap();
        terminal.wait_for_text(shown, LIMIT).unwrap();
        ask(number);
    }
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
    // Servers on this machine are also asked who they are, which is no part of the script.
    assert_eq!(server.unused_steps(), 0);
    let requests = server.requests();
    let requests: Vec<_> = requests
        .iter()
        .filter(|request| request.protocol.is_some())
        .collect();
    let spoken: Vec<_> = requests
        .iter()
        .filter_map(|request| request.protocol)
        .collect();
    let expected: Vec<_> = [Protocol::ChatCompletions]
        .into_iter()
        .chain(STATIONS.map(|(_, _, protocol)| protocol))
        .flat_map(|protocol| [protocol; 2])
        .collect();
    assert_eq!(spoken, expected);
    for request in &requests {
        assert!(request.violations.is_empty(), "{:?}", request.violations);
    }
    // The last one knows all that was said before.
    let last = String::from_utf8_lossy(&requests.last().unwrap().body).into_owned();
    for number in 0..STATIONS.len() {
        assert!(last.contains(&format!("question {number}")), "{number}");
        assert!(
            last.contains(&format!("This is answer {number}.")),
            "{number}"
        );
    }
}

/// What is printed when these lines are given one after the other.
fn typed(program: &Program, lines: &[&str]) -> String {
    let command = program.command(&["chat", "--plain"]);
    let lines = lines.join("\n") + "\n";
    command.stdin(lines).run().unwrap().ok().stdout
}

/// The models that answered, in order.
fn answered(server: &ModelServer) -> Vec<String> {
    let requests = server.requests().into_iter();
    requests
        .filter(|request| request.protocol.is_some())
        .map(|request| request.expect_json()["model"].as_str().unwrap().to_owned())
        .collect()
}

// PV-25
#[test]
fn a_change_of_model_is_kept_where_the_settings_want_it_so() {
    for (setting, flag, kept) in [
        (true, "", true),
        (true, " --session", false),
        (true, " --once", false),
        (false, "", false),
        (false, " --global", true),
    ] {
        let program = Program::new();
        let config = format!(
            "model:\n  provider: custom:lab\n  default: one\n  persist_switch_by_default: {setting}\n\
             providers: {{lab: {{base_url: 'http://127.0.0.1:9/v1', context_length: 100000}}}}\n"
        );
        program.home.write_config(&config).unwrap();
        let shown = typed(&program, &[&format!("/model two{flag}")]);
        assert!(shown.contains("two from custom:lab"), "{shown}");
        let expected = match kept {
            true => config.replace("default: one", "default: two"),
            false => config,
        };
        let now = program.home.read("config.yaml").unwrap();
        assert_eq!(now, expected, "{setting}{flag}");
    }
}

// PV-25
#[test]
fn the_list_of_models_leads_to_removing_an_endpoint() {
    let program = Program::new();
    let config = "model: {provider: 'custom:lab', default: one}\nproviders:\n  \
         lab: {base_url: 'http://127.0.0.1:9/v1', model: one, context_length: 100000}\n  \
         shed: {base_url: 'http://127.0.0.1:8/v1', model: two, context_length: 100000}\n";
    program.home.write_config(config).unwrap();
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 100, 60).unwrap();
    let choose = |question: &str, picked: &str| {
        let screen = terminal.wait_for_text(question, LIMIT).unwrap().text();
        let line = screen.lines().rfind(|line| line.contains(picked)).unwrap();
        let number = line.trim().split('.').next().unwrap().to_owned();
        terminal.send(&format!("{number}\r")).unwrap();
    };
    terminal.send("/model\r").unwrap();
    choose("Answer with", "Remove an endpoint of your own");
    choose("shed  http://", "shed  http://");
    terminal.wait_for_text("Remove shed?", LIMIT).unwrap();
    terminal.send("y\r").unwrap();
    terminal.wait_for_text("shed is removed.", LIMIT).unwrap();
    terminal.send("/exit\r").unwrap();
    terminal.wait_exit(LIMIT).unwrap();
    let kept = program.home.read("config.yaml").unwrap();
    assert!(!kept.contains("shed") && kept.contains("lab"), "{kept}");
}

// AG-13, PV-22
#[test]
fn a_model_that_cannot_read_all_that_was_said_is_named_when_it_is_chosen() {
    let long = Usage {
        prompt_tokens: 60_000,
        ..Usage::default()
    };
    let scenario = Scenario::new().reply(text("Noted.").usage(long));
    let server = ModelServer::start(scenario).unwrap();
    let program = Program::new();
    let config = format!(
        "model: {{provider: 'custom:lab', default: large}}\n\
         auxiliary: {{title_generation: {{enabled: false}}}}\n\
         providers:\n  lab:\n    base_url: '{}'\n    context_length: 200000\n    \
         models: {{small: {{context_length: 32000}}, roomy: {{context_length: 100000}}}}\n",
        server.base_url()
    );
    program.home.write_config(&config).unwrap();
    let lines = ["/model small", "/model large", "hello", "/model roomy"];
    let shown = typed(&program, &[&lines[..], &["/model small"]].concat());
    let (before, after) = shown.split_once("roomy from custom:lab").unwrap();
    assert!(before.contains("Noted."), "{shown}");
    assert!(!before.contains(" reads "), "{shown}");
    let note = "small reads 32000 tokens and this conversation has 60";
    assert!(after.contains(note), "{shown}");
    assert!(
        after.contains("is summarised before the next answer"),
        "{shown}"
    );
}

// PV-5: the conversation goes on with the model before, without anybody asking for it.
#[test]
fn a_model_that_is_asked_once_answers_once() {
    let scenario = Scenario::new().reply(Step::new(text("Gladly.")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = Program::new();
    let config = format!(
        "model: {{provider: 'custom:lab', default: one}}\n\
         auxiliary: {{title_generation: {{enabled: false}}}}\n\
         providers: {{lab: {{base_url: '{}', context_length: 100000}}}}\n",
        server.base_url()
    );
    program.home.write_config(&config).unwrap();
    // Of several such changes the last one answers, and the first who had the place comes back; a change that stays
    // takes the place for good.
    let lines = [
        "/model two --once",
        "/model three --once",
        "hello",
        "again",
        "/model two --once",
        "/model four",
        "and again",
        "and once more",
    ];
    typed(&program, &lines);
    assert_eq!(answered(&server), ["three", "one", "four", "four"]);
}
