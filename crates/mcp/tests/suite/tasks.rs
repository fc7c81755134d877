//! Tools that a server carries out as tasks.

use std::sync::Arc;
use std::time::Duration;

use hermes_config::McpElicitation;
use hermes_core::{Answer, Asker, ToolHost};
use hermes_mcp::RecoveryPolicy;
use hermes_testkit::eventually;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::fixture::{Bench, PATIENCE, Screen, context, error, quick};
use super::questions::somebody;

async fn bench(faults: &str, policy: RecoveryPolicy) -> Bench {
    let mut bench = Bench::new(policy);
    let mut server = bench.program("one", faults);
    server.elicitation = Some(McpElicitation {
        timeout: Duration::from_secs(60),
        ..McpElicitation::default()
    });
    bench.add("one", server).await;
    bench.ready("one").await;
    bench
}

fn asked(bench: &Bench, method: &str) -> usize {
    let requests = bench.lines("one", "requests");
    requests.iter().filter(|request| *request == method).count()
}

/// Waits until the server was told that nobody wants to know any more.
fn given_up(bench: &Bench) {
    eventually(PATIENCE, "given up", || {
        (bench.lines("one", "cancelled").len() == 1).then_some(())
    })
    .unwrap();
}

// MCP-88
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_needs_it_is_called_as_a_task_and_asked_about_until_it_is_over() {
    let bench = bench("tasks", quick()).await;
    let screen = Arc::new(Screen::default());
    let mut caller = context(CancellationToken::new());
    caller.host = Arc::clone(&screen) as Arc<dyn ToolHost>;
    let answer = bench.call_as("work", json!({ "polls": 3 }), &caller).await;
    assert_eq!(answer, json!({ "result": "done" }));
    assert_eq!(
        (asked(&bench, "tasks/get"), asked(&bench, "tasks/result")),
        (4, 1)
    );
    assert_eq!(bench.lines("one", "ttl"), ["900000"]);
    assert!(
        screen.shown().join("").contains("look 2"),
        "{:?}",
        screen.shown()
    );
    assert_eq!(bench.lines("one", "cancelled"), [""; 0]);
    // A server may do it at once all the same, and other tools are called as ever.
    let answer = bench.call("work", json!({ "at once": true })).await;
    assert_eq!(answer, json!({ "result": "did it" }));
    assert_eq!(bench.echo("plain").await, json!({ "result": "plain" }));
    assert_eq!(bench.lines("one", "ttl").len(), 2);
    // News spares the wait.
    let told = json!({ "interval": 600_000, "tells": 50 });
    let answer = tokio::time::timeout(Duration::from_secs(8), bench.call("work", told)).await;
    assert_eq!(answer.unwrap(), json!({ "result": "done" }));
}

// MCP-88
#[tokio::test(flavor = "multi_thread")]
async fn only_servers_that_say_so_get_tasks() {
    let bench = bench("no-tasks", quick()).await;
    let answer = bench.call("work", json!({})).await;
    assert_eq!(error(&answer), "this runs only as a task");
}

// MCP-75, MCP-88
#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_task_reaches_whoever_waits_for_it_and_stops_the_clock() {
    let policy = RecoveryPolicy {
        call_timeout: Duration::from_secs(2),
        ..quick()
    };
    let bench = bench("tasks", policy).await;
    let properties = json!({ "count": { "type": "integer" } });
    let form = json!({
        "message": "How many?",
        "requestedSchema": { "type": "object", "properties": properties, "required": ["count"] },
    });
    let right = somebody(Duration::from_secs(3), Answer::Text("7".to_owned()));
    let wrong = somebody(Duration::ZERO, Answer::Text("8".to_owned()));
    let as_who = |who: &Arc<_>| {
        let mut caller = context(CancellationToken::new());
        caller.asker = Arc::clone(who) as Arc<dyn Asker>;
        caller
    };
    let (first, second) = (as_who(&right), as_who(&wrong));
    // Another call begins later and is still running when the question comes.
    let question = json!({ "question": form, "polls": 3 });
    let (answer, _) = tokio::join!(bench.call_as("work", question, &first), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        bench
            .call_as("echo", json!({ "millis": 1_500 }), &second)
            .await
    });
    let text = answer["result"].as_str().unwrap_or_default();
    assert!(text.contains(r#""count":7"#), "{answer}");
    assert_eq!(right.asked.lock().unwrap().len(), 1);
    assert_eq!(wrong.asked.lock().unwrap().len(), 0);
}

// MCP-75, MCP-88
#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_ahead_of_its_task_finds_who_waits_for_it() {
    let bench = bench("tasks", quick()).await;
    let properties = json!({ "count": { "type": "integer" } });
    let form = json!({
        "message": "How many?",
        "requestedSchema": { "type": "object", "properties": properties, "required": ["count"] },
    });
    let right = somebody(Duration::ZERO, Answer::Text("7".to_owned()));
    let mut caller = context(CancellationToken::new());
    caller.asker = Arc::clone(&right) as Arc<dyn Asker>;
    // Slow enough for the reply to be written down before the task is asked about.
    let rash = json!({ "question": form, "rash": true, "polls": 5, "interval": 300 });
    let answer = bench.call_as("work", rash, &caller).await;
    let text = answer["result"].as_str().unwrap_or_default();
    assert!(text.contains(r#""count":7"#), "{answer}");
    assert_eq!(right.asked.lock().unwrap().len(), 1);
}

// MCP-88
#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_given_up_also_when_the_time_runs_out_without_a_session() {
    let policy = RecoveryPolicy {
        call_timeout: Duration::from_secs(2),
        connect_timeout: Duration::from_secs(4),
        ..quick()
    };
    let bench = bench("tasks", policy).await;
    // The program ends when the task is asked about, and does not come back in time.
    std::fs::write(bench.state("one").join("hang"), "").unwrap();
    let answer = bench.call("work", json!({ "dies": true })).await;
    assert_eq!(answer["outcome_unknown"], true, "{answer}");
    assert!(error(&answer).contains("no answer within 2 s"), "{answer}");
    assert_eq!(bench.lines("one", "cancelled"), [""; 0]);
    std::fs::remove_file(bench.state("one").join("hang")).unwrap();
    given_up(&bench);
}

// MCP-88
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_fails_or_is_given_up_by_the_server_is_the_answer_of_a_tool() {
    let bench = bench("tasks", quick()).await;
    let answer = bench.call("work", json!({ "ends": "failed" })).await;
    assert_eq!(
        error(&answer),
        "it went wrong (code -32603): look 3",
        "{answer}"
    );
    assert_eq!(answer["outcome_unknown"], Json::Null);
    let answer = bench.call("work", json!({ "ends": "cancelled" })).await;
    assert_eq!(
        error(&answer),
        "the server gave the task up: look 2",
        "{answer}"
    );
    bench.failures(0).await;
    // Nobody can say what this means, so it is not waited for any longer.
    let answer = bench.call("work", json!({ "ends": "sleeping" })).await;
    assert!(error(&answer).contains("sleeping"), "{answer}");
    assert_eq!(answer["outcome_unknown"], true, "{answer}");
    given_up(&bench);
}

// MCP-88
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_or_overdue_call_gives_its_task_up() {
    let policy = RecoveryPolicy {
        call_timeout: Duration::from_secs(2),
        ..quick()
    };
    let bench = bench("tasks", policy).await;
    let endless = json!({ "polls": 1_000_000 });
    let answer = bench.call("work", endless.clone()).await;
    assert_eq!(answer["outcome_unknown"], true, "{answer}");
    let text = error(&answer);
    assert!(
        text.contains("no answer within 2 s; it last said \"look "),
        "{text}"
    );
    given_up(&bench);
    std::fs::remove_file(bench.state("one").join("cancelled")).unwrap();

    let cancel = CancellationToken::new();
    let caller = context(cancel.clone());
    let before = asked(&bench, "tasks/get");
    let stopped = async {
        while asked(&bench, "tasks/get") == before {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(bench.call_as("work", endless, &caller), stopped);
    assert!(!error(&answer).is_empty(), "{answer}");
    given_up(&bench);
    bench.failures(1).await;
}

// MCP-35, MCP-88
#[tokio::test(flavor = "multi_thread")]
async fn a_task_outlives_the_session_it_was_started_in() {
    let bench = bench("tasks", quick()).await;
    let answer = bench.call("work", json!({ "dies": true })).await;
    assert_eq!(answer, json!({ "result": "done" }));
    assert_eq!(bench.lines("one", "ttl").len(), 1, "started once");
    assert_eq!(bench.lines("one", "starts").len(), 2);
    // One that the server does not know any more may have done what it was to do.
    let answer = bench
        .call("work", json!({ "dies": true, "forgets": true }))
        .await;
    assert_eq!(answer["outcome_unknown"], true, "{answer}");
    assert!(error(&answer).contains("Task not found"), "{answer}");
    assert_eq!(bench.lines("one", "ttl").len(), 2, "not started again");
    assert_eq!(bench.lines("one", "cancelled"), [""; 0]);
}
