//! What holds for answers whatever the protocol: reasons, seals, arguments, echo.

use hermes_testkit::model_server::{
    Answer, ModelServer, Protocol, Scenario, ToolCall, text, tool_call,
};
use serde_json::{Value, json};

use super::vendors::{ALL, Form, answer_text, ask, path};

#[test]
fn gemini_signatures_can_be_set_and_left_out() {
    let signed = |signature: &str| ToolCall::new("a", json!({})).signature(signature);
    let scenario = Scenario::new()
        .reply(Answer::default().and_call(signed("mine").id("c1")))
        .reply(Answer::default().and_call(signed("")))
        .reply(tool_call("a", json!({})).and_tool_call("b", json!({})))
        .reply(tool_call("a", json!({})).reasoning("hm"));
    let server = ModelServer::start(scenario).unwrap();
    let parts = || {
        let answer = ask(&server, Protocol::Gemini, "go", Form::Whole).json();
        answer["candidates"][0]["content"]["parts"].clone()
    };
    let first = parts();
    assert_eq!(first[0]["thoughtSignature"], "mine");
    assert_eq!(first[0]["functionCall"]["id"], "c1");
    assert_eq!(parts()[0].get("thoughtSignature"), None);
    let both = parts();
    assert_eq!(both[0]["thoughtSignature"], "c2VhbA0000030000");
    assert_eq!(both[1].get("thoughtSignature"), None);
    assert_eq!(parts()[1]["thoughtSignature"], "c2VhbA0000040000");
}

#[test]
fn reasons_to_stop_are_in_the_vendors_words() {
    let words = |protocol| match protocol {
        Protocol::ChatCompletions => ["stop", "length", "content_filter", "odd"],
        Protocol::Responses => ["", "max_output_tokens", "content_filter", "odd"],
        Protocol::Anthropic => ["end_turn", "max_tokens", "refusal", "odd"],
        Protocol::Gemini => ["STOP", "MAX_TOKENS", "SAFETY", "odd"],
        Protocol::Converse => ["end_turn", "max_tokens", "content_filtered", "odd"],
    };
    for protocol in ALL {
        for (reason, word) in ["stop", "length", "content_filter", "odd"]
            .iter()
            .zip(words(protocol))
        {
            let scenario = Scenario::new().reply(text("x").finish_reason(*reason));
            let server = ModelServer::start(scenario).unwrap();
            let answer = ask(&server, protocol, "hi", Form::Whole).json();
            let said = match protocol {
                Protocol::ChatCompletions => &answer["choices"][0]["finish_reason"],
                Protocol::Responses => &answer["incomplete_details"]["reason"],
                Protocol::Anthropic => &answer["stop_reason"],
                Protocol::Gemini => &answer["candidates"][0]["finishReason"],
                Protocol::Converse => &answer["stopReason"],
            };
            assert_eq!(said.as_str().unwrap_or_default(), word, "{protocol}");
        }
    }
}

#[test]
fn responses_can_fail_or_end_early_inside_the_stream() {
    let scenario = Scenario::new()
        .reply(text("x").finish_reason("failed"))
        .reply(text("x").finish_reason("length"));
    let server = ModelServer::start(scenario).unwrap();
    let last = || {
        let response = ask(&server, Protocol::Responses, "hi", Form::Streamed);
        response.named_events().pop().unwrap()
    };
    let (name, failed) = last();
    assert_eq!(name, "response.failed");
    assert_eq!(failed["response"]["error"]["code"], "server_error");
    assert_eq!(last().0, "response.incomplete");
}

#[test]
fn arguments_that_are_not_json_stay_as_they_are() {
    for protocol in ALL {
        let scenario = Scenario::new().reply(tool_call("broken", json!("{\"a\": ")));
        let server = ModelServer::start(scenario).unwrap();
        let answer = ask(&server, protocol, "hi", Form::Whole).text();
        assert!(answer.contains(r#""{\"a\": ""#), "{protocol}: {answer}");
    }
}

#[test]
fn an_unsealed_thought_has_no_signature_anywhere() {
    for protocol in ALL {
        let scenario = Scenario::new().reply(text("x").reasoning("hm").signature(""));
        let server = ModelServer::start(scenario).unwrap();
        let answer = ask(&server, protocol, "hi", Form::Whole).json();
        let seal = match protocol {
            Protocol::ChatCompletions => &Value::Null,
            Protocol::Responses => &answer["output"][0]["encrypted_content"],
            Protocol::Anthropic => {
                assert_eq!(answer["content"][0]["signature"], "");
                &Value::Null
            }
            Protocol::Gemini => &answer["candidates"][0]["content"]["parts"][1]["thoughtSignature"],
            Protocol::Converse => {
                let block = &answer["output"]["message"]["content"][0];
                &block["reasoningContent"]["reasoningText"]["signature"]
            }
        };
        assert_eq!(seal, &Value::Null, "{protocol}");
    }
}

#[test]
fn echo_speaks_every_protocol() {
    let server = ModelServer::start(Scenario::echo()).unwrap();
    for protocol in ALL {
        let answer = ask(&server, protocol, "say this", Form::Whole).json();
        assert_eq!(answer_text(protocol, &answer), "say this", "{protocol}");
        let streamed = ask(&server, protocol, "say this", Form::Streamed);
        let heard = String::from_utf8_lossy(&streamed.body).into_owned();
        assert!(heard.contains("say this"), "{protocol}: {heard}");
    }
    assert_eq!(server.requests()[2].protocol, Some(Protocol::Responses));
    assert_eq!(
        path(Protocol::Responses, Form::Whole),
        server.requests()[2].path
    );
}
