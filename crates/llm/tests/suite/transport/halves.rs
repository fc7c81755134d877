//! Characters that a server cut in two.

use super::broken::document;
use super::*;

/// What is streamed before a text, an event of text, and what follows the text.
fn events(protocol: WireProtocol) -> [&'static [&'static str]; 3] {
    match protocol {
        WireProtocol::ChatCompletions => [
            &[],
            &[r#"data: {"choices":[{"index":0,"delta":{"content":"@"}}]}"#],
            &[
                r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
                "data: [DONE]",
            ],
        ],
        WireProtocol::Responses => [
            &[r#"data: {"type":"response.created","response":{"id":"r"}}"#],
            &[r#"data: {"type":"response.output_text.delta","output_index":0,"delta":"@"}"#],
            &[
                r#"data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}"#,
            ],
        ],
        WireProtocol::Anthropic => [
            &[
                r#"data: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":1,"output_tokens":1}}}"#,
                r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            ],
            &[
                r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"@"}}"#,
            ],
            &[
                r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
                r#"data: {"type":"message_stop"}"#,
            ],
        ],
        WireProtocol::Gemini => [
            &[],
            &[r#"data: {"candidates":[{"content":{"role":"model","parts":[{"text":"@"}]}}]}"#],
            &[r#"data: {"candidates":[{"finishReason":"STOP"}]}"#],
        ],
        WireProtocol::Converse => [
            &[r#"messageStart {"role":"assistant"}"#],
            &[r#"contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"@"}}"#],
            &[r#"messageStop {"stopReason":"end_turn"}"#],
        ],
    }
}

/// An answer that comes in these pieces, which stand in its JSON as they are.
fn streamed(protocol: WireProtocol, pieces: &[&str]) -> Step {
    let [before, event, behind] = events(protocol);
    let said = pieces.iter().map(|piece| event[0].replace('@', piece));
    let before = before.iter().map(|event| (*event).to_owned());
    let behind = behind.iter().map(|event| (*event).to_owned());
    script::frames(before.chain(said).chain(behind)).into()
}

// PV-35
#[tokio::test]
async fn half_a_character_does_not_cost_the_answer() {
    for protocol in PROTOCOLS {
        for (pieces, text) in [
            (&[r"Hi \ud83c", r"\udf89!"][..], "Hi 🎉!"),
            (&[r"\uD83C", r"\uDF89"], "🎉"),
            (&[r"\ud83c\udf89"], "🎉"),
            (&[r"cut \ud83c", " off"], "cut \u{fffd} off"),
            (&[r"late \udf89 \ud83c"], "late \u{fffd} \u{fffd}"),
            (&[r"a path \\ud83c"], r"a path \ud83c"),
        ] {
            let server = once(streamed(protocol, pieces));
            let lab = Lab::new();
            let route = lab.route(protocol, &server);
            let (end, heard) = lab.call(&mut course(&route), &question()).await;
            let answer = answered(end);
            assert_eq!(answer.text, text, "{protocol:?} {pieces:?}");
            assert_eq!(heard.text(), text, "{protocol:?} {pieces:?}");
            assert_eq!(answer.finish, Some(FinishReason::Stop), "{protocol:?}");
        }
        let whole = document(protocol, "Hi @").to_string();
        let server = once(bytes(whole.replace('@', r"\ud83c")));
        let lab = Lab::new();
        let answer = lab.ask(&lab.route(protocol, &server), &question()).await;
        assert_eq!(answer.text, "Hi \u{fffd}", "{protocol:?}");
    }
}

// PV-35
#[tokio::test]
async fn half_a_character_does_not_hide_what_a_failure_means() {
    for protocol in PROTOCOLS {
        let body =
            r#"{"error":{"message":"no such thing: \ud83c","code":"context_length_exceeded"}}"#;
        let server = always(bytes(body).status(400));
        let lab = Lab::new();
        let mut course = course(&lab.route(protocol, &server));
        let (end, _) = lab.call(&mut course, &question()).await;
        assert!(matches!(end, CallEnd::TooLong(_)), "{protocol:?}: {end:?}");
    }
}
