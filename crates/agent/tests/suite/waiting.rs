//! What stands in the inbox: it becomes part of the conversation and leaves the inbox in one step.

use hermes_core::{Event, InboxId, Op, TurnEnd};
use hermes_store::NewSession;
use hermes_testkit::model_server::{Gate, Scenario, Step, text};

use super::fixture::{Fixture, finish, say, until};

fn message(text: &str) -> Op {
    Op::UserMessage {
        text: text.to_owned(),
        media: Vec::new(),
    }
}

fn remark(text: &str) -> Op {
    Op::Steer {
        text: text.to_owned(),
    }
}

async fn enqueue(fixture: &Fixture, op: &Op) -> InboxId {
    let session = NewSession::new(Fixture::id(), "cli");
    fixture.store.create_session(session).await.unwrap();
    fixture.store.enqueue(&Fixture::id(), op).await.unwrap()
}

async fn waiting(fixture: &Fixture) -> Vec<Op> {
    let waiting = fixture.store.waiting(&Fixture::id()).await.unwrap();
    waiting.into_iter().map(|one| one.op).collect()
}

fn from(rows: &[InboxId], said: Op) -> Op {
    Op::FromInbox {
        rows: rows.to_vec(),
        said: Box::new(said),
    }
}

// AG-34
#[tokio::test]
async fn a_message_that_waited_is_said_once_whoever_asks_for_it() {
    let scenario = Scenario::new()
        .reply(text("Painted."))
        .reply(text("Anything else?"));
    let fixture = Fixture::new(scenario);
    let rows = [enqueue(&fixture, &message("paint")).await];
    let session = fixture.open();
    assert!(session.send(from(&rows, message("paint"))));
    assert_eq!(finish(&session).await.text, "Painted.");
    assert_eq!(waiting(&fixture).await, []);
    // Somebody else who still knows of it comes too late, and can go on talking.
    assert!(session.send(from(&rows, message("paint"))));
    let late = finish(&session).await;
    assert!(matches!(late.why, TurnEnd::Failed { .. }), "{late:?}");
    assert_eq!(fixture.requests().len(), 1);
    assert_eq!(say(&session, "thanks").await.text, "Anything else?");
    let said = fixture.texts().into_iter().map(|(_, said)| said);
    let said: Vec<String> = said.collect();
    assert_eq!(said, ["paint", "Painted.", "thanks", "Anything else?"]);
}

// AG-34, AG-9: until a call sees it a remark waits; a stop takes it back with a word.
#[tokio::test]
async fn a_remark_waits_until_it_is_part_of_the_conversation_or_stopped() {
    let (first, never) = (Gate::new(), Gate::new());
    let scenario = Scenario::new()
        .reply(Step::new(text("Painted.")).held(&first))
        .reply(Step::new(text("Blue it is.")).when_user("make it blue"))
        .reply(Step::new(text("never heard")).held(&never));
    let fixture = Fixture::new(scenario);
    let session = fixture.open();
    let steering = async {
        until("the call", || fixture.requests().len() == 1).await;
        let rows = [enqueue(&fixture, &remark("make it blue")).await];
        assert!(session.send(from(&rows, remark("make it blue"))));
        assert_eq!(waiting(&fixture).await, [remark("make it blue")]);
        first.open();
    };
    let (done, ()) = tokio::join!(say(&session, "paint"), steering);
    assert_eq!(done.text, "Painted.");
    assert_eq!(finish(&session).await.text, "Blue it is.");
    assert_eq!(waiting(&fixture).await, []);
    let stopping = async {
        until("the call", || fixture.requests().len() == 3).await;
        let rows = [enqueue(&fixture, &remark("and quickly")).await];
        assert!(session.send(from(&rows, remark("and quickly"))));
        assert!(session.send(Op::Interrupt));
    };
    let (done, ()) = tokio::join!(say(&session, "once more"), stopping);
    assert_eq!(done.why, TurnEnd::Interrupted);
    let told = session.next_event().await;
    assert!(
        matches!(&told, Some(Event::Notice { text }) if text.contains("and quickly")),
        "{told:?}"
    );
    // It is taken back behind the word about it.
    while !waiting(&fixture).await.is_empty() {
        tokio::task::yield_now().await;
    }
}
