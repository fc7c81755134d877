//! Models that go silent.

use std::pin::pin;
use std::time::Duration;

use futures_util::FutureExt as _;
use hermes_llm::classify::Reason;
use hermes_llm::{CallEvent, Endpoint, PatienceSettings, Quirks, SetPatience, patience};

use super::*;
use crate::suite::lab::{impatient, stalling};

/// Long for a machine, and short on a clock that the tests move.
const LIMIT: Duration = Duration::from_secs(5);

fn hanging() -> Step {
    Step::new(text("never")).hang_after(0)
}

// AG-15
#[tokio::test]
async fn a_model_that_goes_silent_again_and_again_is_not_asked_until_something_changes() {
    let steps = (0..5).map(|_| hanging()).chain([text("awake").into()]);
    let server = serve(steps);
    let lab = Lab::new();
    let route = impatient(lab.route(CHAT, &server), LIMIT);
    let mut silent = course(&route);
    let mut messages = Vec::new();
    for _ in 0..5 {
        let question = question();
        let call = lab.call(&mut silent, &question);
        match stalling(call, &server, &[1, 2, 3, 4, 5], LIMIT).await.0 {
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
    let first = impatient(lab.route(CHAT, &server), LIMIT);
    let mut course = chain([first, other]);
    let mut ask = async || {
        let question = question();
        let call = lab.call(&mut course, &question);
        let (end, _) = stalling(call, &server, &[1, 3, 4], LIMIT).await;
        answered(end).text
    };
    assert_eq!(ask().await, "one");
    assert_eq!(ask().await, "spare");
    server.assert_done();
}

// AG-15: with a fallback a turn ends well after two stalls; the next turns go on counting.
#[tokio::test]
async fn stalls_of_the_preferred_route_are_counted_over_turns() {
    let server = serve((0..5).map(|_| hanging()));
    let spare = serve([Step::new(text("spare")).repeat()]);
    let mut lab = Lab::new();
    lab.caller.attempts = 3;
    let mut other = lab.route(CHAT, &spare);
    "other".clone_into(&mut other.provider);
    lab.keys("other", &spare, &["sk-other"]);
    let first = impatient(lab.route(CHAT, &server), LIMIT);
    let mut course = chain([first, other]);
    let mut asked = Vec::new();
    for turn in 1..=5 {
        course.begin_turn(format!("2026-01-0{turn}T00:00:00Z").parse().unwrap());
        let question = question();
        let call = lab.call(&mut course, &question);
        let (end, _) = stalling(call, &server, &[1, 2, 3, 4, 5], LIMIT).await;
        assert_eq!(answered(end).text, "spare");
        asked.push(server.requests().len());
    }
    // The fifth is the last: it is not gone back to.
    assert_eq!(asked, [2, 4, 5, 5, 5]);
    assert_eq!(course.route().provider, "other");
}

#[tokio::test]
async fn silence_is_told_with_the_time_that_is_left() {
    let server = serve([Step::new(text("late")).delay(Duration::from_millis(700))]);
    let mut lab = Lab::new();
    lab.caller.patience.notice = Duration::from_millis(200);
    let route = impatient(lab.route(CHAT, &server), Duration::from_secs(30));
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

/// A route to a far server that sends answers whole, with the limits that hold when nobody set any.
fn whole(mut route: Route) -> Route {
    route.patience = SetPatience::default();
    route.quirks = Arc::new(Quirks {
        no_streaming: true,
        ..Quirks::default()
    });
    route
}

// AG-15: silence is measured on the clock of the runtime, which this test moves.
#[tokio::test]
async fn an_answer_that_comes_whole_is_given_up_after_ninety_seconds_of_silence() {
    let server = serve([hanging(), text("awake").into()]);
    let lab = Lab::new();
    let mut course = course(&whole(lab.route(CHAT, &server)));
    let question = question();
    let mut calling = pin!(lab.call(&mut course, &question));
    while server.requests().is_empty() {
        let moment = Duration::from_millis(10);
        assert!(
            tokio::time::timeout(moment, calling.as_mut())
                .await
                .is_err()
        );
    }
    tokio::time::pause();
    // Ten seconds are left for what has really passed.
    for seconds in [31, 31, 18] {
        tokio::time::advance(Duration::from_secs(seconds)).await;
        assert!(calling.as_mut().now_or_never().is_none());
    }
    tokio::time::resume();
    assert_eq!(server.requests().len(), 1, "it was given up too early");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(11)).await;
    assert!(calling.as_mut().now_or_never().is_none());
    tokio::time::resume();
    // The connection is made anew once; a limit for streams would have another minute and a half to go.
    let (end, heard) = tokio::time::timeout(Duration::from_secs(30), calling)
        .await
        .expect("it was not given up");
    assert_eq!(answered(end).text, "awake");
    // Every half minute it was said how long nothing had come and how long that may last.
    let told = heard.events.iter().filter_map(|event| match event {
        CallEvent::Quiet { since, left } => Some((since.as_secs(), left.as_secs())),
        _ => None,
    });
    assert_eq!(told.take(2).collect::<Vec<_>>(), [(30, 60), (60, 30)]);
    server.assert_done();
}

// AG-15
#[test]
fn whole_answers_have_limits_of_their_own_by_the_size_of_the_question() {
    let server = serve([]);
    let lab = Lab::new();
    let plain = lab.route(CHAT, &server);
    let silence = |route: &Route, tokens, settings: &PatienceSettings| {
        let limits = patience(route, tokens, settings);
        (limits.first_event.as_secs(), limits.idle.as_secs())
    };
    let usual = PatienceSettings::default();
    let sizes = [50_000, 50_001, 100_000, 100_001];
    let of = |route: &Route| sizes.map(|tokens| silence(route, tokens, &usual).0);
    let mut stream = whole(plain);
    let entire = stream.clone();
    stream.quirks = Arc::default();
    assert_eq!(of(&entire), [90, 150, 150, 240]);
    assert_eq!(of(&stream), [180, 240, 240, 300]);
    // A model that thinks for long is given the time also where its answer comes whole.
    let thinker = Route {
        model: "o1-preview".to_owned(),
        ..entire.clone()
    };
    assert_eq!(silence(&thinker, 100, &usual), (600, 600));
    // What the user set for whole answers counts for them, and for no stream.
    let set = PatienceSettings {
        whole: Some(Duration::from_secs(45)),
        ..usual
    };
    assert_eq!(silence(&entire, 100, &set), (45, 45));
    assert_eq!(silence(&stream, 100, &set), (180, 180));
    // What was set for streams says nothing about whole answers; what was set for the provider is for both.
    let streams = PatienceSettings {
        stale: Some(Duration::from_secs(33)),
        ..usual
    };
    assert_eq!(silence(&entire, 100, &streams), (90, 90));
    assert_eq!(silence(&stream, 100, &streams), (33, 33));
    let mut of_provider = entire.clone();
    of_provider.patience.stale = Some(Duration::from_secs(12));
    assert_eq!(silence(&of_provider, 100, &set), (12, 12));
    // A model nearby may read for as long as the whole call.
    let mut near = entire;
    if let Endpoint::Http(address) = &mut near.endpoint {
        address.local = true;
    }
    assert_eq!(silence(&near, 100, &usual), (1_800, 900));
}

// AG-15: wherever a model is offered and whatever stands in front of its name.
#[test]
fn models_that_think_are_known_under_all_their_names() {
    let server = serve([]);
    let lab = Lab::new();
    let plain = whole(lab.route(CHAT, &server));
    for (model, seconds) in [
        ("us.anthropic.claude-opus-4-6-v1", 240),
        ("anthropic/claude-opus-4.6", 240),
        ("claude-sonnet-4-6", 180),
        ("claude-sonnet-5", 180),
        ("nvidia/llama-3.1-nemotron-ultra-253b-v1", 600),
        ("nvidia/nemotron-3-ultra", 600),
        ("openai/o3-mini", 300),
        ("o3", 600),
        ("Qwen3-Coder-480B", 180),
        ("x-ai/grok-4.5", 300),
        ("gpt-4o3", 90),
        ("lab-1", 90),
    ] {
        let route = Route {
            model: model.to_owned(),
            ..plain.clone()
        };
        let given = patience(&route, 100, &PatienceSettings::default());
        assert_eq!(given.first_event.as_secs(), seconds, "{model}");
    }
}

// AG-15: connections are lost to a model that thinks for long; that says nothing about the conversation.
#[tokio::test]
async fn a_thinking_model_that_hangs_up_is_asked_again_and_nothing_is_compacted() {
    for (model, again) in [("qwen3-coder", true), ("lab-1", false)] {
        let hangs_up = Step::new(text("never")).close_after(0);
        let server = serve([hangs_up, text("back").into()]);
        let mut lab = Lab::new();
        lab.caller.attempts = 2;
        let route = Route {
            model: model.to_owned(),
            ..lab.route(CHAT, &server)
        };
        let ask = Ask {
            request: &question(),
            tokens: 190_000,
            compactable: true,
            addressed: None,
        };
        let mut heard = Heard::default();
        let cancel = CancellationToken::new();
        let mut course = course(&route);
        let call = lab.caller.call(&mut course, &ask, &mut heard, &cancel);
        match (call.await, again) {
            (CallEnd::Answered(answer), true) => assert_eq!(answer.text, "back"),
            (CallEnd::TooLong(_), false) => {}
            (other, _) => panic!("{model}: {other:?}"),
        }
    }
}
