//! The circuit breaker of one server: whether a call is worth trying. Time is handed in.

use std::time::Duration;

use tokio::time::Instant;

use crate::RecoveryPolicy;

/// Tells a call from the others of its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallNumber(pub(crate) u64);

/// Counts failures in a row and refuses calls while there are too many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Breaker {
    threshold: u32,
    cooldown: Duration,
    failures: u32,
    /// When the last failure that left it open was.
    opened: Option<Instant>,
    /// The call that is finding out how things are, after the cooldown, and since when.
    probing: Option<(CallNumber, Instant)>,
    /// After this time nothing more is heard of a probe: its report was lost.
    longest_call: Duration,
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
            probing: None,
            longest_call: policy.longest_call(),
        }
    }

    /// Asks for a call; one that probes may ask again.
    pub(crate) fn admit(&mut self, call: CallNumber, now: Instant) -> Gate {
        let Some(opened) = self.opened else {
            return Gate::Closed;
        };
        let wait = self.cooldown.saturating_sub(now.duration_since(opened));
        let probing = self
            .probing
            .filter(|(_, since)| now.duration_since(*since) < self.longest_call);
        match probing {
            Some((probe, _)) if probe == call => return Gate::Probe,
            None if wait.is_zero() => {
                self.probing = Some((call, now));
                return Gate::Probe;
            }
            Some(_) | None => {}
        }
        Gate::Open {
            wait: wait.max(Duration::from_secs(1)),
        }
    }

    /// A call failed in a way that says something about the server.
    pub(crate) fn strike(&mut self, call: CallNumber, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.give_back(call);
        if self.failures >= self.threshold {
            self.opened = Some(now);
        }
    }

    /// The server answered, or a session began.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
        self.opened = None;
        self.probing = None;
    }

    /// A call ended without saying anything, such as by a stop: if it was the probe, the next may be.
    pub(crate) fn give_back(&mut self, call: CallNumber) {
        if self.probing.is_some_and(|(probe, _)| probe == call) {
            self.probing = None;
        }
    }

    /// Failures in a row.
    pub(crate) fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: CallNumber = CallNumber(1);
    const OTHER: CallNumber = CallNumber(2);

    fn breaker() -> (Breaker, Instant) {
        (Breaker::new(&RecoveryPolicy::default()), Instant::now())
    }

    fn opened() -> (Breaker, Instant) {
        let (mut breaker, now) = breaker();
        for _ in 0..3 {
            assert_eq!(breaker.admit(ONE, now), Gate::Closed);
            breaker.strike(ONE, now);
        }
        (breaker, now)
    }

    #[test]
    fn the_third_failure_in_a_row_opens_it_for_a_minute() {
        let (mut breaker, now) = opened();
        let wait = |seconds| Gate::Open {
            wait: Duration::from_secs(seconds),
        };
        assert_eq!(breaker.admit(ONE, now), wait(60));
        assert_eq!(breaker.admit(ONE, now + Duration::from_secs(50)), wait(10));
        assert_eq!(
            breaker.admit(ONE, now + Duration::from_millis(59_900)),
            wait(1)
        );
    }

    #[test]
    fn after_the_cooldown_one_call_probes_and_the_others_wait() {
        let (mut breaker, now) = opened();
        let later = now + Duration::from_secs(60);
        assert_eq!(breaker.admit(ONE, later), Gate::Probe);
        assert!(matches!(breaker.admit(OTHER, later), Gate::Open { .. }));
        breaker.reset();
        assert_eq!(breaker.admit(ONE, later), Gate::Closed);
        assert_eq!(breaker.failures(), 0);
    }

    #[test]
    fn a_failed_probe_starts_the_cooldown_again() {
        let (mut breaker, now) = opened();
        let later = now + Duration::from_secs(60);
        assert_eq!(breaker.admit(ONE, later), Gate::Probe);
        breaker.strike(ONE, later);
        assert!(matches!(breaker.admit(ONE, later), Gate::Open { .. }));
        assert_eq!(
            breaker.admit(ONE, later + Duration::from_secs(60)),
            Gate::Probe
        );
    }

    #[test]
    fn a_probe_that_was_stopped_lets_the_next_call_probe() {
        let (mut breaker, now) = opened();
        let later = now + Duration::from_secs(60);
        assert_eq!(breaker.admit(ONE, later), Gate::Probe);
        breaker.give_back(ONE);
        assert_eq!(breaker.admit(ONE, later), Gate::Probe);
    }

    // MCP-37
    #[test]
    fn only_the_probe_itself_makes_room_for_another() {
        let (mut breaker, now) = opened();
        let later = now + Duration::from_secs(60);
        assert_eq!(breaker.admit(ONE, later), Gate::Probe);
        breaker.give_back(OTHER);
        assert!(matches!(breaker.admit(OTHER, later), Gate::Open { .. }));
        breaker.strike(OTHER, later);
        let still_later = later + Duration::from_secs(60);
        assert!(matches!(
            breaker.admit(OTHER, still_later),
            Gate::Open { .. }
        ));
        // The probe found no session, waited for one, and asks again.
        assert_eq!(breaker.admit(ONE, still_later), Gate::Probe);
    }

    // MCP-31, MCP-37
    #[test]
    fn a_probe_that_nobody_hears_of_again_is_taken_over_by_another_call() {
        let (mut breaker, now) = opened();
        let later = now + Duration::from_secs(60);
        assert_eq!(breaker.admit(ONE, later), Gate::Probe);
        let longest = RecoveryPolicy::default().longest_call();
        let just_before = later + longest - Duration::from_secs(1);
        assert!(matches!(
            breaker.admit(OTHER, just_before),
            Gate::Open { .. }
        ));
        let over = later + longest;
        assert_eq!(breaker.admit(OTHER, over), Gate::Probe);
        // The first one, should it come back, is not the probe any more.
        assert!(matches!(breaker.admit(ONE, over), Gate::Open { .. }));
        breaker.give_back(ONE);
        assert!(matches!(
            breaker.admit(CallNumber(3), over),
            Gate::Open { .. }
        ));
    }

    #[test]
    fn a_success_in_between_starts_the_count_anew() {
        let (mut breaker, now) = breaker();
        for _ in 0..10 {
            breaker.strike(ONE, now);
            breaker.strike(ONE, now);
            breaker.reset();
        }
        assert_eq!(breaker.admit(ONE, now), Gate::Closed);
    }
}
