//! One program at a time works in a conversation.

use std::sync::atomic::{AtomicU32, Ordering};

use hermes_core::SessionId;
use hermes_store::{OwnTurn, Store, TurnTaken};

use super::fixture::Fixture;

fn taken(store: &Store, session: &SessionId) -> Option<OwnTurn> {
    match store.take_turn(session) {
        TurnTaken::Ours(turn) => Some(turn),
        TurnTaken::Theirs { .. } => None,
    }
}

// AG-34
#[test]
fn a_turn_belongs_to_one_until_it_is_given_back() {
    let fixture = Fixture::new();
    let other = fixture.reopen();
    let (session, beside) = (fixture.session("s"), fixture.session("t"));
    let own = taken(&fixture.store, &session).unwrap();
    match other.take_turn(&session) {
        TurnTaken::Theirs { process } => assert_eq!(process, Some(std::process::id())),
        TurnTaken::Ours(turn) => panic!("{turn:?}"),
    }
    let elsewhere = taken(&other, &beside).unwrap();
    drop((own, elsewhere));
    let again = taken(&other, &session).unwrap();
    assert!(taken(&fixture.store, &session).is_none());
    drop(again);
    let left = std::fs::read_dir(fixture.path("cache/turns")).unwrap();
    assert_eq!(left.count(), 0, "no file is left lying about");
}

// AG-34: a file that a kill left behind is nobody's.
#[test]
fn a_turn_that_was_left_behind_is_free() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    std::fs::create_dir_all(fixture.path("cache/turns")).unwrap();
    let file = format!("cache/turns/{session}.lock");
    std::fs::write(fixture.path(&file), "12345678901234").unwrap();
    assert!(taken(&fixture.store, &session).is_some());
}

// AG-34: also while others take it, give it back, and take its file away.
#[test]
fn no_two_ever_have_a_turn() {
    let fixture = Fixture::new();
    let session = fixture.session("s");
    let (inside, had) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let store = fixture.reopen();
            let (session, inside, had) = (&session, &inside, &had);
            scope.spawn(move || {
                while had.load(Ordering::SeqCst) < 500 {
                    let Some(turn) = taken(&store, session) else {
                        std::thread::yield_now();
                        continue;
                    };
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    had.fetch_add(1, Ordering::SeqCst);
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(turn);
                }
            });
        }
    });
}
