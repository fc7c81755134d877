//! Addresses at which no model answers: the route, the cause and the next step.

use hermes_testkit::model_server::{ModelServer, Scenario, Step, bytes, text};

use super::chat::with_model;

fn told(base_url: &str) -> String {
    let program = with_model(base_url);
    let command = program.command(&["-z", "hello"]);
    let output = command.env("HERMES_STREAM_RETRIES", "0").run().unwrap();
    output.code(2).stderr
}

// AG-12, AG-16
#[test]
fn what_is_at_the_bottom_of_a_failure_is_named() {
    let refused = told("http://127.0.0.1:9/v1");
    for words in [
        "custom/scripted",
        "127.0.0.1:9",
        "Connection refused",
        "hint: ",
    ] {
        assert!(refused.contains(words), "no {words} in {refused}");
    }

    let page = bytes("404 page not found")
        .status(404)
        .content_type("text/plain");
    let nothing = Scenario::new().reply(Step::new(page).repeat());
    let server = ModelServer::start(nothing).unwrap();
    let lost = told(&server.base_url());
    assert!(lost.contains("nothing answers at this address"), "{lost}");
    assert!(lost.contains("hermes model --why"), "{lost}");

    let broken = Scenario::new().reply(Step::new(text("half of it")).close_after(2).repeat());
    let server = ModelServer::start(broken).unwrap();
    let cut = told(&server.base_url());
    assert!(cut.contains("broke off"), "{cut}");
}
