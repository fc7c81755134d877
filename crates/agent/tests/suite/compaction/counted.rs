//! Whether a conversation is too long: what its provider counted goes before what we estimate.

use std::sync::Arc;

use hermes_core::{Message, Role, SystemClock, TurnEnd};
use hermes_testkit::model_server::{Scenario, Usage, text};

use super::long::{MAIN, SMALL, SUMMARY, add, by, is_compacted, is_summary, long};
use crate::suite::fixture::say;

/// Rounds that we estimate just below the limit.
const ALMOST: usize = 17;

/// Words that we estimate at so many tokens.
fn words(tokens: usize) -> String {
    "nail".repeat(tokens)
}

fn counting(prompt_tokens: u64) -> Usage {
    Usage {
        prompt_tokens,
        ..Usage::default()
    }
}

// AG-23: every message is a process of its own here.
#[tokio::test]
async fn an_estimate_that_is_too_high_shortens_nothing_that_fits() {
    let scenario = Scenario::new()
        .reply(by(SMALL, text(SUMMARY)).repeat())
        .reply(by(MAIN, text("painted").usage(counting(14_000))).when_user("paint it"))
        .reply(by(MAIN, text("roofed").usage(counting(26_000))).when_user("nail"))
        .reply(by(MAIN, text("glazed")).repeat());
    let (mut fixture, _) = long(scenario, ALMOST);
    fixture.clock = Arc::new(SystemClock);
    assert_eq!(fixture.ask("paint it").await.text, "painted");
    // By our own estimate there is no room for it.
    let done = fixture.ask(&words(4_000)).await;
    assert_eq!(done.text, "roofed");
    assert!(!is_compacted(&done.events), "{done:?}");
    assert!(!fixture.rows().iter().any(is_summary));
    // By the provider's there is none for this.
    let done = fixture.ask(&format!("glaze it {}", words(3_000))).await;
    assert_eq!(
        (done.why.clone(), done.text.as_str()),
        (TurnEnd::Done, "glazed")
    );
    assert!(is_compacted(&done.events), "{done:?}");
}

// AG-23: what came since then counts as we estimate it, and a count that cannot be is not believed.
#[tokio::test]
async fn what_came_since_the_last_count_makes_a_conversation_too_long() {
    let scenario = Scenario::new()
        .reply(by(SMALL, text(SUMMARY)).repeat())
        .reply(by(MAIN, text("painted").usage(counting(10))).repeat());
    let (mut fixture, _) = long(scenario, ALMOST);
    fixture.clock = Arc::new(SystemClock);
    let session = fixture.open();
    assert_eq!(say(&session, "paint it").await.text, "painted");
    let rows = (0..24).flat_map(|n| {
        [
            Message::text(Role::User, format!("{n} {}", words(1_000))),
            Message::text(Role::Assistant, "nailed"),
        ]
    });
    add(&fixture, &rows.collect::<Vec<_>>());
    let done = say(&session, "and now?").await;
    assert!(is_compacted(&done.events), "{done:?}");
}
