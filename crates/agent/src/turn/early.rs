//! An answer that would end the turn too early: it only announces work, or leaves changed code
//! unchecked. It is held back while the model is asked to go on, and is part of what it says next.

use hermes_config::{Automatic, Either};
use hermes_core::{Event, Message, Role, WireProtocol};
use hermes_llm::Answer;

use super::Turn;
use crate::compaction::plan::begins_turn;
use crate::edits::{self, Edits, RUNNERS};
use crate::prompt::is_coding_surface;

/// Times one turn is sent on, for each reason.
const MOST_PROMISES: u32 = 2;
const MOST_CHECKS: u32 = 2;
/// A longer answer is more than an announcement.
const LONGEST_PROMISE: usize = 1_200;
/// Sentences at the end of an answer that are looked at.
const LAST_SENTENCES: usize = 2;
/// Files that are named; more would only fill the request.
const MOST_NAMED: usize = 8;

const DO_IT: &str = "You said what you are going to do, but called no tool. Do it now, with the tools you have, and \
     answer when it is done.";

/// How an announcement begins.
const OPENINGS: [&str; 9] = [
    "i'll",
    "i will",
    "i'm going to",
    "i am going to",
    "let me",
    "let's",
    "next i",
    "now i",
    "first i",
];
/// What is announced: work that takes a tool.
const WORK: [&str; 32] = [
    "look",
    "check",
    "read",
    "open",
    "search",
    "find",
    "run",
    "inspect",
    "explore",
    "examine",
    "analyze",
    "analyse",
    "review",
    "investigate",
    "scan",
    "list",
    "fetch",
    "test",
    "try",
    "fix",
    "update",
    "edit",
    "change",
    "write",
    "create",
    "add",
    "implement",
    "build",
    "install",
    "start",
    "begin",
    "gather",
];
/// An offer is no announcement: the user has to say something first.
const OFFERS: [&str; 7] = [
    "if you",
    "would you",
    "once you",
    "when you",
    "let me know",
    "as soon as you",
    "unless you",
];

impl Turn<'_> {
    /// What the model is told when an answer without calls must not be the last yet.
    pub(super) fn too_early(&mut self, answer: &Answer) -> Option<String> {
        if self.toolbox.names().next().is_none() || self.tries.calls >= self.around.spec.most_calls
        {
            return None;
        }
        if self.tries.promises < MOST_PROMISES
            && self.minds_promises()
            && self.only_announces(answer)
        {
            self.tries.promises += 1;
            return Some(DO_IT.to_owned());
        }
        if self.tries.checks < MOST_CHECKS && self.minds_checks() {
            let unchecked = self.edits().unchecked;
            if !unchecked.is_empty() {
                self.tries.checks += 1;
                let shown = unchecked.len().min(MOST_NAMED);
                return Some(format!(
                    "You changed {} and nothing has run since. Run what shows whether it works, such as the \
                     project's tests or build, and mend what fails. If there is nothing to run, say so.",
                    unchecked[..shown].join(", ")
                ));
            }
        }
        None
    }

    /// Says which edits came to nothing, if the settings ask for it.
    pub(super) async fn tell_failed_edits(&self) {
        if !self.around.services.config.display.file_mutation_verifier {
            return;
        }
        let failed = self.edits().failed;
        if !failed.is_empty() {
            let text = format!("These files could not be changed: {}", failed.join(", "));
            self.say(Event::Notice { text }).await;
        }
    }

    fn edits(&self) -> Edits {
        edits::review(self.rows_of_turn())
    }

    /// The rows behind the message that started the turn; remarks are part of it.
    pub(super) fn rows_of_turn(&self) -> impl Iterator<Item = &Message> {
        let start = self
            .history
            .iter()
            .rposition(begins_turn)
            .map_or(0, |at| at + 1);
        self.history[start..].iter().map(|entry| &*entry.message)
    }

    fn minds_promises(&self) -> bool {
        let route = self.around.spec.course.route();
        match &self.around.services.config.agent.intent_ack_continuation {
            Either::First(Automatic::On) => true,
            Either::First(Automatic::Off) => false,
            Either::First(Automatic::Auto) => route.protocol() == Some(WireProtocol::Responses),
            Either::Second(names) => {
                let model = route.model.to_ascii_lowercase();
                names
                    .iter()
                    .any(|name| model.contains(&name.to_ascii_lowercase()))
            }
        }
    }

    fn minds_checks(&self) -> bool {
        let wanted = match self.around.services.config.agent.verify_on_stop {
            Automatic::On => true,
            Automatic::Off => false,
            Automatic::Auto => is_coding_surface(&self.around.spec.surface),
        };
        wanted && RUNNERS.iter().any(|name| self.toolbox.get(name).is_some())
    }

    fn only_announces(&self, answer: &Answer) -> bool {
        !self.has_worked() && is_announcement(&answer.text)
    }

    /// Whether tools have run in this turn.
    pub(super) fn has_worked(&self) -> bool {
        self.rows_of_turn()
            .any(|message| message.role == Role::Tool)
    }
}

/// Whether a text ends by saying what its author is about to do.
pub(super) fn is_announcement(text: &str) -> bool {
    if text.chars().count() > LONGEST_PROMISE {
        return false;
    }
    let text = text.to_lowercase().replace('’', "'");
    if text.trim_end().ends_with('?') {
        return false;
    }
    let sentences: Vec<&str> = text
        .split(['.', '!', '?', '…', '\n', ':'])
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
        .collect();
    sentences.iter().rev().take(LAST_SENTENCES).any(|sentence| {
        let is_offer = OFFERS.iter().any(|words| sentence.contains(words));
        let announced = OPENINGS
            .iter()
            .filter_map(|words| sentence.split_once(words))
            .any(|(_, rest)| {
                rest.split(|c: char| !c.is_alphanumeric())
                    .any(|word| WORK.contains(&word))
            });
        announced && !is_offer
    })
}

#[cfg(test)]
mod tests {
    use super::is_announcement;

    #[test]
    fn announcements_are_told_from_answers_and_offers() {
        for text in [
            "I'll look into the failing tests now.",
            "Sure! Let me check the logs. One moment…",
            "I’m going to run the build:",
            "Understood. First I will read src/main.rs.",
        ] {
            assert!(is_announcement(text), "{text}");
        }
        for text in [
            "The build is green.",
            "Let me know if anything else should be checked.",
            "If you like, I'll look into the tests too.",
            "I'll read it. Which file do you mean?",
            "I will be here.",
            "I'll check the logs. They say that the disk is full. So the upload could not be written.",
        ] {
            assert!(!is_announcement(text), "{text}");
        }
        assert!(!is_announcement(&format!(
            "{} I'll check it.",
            "x".repeat(2_000)
        )));
    }
}
