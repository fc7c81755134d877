//! Asking a model for the summary, and what it means when none comes.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::{Message, Role, SessionId, local_zone};
use hermes_llm::Route;
use hermes_llm::classify::Reason;
use hermes_secrets::Scope;
use tokio_util::sync::CancellationToken;

use super::past::Outcome;
use super::summary::Focus;
use super::{plan, start_of, summary, transcript};
use crate::engine::Services;
use crate::explain;
use crate::helper::{Helper, HelperFailure};
use crate::turn::{Entry, text_tokens};

/// The task, as the settings name it.
const TASK: &str = "compression";
/// A summary may take this long, whatever the settings say.
const LEAST_PATIENCE: Duration = Duration::from_secs(300);
/// Requests that say what matters, and their characters.
const FOCUS: usize = 3;
const MOST_FOCUS: usize = 700;
/// Characters that surely fit into a token.
const CHARACTERS: u32 = 3;
/// Least characters of messages a summary is made from.
const LEAST_TRANSCRIPT: usize = 4_000;

/// What is to be summarised, and for whom.
pub(crate) struct Job<'a> {
    pub(crate) services: &'a Services,
    pub(crate) session: &'a SessionId,
    /// The route of the conversation.
    pub(crate) main: &'a Arc<Route>,
    pub(crate) history: &'a [Entry],
    pub(crate) plan: &'a plan::Plan,
    /// What the user wants it to dwell on.
    pub(crate) focus: Option<&'a str>,
    pub(crate) cancel: &'a CancellationToken,
}

/// What to do when no summary came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The user stopped it.
    Stopped,
    /// Leave the history alone: asking again later may work.
    Leave {
        outcome: Outcome,
        message: String,
        hint: String,
    },
    /// Asking again would not help; a summary without a model has to do.
    Local,
}

/// The last request in the user's own words.
pub(crate) fn last_request(history: &[Entry]) -> String {
    let last = history.iter().rev().find(|entry| plan::is_request(entry));
    last.map(|entry| entry.message.plain_text())
        .unwrap_or_default()
}

impl Job<'_> {
    /// Asks for the summary. A question that turns out too long is asked once more at half the length.
    pub(crate) async fn write(&self) -> Result<String, HelperFailure> {
        let redactor = self.services.redactor.snapshot();
        let replaced = || self.plan.entries(self.history).map(|entry| &entry.message);
        let bodies = replaced().filter_map(|message| summary::body(message));
        let earlier = bodies
            .last()
            .map(|body| redactor.redact_in(Scope::Chat, &body).into_owned());
        let today = self.services.clock.now().to_zoned(local_zone());
        let today = today.strftime("%A, %Y-%m-%d").to_string();
        let instructions = summary::instructions(self.plan.budget, &today);
        let taken = text_tokens(&instructions) + earlier.as_deref().map_or(0, text_tokens);
        let mut room = self.room(taken);
        let helper = Helper {
            services: self.services,
            session: self.session,
            task: TASK,
            main: self.main,
            most_tokens: self.plan.budget + self.plan.budget / 4,
            temperature: None,
            timeout: self
                .services
                .config
                .auxiliary
                .compression
                .timeout
                .max(LEAST_PATIENCE),
        };
        let mut tries = 2;
        loop {
            let shown = transcript::transcript(replaced(), &redactor, room);
            let lately = redactor.redact_in(Scope::Chat, &self.lately()).into_owned();
            let focus = match self.focus {
                Some(topic) => Focus::Topic(start_of(topic.trim(), MOST_FOCUS)),
                None => Focus::Lately(&lately),
            };
            let question = summary::question(earlier.as_deref(), focus, &shown);
            let question = Message::text(Role::User, question);
            tries -= 1;
            match helper.ask(&instructions, question, self.cancel).await {
                Err(failure) if tries > 0 && is_too_long(&failure) => room /= 2,
                end => return end,
            }
        }
    }

    /// Characters of messages that fit the first model that is asked.
    fn room(&self, taken: u32) -> usize {
        let routes = self.services.routes.helpers(TASK, self.main).routes;
        let window = routes.first().unwrap_or(self.main).limits.window;
        let left = window.saturating_sub(taken + self.plan.budget * 2);
        (left.saturating_mul(CHARACTERS) as usize).max(LEAST_TRANSCRIPT)
    }

    /// What the user asked for last.
    fn lately(&self) -> String {
        let mut requests: Vec<String> = self
            .history
            .iter()
            .rev()
            .filter(|entry| plan::is_request(entry))
            .take(FOCUS)
            .map(|entry| {
                let text = entry.message.plain_text();
                format!("- {}", start_of(text.trim(), MOST_FOCUS / FOCUS))
            })
            .collect();
        requests.reverse();
        requests.join("\n")
    }
}

fn is_too_long(failure: &HelperFailure) -> bool {
    match failure {
        HelperFailure::TooLong => true,
        HelperFailure::Failed(failure) => matches!(
            failure.fault.reason,
            Reason::ContextOverflow | Reason::PayloadTooLarge
        ),
        HelperFailure::TimedOut | HelperFailure::Stopped | HelperFailure::Empty => false,
    }
}

/// What a failure means. `urgent` says that the conversation cannot go on as it is.
pub(crate) fn verdict(failure: &HelperFailure, urgent: bool) -> Verdict {
    match failure {
        HelperFailure::Stopped => Verdict::Stopped,
        // Slow is not broken, but somebody is waiting for an answer.
        HelperFailure::TimedOut if urgent => Verdict::Local,
        HelperFailure::TimedOut => Verdict::Leave {
            outcome: Outcome::TimedOut,
            message: "no summary came in time".to_owned(),
            hint:
                "raise auxiliary.compression.timeout, or set a faster auxiliary.compression.model"
                    .to_owned(),
        },
        HelperFailure::TooLong | HelperFailure::Empty => Verdict::Local,
        HelperFailure::Failed(failed) => match failed.fault.reason {
            Reason::Cancelled => Verdict::Stopped,
            // The way to the model is closed: the conversation's own calls will say so too.
            Reason::Auth
            | Reason::Forbidden
            | Reason::Billing
            | Reason::RateLimit
            | Reason::UsageLimit
            | Reason::UpstreamRateLimit
            | Reason::ProviderPolicyBlocked
            | Reason::ModelNotFound
            | Reason::Misconfigured
            | Reason::Overloaded
            | Reason::ServerError
            | Reason::Timeout
            | Reason::SslCert => {
                let (message, hint) = explain::failure(failed);
                Verdict::Leave {
                    outcome: Outcome::Failed,
                    message,
                    hint,
                }
            }
            Reason::ContentPolicyBlocked
            | Reason::ThinkingSignature
            | Reason::LongContextTier
            | Reason::LongContextBeta
            | Reason::GrammarRejected
            | Reason::PayloadTooLarge
            | Reason::MultimodalToolContent
            | Reason::ImageTooLarge
            | Reason::ImagesRejected
            | Reason::EncryptedReasoning
            | Reason::MaxTokensKey
            | Reason::TemperatureRejected
            | Reason::StreamingRejected
            | Reason::ContextOverflow
            | Reason::OutputCap
            | Reason::FormatError
            | Reason::InvalidAnswer
            | Reason::Unknown => Verdict::Local,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // AG-23
    #[test]
    fn a_slow_model_is_waited_for_unless_somebody_needs_the_room_now() {
        let patient = verdict(&HelperFailure::TimedOut, false);
        assert!(matches!(
            patient,
            Verdict::Leave {
                outcome: Outcome::TimedOut,
                ..
            }
        ));
        assert_eq!(verdict(&HelperFailure::TimedOut, true), Verdict::Local);
        assert_eq!(verdict(&HelperFailure::TooLong, false), Verdict::Local);
        assert_eq!(verdict(&HelperFailure::Stopped, true), Verdict::Stopped);
    }
}
