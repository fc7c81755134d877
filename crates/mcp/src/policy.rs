//! Every number of how servers are kept up, in one place.

use std::time::Duration;

/// How long things may take and how often they are tried.
///
/// The settings of a server override `call_timeout`, `connect_timeout` and `keepalive_interval` for that
/// server; everything else is the same for all. Tests shrink the times and leave the structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryPolicy {
    /// How long a call may take.
    pub call_timeout: Duration,
    /// How long one attempt to connect may take, from start to the list of tools.
    pub connect_timeout: Duration,
    /// How long a server whose tools are remembered leaves the machine to the first question before it is
    /// connected, unless somebody wants it earlier.
    pub head_start: Duration,
    /// Attempts after the first one fails, before a server that never was up is parked.
    pub first_connect_retries: u32,
    /// Failures in a row that a server that was up survives before it is parked.
    pub reconnect_retries: u32,
    /// Wait after the first failure; doubled after each further one.
    pub backoff_first: Duration,
    /// Longest wait between two attempts.
    pub backoff_cap: Duration,
    /// How long a session must have lasted for its end to count as the first failure, and not as one more in a row.
    pub steady_after: Duration,
    /// Wait between two readings of tools that keep changing; doubled up to `backoff_cap` while they do.
    pub refresh_pause: Duration,
    /// How often a parked server is tried by itself.
    pub parked_probe: Duration,
    /// Failures in a row that open the circuit breaker.
    pub breaker_threshold: u32,
    /// How long an open breaker stays shut for calls.
    pub breaker_cooldown: Duration,
    /// How long a call waits for a session newer than the one that failed.
    pub fresh_session_wait: Duration,
    /// How long a call waits when there is no session right now; never longer than the call itself may take. The first
    /// attempt to connect is waited for besides, as long as it may take.
    pub absent_session_wait: Duration,
    /// How long a call waits for a recycled program to be started.
    pub wake_wait: Duration,
    /// How long the decision about a refused token may take.
    pub auth_decision: Duration,
    /// How long one server may take to end.
    pub shutdown_one: Duration,
    /// How long all of them may take together.
    pub shutdown_all: Duration,
    /// Silence after which a sign of life is asked for.
    pub keepalive_interval: Duration,
    /// Shortest such silence, whatever is configured.
    pub keepalive_floor: Duration,
    /// How long a sign of life may take.
    pub keepalive_timeout: Duration,
    /// Most times the interval is doubled when signs of life keep failing.
    pub keepalive_doublings: u32,
    /// How long an HTTP server may be silent within an answer.
    pub http_read_timeout: Duration,
    /// How long an open event stream may be silent.
    pub stream_read_timeout: Duration,
    /// Most pages of one list.
    pub list_pages: usize,
    /// Most entries of one list.
    pub list_items: usize,
    /// Most bytes of one list, all pages together.
    pub list_bytes: usize,
    /// How long a program may take to end after its input was closed, and again after it was asked to.
    pub child_grace: Duration,
    /// How long each step of an end may take when Hermes itself ends: saying goodbye, ending without input, ending when
    /// asked to.
    pub exit_grace: Duration,
    /// How long a reconnect that calls asked for in vain is not repeated for the same error text.
    pub same_text_memory: Duration,
    /// Most reconnects that failing calls may cause within `call_reconnect_window`.
    pub call_reconnects: usize,
    /// The window of `call_reconnects`.
    pub call_reconnect_window: Duration,
    /// Most characters of a server's log line.
    pub log_text: usize,
}

/// What is waited longer than everything a call may wait for by itself.
const SLACK: Duration = Duration::from_secs(10);

impl RecoveryPolicy {
    /// The longest a call takes unless a person is asked: two attempts, the waits before them and the longer of
    /// the two ways from one to the other.
    pub(crate) fn longest_call(&self) -> Duration {
        self.call_timeout * 2
            + self.connect_timeout
            + self.absent_session_wait.max(self.wake_wait)
            + self.auth_decision.max(self.keepalive_timeout)
            + self.fresh_session_wait
            + SLACK
    }
}

impl Default for RecoveryPolicy {
    fn default() -> Self {
        Self {
            call_timeout: Duration::from_secs(300),
            connect_timeout: Duration::from_secs(60),
            head_start: Duration::from_millis(500),
            first_connect_retries: 3,
            reconnect_retries: 5,
            backoff_first: Duration::from_secs(1),
            backoff_cap: Duration::from_secs(60),
            steady_after: Duration::from_secs(30),
            refresh_pause: Duration::from_secs(1),
            parked_probe: Duration::from_secs(300),
            breaker_threshold: 3,
            breaker_cooldown: Duration::from_secs(60),
            fresh_session_wait: Duration::from_secs(15),
            absent_session_wait: Duration::from_secs(5),
            wake_wait: Duration::from_secs(15),
            auth_decision: Duration::from_secs(10),
            shutdown_one: Duration::from_secs(10),
            shutdown_all: Duration::from_secs(15),
            keepalive_interval: Duration::from_secs(180),
            keepalive_floor: Duration::from_secs(5),
            keepalive_timeout: Duration::from_secs(30),
            keepalive_doublings: 4,
            http_read_timeout: Duration::from_secs(300),
            stream_read_timeout: Duration::from_secs(300),
            list_pages: 50,
            list_items: 2048,
            list_bytes: 4 << 20,
            child_grace: Duration::from_secs(2),
            exit_grace: Duration::from_millis(200),
            same_text_memory: Duration::from_secs(60),
            call_reconnects: 3,
            call_reconnect_window: Duration::from_secs(60),
            log_text: 2000,
        }
    }
}

impl RecoveryPolicy {
    /// The wait before the attempt that follows `failures` failures in a row.
    pub fn backoff(&self, failures: u32) -> Duration {
        match failures {
            0 => Duration::ZERO,
            // Beyond 31 doublings every first wait is past the cap.
            _ => self
                .backoff_first
                .saturating_mul(1 << (failures - 1).min(31))
                .min(self.backoff_cap),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // MCP-19
    #[test]
    fn the_documented_numbers_are_the_defaults() {
        let policy = RecoveryPolicy::default();
        let seconds = |duration: Duration| duration.as_secs();
        assert_eq!(seconds(policy.call_timeout), 300);
        assert_eq!(seconds(policy.connect_timeout), 60);
        assert_eq!(policy.first_connect_retries, 3);
        assert_eq!(policy.reconnect_retries, 5);
        assert_eq!(seconds(policy.backoff_cap), 60);
        assert_eq!(seconds(policy.steady_after), 30);
        assert_eq!(seconds(policy.refresh_pause), 1);
        assert_eq!(seconds(policy.parked_probe), 300);
        assert_eq!(policy.breaker_threshold, 3);
        assert_eq!(seconds(policy.breaker_cooldown), 60);
        assert_eq!(seconds(policy.fresh_session_wait), 15);
        assert_eq!(seconds(policy.absent_session_wait), 5);
        assert_eq!(seconds(policy.wake_wait), 15);
        assert_eq!(seconds(policy.auth_decision), 10);
        assert_eq!(seconds(policy.shutdown_one), 10);
        assert_eq!(seconds(policy.shutdown_all), 15);
        assert_eq!(seconds(policy.keepalive_interval), 180);
        assert_eq!(seconds(policy.keepalive_floor), 5);
        assert_eq!(seconds(policy.keepalive_timeout), 30);
        assert_eq!(seconds(policy.http_read_timeout), 300);
        assert_eq!(seconds(policy.stream_read_timeout), 300);
        assert_eq!(policy.list_pages, 50);
        assert_eq!(policy.list_bytes, 4 * 1024 * 1024);
        assert_eq!(seconds(policy.child_grace), 2);
        assert_eq!(seconds(policy.same_text_memory), 60);
        assert_eq!(policy.call_reconnects, 3);
        assert_eq!(seconds(policy.call_reconnect_window), 60);
        assert_eq!(policy.log_text, 2000);
    }

    #[test]
    fn waits_double_up_to_the_cap() {
        let policy = RecoveryPolicy::default();
        let waits: Vec<u64> = (0..9)
            .map(|failures| policy.backoff(failures).as_secs())
            .collect();
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(policy.backoff(u32::MAX), Duration::from_secs(60));
    }
}
