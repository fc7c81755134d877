//! The reference's history, brought in behind a conversation.

use hermes_testkit::model_server::{ModelServer, Scenario};

use super::program::reference;
use super::screen::{LIMIT, leave, open, quiet};

// CL-5
#[test]
fn the_screen_tells_when_earlier_conversations_are_in() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let program = quiet(&server, "");
    let database = std::fs::read(reference("state/v22.db")).unwrap();
    program.home.write("state.db", database).unwrap();
    let terminal = open(&program, 110, 40);
    terminal
        .wait_for_text("Earlier conversations were imported: ", LIMIT)
        .unwrap();
    leave(&terminal);
    // The next start has nothing to bring in, and says nothing.
    let terminal = open(&program, 110, 40);
    terminal.send("/sessions\r").unwrap();
    terminal.wait_for_text("Refactor", LIMIT).unwrap();
    assert!(!terminal.screen().contains("imported"));
}
