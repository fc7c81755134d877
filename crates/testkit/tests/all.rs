//! Tests of the test kit, and the tests that keep the whole repository tidy.

#![expect(
    clippy::too_many_lines,
    reason = "a test tells one story or walks through one table"
)]

// Marked as test code so that helper functions may unwrap as tests do.
#[cfg(test)]
mod suite {
    mod architecture;
    mod command;
    mod crash;
    mod home;
    mod http_client;
    mod mock_llm;
    mod model_answers;
    mod model_protocol_faults;
    mod model_protocols;
    mod model_routes;
    mod model_server;
    mod model_server_faults;
    mod process;
    mod pty;
    mod strict;
    mod vendors;
}
