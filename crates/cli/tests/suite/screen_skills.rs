//! Skills on the screen: completed, called for, stacked, with pictures and while the agent works.

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};

use super::program::Program;
use super::screen::{LIMIT, READY, last_said, leave, open, quiet};
use super::screen_paste::PNG;
use super::skills::skill;

fn answering() -> ModelServer {
    let steps = (0..4).fold(Scenario::new(), |scenario, number| {
        scenario.reply(text(format!("Answer {number}.")))
    });
    ModelServer::start(steps).unwrap()
}

fn baking(server: &ModelServer) -> Program {
    let program = quiet(server, "");
    skill(
        &program,
        "bake",
        "Bakes what is wanted",
        "",
        "Heat the oven.",
    );
    skill(&program, "mail", "Answers mail", "", "Be polite.");
    program.home.write_work("here.png", PNG).unwrap();
    program
}

fn last(server: &ModelServer) -> String {
    server.requests().last().unwrap().expect_json().to_string()
}

// CL-21 CL-17
#[test]
fn a_skill_is_completed_called_for_and_stands_in_the_conversation() {
    let server = answering();
    let program = baking(&server);
    let terminal = open(&program, 100, 40);
    terminal.send("/bak").unwrap();
    terminal
        .wait_for_text("Bakes what is wanted", LIMIT)
        .unwrap();
    terminal.send("\ta cake\r").unwrap();
    terminal.wait_for_text("Answer 0.", LIMIT).unwrap();
    let screen = terminal.wait_for_text(READY, LIMIT).unwrap();
    assert!(screen.contains("● /bake a cake"), "{screen}");
    let said = last_said(&server);
    assert!(said.starts_with("a cake\n"), "{said}");
    assert!(said.contains("Heat the oven."), "{said}");

    terminal.send("/bake /mail for everybody\r").unwrap();
    terminal.wait_for_text("Answer 1.", LIMIT).unwrap();
    let screen = terminal.wait_for_text(READY, LIMIT).unwrap();
    assert!(screen.contains("● /bake /mail for everybody"), "{screen}");
    let said = last_said(&server);
    assert!(said.starts_with("for everybody\n"), "{said}");
    assert!(
        said.contains("Heat the oven.") && said.contains("Be polite."),
        "{said}"
    );

    // A picture that is attached goes along.
    assert!(!last(&server).contains("data:image/png"));
    terminal.send("/image here.png\r").unwrap();
    terminal.wait_for_text("here.png", LIMIT).unwrap();
    terminal.send("/bake one like this\r").unwrap();
    terminal.wait_for_text("Answer 2.", LIMIT).unwrap();
    assert!(last(&server).contains("data:image/png;base64,"));
    terminal.wait_for_text(READY, LIMIT).unwrap();
    leave(&terminal);
}

// CL-18 CL-21
#[test]
fn a_skill_that_is_called_for_while_the_agent_works_waits_and_stops_nothing() {
    let scenario = Scenario::new()
        .reply(Step::new(text("words and more words")).hang_after(2))
        .reply(text("Baked."));
    let server = ModelServer::start(scenario).unwrap();
    let program = baking(&server);
    let terminal = open(&program, 100, 40);
    terminal.send("begin\r").unwrap();
    terminal.wait_for_text("words and", LIMIT).unwrap();
    terminal.send("/bake a cake\r").unwrap();
    let screen = terminal.wait_for_text("⋯ /bake a cake", LIMIT).unwrap();
    assert!(!screen.contains("stopped"), "{screen}");
    assert_eq!(server.requests().len(), 1);
    terminal.send("\x1b").unwrap();
    terminal.wait_for_text("Baked.", LIMIT).unwrap();
    let screen = terminal.wait_for_text(READY, LIMIT).unwrap();
    assert!(screen.contains("● /bake a cake"), "{screen}");
    assert!(last_said(&server).contains("Heat the oven."));
    leave(&terminal);
}
