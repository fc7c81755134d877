//! Questions that other processes see and answer.

use std::time::Duration;

use hermes_core::Reach;
use hermes_store::{DecisionOutcome, NewPermission, PERMISSION_LIFE, Store};

use super::fixture::{Fixture, id};

fn asked(number: i64, life: Duration) -> NewPermission {
    NewPermission {
        id: number,
        session: id("one"),
        action: "rm -r build".to_owned(),
        reasons: vec!["deletes files".to_owned()],
        reach: Reach::Once,
        life,
    }
}

fn open(store: &Store) -> Vec<i64> {
    let open = store.open_permissions().wait().unwrap();
    open.iter().map(|one| one.id).collect()
}

// MCP-79
#[test]
fn a_question_is_open_while_its_session_says_that_it_waits() {
    let fixture = Fixture::new();
    let (store, others) = (&fixture.store, fixture.reopen());
    let long = PERMISSION_LIFE * 10;
    for number in [2, 1] {
        store.ask_permission(asked(number, long)).wait().unwrap();
    }
    assert_eq!(open(&others), [1, 2]);
    fixture.clock.advance(PERMISSION_LIFE * 2 / 3);
    // The process of the other one was killed.
    store.wait_for_permission(1).wait().unwrap();
    fixture.clock.advance(PERMISSION_LIFE * 2 / 3);
    assert_eq!(open(&others), [1]);
    let killed = others.permission(2).wait().unwrap().unwrap();
    assert_eq!((killed.is_waited_for, killed.outcome), (false, None));
    let yes = |number| {
        let yes = others.answer_permission(number, DecisionOutcome::Once, "robot");
        yes.wait().unwrap()
    };
    assert!(!yes(2));
    assert!(yes(1));
    // What was answered is not open, and not over either before the session has heard it.
    assert!(open(&others).is_empty());
    let answered = others.permission(1).wait().unwrap().unwrap();
    assert!(answered.is_waited_for);
    let heard = store.end_permission(1, Some(DecisionOutcome::Once));
    heard.wait().unwrap();
    let heard = others.permission(1).wait().unwrap().unwrap();
    assert_eq!(heard.outcome, Some(DecisionOutcome::Once));
    assert!(!heard.is_waited_for);
}

// MCP-79
#[test]
fn what_is_taken_down_before_it_is_written_is_never_open() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let written = store.ask_permission(asked(1, PERMISSION_LIFE));
    let ended = store.end_permission(1, None);
    written.wait().unwrap();
    ended.wait().unwrap();
    // Asked once more, because nobody knew whether it was written: it stays what it is.
    let again = store.ask_permission(asked(1, PERMISSION_LIFE));
    again.wait().unwrap();
    assert!(open(store).is_empty());
    let over = store.permission(1).wait().unwrap().unwrap();
    assert_eq!((over.is_waited_for, over.outcome), (false, None));
}
