//! What the vendors themselves say about our requests: their own types, and Amazon's own signer.

use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::*;
use crate::suite::lab::{Lab, question};
use crate::suite::vendors::script;
use hermes_testkit::model_server::{ModelServer, Scenario, text as said};

/// How many histories each vendor is shown.
const HISTORIES: usize = 80;

fn name(protocol: WireProtocol) -> &'static str {
    match protocol {
        WireProtocol::ChatCompletions => "chat",
        WireProtocol::Responses => "responses",
        WireProtocol::Anthropic => "anthropic",
        WireProtocol::Gemini => "gemini",
        WireProtocol::Converse => "converse",
    }
}

/// What is wrong with each of these, by those who ought to know.
fn judged(asked: &[(&str, Json)]) -> Vec<Vec<String>> {
    let lines: Vec<String> = asked
        .iter()
        .map(|(protocol, body)| json!({"protocol": protocol, "body": body}).to_string())
        .collect();
    let judged = script("validators.py", &[], &(lines.join("\n") + "\n"));
    let judged: Vec<Vec<String>> = judged
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(judged.len(), asked.len());
    judged
}

fn sent(protocol: WireProtocol, history: &[Arc<Message>], settings: &ModelSettings) -> Json {
    let mut request = request(Vec::new());
    request.model = model_of(protocol).to_owned();
    request.messages = history.to_vec();
    request.settings = settings.clone();
    // Other vendors of chat completions take marks and thinking that OpenAI's own types do not know.
    let cached = protocol != WireProtocol::ChatCompletions;
    let quirks = quirks_of(protocol, false, cached, false);
    let dialect = Dialect {
        provider: "lab",
        quirks: &quirks,
        media: &OnePicture,
        schemas: &SCHEMAS,
    };
    wire::encode(protocol, &request, &dialect)
}

// PV-6
// PV-7
// PV-8
// PV-9
// PV-10
// PV-19
#[test]
fn requests_are_right_by_the_vendors_own_types() {
    let mut runner = TestRunner::deterministic();
    let case = (prop::collection::vec(any_row(), 1..10), any_settings());
    let mut asked = Vec::new();
    for _ in 0..HISTORIES {
        let (history, settings) = case.new_tree(&mut runner).unwrap().current();
        for protocol in PROTOCOLS {
            asked.push((name(protocol), sent(protocol, &history, &settings)));
        }
    }
    let mut wrong = Vec::new();
    for ((protocol, body), found) in asked.iter().zip(judged(&asked)) {
        if !found.is_empty() {
            wrong.push(format!("{protocol}: {found:#?}\n{body:#}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}\n{}",
        wrong.len(),
        asked.len(),
        wrong[0]
    );
}

// The test above is worth something only if they find mistakes.
#[test]
fn the_vendors_own_types_refuse_what_they_do_not_know() {
    let history = [Arc::new(Message::text(Role::User, "hello"))];
    let mut asked = Vec::new();
    for protocol in PROTOCOLS {
        let body = sent(protocol, &history, &ModelSettings::default());
        asked.push((name(protocol), body.clone()));
        let mut more = body.clone();
        more["no_such_field"] = json!(1);
        asked.push((name(protocol), more));
        let list = match protocol {
            WireProtocol::Responses => "input",
            WireProtocol::Gemini => "contents",
            _ => "messages",
        };
        let mut odd = body;
        odd[list][0]["no_such_field"] = json!(1);
        asked.push((name(protocol), odd));
    }
    for (found, (protocol, body)) in judged(&asked)
        .chunks(3)
        .zip(asked.chunks(3).map(|all| &all[0]))
    {
        let refused: Vec<bool> = found.iter().map(|found| !found.is_empty()).collect();
        assert_eq!(
            refused,
            [false, true, true],
            "{protocol}: {found:#?}\n{body:#}"
        );
    }
}

// PV-10
#[tokio::test]
async fn a_signature_is_the_one_that_amazon_comes_to() {
    let server = ModelServer::start(Scenario::new().reply(said("fine"))).unwrap();
    let lab = Lab::new();
    let route = lab.route(WireProtocol::Converse, &server);
    lab.ask(&route, &question()).await;
    let seen = server.requests().remove(0);
    let headers: serde_json::Map<String, Json> =
        ["host", "content-type", "x-amz-date", "authorization"]
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), seen.header(name)?.into())))
            .collect();
    let signed = json!({
        "url": format!("{}{}", server.origin(), seen.path),
        "headers": headers,
        "body": String::from_utf8_lossy(&seen.body),
        "key": "AKIDLAB\nsecret-of-the-lab",
        "region": "eu-west-1",
    });
    let mut other = signed.clone();
    other["body"] = json!("{}");
    let found = judged(&[("signature", signed), ("signature", other)]);
    assert!(found[0].is_empty(), "{found:?}");
    assert!(!found[1].is_empty(), "another body has another signature");
}
