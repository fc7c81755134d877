//! Failing, and what the user hears of it: once, until it has worked again.

use std::time::Duration;

use jiff::Timestamp;

/// Failures in a row after which it is left alone for a while.
const MOST_FAILURES: u32 = 5;
/// How long.
const REST: Duration = Duration::from_secs(120);

#[derive(Debug, Default)]
pub(super) struct Trouble {
    failures: u32,
    resting_until: Option<Timestamp>,
    why: Option<String>,
    told: bool,
}

impl Trouble {
    /// Takes a failure in; without a time one that cannot pass by itself, which is not counted.
    pub(super) fn failed(&mut self, why: String, now: Option<Timestamp>) {
        self.why = Some(why);
        let Some(now) = now else {
            return;
        };
        self.failures += 1;
        if self.failures >= MOST_FAILURES {
            self.failures = 0;
            self.resting_until = now.checked_add(REST).ok();
        }
    }

    pub(super) fn worked(&mut self) {
        *self = Self::default();
    }

    pub(super) fn is_resting(&self, now: Timestamp) -> bool {
        self.resting_until.is_some_and(|until| now < until)
    }

    /// What the user has not heard yet.
    pub(super) fn untold(&mut self, name: &str) -> Option<String> {
        let why = self.why.as_ref()?;
        (!std::mem::replace(&mut self.told, true))
            .then(|| format!("The conversation goes on without the external memory {name}: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // LN-37
    #[test]
    fn it_is_told_once_until_it_works_again_and_rests_after_five_failures() {
        let now = Timestamp::UNIX_EPOCH;
        let mut trouble = Trouble::default();
        assert_eq!(trouble.untold("x"), None);
        for _ in 0..5 {
            assert!(!trouble.is_resting(now));
            trouble.failed("down".to_owned(), Some(now));
        }
        assert!(
            trouble
                .untold("x")
                .is_some_and(|told| told.contains("down"))
        );
        assert_eq!(trouble.untold("x"), None);
        assert!(trouble.is_resting(now));
        let later = now.checked_add(REST).unwrap_or(now);
        assert!(!trouble.is_resting(later));
        trouble.worked();
        trouble.failed("down again".to_owned(), Some(now));
        assert!(trouble.untold("x").is_some());
    }
}
