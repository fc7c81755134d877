//! Addresses at which no model answers: the route, the cause and the next step.

use hermes_testkit::model_server::{ModelServer, Scenario, Step, bytes, text};

use super::chat::{one_message, served, with_model};

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

// PV-31
#[test]
fn a_proxy_that_is_gone_is_named_with_its_variable() {
    let program = with_model("http://192.0.2.1/v1");
    let command = program.command(&["-z", "hello"]);
    let command = command.env("HTTP_PROXY", "http://me:proxy-password-1@127.0.0.1:9");
    let command = command.env("HERMES_STREAM_RETRIES", "0");
    let output = command.run().unwrap().code(2);
    one_message(
        &output,
        &[
            "custom/scripted",
            "through the proxy http://127.0.0.1:9/ of HTTP_PROXY",
            "Connection refused",
            "hint: see that the proxy runs",
            "NO_PROXY",
        ],
    );
    assert!(
        !output.stderr.contains("proxy-password"),
        "{}",
        output.stderr
    );
}

// AG-12, AG-16
#[test]
fn bytes_that_are_no_answer_are_not_called_an_empty_one() {
    let noise: &[u8] = b"\xff\xfe\x00\x1b[31m\xc3\x28 noise";
    let lines: &[u8] = b"noise\n\xff\xff\n\nmore noise\n";
    let event: &[u8] = b"data: \xff noise\n\n";
    let cases = [
        (noise, "application/json", "neither JSON nor events"),
        (noise, "text/event-stream", "not what was expected"),
        (
            lines,
            "text/event-stream; charset=utf-8",
            "not what was expected",
        ),
        (event, "text/event-stream", "cannot be read"),
        (noise, "application/x-ndjson", "cannot be read"),
    ];
    for (body, kind, cause) in cases {
        let garbage = Step::new(bytes(body).content_type(kind)).repeat();
        let (_server, program) = served(Scenario::new().reply(garbage));
        let output = program.run(&["-z", "Hello"]).code(2);
        let told = ["custom/scripted", "what came is not an answer", cause];
        one_message(&output, &told);
        assert!(!output.stderr.contains("was empty"), "{}", output.stderr);
        assert!(!output.stderr.contains('\u{1b}'), "{:?}", output.stderr);
    }
}

// AG-12, AG-16
#[test]
fn without_any_network_that_is_said() {
    let program = with_model("http://192.0.2.1/v1");
    let alone = program.home.command("unshare");
    let alone = alone.args(["-rn", env!("CARGO_BIN_EXE_hermes"), "-z", "Hello"]);
    let output = alone.run().unwrap().code(2);
    one_message(
        &output,
        &[
            "custom/scripted",
            "192.0.2.1",
            "Network is unreachable",
            "check the network",
        ],
    );
}
