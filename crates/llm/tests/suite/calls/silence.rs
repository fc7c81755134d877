//! Models that go silent.

use std::time::Duration;

use hermes_llm::CallEvent;
use hermes_llm::classify::Reason;

use super::*;
use crate::suite::lab::impatient;

fn hanging() -> Step {
    Step::new(text("never")).hang_after(0)
}

// AG-15
#[tokio::test]
async fn a_model_that_goes_silent_again_and_again_is_not_asked_until_something_changes() {
    let steps = (0..5).map(|_| hanging()).chain([text("awake").into()]);
    let server = serve(steps);
    let lab = Lab::new();
    let route = impatient(lab.route(CHAT, &server), 100);
    let mut silent = course(&route);
    let mut messages = Vec::new();
    for _ in 0..5 {
        match lab.call(&mut silent, &question()).await.0 {
            CallEnd::Failed(failure) => {
                assert_eq!(failure.fault.reason, Reason::Timeout);
                messages.push((failure.fault.message, failure.calls));
            }
            other => panic!("it answered: {other:?}"),
        }
    }
    // Two the first time, for the connections are made anew once; the fifth time nothing is sent.
    assert_eq!(server.requests().len(), 5);
    let (said, calls) = messages.pop().unwrap();
    assert!(
        said.contains("5 times") && said.contains("another model"),
        "{said}"
    );
    assert_eq!(calls, 0);
    // A new turn does not change that, a new session or choosing a model does.
    silent.begin_turn("2026-01-02T00:00:00Z".parse().unwrap());
    assert!(matches!(
        lab.call(&mut silent, &question()).await.0,
        CallEnd::Failed(_)
    ));
    assert_eq!(server.requests().len(), 5);
    let mut fresh = course(&route);
    assert_eq!(
        answered(lab.call(&mut fresh, &question()).await.0).text,
        "awake"
    );
    server.assert_done();
}

// AG-15
#[tokio::test]
async fn a_success_ends_the_count_and_another_route_is_asked_instead() {
    let steps = [hanging(), text("one").into()];
    let server = serve(steps.into_iter().chain((0..2).map(|_| hanging())));
    let spare = serve([text("spare").into()]);
    let mut lab = Lab::new();
    lab.caller.patience.most_stalls = 2;
    let mut other = lab.route(CHAT, &spare);
    "other".clone_into(&mut other.provider);
    lab.keys("other", &spare, &["sk-other"]);
    let first = impatient(lab.route(CHAT, &server), 100);
    let mut course = chain([first, other]);
    assert_eq!(
        answered(lab.call(&mut course, &question()).await.0).text,
        "one"
    );
    assert_eq!(
        answered(lab.call(&mut course, &question()).await.0).text,
        "spare"
    );
    server.assert_done();
}

#[tokio::test]
async fn silence_is_told_with_the_time_that_is_left() {
    let server = serve([Step::new(text("late")).delay(Duration::from_millis(700))]);
    let mut lab = Lab::new();
    lab.caller.patience.notice = Duration::from_millis(200);
    let route = impatient(lab.route(CHAT, &server), 30_000);
    let (end, heard) = lab.call(&mut course(&route), &question()).await;
    assert_eq!(answered(end).text, "late");
    let told: Vec<(Duration, Duration)> = heard
        .events
        .iter()
        .filter_map(|event| match event {
            CallEvent::Quiet { since, left } => Some((*since, *left)),
            _ => None,
        })
        .collect();
    assert!(told.len() >= 2, "{told:?}");
    for (index, (since, left)) in told.iter().enumerate() {
        assert_eq!(
            *since,
            Duration::from_millis(200) * u32::try_from(index + 1).unwrap()
        );
        // The whole call may take 20 s.
        assert_eq!(*since + *left, Duration::from_secs(20));
    }
}
