//! One program at a time works in a conversation.

use std::sync::Arc;

use hermes_core::{Event, Op, ToolResult, TurnEnd};
use hermes_store::TurnTaken;
use hermes_testkit::model_server::{Scenario, text, tool_call};
use serde_json::json;
use tokio::sync::Notify;

use super::fixture::{Fixture, Scripted, finish_watching, notices, say};

/// A tool that says its word once it is let.
fn slow(begun: &Arc<Notify>, over: &Arc<Notify>) -> Scripted {
    let (begun, over) = (begun.clone(), over.clone());
    Scripted::new("pay", move |_, _| {
        let (begun, over) = (begun.clone(), over.clone());
        Box::pin(async move {
            begun.notify_one();
            over.notified().await;
            Ok(ToolResult {
                content: "paid invoice 77".to_owned(),
                media: Vec::new(),
            })
        })
    })
}

fn is_waiting(text: &&str) -> bool {
    text.contains("is working in this conversation")
}

// AG-34, AG-2: a call that another program still runs is not lost, and what is said meanwhile comes behind it.
#[tokio::test]
async fn a_call_that_another_program_runs_is_waited_for() {
    let scenario = Scenario::new()
        .reply(tool_call("pay", json!({})))
        .reply(text("It is paid."))
        .reply(text("Invoice 77."));
    let (begun, over) = <(Arc<Notify>, Arc<Notify>)>::default();
    let fixture = Fixture::new(scenario).tool(slow(&begun, &over));
    let other = fixture.other_store();
    let engines = [fixture.engine(), fixture.engine_over(&other, 2)];
    let [first, second] = engines.each_ref().map(|engine| engine.open(fixture.spec()));
    let later = async {
        begun.notified().await;
        assert!(second.send(Op::UserMessage {
            text: "which one?".to_owned(),
            media: Vec::new(),
        }));
        let mut told = false;
        finish_watching(&second, async |done| {
            if !told && notices(done).iter().any(is_waiting) {
                told = true;
                // Whatever happens to it now, it is not lost.
                let kept = other.waiting(&Fixture::id()).await.unwrap();
                assert_eq!(kept.len(), 1, "{kept:?}");
                over.notify_one();
            }
        })
        .await
    };
    let (one, two) = tokio::join!(say(&first, "pay it"), later);
    assert_eq!(one.text, "It is paid.");
    assert_eq!(two.text, "Invoice 77.");
    let process = format!("process {}", std::process::id());
    let told = notices(&two).join("\n");
    assert!(told.contains(&process), "{told}");
    let said: Vec<String> = fixture.texts().into_iter().map(|(_, said)| said).collect();
    let expected = [
        "pay it",
        "",
        "paid invoice 77",
        "It is paid.",
        "which one?",
        "Invoice 77.",
    ];
    assert_eq!(said, expected);
    assert_eq!(other.waiting(&Fixture::id()).await.unwrap(), []);
}

// AG-34, AG-8: who waits for another program can be stopped, and what was said is neither said nor lost in silence.
#[tokio::test]
async fn a_stop_while_another_program_works_leaves_nothing_behind() {
    let fixture = Fixture::new(Scenario::new().reply(text("Hello.")));
    assert_eq!(fixture.ask("hi").await.text, "Hello.");
    let other = fixture.other_store();
    let TurnTaken::Ours(theirs) = other.take_turn(&Fixture::id()) else {
        panic!("it is nobody's");
    };
    let session = fixture.open();
    assert!(session.send(Op::UserMessage {
        text: "and now?".to_owned(),
        media: Vec::new(),
    }));
    let mut told = false;
    let done = finish_watching(&session, async |done| {
        if !told && notices(done).iter().any(is_waiting) {
            told = true;
            assert!(session.send(Op::Interrupt));
        }
    })
    .await;
    assert_eq!(done.why, TurnEnd::Interrupted);
    let told = notices(&done).join("\n");
    assert!(told.contains("because you stopped: and now?"), "{told}");
    assert_eq!(other.waiting(&Fixture::id()).await.unwrap(), []);
    assert_eq!(fixture.texts().len(), 2);
    drop(theirs);
    let taken = other.take_turn(&Fixture::id());
    assert!(matches!(taken, TurnTaken::Ours(_)), "{taken:?}");
}

// AG-34: where the session ends while it waits, what was said waits for the next one.
#[tokio::test]
async fn what_waits_for_another_program_outlives_its_own() {
    let fixture = Fixture::new(Scenario::new().reply(text("Hello.")));
    assert_eq!(fixture.ask("hi").await.text, "Hello.");
    let other = fixture.other_store();
    let theirs = other.take_turn(&Fixture::id());
    let engine = fixture.engine();
    let session = engine.open(fixture.spec());
    assert!(session.send(Op::UserMessage {
        text: "and now?".to_owned(),
        media: Vec::new(),
    }));
    let mut told = false;
    finish_watching(&session, async |done| {
        if !told && notices(done).iter().any(is_waiting) {
            told = true;
            assert!(engine.shut_down(std::time::Duration::from_secs(30)).await);
        }
    })
    .await;
    drop(theirs);
    let waiting = other.waiting(&Fixture::id()).await.unwrap();
    let said: Vec<Op> = waiting.into_iter().map(|one| one.op).collect();
    let expected = Op::UserMessage {
        text: "and now?".to_owned(),
        media: Vec::new(),
    };
    assert_eq!(said, [expected]);
    assert_eq!(fixture.texts().len(), 2);
}

// AG-34: nobody waits for ever.
#[tokio::test]
async fn another_program_that_never_ends_is_not_waited_for_without_end() {
    let fixture = Fixture::new(Scenario::new().reply(text("Hello.")));
    assert_eq!(fixture.ask("hi").await.text, "Hello.");
    let theirs = fixture.other_store().take_turn(&Fixture::id());
    let session = fixture.open();
    tokio::time::pause();
    assert!(session.send(Op::UserMessage {
        text: "and now?".to_owned(),
        media: Vec::new(),
    }));
    let done = loop {
        let event = session.next_event().await.unwrap();
        if let Event::TurnFinished { why, .. } = event {
            break why;
        }
    };
    tokio::time::resume();
    let TurnEnd::Failed { message, hint } = done else {
        panic!("{done:?}");
    };
    assert!(message.contains("for 15 minutes"), "{message}");
    assert!(hint.unwrap().contains("new conversation"));
    drop(theirs);
    assert_eq!(fixture.store.waiting(&Fixture::id()).await.unwrap(), []);
}
