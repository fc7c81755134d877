//! What a run of one question prints and reports: the answer that is kept, what it cost, and how it ended.

use hermes_testkit::model_server::{ModelServer, Reply, Scenario, Step, frames, text, tool_call};
use serde_json::{Value as Json, json};

use super::chat::{one_message, served, usage, usage_path, with_model};

// CL-3 CL-4: an attempt that was thrown away is no part of the answer.
#[test]
fn only_the_answer_that_is_kept_is_printed() {
    let broken = text("Let me look at the list first.").and_tool_call("todo", json!({"todos": []}));
    for arguments in [&["-z", "How many?"][..], &["chat", "-Q", "-q", "How many?"]] {
        let scenario = Scenario::new()
            .reply(Step::new(broken.clone()).chunk_chars(40).close_after(3))
            .reply(text("The answer is 4."));
        let (server, program) = served(scenario);
        let output = program.run(arguments).ok();
        assert_eq!(output.stdout, "The answer is 4.\n", "{arguments:?}");
        server.assert_done();
    }
}

// CL-3 AG-14: half an answer of a model that refused to go on is not printed with that of the next one.
#[test]
fn the_answer_of_a_fallback_stands_alone() {
    let half = text("The recipe begins with two").finish_reason("content_filter");
    let first = ModelServer::start(Scenario::new().reply(Step::new(half).repeat())).unwrap();
    let second = ModelServer::start(Scenario::new().reply(text("From the spare."))).unwrap();
    let program = with_model(&first.base_url());
    let file = usage_path(&program);
    let asked = ["-z", "Hello", "--usage-file", &file];
    // Alone it is a failure.
    let output = program.run(&asked).code(2);
    one_message(&output, &["custom/scripted refused to go on"]);
    assert_eq!(usage(&program)["failed"], true);
    let spare = second.base_url();
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
    let output = program.run(&asked).ok();
    assert_eq!(output.stdout, "From the spare.\n");
    assert!(
        output.stderr.contains("custom/spare answers now"),
        "{}",
        output.stderr
    );
}

// AG-10 CL-3 CL-4: a budget that is spent without a word about it is no success.
#[test]
fn a_spent_budget_without_a_summary_is_no_answer() {
    for arguments in [
        &["-z", "Go on"][..],
        &["chat", "-Q", "-q", "Go on"],
        &["chat", "-q", "Go on"],
    ] {
        let scenario = Scenario::new()
            .reply(tool_call("todo", json!({"todos": []})))
            .reply(Step::new(text("")).repeat());
        let (_server, program) = served(scenario);
        let file = usage_path(&program);
        let limits = ["--max-turns", "1", "--usage-file", &file];
        let output = program.run(&[arguments, &limits].concat()).code(1);
        assert_eq!(output.stdout, "", "{arguments:?}");
        assert!(
            output.stderr.contains("error: the model said nothing"),
            "{arguments:?}: {}",
            output.stderr
        );
        let usage = usage(&program);
        assert_eq!(
            (&usage["completed"], &usage["failed"]),
            (&json!(false), &json!(true)),
            "{arguments:?}"
        );
    }
}

/// An answer whose provider says what it cost.
fn dear(cost: f64) -> Reply {
    let chunk = |delta: Json, finish: Json, usage: Json| {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
        let chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
            "choices": choices, "usage": usage});
        format!("data: {chunk}\n\n")
    };
    let used =
        json!({"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010, "cost": cost});
    frames([
        chunk(
            json!({"role": "assistant", "content": "Fine."}),
            Json::Null,
            Json::Null,
        ),
        chunk(json!({}), "stop".into(), used),
        "data: [DONE]\n\n".to_owned(),
    ])
}

// CL-3: tokens and costs of this run, not those of the conversation that it goes on with.
#[test]
fn the_usage_file_tells_what_this_run_cost() {
    let (_server, program) = served(Scenario::new().reply(Step::new(dear(0.5)).repeat()));
    let file = usage_path(&program);
    for going_on in [&[][..], &["--continue"], &["--continue"]] {
        let asked = ["-z", "Hello", "--usage-file", &file];
        program.run(&[&asked, going_on].concat()).ok();
        let usage = usage(&program);
        assert_eq!(usage["estimated_cost_usd"], 0.5, "{usage}");
        assert_eq!(usage["cost_status"], "actual", "{usage}");
        assert_eq!(usage["input_tokens"], 1000, "{usage}");
        assert_eq!(usage["api_calls"], 1, "{usage}");
    }
}

// CL-4
#[test]
fn what_is_piped_in_is_the_question_where_none_is_named() {
    for arguments in [&["chat", "-Q"][..], &["chat"]] {
        let (server, program) = served(Scenario::new().reply(text("Hello yourself.")));
        let command = program.command(arguments).stdin("hello\n");
        let output = command.run().unwrap().ok();
        assert!(
            output.stdout.contains("Hello yourself."),
            "{arguments:?}: {}",
            output.report()
        );
        let asked = server.requests().pop().unwrap();
        let asked = asked.expect_json()["messages"]
            .as_array()
            .unwrap()
            .last()
            .unwrap();
        let asked = asked["content"].to_string();
        assert!(asked.contains("hello"), "{arguments:?}: {asked}");
        server.assert_done();
    }
    // Nothing is piped in, or it is lines of a conversation.
    let (_server, program) = served(Scenario::new());
    for arguments in [
        &["chat", "-Q"][..],
        &["chat", "--image", "rose.png"],
        &["chat", "-Q", "--plain"],
        &["chat"],
    ] {
        let output = program.run(arguments).code(2);
        one_message(&output, &["there is no question", "or pipe it in"]);
    }
}

// CL-3
#[test]
fn the_usage_file_is_written_when_there_is_nothing_to_ask() {
    let (_server, program) = served(Scenario::new());
    let file = usage_path(&program);
    for arguments in [
        &["-z", "", "--usage-file", &file][..],
        &[
            "chat",
            "-q",
            "Look",
            "--image",
            "notes.txt",
            "--usage-file",
            &file,
        ],
    ] {
        program.run(arguments).code(2);
        let usage = usage(&program);
        assert_eq!(usage["failed"], true, "{usage}");
        assert_eq!(usage["api_calls"], 0, "{usage}");
        assert!(usage["failure"].is_string(), "{usage}");
        std::fs::remove_file(&file).unwrap();
    }
}

// CL-3: an answer is paid for, so nothing is asked that could not be accounted for.
#[test]
fn a_usage_file_that_cannot_be_written_is_found_before_anything_is_asked() {
    for command in [&["-z", "Hello"][..], &["chat", "-Q", "-q", "Hello"]] {
        let (server, program) = served(Scenario::new().reply(text("Hi.")));
        let nowhere = program.home.path().join("nowhere/usage.json");
        let nowhere = nowhere.display().to_string();
        let output = program.run(&[command, &["--usage-file", &nowhere]].concat());
        assert_ne!(output.code, Some(0), "{}", output.report());
        assert!(output.stderr.contains(&nowhere), "{}", output.report());
        assert!(
            server.requests().is_empty(),
            "{command:?}: nothing was spent"
        );
    }
}
