//! Answers that break off because the provider has trouble or a limit.

use hermes_testkit::model_server::frames;

use super::*;

/// A piece of an answer, and then a failure in place of the rest.
fn broken_off(piece: &str, code: u16) -> Step {
    let text = json!({"choices": [{"index": 0, "delta": {"content": piece}}]});
    let failure = json!({"error": {"message": "not now", "code": code}});
    frames([text, failure].map(|event| format!("data: {event}"))).into()
}

/// Calls, and expects a piece.
async fn piece(lab: &Lab, course: &mut Course) -> (String, Heard) {
    let (end, heard) = lab.call(course, &question()).await;
    match end {
        CallEnd::Partial(answer, failure) => {
            assert_eq!(failure.fault.message, "not now");
            (answer.text, heard)
        }
        other => panic!("not a piece of an answer: {other:?}"),
    }
}

// AG-12, AG-16, PV-17
#[tokio::test]
async fn a_limit_behind_a_text_is_answered_as_one_in_its_place() {
    let server = serve(["one", "two", "three"].map(|text| broken_off(text, 429)));
    let spare = serve([text("the rest").into()]);
    let mut lab = Lab::new();
    lab.caller.attempts = 3;
    let first = lab.route(CHAT, &server);
    lab.keys("lab", &server, &["sk-one", "sk-two"]);
    lab.keys("spare", &spare, &["sk-spare"]);
    let mut course = chain([first, route("spare", CHAT, &spare)]);
    for (said, waits) in [("one", 0), ("two", 1), ("three", 0)] {
        let (text, heard) = piece(&lab, &mut course).await;
        assert_eq!((text.as_str(), heard.waits().len()), (said, waits));
    }
    let (end, heard) = lab.call(&mut course, &question()).await;
    assert_eq!(answered(end).text, "the rest");
    assert_eq!(heard.changes(), 1);
    assert_eq!(bearers(&server), ["sk-one", "sk-one", "sk-two"]);
}

// AG-11, AG-16
#[tokio::test]
async fn trouble_behind_a_text_is_waited_for_and_has_an_end() {
    let server = serve(["one", "two", "three", "four"].map(|text| broken_off(text, 502)));
    let mut lab = Lab::new();
    lab.caller.attempts = 3;
    let mut course = course(&lab.route(CHAT, &server));
    for seconds in [None, Some(2), Some(4)] {
        let (_, heard) = piece(&lab, &mut course).await;
        let least = seconds.map(Duration::from_secs);
        let waited = heard.waits().first().copied();
        assert_eq!(waited.is_some(), least.is_some());
        assert!(waited >= least, "{waited:?}");
    }
    let (end, _) = lab.call(&mut course, &question()).await;
    let CallEnd::Failed(failure) = end else {
        panic!("{end:?}");
    };
    assert_eq!(failure.fault.message, "not now");
    assert_eq!(server.requests().len(), 3);
    // Somebody asks again: there is nothing left to be done about it.
    course.begin_turn(Timestamp::UNIX_EPOCH);
    let (text, heard) = piece(&lab, &mut course).await;
    assert_eq!((text.as_str(), heard.waits().len()), ("four", 0));
}

// AG-16
#[tokio::test]
async fn only_room_in_front_of_a_failure_is_no_text() {
    let server = serve([broken_off(" \n", 502), text("whole").into()]);
    let mut lab = Lab::new();
    lab.caller.attempts = 2;
    let answer = lab.ask(&lab.route(CHAT, &server), &question()).await;
    assert_eq!(answer.text, "whole");
}
