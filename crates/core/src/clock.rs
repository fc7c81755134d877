//! Time, passed in so that tests need no waiting.

use std::sync::Mutex;
use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Tells the time. Whoever needs it is handed one.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// The time zone people read times in.
    fn zone(&self) -> &TimeZone {
        static UTC: TimeZone = TimeZone::UTC;
        &UTC
    }

    /// The time now as people read it.
    fn local(&self) -> Zoned {
        self.now().to_zoned(self.zone().clone())
    }
}

/// The machine's clock, in UTC.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that asks the system"
    )]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// The machine's clock in somebody's time zone.
#[derive(Debug, Clone)]
pub struct LocalClock(TimeZone);

impl LocalClock {
    /// The machine's clock in `zone`.
    pub fn new(zone: TimeZone) -> Self {
        Self(zone)
    }
}

impl Clock for LocalClock {
    fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    fn zone(&self) -> &TimeZone {
        &self.0
    }
}

/// A clock that stands still until it is moved, in UTC.
#[derive(Debug)]
pub struct ManualClock(Mutex<Timestamp>);

impl ManualClock {
    /// A clock standing at `start`.
    pub fn new(start: Timestamp) -> Self {
        Self(Mutex::new(start))
    }

    /// Moves the clock on; a step past the end of time is ignored.
    pub fn advance(&self, step: Duration) {
        let mut now = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Ok(later) = now.checked_add(step) {
            *now = later;
        }
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
