//! Answers that are none.

use super::*;

#[tokio::test]
async fn failures_are_told_apart_in_every_protocol() {
    for protocol in PROTOCOLS {
        for (status, reason) in [
            (500, Reason::ServerError),
            (401, Reason::Auth),
            (402, Reason::Billing),
        ] {
            let server = always(error(status));
            let lab = Lab::new();
            let failure = lab.fail(&lab.route(protocol, &server), &question()).await;
            assert_eq!(failure.fault.reason, reason, "{protocol:?} {status}");
            assert_eq!(failure.fault.status, Some(status));
            assert!(failure.to_string().contains("scripted"), "{failure}");
        }
    }
}

#[tokio::test]
async fn what_is_no_answer_is_named() {
    let page = b"<!doctype html><html><body>Sign in</body></html>".to_vec();
    for protocol in PROTOCOLS {
        for (body, kind, words) in [
            (page.clone(), "text/html", "web page"),
            (page.clone(), "application/json", "web page"),
            (Vec::new(), "application/json", "empty"),
            (Vec::new(), "text/event-stream", "empty"),
            (
                b"\n\n".to_vec(),
                "text/event-stream; charset=utf-8",
                "empty",
            ),
            (b"upstream".to_vec(), "text/plain", "upstream"),
            (
                b"upstream\xff".to_vec(),
                "text/event-stream",
                "not what was expected: upstream",
            ),
            // A comment is nothing, and half of a field is what a cut leaves.
            (
                b": waiting\n\ndat".to_vec(),
                "text/event-stream",
                "was empty",
            ),
        ] {
            let server = always(bytes(body).content_type(kind));
            let lab = Lab::new();
            let failure = lab.fail(&lab.route(protocol, &server), &question()).await;
            let fault = &failure.fault;
            assert_eq!(fault.reason, Reason::InvalidAnswer, "{protocol:?} {kind}");
            assert!(
                fault.message.contains(words),
                "{protocol:?}: {}",
                fault.message
            );
        }
    }
}

/// A whole answer in one document.
pub(super) fn document(protocol: WireProtocol, text: &str) -> Json {
    match protocol {
        WireProtocol::ChatCompletions => json!({"id": "c", "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}),
        WireProtocol::Responses => {
            json!({"id": "r", "status": "completed", "error": null, "output": [
            {"id": "m", "type": "message", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]}]})
        }
        WireProtocol::Anthropic => json!({"id": "m", "type": "message", "role": "assistant",
            "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1}}),
        WireProtocol::Gemini => json!({"candidates": [
            {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}]}),
        WireProtocol::Converse => json!({"output": {"message": {"role": "assistant",
            "content": [{"text": text}]}}, "stopReason": "end_turn"}),
    }
}

#[tokio::test]
async fn a_document_is_taken_where_a_stream_was_asked_for() {
    for protocol in PROTOCOLS {
        let whole = document(protocol, "Hi @ there").to_string();
        let broken: Vec<u8> = whole
            .bytes()
            .map(|byte| if byte == b'@' { 0xff } else { byte })
            .collect();
        for (body, text) in [
            (whole.into_bytes(), "Hi @ there"),
            (broken, "Hi \u{fffd} there"),
        ] {
            let server = once(bytes(body));
            let lab = Lab::new();
            let answer = lab.ask(&lab.route(protocol, &server), &question()).await;
            assert_eq!(answer.text, text, "{protocol:?}");
            assert_eq!(answer.finish, Some(FinishReason::Stop));
        }
    }
}

// PV-6
#[tokio::test]
async fn a_document_whose_error_says_nothing_is_an_answer() {
    for protocol in PROTOCOLS {
        for error in [json!(""), json!(false), Json::Null] {
            let mut whole = document(protocol, "Hi there");
            whole["error"] = error.clone();
            let server = once(bytes(whole.to_string()));
            let lab = Lab::new();
            let answer = lab.ask(&lab.route(protocol, &server), &question()).await;
            assert_eq!(answer.text, "Hi there", "{protocol:?} {error}");
        }
    }
}

/// One event of text, which is enough to see what becomes of its bytes.
fn said(protocol: WireProtocol) -> Option<String> {
    let (event, data) = match protocol {
        WireProtocol::ChatCompletions => (
            "",
            json!({"choices": [{"index": 0, "delta": {"content": "Hi @ there"}, "finish_reason": "stop"}]}),
        ),
        WireProtocol::Responses => (
            "response.output_text.delta",
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": "Hi @ there"}),
        ),
        WireProtocol::Anthropic => (
            "content_block_delta",
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": "Hi @ there"}}),
        ),
        WireProtocol::Gemini => ("", document(protocol, "Hi @ there")),
        WireProtocol::Converse => return None,
    };
    Some(format!("event: {event}\ndata: {data}\n\n"))
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced_inside_events() {
    for protocol in PROTOCOLS {
        let Some(event) = said(protocol) else {
            continue;
        };
        let body: Vec<u8> = event
            .bytes()
            .map(|byte| if byte == b'@' { 0xff } else { byte })
            .collect();
        let server = once(bytes(body).content_type("text/event-stream"));
        let lab = Lab::new();
        let route = lab.route(protocol, &server);
        let (_, heard) = lab.call(&mut course(&route), &question()).await;
        assert_eq!(heard.text(), "Hi \u{fffd} there", "{protocol:?}");
    }
}

#[tokio::test]
async fn half_a_frame_is_a_cut_and_not_nonsense() {
    for protocol in PROTOCOLS {
        let Some(event) = said(protocol) else {
            continue;
        };
        let half: String = event.chars().take(event.len() / 2).collect();
        let server = always(bytes(half).content_type("text/event-stream"));
        let lab = Lab::new();
        let failure = lab.fail(&lab.route(protocol, &server), &question()).await;
        // Nothing was said before it: that is an empty answer, not one that cannot be read.
        assert!(
            !failure.fault.message.contains("cannot be read"),
            "{failure}"
        );
    }
}

#[tokio::test]
async fn a_body_without_end_is_given_up() {
    let document = vec![b' '; (64 << 20) + 1];
    let mut frame = b"data: ".to_vec();
    frame.resize((16 << 20) + 100, b'x');
    let bodies = [
        (document, "application/json", Reason::FormatError),
        (frame, "text/event-stream", Reason::InvalidAnswer),
        // A frame that says it has two gigabytes.
        (
            vec![0x7f; 64],
            "application/vnd.amazon.eventstream",
            Reason::InvalidAnswer,
        ),
    ];
    for (body, kind, reason) in bodies {
        let server = always(bytes(body).content_type(kind));
        let lab = Lab::new();
        let route = lab.route(WireProtocol::Converse, &server);
        let failure = lab.fail(&route, &question()).await;
        assert_eq!(failure.fault.reason, reason, "{kind}: {failure}");
    }
}

#[tokio::test]
async fn a_failure_inside_a_good_answer_is_a_failure() {
    let server = always(bytes(
        r#"{"error": {"message": "no credits left", "code": 402}}"#,
    ));
    let lab = Lab::new();
    let route = lab.route(WireProtocol::ChatCompletions, &server);
    let failure = lab.fail(&route, &question()).await;
    assert_eq!(failure.fault.reason, Reason::Billing, "{failure}");
}
