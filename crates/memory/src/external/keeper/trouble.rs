//! Failing, and what the user hears of it: once, until all of it has worked again.

use std::time::Duration;

use jiff::Timestamp;

/// Failures in a row after which it is not asked for a while.
const MOST_FAILURES: u32 = 5;
/// How long.
const REST: Duration = Duration::from_secs(120);

/// What an external memory is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Recall,
    Deliver,
}

#[derive(Debug, Default)]
pub(super) struct Trouble {
    recalling: Option<String>,
    delivering: Option<String>,
    told: bool,
    /// Failures in a row when it was asked.
    failures: u32,
    resting_until: Option<Timestamp>,
    /// How much it will not hear of, and why not.
    given_up: Option<(u32, String)>,
}

impl Trouble {
    /// Takes a failure in; without a time one that cannot pass by itself, which is not counted.
    pub(super) fn failed(&mut self, task: Task, why: String, now: Option<Timestamp>) {
        *self.of(task) = Some(why);
        let (Task::Recall, Some(now)) = (task, now) else {
            return;
        };
        self.failures += 1;
        if self.failures >= MOST_FAILURES {
            self.failures = 0;
            self.resting_until = now.checked_add(REST).ok();
        }
    }

    pub(super) fn worked(&mut self, task: Task) {
        *self.of(task) = None;
        if task == Task::Recall {
            (self.failures, self.resting_until) = (0, None);
        }
        self.told &= self.why().is_some();
    }

    /// It will never hear of something.
    pub(super) fn gave_up(&mut self, why: String) {
        let before = self.given_up.take().map_or(0, |(count, _)| count);
        self.given_up = Some((before + 1, why));
    }

    pub(super) fn is_resting(&self, now: Timestamp) -> bool {
        self.resting_until.is_some_and(|until| now < until)
    }

    /// What the user has not heard yet.
    pub(super) fn untold(&mut self, name: &str) -> Option<String> {
        let given_up = self.untold_loss(name);
        if given_up.is_some() {
            return given_up;
        }
        let why = self.why()?.to_owned();
        (!std::mem::replace(&mut self.told, true))
            .then(|| format!("The conversation goes on without the external memory {name}: {why}"))
    }

    /// The same, of what is over and done with.
    pub(super) fn untold_loss(&mut self, name: &str) -> Option<String> {
        let (count, why) = self.given_up.take()?;
        let what = match count {
            1 => "one thing".to_owned(),
            several => format!("{several} things"),
        };
        Some(format!(
            "The external memory {name} was not told {what}: it turned that down again and again, and takes others \
             like it ({why}); hermes logs has the details"
        ))
    }

    fn of(&mut self, task: Task) -> &mut Option<String> {
        match task {
            Task::Recall => &mut self.recalling,
            Task::Deliver => &mut self.delivering,
        }
    }

    fn why(&self) -> Option<&str> {
        self.recalling.as_deref().or(self.delivering.as_deref())
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
            trouble.failed(Task::Recall, "down".to_owned(), Some(now));
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
        trouble.worked(Task::Recall);
        trouble.failed(Task::Recall, "down again".to_owned(), Some(now));
        assert!(trouble.untold("x").is_some());
    }

    // LN-37
    #[test]
    fn being_asked_and_being_told_are_one_trouble() {
        let now = Timestamp::UNIX_EPOCH;
        let mut trouble = Trouble::default();
        trouble.failed(Task::Recall, "/search is down".to_owned(), Some(now));
        assert!(trouble.untold("x").is_some());
        trouble.failed(Task::Deliver, "/memories is down".to_owned(), Some(now));
        assert_eq!(trouble.untold("x"), None, "it was told of");
        trouble.worked(Task::Recall);
        assert_eq!(trouble.untold("x"), None, "it has not got well in between");
        for _ in 0..6 {
            trouble.failed(Task::Deliver, "/memories is down".to_owned(), Some(now));
        }
        assert!(!trouble.is_resting(now), "it answers when it is asked");
        trouble.worked(Task::Deliver);
        trouble.failed(Task::Deliver, "/memories is down".to_owned(), Some(now));
        let told = trouble.untold("x");
        assert!(told.is_some_and(|told| told.contains("/memories is down")));
    }

    // LN-37
    #[test]
    fn what_it_will_never_hear_of_is_told_once_and_counted() {
        let mut trouble = Trouble::default();
        trouble.gave_up("400".to_owned());
        trouble.gave_up("413".to_owned());
        let told = trouble.untold("x").unwrap_or_default();
        assert!(told.contains("2 things") && told.contains("413"), "{told}");
        assert_eq!(trouble.untold("x"), None);
    }
}
