//! Sessions that have nothing to do.

use super::fixture::Fixture;
use hermes_core::SessionId;
use hermes_testkit::model_server::Scenario;

/// Memory of this process that is in use, in bytes.
pub(crate) fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = status.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

// A thousand open sessions cost at most 4 KB each.
#[tokio::test]
async fn an_idle_session_costs_next_to_nothing() {
    const SESSIONS: usize = 1_000;
    let fixture = Fixture::new(Scenario::new());
    let engine = fixture.engine();
    let open = |count: usize, from: usize| -> Vec<_> {
        (0..count)
            .map(|number| {
                let mut spec = fixture.spec();
                spec.id = SessionId::try_from(format!("s{}", from + number)).unwrap();
                engine.open(spec)
            })
            .collect()
    };
    // The first ones pay for what all share.
    let warm = open(100, 0);
    tokio::task::yield_now().await;
    let before = resident();
    let sessions = open(SESSIONS, 100);
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    let each = resident().saturating_sub(before) / SESSIONS;
    assert!(
        each <= 4096,
        "{each} bytes for each of {} sessions",
        sessions.len() + warm.len()
    );
}
