//! Sessions that have nothing to do.

use super::fixture::{Fixture, say};
use hermes_core::SessionId;
use hermes_testkit::model_server::{Scenario, Step, text};

/// Memory of this process that is in use, in bytes.
pub(crate) fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = status.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

// A thousand open sessions cost at most 4 KB each, after they have been talked to as well. The scripted server
// remembers every request in the same memory, so sessions that are let go after their turn are the measure.
#[tokio::test]
async fn an_idle_session_costs_next_to_nothing() {
    const SESSIONS: usize = 1_000;
    let fixture = Fixture::new(Scenario::new().reply(Step::new(text("Yes.")).repeat()));
    let engine = fixture.engine();
    let talk = async |number: usize| {
        let mut spec = fixture.spec();
        spec.id = SessionId::try_from(format!("s{number}")).unwrap();
        let session = engine.open(spec);
        assert_eq!(say(&session, "is it?").await.text, "Yes.");
        session
    };
    // The first ones pay for what all share.
    for number in 0..200 {
        drop(talk(number).await);
    }
    let before = resident();
    for number in 0..SESSIONS {
        drop(talk(1_000 + number).await);
    }
    let let_go = resident().saturating_sub(before);
    let before = resident();
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        sessions.push(talk(10_000 + number).await);
    }
    let kept = resident().saturating_sub(before);
    let each = kept.saturating_sub(let_go) / sessions.len();
    assert!(
        each <= 4096,
        "{each} bytes for each session: {kept} kept, {let_go} let go"
    );
}
