//! Messages through Amazon Bedrock: other paths, other failures, and events in Amazon's frames.

use std::sync::Arc;

use hermes_core::{CacheLife, WireProtocol};
use hermes_llm::classify::Reason;
use hermes_llm::wire::{self, Dialect};
use hermes_llm::{Auth, CacheStyle, Endpoint, Quirks, Route};
use hermes_testkit::model_server::{ModelServer, Scenario, error, frames, text};

use crate::suite::lab::{Lab, OnePicture, SCHEMAS, question, route};

const MODEL: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

fn claude(lab: &Lab, server: &ModelServer) -> Route {
    let mut route = route("lab", WireProtocol::Anthropic, server);
    route.model = MODEL.to_owned();
    route.quirks = Arc::new(quirks());
    if let Endpoint::Http(address) = &mut route.endpoint {
        let region = "eu-west-1".to_owned();
        address.auth = Auth::SigV4 { region };
    }
    lab.keys("lab", server, &["AKIDLAB\nsecret-of-the-lab"]);
    route
}

fn quirks() -> Quirks {
    Quirks {
        invoke: true,
        long_context: true,
        cache: CacheStyle::Blocks,
        ..Quirks::default()
    }
}

// PV-8 PV-10
#[tokio::test]
async fn an_exception_in_mid_stream_is_the_failure() {
    let start = r#"data: {"type": "message_start", "message": {"usage": {"input_tokens": 7}}}"#;
    let thrown = r#"throttlingException {"message": "slower, please"}"#;
    let scenario = Scenario::new().reply(frames([start, thrown]));
    let server = ModelServer::start(scenario).unwrap();
    let lab = Lab::new();
    let failure = lab.fail(&claude(&lab, &server), &question()).await;
    assert_eq!(failure.fault.reason, Reason::RateLimit, "{failure}");
    let said = &failure.fault.message;
    assert!(said.contains("slower, please"), "{said}");
}

// PV-8: who may call a model but not have its answers streamed gets them whole.
#[tokio::test]
async fn an_account_that_may_not_stream_gets_whole_answers() {
    let denied = "User: arn:aws:iam::1:user/me is not authorized to perform: \
                  bedrock:InvokeModelWithResponseStream";
    let scenario = Scenario::new()
        .reply(error(403).message(denied))
        .reply(text("whole"));
    let server = ModelServer::start(scenario).unwrap();
    let lab = Lab::new();
    let answer = lab.ask(&claude(&lab, &server), &question()).await;
    assert_eq!(answer.text, "whole");
    let verbs = server.requests().into_iter().map(|request| {
        let verb = request.path.rsplit('/').next().map(str::to_owned);
        verb.unwrap_or_default()
    });
    let verbs: Vec<String> = verbs.collect();
    assert_eq!(verbs, ["invoke-with-response-stream", "invoke"]);
}

// PV-8: not every Claude there has the long window, and what it says about that names no feature.
#[tokio::test]
async fn a_feature_that_is_turned_down_is_not_asked_for_again() {
    let scenario = Scenario::new()
        .reply(error(400).message("invalid beta flag"))
        .reply(text("fine"));
    let server = ModelServer::start(scenario).unwrap();
    let lab = Lab::new();
    lab.ask(&claude(&lab, &server), &question()).await;
    let asked = server.requests().into_iter().map(|request| {
        let features = request.expect_json()["anthropic_beta"].to_string();
        features.contains("context-1m")
    });
    assert_eq!(asked.collect::<Vec<_>>(), [true, false]);
}

// PV-8 PV-10: what is turned down goes one after the other, and is not asked for again.
#[tokio::test]
async fn features_are_given_up_until_the_call_goes_through() {
    let refused = || error(400).message("invalid beta flag");
    let cases: [(bool, &[&str]); 2] = [
        (
            false,
            &[r#"["interleaved-thinking-2025-05-14","fine-grained-tool-streaming-2025-05-14"]"#],
        ),
        (
            true,
            &[
                r#"["interleaved-thinking-2025-05-14","fine-grained-tool-streaming-2025-05-14","context-1m-2025-08-07"]"#,
                r#"["interleaved-thinking-2025-05-14","fine-grained-tool-streaming-2025-05-14"]"#,
            ],
        ),
    ];
    for (long_context, turned_down) in cases {
        let mut scenario = Scenario::new();
        for _ in turned_down {
            scenario = scenario.reply(refused());
        }
        let server = ModelServer::start(scenario.reply(text("fine")).reply(text("again"))).unwrap();
        let lab = Lab::new();
        let mut route = claude(&lab, &server);
        route.quirks = Arc::new(Quirks {
            long_context,
            ..quirks()
        });
        assert_eq!(lab.ask(&route, &question()).await.text, "fine");
        assert_eq!(lab.ask(&route, &question()).await.text, "again");
        let asked: Vec<String> = server
            .requests()
            .into_iter()
            .map(|request| request.expect_json()["anthropic_beta"].to_string())
            .collect();
        assert_eq!(asked, [turned_down, &["null", "null"]].concat());
    }
}

// PV-8 AG-21
#[test]
fn the_hour_is_asked_of_models_that_remember_so_long() {
    for (model, long) in [
        (MODEL, true),
        ("anthropic.claude-sonnet-4-20250514-v1:0", false),
    ] {
        let mut request = question();
        request.model = model.to_owned();
        request.settings.cache = CacheLife::Long;
        let quirks = quirks();
        let dialect = Dialect {
            provider: "bedrock",
            quirks: &quirks,
            media: &OnePicture,
            schemas: &SCHEMAS,
        };
        let body = wire::encode(WireProtocol::Anthropic, &request, &dialect);
        let mark = &body["system"][0]["cache_control"];
        assert_eq!(mark["ttl"] == "1h", long, "{model}: {body}");
        let mut keys = body.as_object().unwrap().keys();
        assert_eq!(keys.next_back().unwrap(), "messages", "{body}");
    }
}
