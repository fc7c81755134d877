//! Conversations from the command line: what is printed, what is kept, which exit code, which words.

use std::time::Duration;

use hermes_testkit::Output;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, bytes, error, text, tool_call};
use hermes_testkit::pty::Terminal;
use serde_json::{Value as Json, json};

use super::program::Program;

/// A home whose model is the server's.
pub(crate) fn with_model(base_url: &str) -> Program {
    let program = Program::new();
    program.home.write_config(&settings(base_url)).unwrap();
    program
}

fn settings(base_url: &str) -> String {
    format!(
        "model: {{default: scripted, provider: custom, base_url: '{base_url}', context_length: 100000, api_key: test-key-1234567890}}\n\
         agent: {{api_max_retries: 1}}\n"
    )
}

pub(crate) fn served(scenario: Scenario) -> (ModelServer, Program) {
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    (server, program)
}

pub(crate) fn usage(program: &Program) -> Json {
    serde_json::from_str(&program.home.read("usage.json").unwrap()).unwrap()
}

pub(crate) fn usage_path(program: &Program) -> String {
    program.home.path().join("usage.json").display().to_string()
}

/// One line that names the cause, one that says what to do, no more.
#[track_caller]
pub(crate) fn one_message(output: &Output, mentions: &[&str]) {
    let lines: Vec<_> = output.stderr.lines().collect();
    let errors = lines
        .iter()
        .filter(|line| line.starts_with("error: "))
        .count();
    let hints = lines
        .iter()
        .filter(|line| line.starts_with("hint: "))
        .count();
    assert!(errors == 1 && hints == 1, "{}", output.report());
    assert!(lines.len() <= 4, "{}", output.report());
    for word in mentions {
        assert!(
            output.stderr.contains(word),
            "no {word:?} in {}",
            output.stderr
        );
    }
    for word in ["panicked", "test-key-1234567890", "backtrace"] {
        assert!(
            !output.stderr.contains(word),
            "{word:?} in {}",
            output.stderr
        );
    }
    assert_eq!(output.stdout, "");
}

// CL-3
#[test]
fn one_shot_prints_the_answer_and_nothing_else() {
    let answer = text("The answer is 42.\nReally.");
    let (server, program) = served(Scenario::new().reply(answer));
    let file = usage_path(&program);
    let output = program
        .run(&["-z", "What is it?", "--usage-file", &file])
        .ok();
    assert_eq!(output.stdout, "The answer is 42.\nReally.\n");
    assert_eq!(output.stderr, "");
    let usage = usage(&program);
    assert_eq!(usage["completed"], true);
    assert_eq!(usage["model"], "scripted");
    assert_eq!(usage["api_calls"], 1);
    assert_eq!(usage["input_tokens"], 100);
    assert_eq!(usage["service_tier"], Json::Null);
    server.assert_done();
}

// CL-3
#[test]
fn one_shot_exits_with_two_when_the_run_failed_and_one_when_nothing_was_said() {
    let refused = error(401).message("no such key");
    let (_server, program) = served(Scenario::new().reply(Step::new(refused).repeat()));
    let file = usage_path(&program);
    let output = program.run(&["-z", "Hello", "--usage-file", &file]).code(2);
    one_message(&output, &["custom/scripted", "401", "no such key"]);
    let usage = usage(&program);
    assert_eq!(usage["failed"], true);
    assert!(
        usage["failure"].as_str().unwrap().contains("401"),
        "{usage}"
    );

    let (_server, program) = served(Scenario::new().reply(Step::new(text("")).repeat()));
    let output = program.run(&["-z", "Hello"]).code(1);
    one_message(&output, &["said nothing, even when it was asked again"]);
}

#[test]
fn without_any_model_the_ways_to_get_one_are_said() {
    let program = Program::new();
    let output = program.run(&["-z", "Hello"]).code(2);
    one_message(
        &output,
        &["no model is set up", "OPENROUTER_API_KEY", "https://"],
    );
}

#[test]
fn arguments_that_make_no_sense_exit_with_two() {
    let program = Program::new();
    for arguments in [
        &["-z", ""][..],
        &["chat", "-Q"],
        &["-z", "Hello", "--max-turns", "0"],
        &["-z", "Hello", "--resume", "a", "--continue", "b"],
        &["chat", "-q", "Hello", "--image", "notes.txt"],
    ] {
        program.run(arguments).code(2);
    }
    let (_server, program) = served(Scenario::new());
    let asked = program.run(&["chat", "-q", "Hello", "--image", "no.png"]);
    let told = asked.code(1);
    one_message(&told, &["no.png", "see that it is there"]);
}

// CL-4
#[test]
fn quiet_prints_the_exact_answer_and_the_session_aside() {
    let (_server, program) = served(Scenario::new().reply(text("Just this.")));
    let output = program.run(&["chat", "-Q", "-q", "Hello"]).ok();
    assert_eq!(output.stdout, "Just this.\n");
    let id = output.stderr.trim().strip_prefix("session_id: ").unwrap();
    assert!(program.stdout(&["sessions", "list"]).contains(id));

    let (_server, program) = served(Scenario::new().reply(Step::new(error(401)).repeat()));
    let output = program.run(&["chat", "-Q", "-q", "Hello"]).code(1);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("session_id: "), "{}", output.stderr);
}

#[test]
fn a_conversation_goes_on_by_id_and_by_being_the_latest() {
    let (server, program) = served(
        Scenario::new()
            .reply(text("I will remember."))
            .reply(text("Seven."))
            .reply(text("Still seven.")),
    );
    let first = program
        .run(&["chat", "-Q", "-q", "The number is seven."])
        .ok();
    let id = first
        .stderr
        .trim()
        .strip_prefix("session_id: ")
        .unwrap()
        .to_owned();
    let second = program.run(&["-z", "Which number?", "--resume", &id]).ok();
    assert_eq!(second.stdout, "Seven.\n");
    let third = program.run(&["-z", "And now?", "--continue"]).ok();
    assert_eq!(third.stdout, "Still seven.\n");
    let requests = server.requests();
    let said: Vec<Vec<String>> = requests
        .iter()
        .map(|request| {
            let messages = request.expect_json()["messages"]
                .as_array()
                .unwrap()
                .clone();
            messages
                .iter()
                .filter(|message| message["role"] == "user")
                .map(|message| message["content"].to_string())
                .collect()
        })
        .collect();
    assert_eq!(
        said.iter().map(Vec::len).collect::<Vec<_>>(),
        [1, 2, 3],
        "{said:?}"
    );
    let prompts: Vec<_> = requests
        .iter()
        .map(|request| request.expect_json()["messages"][0].to_string())
        .collect();
    assert!(
        prompts.windows(2).all(|two| two[0] == two[1]),
        "the prompt stays byte for byte"
    );
    let output = program.run(&["-z", "Hello", "--resume", "nobody-knows-it"]);
    one_message(&output, &["nobody-knows-it"]);
}

#[test]
fn what_is_piped_in_belongs_to_the_question() {
    let (server, program) = served(Scenario::echo());
    let output = program
        .command(&["-z", "Sum this up:"])
        .stdin("one\ntwo\n")
        .run()
        .unwrap()
        .ok();
    assert_eq!(output.stdout, "Sum this up:\n\none\ntwo\n");
    assert_eq!(server.requests().len(), 1);
}

// CL-42
#[test]
fn what_is_piped_in_is_a_question_without_a_command_too() {
    let (server, program) = served(Scenario::echo());
    for arguments in [&[][..], &["-m", "scripted"], &["chat"]] {
        let command = program.command(arguments).stdin("only piped\n");
        let output = command.run().unwrap().ok();
        assert!(output.stdout.contains("only piped"), "{}", output.report());
        assert!(output.stderr.contains("hermes chat --resume"));
    }
    assert_eq!(server.requests().len(), 3);
    // Where nothing comes there is nothing to ask.
    for nothing in ["", " \n"] {
        let command = program.command(&[]).stdin(nothing);
        let help = command.run().unwrap().ok();
        assert!(help.stdout.contains("Usage: hermes"), "{}", help.report());
    }
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_picture_travels_with_the_question() {
    let (server, program) = served(Scenario::new().reply(text("A dot.")));
    program
        .home
        .write_work("dot.png", b"\x89PNG\r\n\x1a\nnot really")
        .unwrap();
    let output = program
        .run(&["chat", "-Q", "-q", "What is it?", "--image", "dot.png"])
        .ok();
    assert_eq!(output.stdout, "A dot.\n");
    let body = server.requests()[0].expect_json().to_string();
    assert!(body.contains("data:image/png;base64,"), "{body}");
}

#[test]
fn toolsets_on_the_command_line_are_all_that_is_offered() {
    let (server, program) = served(Scenario::new().reply(Step::new(text("Fine.")).repeat()));
    program.run(&["-z", "Hello", "--toolsets", "todo"]).ok();
    let names = |request: usize| -> Vec<String> {
        let tools = server.requests()[request].expect_json()["tools"].clone();
        let tools = tools.as_array().cloned().unwrap_or_default();
        let name = |tool: &Json| tool["function"]["name"].as_str().unwrap().to_owned();
        tools.iter().map(name).collect()
    };
    assert_eq!(names(0), ["todo"]);
    let output = program.run(&["-z", "Hello", "--toolsets", "tood"]).code(2);
    one_message(&output, &["tood", "todo"]);
    program.run(&["-z", "Hello"]).ok();
    assert!(names(1).len() > 1, "{:?}", names(1));
    // One that is known is a conversation, and the others are named.
    let output = program.run(&["-z", "Hello", "-t", "fiel,todo"]).ok();
    assert_eq!(names(2), ["todo"]);
    assert_eq!(output.stdout, "Fine.\n");
    let told = "there is no toolset fiel, so it is left out; did you mean file?";
    assert!(output.stderr.contains(told), "{}", output.stderr);
}

#[test]
fn the_limit_of_model_calls_holds() {
    let again = || tool_call("todo", json!({"todos": []}));
    let (server, program) = served(
        Scenario::new()
            .reply(again())
            .reply(again())
            .reply(again())
            .reply(Step::new(text("That is as far as I came.")).repeat()),
    );
    let output = program
        .run(&["-z", "Go on for ever", "--max-turns", "3"])
        .ok();
    assert_eq!(output.stdout, "That is as far as I came.\n");
    assert_eq!(server.requests().len(), 4, "three calls, and one to sum up");
}

// AG-10
#[test]
fn a_summary_that_fails_at_the_limit_of_calls_is_a_failure() {
    let (server, program) = served(
        Scenario::new()
            .reply(tool_call("todo", json!({"todos": []})))
            .reply(Step::new(error(401)).repeat()),
    );
    let file = usage_path(&program);
    let asked = ["-z", "Go on", "--max-turns", "1", "--usage-file", &file];
    let output = program.run(&asked).code(2);
    assert!(
        output.stderr.contains("custom/scripted") && output.stderr.contains("hint: "),
        "{}",
        output.stderr
    );
    assert_eq!(server.requests().len(), 2);
    let usage = usage(&program);
    assert_eq!(
        (&usage["completed"], &usage["failed"]),
        (&json!(false), &json!(true))
    );
}

// PV-34
#[test]
fn the_route_that_answered_is_told_when_it_was_a_fallback() {
    let bad = ModelServer::start(Scenario::new().reply(Step::new(error(401)).repeat())).unwrap();
    let good = ModelServer::start(Scenario::new().reply(text("From the spare."))).unwrap();
    let program = with_model(&bad.base_url());
    let spare = good.base_url();
    let file = usage_path(&program);
    let add = [
        "fallback",
        "add",
        "spare",
        "--provider",
        "custom",
        "--base-url",
        &spare,
    ];
    program.run(&add).ok();
    let tier = ["config", "set", "agent.service_tier", "flex"];
    program.run(&tier).ok();
    let output = program.run(&["-z", "Hello", "--usage-file", &file]).ok();
    assert_eq!(output.stdout, "From the spare.\n");
    assert!(
        output.stderr.contains("custom/spare answers now"),
        "{}",
        output.stderr
    );
    let (used, all) = (usage(&program), good.requests());
    let seen = all.iter().find(|seen| seen.protocol.is_some()).unwrap();
    assert_eq!(used["model"], "spare");
    assert_eq!(seen.expect_json()["service_tier"], "flex");
    assert_eq!(used["service_tier"], "flex");
    assert_eq!(
        seen.header("authorization"),
        None,
        "the key of another address stays home"
    );
}

// PV-34
#[test]
fn status_and_model_show_the_route_that_answers() {
    let bad = ModelServer::start(Scenario::new().reply(Step::new(error(401)).repeat())).unwrap();
    let good =
        ModelServer::start(Scenario::new().reply(Step::new(text("Gladly.")).repeat())).unwrap();
    let program = with_model(&bad.base_url());
    let config = format!(
        "{}fallback_providers: [{{provider: 'custom:spare', model: little}}]\n\
         providers: {{spare: {{base_url: '{}', key_env: SPARE_KEY, context_length: 50000}}}}\n",
        program.home.read("config.yaml").unwrap(),
        good.base_url()
    );
    program.home.write_config(&config).unwrap();
    program
        .home
        .write_env("SPARE_KEY=key-of-the-spare-1234\n")
        .unwrap();
    let limit = Duration::from_secs(20);
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 120, 60).unwrap();
    let say = |line: &str, shown: &str| {
        terminal.send(&format!("{line}\r")).unwrap();
        terminal.wait_for_text(shown, limit).unwrap();
    };
    terminal.wait_for_text("Ctrl+D ends", limit).unwrap();
    say("/status", "none used yet");
    say("Hello", "Gladly.");
    say("/model", "little from custom:spare, with SPARE_KEY");
    say("/status", "50000 tokens");
    let page = terminal.screen().text();
    assert!(
        page.contains("instead of") && page.contains("failed (auth"),
        "{page}"
    );
    assert!(!page.contains("key-of-the-spare"), "{page}");
    say("/model custom:spare:other", "other from custom:spare");
    say(
        "/model other --provider custom:spare",
        "other from custom:spare",
    );
    say("/model nobody:there", "nobody:there");
    say("/exit", "hermes chat --resume");
    assert_eq!(terminal.wait_exit(limit).unwrap().code, 0);
}

#[test]
fn a_missing_key_is_named_with_the_place_to_get_one() {
    let program = Program::new();
    program
        .home
        .write_config("model: {provider: deepseek}\n")
        .unwrap();
    let output = program.run(&["-z", "Hello"]).code(2);
    one_message(
        &output,
        &[
            "DeepSeek",
            "DEEPSEEK_API_KEY",
            "https://platform.deepseek.com",
        ],
    );
    let output = program
        .run(&["-z", "Hello", "--provider", "deepsek"])
        .code(2);
    one_message(&output, &["deepsek", "did you mean"]);
    let output = program
        .run(&["-z", "Hello", "--provider", "openai-codex"])
        .code(2);
    one_message(&output, &["openai-codex", "openai-api"]);
}

/// Failures of the provider: what is scripted, and the words that must be said.
#[test]
fn every_failure_of_a_provider_is_one_clear_message() {
    let html =
        bytes("<html><body><h1>502 Bad Gateway</h1></body></html>").content_type("text/html");
    let broken = bytes("{\"id\": ").status(200);
    let cases: Vec<(&str, Step, &[&str])> = vec![
        (
            "a bad key",
            error(401).message("bad key").into(),
            &["401", "hermes auth status"],
        ),
        (
            "no credit",
            error(402).message("no credit").into(),
            &["402", "credit"],
        ),
        (
            "forbidden",
            error(403).message("not yours").into(),
            &["403"],
        ),
        (
            "no model",
            error(404)
                .message("The model `scripted` does not exist")
                .into(),
            &["404", "hermes model list"],
        ),
        (
            "too large",
            error(413).message("too large").into(),
            &["413"],
        ),
        (
            "limited",
            error(429).message("slow down").retry_after(1).into(),
            &["429", "later"],
        ),
        ("broken", error(500).message("oops").into(), &["500"]),
        (
            "a limit without a word",
            bytes("").status(429).into(),
            &["(429): Too Many Requests"],
        ),
        (
            "nothing said",
            bytes("{}").status(500).into(),
            &["(500): Internal Server Error"],
        ),
        (
            "overloaded",
            error(503).message("overloaded").into(),
            &["503"],
        ),
        (
            "a web page",
            html.into(),
            &["a web page came instead of an answer", "hermes model --why"],
        ),
        (
            "half a document",
            broken.into(),
            &[
                "what came is not an answer",
                "neither JSON nor events",
                "hermes model --why",
            ],
        ),
    ];
    for (name, step, mentions) in cases {
        let (_server, program) = served(Scenario::new().reply(step.repeat()));
        let output = program
            .command(&["-z", "Hello"])
            .timeout(Duration::from_secs(60))
            .run()
            .unwrap();
        assert_eq!(output.code, Some(2), "{name}: {}", output.report());
        let mut words = vec!["custom/scripted"];
        words.extend(mentions);
        one_message(&output, &words);
    }
}

#[test]
fn a_stream_that_breaks_off_is_no_answer() {
    let cut = Step::new(text("This is a sentence that will never be finished"))
        .close_after(0)
        .repeat();
    let (_server, program) = served(Scenario::new().reply(cut));
    let output = program.run(&["-z", "Hello"]).code(2);
    one_message(&output, &["custom/scripted"]);
}

#[test]
fn an_answer_without_end_is_cut_off() {
    let endless = bytes(vec![b'a'; 100 * 1024 * 1024]);
    let (_server, program) = served(Scenario::new().reply(Step::new(endless).repeat()));
    let output = program
        .command(&["-z", "Hello"])
        .timeout(Duration::from_secs(120))
        .run()
        .unwrap()
        .code(2);
    one_message(
        &output,
        &[
            "custom/scripted",
            "larger than 67108864 bytes",
            "check the address",
        ],
    );
    // At most 64 MiB of an answer are read, and the program itself takes less than as much again.
    assert!(
        output.max_rss_kib < 128 * 1024,
        "{} KiB",
        output.max_rss_kib
    );
}

#[test]
fn an_address_that_does_not_answer_is_named() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = nobody.local_addr().unwrap().port();
    drop(nobody);
    let program = with_model(&format!("http://127.0.0.1:{port}/v1"));
    let output = program.run(&["-z", "Hello"]).code(2);
    one_message(
        &output,
        &["custom/scripted", "127.0.0.1", "hermes model --why"],
    );
    let program = with_model("http://models.invalid/v1");
    let output = program.run(&["-z", "Hello"]).code(2);
    one_message(
        &output,
        &["custom/scripted", "models.invalid", "hermes model --why"],
    );
}
