//! Ctrl+C while a question is being answered.

use std::time::{Duration, Instant};

use hermes_testkit::model_server::{Scenario, Step, text};
use hermes_testkit::{Signal, eventually};

use super::chat::served;

// CL-4
#[test]
fn an_interrupted_question_exits_with_130() {
    let slow = Step::new(text("never heard")).delay(Duration::from_secs(30));
    let (server, program) = served(Scenario::new().reply(slow));
    let running = program
        .command(&["chat", "-Q", "-q", "Hello"])
        .spawn()
        .unwrap();
    server
        .wait_for_requests(1, Duration::from_secs(20))
        .unwrap();
    running.signal(Signal::SIGINT).unwrap();
    let output = running.wait(Duration::from_secs(20)).unwrap().code(130);
    assert_eq!(output.stdout, "");
}

// CL-4: a program that prints credentials and never ends does not hold up the end.
#[test]
fn an_interrupt_does_not_wait_for_a_program_that_prints_credentials() {
    let (_server, program) = served(Scenario::new());
    let script = "#!/bin/sh\nsleep 600 &\necho $! > \"$HOME/child\"\nwait\n";
    program.home.write("give", script).unwrap();
    let config = "[default]\ncredential_process = /bin/sh GIVE\n";
    let give = program.home.path().join("give").display().to_string();
    program
        .home
        .write("aws", config.replace("GIVE", &give))
        .unwrap();
    let model =
        "model: {provider: bedrock, default: 'amazon.nova-pro-v1:0', context_length: 100000}\n";
    program.home.write_config(model).unwrap();
    let running = program
        .command(&["-z", "Hello"])
        .env("AWS_CONFIG_FILE", program.home.path().join("aws"))
        .env("HOME", program.home.path())
        .spawn()
        .unwrap();
    let limit = Duration::from_secs(20);
    let child = eventually(limit, "the program runs", || {
        let text = program.home.read("child").ok()?;
        text.strip_suffix('\n')?.parse::<u32>().ok()
    })
    .unwrap();
    let stopped = Instant::now();
    running.signal(Signal::SIGINT).unwrap();
    running.wait(limit).unwrap().code(130);
    assert!(
        stopped.elapsed() < Duration::from_secs(5),
        "{:?}",
        stopped.elapsed()
    );
    eventually(limit, "what it has started ends too", || {
        let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        (state.is_empty() || state.contains(") Z ")).then_some(())
    })
    .unwrap();
}
