//! A key is seen by the server it belongs to and by nobody else.

use proptest::prelude::*;

use super::*;

const KEYS_OF_FIRST: [&str; 2] = ["canary-first-a", "canary-first-b"];
const KEYS_OF_SECOND: [&str; 2] = ["canary-second-a", "canary-second-b"];

fn assert_clean(server: &ModelServer, foreign: [&str; 2]) {
    for request in server.requests() {
        let mut whole = request.path.clone();
        for (name, value) in &request.headers {
            whole.push_str(&format!("\n{name}: {value}"));
        }
        whole.push_str(&String::from_utf8_lossy(&request.body));
        for key in foreign {
            assert!(
                !whole.contains(key),
                "{key} was sent to another server:\n{whole}"
            );
        }
    }
}

fn any_fault() -> impl Strategy<Value = u16> {
    // 0 cuts the answer, 1 sends a web page, 2 a good answer.
    prop::sample::select(vec![
        0, 1, 2, 301, 302, 307, 308, 400, 401, 402, 403, 429, 500, 503,
    ])
}

fn step(fault: u16, elsewhere: &str) -> Step {
    match fault {
        0 => Step::new(text("a text that is cut")).close_after(1),
        1 => bytes("<html></html>").content_type("text/html").into(),
        2 => text("done").into(),
        301..=308 => Step::new(bytes("").status(fault)).header("location", elsewhere),
        _ => error(fault).into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    // PV-3
    #[test]
    fn no_fault_makes_a_key_leave_its_origin(
        faults in prop::collection::vec(any_fault(), 0..6),
        others in prop::collection::vec(any_fault().prop_filter("not there", |fault| !(301..=308).contains(fault)), 0..6),
        anthropic in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let second = serve(others.iter().map(|fault| step(*fault, "")));
        let elsewhere = format!("{}/chat/completions", second.base_url());
        let first = serve(faults.iter().map(|fault| step(*fault, &elsewhere)));
        runtime.block_on(async {
            let mut lab = Lab::new();
            lab.caller.attempts = 2;
            lab.keys("one", &first, &KEYS_OF_FIRST);
            lab.keys("two", &second, &KEYS_OF_SECOND);
            let protocol = if anthropic { WireProtocol::Anthropic } else { CHAT };
            let mut course = chain([route("one", protocol, &first), route("two", CHAT, &second)]);
            for _ in 0..2 {
                let _ = lab.call(&mut course, &question()).await;
                course.begin_turn("2026-01-02T00:00:00Z".parse().unwrap());
            }
        });
        assert_clean(&first, KEYS_OF_SECOND);
        assert_clean(&second, KEYS_OF_FIRST);
    }
}

// PV-3
#[tokio::test]
async fn a_redirect_to_another_server_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let other = serve([text("I am somebody else").into()]);
        let to = format!("{}/chat/completions", other.base_url());
        let server = serve([step(status, &to)]);
        let lab = Lab::new();
        let failure = lab.fail(&lab.route(CHAT, &server), &question()).await;
        assert_eq!(failure.fault.reason, Reason::Misconfigured, "{failure}");
        // Neither the key nor the conversation went there.
        assert!(other.requests().is_empty());
    }
}

// PV-3
// PV-10
#[tokio::test]
async fn a_key_that_signs_is_not_sent() {
    let server = serve([text("hi").into()]);
    let lab = Lab::new();
    let route = lab.route(WireProtocol::Converse, &server);
    lab.ask(&route, &question()).await;
    let sent = &server.requests()[0];
    let signature = sent.header("authorization").unwrap();
    assert!(signature.starts_with("AWS4-HMAC-SHA256 Credential=AKIDLAB/20260101/eu-west-1/"));
    assert_clean(&server, ["secret-of-the-lab", "secret-of"]);
}

// PV-3
#[tokio::test]
async fn a_key_for_another_address_is_not_lent() {
    let own = serve([]);
    let server = serve([text("hi").into()]);
    let lab = Lab::new();
    lab.keys("lab", &own, &["canary-own"]);
    let failure = lab.fail(&route("lab", CHAT, &server), &question()).await;
    assert_eq!(failure.fault.reason, Reason::Auth, "{failure}");
    assert!(server.requests().is_empty() && own.requests().is_empty());
}
