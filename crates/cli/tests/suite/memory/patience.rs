//! How long an external memory may take, with the settings everybody has.

use std::time::{Duration, Instant};

use super::external::{answering, home, mem0, variables};

/// A loaded machine may take so much longer; ten times the limit would still be found.
const SLACK: Duration = Duration::from_secs(6);

// LN-37
#[test]
fn a_memory_that_hangs_is_waited_for_eight_seconds_before_an_answer_and_five_behind_it() {
    let slow = mem0();
    slow.hang("/search");
    slow.hang("/memories");
    let (server, program) = home(answering(), "mem0", &variables(&slow));
    let config = program.home.read("config.yaml").unwrap();
    let config = config.replace(", recall_timeout: 1", "");
    program.home.write_config(&config).unwrap();
    let begun = Instant::now();
    program.run(&["chat", "-q", "Which tea?"]).ok();
    let ended = Instant::now();
    let request = server.requests().remove(0);
    let before = request.arrived_at - begun;
    let limit = Duration::from_secs(8);
    assert!(before >= limit && before < limit + SLACK, "{before:?}");
    let behind = ended - request.answered_at.unwrap();
    let limit = Duration::from_secs(5);
    assert!(
        behind + Duration::from_millis(500) >= limit && behind < limit + SLACK,
        "{behind:?}"
    );
}
