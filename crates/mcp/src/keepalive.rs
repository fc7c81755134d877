//! Signs of life: whether a silent session still works.

use std::time::Duration;

use rmcp::model::{ClientRequest, ErrorCode, ListToolsRequest};

use crate::operation::page;
use crate::session::{Patience, Session};
use crate::{Failure, RecoveryPolicy};

/// How a server may be asked for a sign of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Sign {
    /// By `ping`.
    #[default]
    Ping,
    /// By its list of tools, because it does not know `ping` or does not answer it.
    Tools,
}

/// What came of it.
#[derive(Debug, Clone)]
pub(crate) enum Pulse {
    /// It lives, and should be asked like this from now on.
    Alive(Sign),
    /// It does not.
    Dead(Failure),
}

/// Asks once.
pub(crate) async fn probe(session: &Session, sign: Sign, policy: &RecoveryPolicy) -> Pulse {
    let limit = policy.keepalive_timeout;
    let failure = match sign {
        Sign::Tools => return by_tools(session, limit).await,
        Sign::Ping => match session.ping(limit).await {
            Ok(()) => return Pulse::Alive(Sign::Ping),
            Err(failure) => failure,
        },
    };
    // A program that runs but does not answer a ping is asked something it cannot ignore.
    let ignored = matches!(failure, Failure::Timeout { .. }) && session.piped;
    if ignored || is_unknown(&failure) {
        return by_tools(session, limit).await;
    }
    Pulse::Dead(failure)
}

async fn by_tools(session: &Session, limit: Duration) -> Pulse {
    let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page(None)));
    match session.ask(request, &Patience::of(limit)).await {
        Ok(_) => Pulse::Alive(Sign::Tools),
        // A server that offers no tools has answered all the same.
        Err(failure) if is_unknown(&failure) => Pulse::Alive(Sign::Tools),
        Err(failure) => Pulse::Dead(failure),
    }
}

/// Whether the server says that it does not know what it was asked.
pub(crate) fn is_unknown(failure: &Failure) -> bool {
    let Failure::Rpc { code, message } = failure else {
        return false;
    };
    let message = message.to_lowercase();
    *code == ErrorCode::METHOD_NOT_FOUND.0
        || ["method not found", "unknown method", "not found: ping"]
            .iter()
            .any(|known| message.contains(known))
}

/// The silence after which a sign of life is asked for, when the last `repeats` of them led to a new
/// session each.
pub(crate) fn interval(policy: &RecoveryPolicy, repeats: u32) -> Duration {
    policy
        .keepalive_interval
        .saturating_mul(1 << repeats.min(policy.keepalive_doublings).min(31))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_reconnects_make_the_signs_rarer_up_to_a_limit() {
        let policy = RecoveryPolicy::default();
        let seconds: Vec<u64> = (0..7)
            .map(|repeats| interval(&policy, repeats).as_secs())
            .collect();
        assert_eq!(seconds, [180, 360, 720, 1440, 2880, 2880, 2880]);
    }

    #[test]
    fn servers_say_in_several_ways_that_they_do_not_know_ping() {
        let said = |code, message: &str| {
            is_unknown(&Failure::Rpc {
                code,
                message: message.to_owned(),
            })
        };
        assert!(said(-32601, ""));
        assert!(said(-32000, "Unknown method: ping"));
        assert!(said(-32603, "Handler not found: ping"));
        assert!(!said(-32603, "out of memory"));
    }
}
