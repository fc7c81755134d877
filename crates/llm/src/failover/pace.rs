//! How long to wait before the next attempt.

use std::time::Duration;

use crate::classify::{Fault, Pace, Reason};

/// Longest wait of our own choosing.
pub(super) const LONGEST_USUAL: Duration = Duration::from_secs(60);
/// Longest wait that a provider may ask for.
pub(super) const LONGEST_ASKED: Duration = Duration::from_secs(600);

const FIRST_USUAL: Duration = Duration::from_secs(2);
const FIRST_SLOW: Duration = Duration::from_secs(5);
const LONGEST_SLOW: Duration = Duration::from_secs(120);
/// Waits of the patient pace after its short ones; the last repeats.
const PATIENT: [Duration; 4] = [
    Duration::from_secs(30),
    Duration::from_secs(60),
    Duration::from_secs(90),
    Duration::from_secs(120),
];
const PATIENT_SHORT: u32 = 3;
const PATIENT_ATTEMPTS: u32 = 8;
/// At most this share of a wait is added to it by chance.
const SPREAD: f64 = 0.5;

/// Most failed calls at this pace, where `configured` is the usual number.
pub(super) fn attempts(pace: Pace, configured: u32) -> u32 {
    match pace {
        Pace::Usual | Pace::Slow => configured.max(1),
        Pace::Patient => configured.max(PATIENT_ATTEMPTS),
    }
}

/// The wait after the `failed`-th failure.
pub(super) fn wait(fault: &Fault, failed: u32, jitter: f64) -> Duration {
    if let Some(asked) = fault.retry_after
        && is_limit(fault.reason)
        && !asked.is_zero()
    {
        return asked.min(LONGEST_ASKED);
    }
    let base = match fault.pace {
        Pace::Usual => doubled(FIRST_USUAL, failed, LONGEST_USUAL),
        Pace::Slow => doubled(FIRST_SLOW, failed, LONGEST_SLOW),
        Pace::Patient if failed <= PATIENT_SHORT => doubled(FIRST_USUAL, failed, LONGEST_USUAL),
        Pace::Patient => {
            let long = usize::try_from(failed - PATIENT_SHORT - 1).unwrap_or(usize::MAX);
            let [.., last] = PATIENT;
            return PATIENT.get(long).copied().unwrap_or(last);
        }
    };
    base + base.mul_f64(SPREAD * jitter.clamp(0.0, 1.0))
}

/// The wait before all connections are made anew.
pub(super) fn before_reconnect(failed: u32) -> Duration {
    Duration::from_secs(u64::from(failed.saturating_add(3).min(8)))
}

/// Whether a request to wait is about limits; others are often guesses of a proxy.
fn is_limit(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::RateLimit
            | Reason::UsageLimit
            | Reason::UpstreamRateLimit
            | Reason::LongContextTier
            | Reason::Overloaded
    )
}

fn doubled(first: Duration, failed: u32, longest: Duration) -> Duration {
    let factor = 2_u32.saturating_pow(failed.saturating_sub(1));
    first.saturating_mul(factor).min(longest)
}
