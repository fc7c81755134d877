//! Time, passed in so that tests need no waiting.

use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The file with the rules of this machine's time zone.
const ZONE_FILE: &str = "/etc/localtime";

/// Tells the time. Whoever needs it is handed one.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
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

/// The time zone of this machine.
///
/// Reads the one file with its rules. Asking jiff for it by name makes it list all zones there are first, which
/// takes longer than opening the store.
pub fn local_zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    ZONE.get_or_init(|| of_file().unwrap_or_else(TimeZone::system))
        .clone()
}

#[expect(
    clippy::disallowed_methods,
    reason = "whether a variable names another zone; jiff reads it"
)]
fn of_file() -> Option<TimeZone> {
    if std::env::var_os("TZ").is_some() {
        return None;
    }
    let rules = std::fs::read(ZONE_FILE).ok()?;
    let link = std::fs::read_link(ZONE_FILE).ok()?;
    let (_, name) = link.to_str()?.split_once("zoneinfo/")?;
    TimeZone::tzif(name, &rules).ok()
}

/// A clock that stands still until it is moved.
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
