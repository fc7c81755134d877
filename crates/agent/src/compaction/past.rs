//! What was tried before, so that a compaction that does not help is not tried for ever. Kept with the
//! session: a restart does not make a summarising model that fails any better.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Seconds without another try, by how many timeouts came in a row.
const AFTER_TIMEOUTS: [i64; 3] = [60, 300, 900];
/// Seconds without another try after an answer that broke off or could not be read: the next one may be whole.
const AFTER_BROKEN: i64 = 30;
/// Seconds without another try when nobody could be asked: settings and keys do not mend themselves.
const AFTER_NOBODY: i64 = 600;
/// Seconds without another try after any other failure.
const AFTER_FAILURE: i64 = 60;
/// Compactions in a row that did not help, after which none is started any more.
const MOST_FRUITLESS: u32 = 2;

/// The compactions of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Past {
    /// The model they were for; another one starts afresh.
    model: String,
    /// How many there were.
    pub(crate) count: u32,
    /// How many of the last ones left too much, or had no model to write them.
    fruitless: u32,
    /// How many of the last tries timed out.
    timeouts: u32,
    /// Seconds since 1970 until which nothing is tried.
    rest_until: i64,
    /// A summary that was made before there was need for it.
    pub(crate) prepared: Option<Prepared>,
}

/// A summary that waits for its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prepared {
    /// The rows it stands for.
    pub(crate) rows: Vec<i64>,
    /// Tokens it may take.
    pub(crate) budget: u32,
    /// What the model wrote.
    pub(crate) text: String,
}

/// How a compaction came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The history is short enough, thanks to a model.
    Helped,
    /// It is done, but does not help enough, or not well.
    Fruitless,
    /// No summary came in time.
    TimedOut,
    /// A summary broke off, or could not be read.
    Broken,
    /// There was nobody who could be asked for one.
    Nobody,
    /// There was no summary.
    Failed,
}

impl Past {
    /// What was noted, unless it was about another model.
    pub(crate) fn read(notes: Option<serde_json::Value>, model: &str) -> Self {
        let known: Self = notes
            .and_then(|notes| serde_json::from_value(notes).ok())
            .unwrap_or_default();
        if known.model == model {
            return known;
        }
        Self {
            model: model.to_owned(),
            count: known.count,
            ..Self::default()
        }
    }

    /// As it is to be noted.
    pub(crate) fn notes(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Whether another one may be started without anybody asking for it.
    pub(crate) fn allows(&self, now: Timestamp) -> bool {
        self.fruitless < MOST_FRUITLESS && now.as_second() >= self.rest_until
    }

    /// Takes in how one came out.
    pub(crate) fn record(&mut self, outcome: Outcome, now: Timestamp) {
        match outcome {
            Outcome::Helped => {
                self.count += 1;
                (self.fruitless, self.timeouts, self.rest_until) = (0, 0, 0);
            }
            Outcome::Fruitless => {
                self.count += 1;
                self.fruitless += 1;
            }
            Outcome::TimedOut => {
                let times = self.timeouts as usize;
                let rest = AFTER_TIMEOUTS.get(times).or(AFTER_TIMEOUTS.last());
                self.timeouts += 1;
                self.rest_until = now.as_second() + rest.copied().unwrap_or(AFTER_FAILURE);
            }
            Outcome::Broken => self.rest_until = now.as_second() + AFTER_BROKEN,
            Outcome::Nobody => self.rest_until = now.as_second() + AFTER_NOBODY,
            Outcome::Failed => self.rest_until = now.as_second() + AFTER_FAILURE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    // AG-23
    #[test]
    fn failures_are_followed_by_longer_and_longer_rests() {
        let mut past = Past::read(None, "m");
        assert!(past.allows(at(0)));
        let mut now = 0;
        for rest in [60, 300, 900, 900] {
            past.record(Outcome::TimedOut, at(now));
            assert!(!past.allows(at(now + rest - 1)));
            assert!(past.allows(at(now + rest)));
            now += rest;
        }
        past.record(Outcome::Helped, at(now));
        assert!(past.allows(at(now)));
        for (outcome, rest) in [
            (Outcome::Broken, 30),
            (Outcome::Failed, 60),
            (Outcome::Nobody, 600),
        ] {
            past.record(outcome, at(now));
            assert!(!past.allows(at(now + rest - 1)), "{outcome:?}");
            assert!(past.allows(at(now + rest)), "{outcome:?}");
            now += rest;
        }
    }

    // AG-23
    #[test]
    fn what_does_not_help_twice_is_not_tried_again_until_the_model_changes() {
        let mut past = Past::read(None, "m");
        past.record(Outcome::Fruitless, at(0));
        assert!(past.allows(at(0)));
        past.record(Outcome::Fruitless, at(0));
        assert!(!past.allows(at(1_000_000)));
        let kept = Past::read(Some(past.notes()), "m");
        assert_eq!(kept, past);
        let other = Past::read(Some(past.notes()), "n");
        assert!(other.allows(at(0)));
        assert_eq!(other.count, 2);
        assert_eq!(Past::read(Some("broken".into()), "m").count, 0);
    }
}
