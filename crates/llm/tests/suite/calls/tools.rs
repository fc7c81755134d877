//! Models that cannot call tools.

use hermes_llm::CallEvent;

use super::*;

// PV-11, AG-12
#[tokio::test]
async fn a_model_that_turns_tools_down_is_offered_none_from_then_on() {
    let refused = "lab-1 does not support tools";
    let server = serve([
        error(400).message(refused).into(),
        text("first").into(),
        text("second").into(),
    ]);
    let lab = Lab::new();
    let route = lab.route(CHAT, &server);
    let (end, heard) = lab.call(&mut course(&route), &question()).await;
    assert_eq!(answered(end).text, "first");
    let what = format!("lab/lab-1 is asked without tools, so it cannot act: {refused}");
    assert!(
        heard.events.contains(&CallEvent::Reduced { what }),
        "{:?}",
        heard.events
    );
    // Another conversation knows, and is not told again.
    let (end, heard) = lab.call(&mut course(&route), &question()).await;
    assert_eq!(answered(end).text, "second");
    let told = |event: &CallEvent| matches!(event, CallEvent::Reduced { .. });
    assert!(!heard.events.iter().any(told));
    let offered = |request: &RecordedRequest| request.expect_json().get("tools").is_some();
    let offered: Vec<bool> = server.requests().iter().map(offered).collect();
    assert_eq!(offered, [true, false, false]);
}
