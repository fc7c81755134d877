//! Paths beside the model have scripts of their own.

use std::thread;
use std::time::Duration;

use hermes_testkit::model_server::{
    ModelServer, Outcome, Scenario, Step, error, json as document, text,
};
use serde_json::json;

use super::http_client::{ask, chat, send};

#[test]
fn replies_of_a_route_come_in_order_and_the_last_may_repeat() {
    let pending = Step::new(error(400).body(json!({"error": "authorization_pending"})));
    let token = Step::new(document(json!({"access_token": "at"}))).repeat();
    let scenario = Scenario::new()
        .route("POST", "/oauth/token", [pending, token])
        .route("GET", "/version", [document(json!({"version": "0.9"}))]);
    let server = ModelServer::start(scenario).unwrap();
    let poll = || {
        send(
            &server.origin(),
            "POST",
            "/oauth/token",
            "grant_type=device_code",
        )
    };
    let first = poll();
    assert_eq!(first.status, 400);
    assert_eq!(first.json(), json!({"error": "authorization_pending"}));
    assert_eq!(poll().json(), json!({"access_token": "at"}));
    assert_eq!(poll().json(), json!({"access_token": "at"}));
    assert_eq!(server.unused_steps(), 1);
    let version = send(&server.origin(), "GET", "/version?verbose=1", "");
    assert_eq!(version.json()["version"], "0.9");
    server.assert_done();
    let requests = server.requests();
    assert_eq!(requests[1].outcome, Outcome::Route { route: 0, reply: 1 });
    assert_eq!(requests[1].body, b"grant_type=device_code");

    let spent = send(&server.origin(), "GET", "/version", "");
    assert_eq!(spent.status, 500);
    assert_eq!(server.unmatched().len(), 1);
}

#[test]
fn a_route_chooses_by_body_and_by_query() {
    let scenario = Scenario::new()
        .route(
            "POST",
            "/api/show",
            [
                Step::new(document(json!({"capabilities": ["tools"]}))).when_body("\"name\":\"a\""),
                Step::new(error(404).body(json!({"error": "not found"}))).repeat(),
            ],
        )
        .route(
            "GET",
            "/api/v1/models?loaded=1",
            [document(json!({"which": "loaded"}))],
        )
        .route("GET", "/api/v1/models", [document(json!({"which": "all"}))]);
    let server = ModelServer::start(scenario).unwrap();
    let show = |body: &str| send(&server.origin(), "POST", "/api/show", body).status;
    assert_eq!(show(r#"{"name":"b"}"#), 404);
    assert_eq!(show(r#"{"name":"a"}"#), 200);
    let list = |path: &str| send(&server.origin(), "GET", path, "").json()["which"].clone();
    assert_eq!(list("/api/v1/models"), "all");
    assert_eq!(list("/api/v1/models?loaded=1"), "loaded");
    server.assert_done();
}

#[test]
fn a_route_counts_its_own_requests() {
    let scenario = Scenario::echo().route(
        "GET",
        "/props",
        [
            Step::new(document(json!(2))).when_call(2),
            Step::new(document(json!(1))),
        ],
    );
    let server = ModelServer::start(scenario).unwrap();
    chat(&server.base_url(), &ask("a"));
    let props = || send(&server.origin(), "GET", "/props", "").json();
    assert_eq!((props(), props()), (json!(1), json!(2)));
}

#[test]
fn a_route_goes_before_the_built_in_model_list_and_the_steps() {
    let models = json!({"data": [{"id": "m", "max_model_len": 32_768}]});
    let scenario = Scenario::new()
        .route("GET", "/v1/models", [document(models.clone())])
        .route("POST", "/other/chat/completions", [error(401)])
        .reply(text("hi"));
    let server = ModelServer::start(scenario).unwrap();
    assert_eq!(
        send(&server.base_url(), "GET", "/models", "").json(),
        models
    );
    let other = format!("{}/other", server.origin());
    assert_eq!(chat(&other, &ask("a")).status, 401);
    assert_eq!(chat(&server.base_url(), &ask("a")).status, 200);
    server.assert_done();
}

#[test]
fn routes_that_cannot_work_are_refused_at_the_start() {
    let start = |scenario: Scenario| ModelServer::start(scenario).map(drop);
    let answer = Scenario::new().route("GET", "/x", [text("hi")]);
    let message = format!("{:#}", start(answer).unwrap_err());
    assert!(
        message.contains("only a model can give an answer"),
        "{message}"
    );
    assert!(start(Scenario::new().route("GET", "x", [error(500)])).is_err());
    assert!(start(Scenario::new().route("GET", "/x", [error(42)])).is_err());
}

#[test]
fn waits_for_requests_and_says_how_many_came() {
    let server = ModelServer::start(Scenario::echo()).unwrap();
    let base_url = server.base_url();
    let client = thread::spawn(move || {
        for user in ["a", "b"] {
            chat(&base_url, &ask(user));
        }
    });
    let requests = server
        .wait_for_requests(2, Duration::from_secs(10))
        .unwrap();
    assert_eq!(requests[1].expect_json()["messages"][0]["content"], "b");
    client.join().unwrap();
    let late = server.wait_for_requests(3, Duration::from_millis(20));
    assert!(late.unwrap_err().to_string().contains("2 of 3 requests"));
}
