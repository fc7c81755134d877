//! A command that a person changed before letting it run.

use std::collections::BTreeSet;

use hermes_core::AnsweredBy;
use hermes_policy::Finding;
use hermes_store::DecisionOutcome;

use super::action::Clearance;
use super::{Case, Guard, MOST_ACTION, name};

/// Most characters of the command before it that a decision keeps.
const MOST_BEFORE: usize = 1_000;

/// What a person put in the place of a command.
pub(super) struct Changed {
    pub(super) text: String,
    /// What the model asked for.
    from: String,
    /// What was found in what the person was shown.
    pub(super) seen: BTreeSet<String>,
    by: String,
}

impl Changed {
    /// How it came about, for the record.
    pub(super) fn words(&self) -> String {
        let from: String = self.from.chars().take(MOST_BEFORE).collect();
        format!("{} changed it from: {from}", self.by)
    }
}

impl Case<'_> {
    /// Whether this may run in its place: a person said so, and there is something to run.
    pub(super) fn may_become(&self, text: &str, by_person: bool) -> bool {
        by_person && self.action.kind.is_editable() && !text.trim().is_empty()
    }

    pub(super) fn become_another(
        &self,
        text: &str,
        findings: &[Finding],
        by: &AnsweredBy,
    ) -> Changed {
        let before = self.changed;
        let mut seen = before.map_or_else(BTreeSet::new, |before| before.seen.clone());
        seen.extend(findings.iter().map(|finding| finding.category.clone()));
        Changed {
            text: text.trim().to_owned(),
            from: before
                .map_or(self.action.text, |before| &before.from)
                .to_owned(),
            seen,
            by: name(by),
        }
    }
}

impl Guard {
    /// What the model is told about a changed command that does not run after all.
    pub(super) fn told_of(&self, changed: &Changed, told: &str) -> String {
        let text: String = self
            .masked(&changed.text)
            .chars()
            .take(MOST_ACTION)
            .collect();
        format!("{} changed the command to: {text}\n{told}", changed.by)
    }

    /// Lets a changed command run, once: whoever changed it decided.
    pub(super) async fn runs_instead(&self, case: &Case<'_>, changed: &Changed) -> Clearance {
        let ran: String = self
            .masked(&changed.text)
            .chars()
            .take(MOST_ACTION)
            .collect();
        let note = format!(
            "{} changed the command before it ran. What ran was: {ran}",
            changed.by
        );
        let once = DecisionOutcome::Once;
        self.cleared(case, once, &changed.by, Some(note)).await
    }
}
