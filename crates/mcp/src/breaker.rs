//! The circuit breaker of one server: whether a call is worth trying. Time is handed in.

use std::time::Duration;

use tokio::time::Instant;

use crate::RecoveryPolicy;

/// Counts failures in a row and refuses calls while there are too many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Breaker {
    threshold: u32,
    cooldown: Duration,
    failures: u32,
    /// When the last failure that left it open was.
    opened: Option<Instant>,
    /// Whether a call is finding out how things are, after the cooldown.
    probing: bool,
}

/// What the breaker says to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Go on.
    Closed,
    /// Go on: this call finds out for all others. It must be reported, or given back.
    Probe,
    /// Do not; ask again after this time.
    Open { wait: Duration },
}

impl Breaker {
    pub(crate) fn new(policy: &RecoveryPolicy) -> Self {
        Self {
            threshold: policy.breaker_threshold,
            cooldown: policy.breaker_cooldown,
            failures: 0,
            opened: None,
            probing: false,
        }
    }

    /// Asks for a call.
    pub(crate) fn admit(&mut self, now: Instant) -> Gate {
        let Some(opened) = self.opened else {
            return Gate::Closed;
        };
        let wait = self.cooldown.saturating_sub(now.duration_since(opened));
        if wait.is_zero() && !self.probing {
            self.probing = true;
            return Gate::Probe;
        }
        Gate::Open {
            wait: wait.max(Duration::from_secs(1)),
        }
    }

    /// A call failed in a way that says something about the server.
    pub(crate) fn strike(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.probing = false;
        if self.failures >= self.threshold {
            self.opened = Some(now);
        }
    }

    /// The server answered, or a session began.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
        self.opened = None;
        self.probing = false;
    }

    /// A probe ended without saying anything, such as by a stop: the next call may probe.
    pub(crate) fn give_back(&mut self) {
        self.probing = false;
    }

    /// Failures in a row.
    pub(crate) fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaker() -> (Breaker, Instant) {
        (Breaker::new(&RecoveryPolicy::default()), Instant::now())
    }

    fn opened() -> (Breaker, Instant) {
        let (mut breaker, now) = breaker();
        for _ in 0..3 {
            assert_eq!(breaker.admit(now), Gate::Closed);
            breaker.strike(now);
        }
        (breaker, now)
    }

    #[test]
    fn the_third_failure_in_a_row_opens_it_for_a_minute() {
        let (mut breaker, now) = opened();
        let wait = |seconds| Gate::Open {
            wait: Duration::from_secs(seconds),
        };
        assert_eq!(breaker.admit(now), wait(60));
        assert_eq!(breaker.admit(now + Duration::from_secs(50)), wait(10));
        assert_eq!(breaker.admit(now + Duration::from_millis(59_900)), wait(1));
    }

    #[test]
    fn after_the_cooldown_one_call_probes_and_the_others_wait() {
        let (mut breaker, now) = opened();
        let later = now + Duration::from_secs(60);
        assert_eq!(breaker.admit(later), Gate::Probe);
        assert!(matches!(breaker.admit(later), Gate::Open { .. }));
        breaker.reset();
        assert_eq!(breaker.admit(later), Gate::Closed);
        assert_eq!(breaker.failures(), 0);
    }

    #[test]
    fn a_failed_probe_starts_the_cooldown_again() {
        let (mut breaker, now) = opened();
        let later = now + Duration::from_secs(60);
        assert_eq!(breaker.admit(later), Gate::Probe);
        breaker.strike(later);
        assert!(matches!(breaker.admit(later), Gate::Open { .. }));
        assert_eq!(breaker.admit(later + Duration::from_secs(60)), Gate::Probe);
    }

    #[test]
    fn a_probe_that_was_stopped_lets_the_next_call_probe() {
        let (mut breaker, now) = opened();
        let later = now + Duration::from_secs(60);
        assert_eq!(breaker.admit(later), Gate::Probe);
        breaker.give_back();
        assert_eq!(breaker.admit(later), Gate::Probe);
    }

    #[test]
    fn a_success_in_between_starts_the_count_anew() {
        let (mut breaker, now) = breaker();
        for _ in 0..10 {
            breaker.strike(now);
            breaker.strike(now);
            breaker.reset();
        }
        assert_eq!(breaker.admit(now), Gate::Closed);
    }
}
