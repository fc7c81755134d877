//! What counts as an expired session and what does not.

use super::*;

fn rpc(message: &str) -> Failure {
    Failure::from_rpc(-32602, message, true)
}

#[test]
fn servers_say_in_many_ways_that_a_session_is_over() {
    for text in [
        "Invalid params: Invalid or expired session",
        "Session expired",
        "expired session: abc",
        "session not found",
        "Unknown session: abc123",
        "INVALID OR EXPIRED SESSION",
        "Session Expired",
        "Session terminated",
        "Missing session ID",
    ] {
        assert_eq!(rpc(text).remedy(), Remedy::Reconnect, "{text}");
    }
}

#[test]
fn other_errors_are_not_taken_for_an_expired_session() {
    for text in [
        "Tool failed to execute",
        "Missing parameter",
        "Connection refused",
        "401 Unauthorized",
        "",
        "   ",
    ] {
        assert_eq!(rpc(text).remedy(), Remedy::None, "{text}");
    }
    assert_eq!(Failure::Cancelled.remedy(), Remedy::None);
}

#[test]
fn a_missing_session_id_counts_only_when_one_was_sent() {
    let without = Failure::from_rpc(-32600, "missing session id", false);
    assert_eq!(without.remedy(), Remedy::None);
    let plain = from_status(400, "Bad Request: No valid session ID provided", true);
    assert_eq!(plain.remedy(), Remedy::Reconnect);
    let plain = from_status(400, "Bad Request: No valid session ID provided", false);
    assert_eq!(plain.remedy(), Remedy::None);
}

#[test]
fn a_404_is_expiry_only_with_a_session_id() {
    assert_eq!(from_status(404, "", true).remedy(), Remedy::Reconnect);
    assert_eq!(from_status(404, "", false).remedy(), Remedy::None);
}

#[test]
fn texts_of_broken_connections_are_not_replayed_blindly() {
    for text in ["ClosedResourceError()", "Broken pipe", "Connection closed"] {
        assert_eq!(rpc(text).remedy(), Remedy::ReconnectCarefully, "{text}");
    }
}

#[test]
fn an_error_of_the_caller_is_no_strike() {
    let failure = |code| Failure::from_rpc(code, "no", true).is_strike();
    assert!(!failure(-32601));
    assert!(!failure(-32602));
    assert!(failure(-32603));
    assert!(!Failure::Cancelled.is_strike());
}

#[test]
fn invalid_request_parameters_are_looked_into() {
    assert_eq!(
        rpc("Invalid request parameters").remedy(),
        Remedy::CheckRejected
    );
}
