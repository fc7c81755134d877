//! What was already tried for one call.

use super::{Fix, Step};

/// What was already tried. Made anew for each turn; [`Attempt::record`] is called with every step that
/// is taken and [`Attempt::succeeded`] after every good answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attempt {
    /// Failed calls of the route in use that were answered by waiting.
    pub failures: u32,
    /// Waits because of the limits of the credential in use.
    pub limits: u32,
    /// Renewals of the credential in use.
    pub renewals: u32,
    /// Compactions of this turn.
    pub compactions: u32,
    /// Whether pooled connections were dropped on this route.
    pub reconnected: bool,
    /// What of the failed answer was already shown.
    pub delivered: Delivered,
    fixes: Vec<Fix>,
}

/// What of an answer was shown before it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Delivered {
    /// Nothing that matters.
    #[default]
    Nothing,
    /// Text, and nothing else.
    Text,
    /// Text, and a tool call had begun. Nothing was run, so the call may be repeated.
    OpenCall,
}

impl Attempt {
    /// Whether this kind of change was made.
    pub fn used(&self, fix: Fix) -> bool {
        self.fixes.iter().any(|used| used.is_like(fix))
    }

    /// The changes in force, in the order they were made.
    pub fn fixes(&self) -> &[Fix] {
        &self.fixes
    }

    /// Counts a step that is being taken.
    pub fn record(&mut self, step: &Step) {
        self.delivered = Delivered::Nothing;
        match *step {
            Step::Wait(_) => {
                self.failures += 1;
                self.limits += 1;
            }
            Step::Reconnect(_) => self.reconnected = true,
            Step::RefreshCredential => self.renewals += 1,
            Step::NextCredential => self.leave_credential(),
            Step::NextRoute => {
                self.leave_credential();
                self.failures = 0;
                self.reconnected = false;
                self.fixes.retain(|fix| fix.is_of_content());
            }
            Step::Fix(fix) => self.fixes.push(fix),
            Step::Compact { .. } => self.compactions += 1,
            Step::KeepPartial | Step::Fail => {}
        }
    }

    /// Where the next turn starts. What a provider made once and cannot read any more it will not read later
    /// either.
    pub(crate) fn next_turn(&self) -> Self {
        let mut next = Self::default();
        let lasting = |fix: &&Fix| {
            matches!(
                fix,
                Fix::DropEncryptedReasoning | Fix::DropReasoningSignatures
            )
        };
        next.fixes.extend(self.fixes.iter().filter(lasting));
        next
    }

    /// A good answer came: the next call of the turn starts with fresh counts. Changes stay in force,
    /// and compactions are counted for the whole turn.
    pub fn succeeded(&mut self) {
        self.leave_credential();
        self.failures = 0;
        self.reconnected = false;
        self.delivered = Delivered::Nothing;
    }

    fn leave_credential(&mut self) {
        self.limits = 0;
        self.renewals = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // AG-20
    #[test]
    fn thinking_that_was_refused_once_is_never_sent_again() {
        for refused in [Fix::DropEncryptedReasoning, Fix::DropReasoningSignatures] {
            let mut attempt = Attempt::default();
            attempt.record(&Step::Fix(refused));
            attempt.record(&Step::Fix(Fix::StripImages));
            attempt.record(&Step::Compact { window: None });
            let next = attempt.next_turn();
            assert_eq!(next.fixes(), [refused]);
            assert_eq!(next.compactions, 0);
        }
    }
}
