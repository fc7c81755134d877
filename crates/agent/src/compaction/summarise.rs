//! Asking a model for the summary, and what it means when none comes.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::{Event, Message, Role, SessionId};
use hermes_llm::Route;
use hermes_llm::classify::Reason;
use hermes_secrets::Scope;
use tokio_util::sync::CancellationToken;

use super::past::Outcome;
use super::summary::Focus;
use super::{end_of, plan, start_of, summary, transcript};
use crate::engine::{Helpers, Services};
use crate::explain;
use crate::helper::{Helper, HelperFailure, Told};
use crate::lane::Lane;
use crate::turn::{Entry, is_remark, text_tokens};

/// The task, as the settings name it.
const TASK: &str = "compression";
/// A summary may take this long, whatever the settings say.
const LEAST_PATIENCE: Duration = Duration::from_secs(300);
/// Requests that say what matters, and their characters.
const FOCUS: usize = 3;
const MOST_FOCUS: usize = 700;
/// Characters of what was added to the last request.
const MOST_ADDED: usize = 650;
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
    /// Where the user hears of it; what is done behind the conversation is only written to the log.
    pub(crate) events: Option<&'a Lane<Event>>,
}

/// What to do when no summary came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The user stopped it.
    Stopped,
    /// Leave the history alone: asking again later may work.
    Leave { message: String, hint: String },
    /// Asking again would not help; a summary without a model has to do.
    Local,
}

/// The last request in the user's own words, with what was added to it while it was worked on.
pub(crate) fn last_request(history: &[Entry]) -> String {
    let Some(asked) = history.iter().rposition(plan::is_request) else {
        return String::new();
    };
    let mut words = history.iter().skip(asked).map(|entry| &entry.message);
    let request = words.next().map(|message| message.plain_text());
    let request = request.unwrap_or_default();
    let added: Vec<String> = words
        .filter(|message| is_remark(message))
        .map(|message| message.plain_text())
        .collect();
    if added.is_empty() {
        return request;
    }
    // Both are seen when only the beginning is: what came last counts most.
    let added = added.join("\n\n");
    let (request, added) = (start_of(&request, MOST_FOCUS), end_of(&added, MOST_ADDED));
    format!("{request}\n\n{added}")
}

impl Job<'_> {
    /// Asks for the summary. When the model that was set for it gives none, the conversation's own is asked: a
    /// conversation that cannot be shortened is over soon.
    pub(crate) async fn write(&self) -> Result<String, HelperFailure> {
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
        let helpers = helper.helpers();
        let own = Helpers {
            routes: vec![self.main.clone()],
            ..helpers.clone()
        };
        let told = self.write_with(&helper, helpers).await;
        let stopped =
            self.cancel.is_cancelled() || matches!(told.said, Err(HelperFailure::Stopped));
        match told.said {
            Err(failure) if !told.asked_main && !stopped => {
                let text = format!(
                    "the model for summaries gave none ({}); {} is asked instead",
                    words(&failure),
                    self.main.label()
                );
                tracing::warn!("{text}");
                if let Some(events) = self.events {
                    events.send(Event::Notice { text }).await;
                }
                self.write_with(&helper, own).await.said
            }
            said => said,
        }
    }

    /// Asks these for it. A question that turns out too long is asked once more at half the length.
    async fn write_with(&self, helper: &Helper<'_>, helpers: Helpers) -> Told {
        let redactor = self.services.redactor.snapshot();
        let replaced = || self.plan.entries(self.history).map(|entry| &entry.message);
        let bodies = replaced().filter_map(|message| summary::body(message));
        let earlier = bodies
            .last()
            .map(|body| redactor.redact_in(Scope::Chat, &body).into_owned());
        let today = self.services.clock.local();
        let today = today.strftime("%A, %Y-%m-%d").to_string();
        let instructions = summary::instructions(self.plan.budget, &today);
        let taken = text_tokens(&instructions) + earlier.as_deref().map_or(0, text_tokens);
        let mut room = self.room(helpers.routes.first(), taken);
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
            let asked = helpers.clone();
            let told = helper.ask_of(asked, &instructions, question, self.cancel);
            let told = told.await;
            match &told.said {
                Err(failure) if tries > 0 && is_too_long(failure) => room /= 2,
                Ok(_) | Err(_) => return told,
            }
        }
    }

    /// Characters of messages that fit the first model that is asked.
    fn room(&self, first: Option<&Arc<Route>>, taken: u32) -> usize {
        let window = first.unwrap_or(self.main).limits.window;
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

fn words(failure: &HelperFailure) -> String {
    match failure {
        HelperFailure::TimedOut => "no answer came in time".to_owned(),
        HelperFailure::Stopped => "it was stopped".to_owned(),
        HelperFailure::TooLong => "the conversation is too long for it".to_owned(),
        HelperFailure::Empty => "its answer was empty".to_owned(),
        HelperFailure::Failed(failure) => explain::failure(failure).0,
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

/// How a failure is noted, which decides when a summary is asked for again.
pub(crate) fn outcome(failure: &HelperFailure) -> Outcome {
    match failure {
        HelperFailure::TimedOut => Outcome::TimedOut,
        HelperFailure::Failed(failed) => match &failed.fault {
            // Nothing was sent, or nothing that answers is at the address.
            fault if failed.calls == 0 || fault.reason == Reason::Misconfigured => Outcome::Nobody,
            fault if fault.broke_off || fault.reason == Reason::InvalidAnswer => Outcome::Broken,
            _ => Outcome::Failed,
        },
        HelperFailure::Stopped | HelperFailure::TooLong | HelperFailure::Empty => Outcome::Failed,
    }
}

/// What a failure means. `urgent` says that the conversation cannot go on as it is.
pub(crate) fn verdict(failure: &HelperFailure, urgent: bool) -> Verdict {
    match failure {
        HelperFailure::Stopped => Verdict::Stopped,
        // Slow is not broken, but somebody is waiting for an answer.
        HelperFailure::TimedOut if urgent => Verdict::Local,
        HelperFailure::TimedOut => Verdict::Leave {
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
                Verdict::Leave { message, hint }
            }
            Reason::ContentPolicyBlocked
            | Reason::ThinkingSignature
            | Reason::LongContextTier
            | Reason::LongContextBeta
            | Reason::BetaRejected
            | Reason::EncryptedUnsupported
            | Reason::ReasoningRejected
            | Reason::SummariesRejected
            | Reason::GrammarRejected
            | Reason::PayloadTooLarge
            | Reason::MultimodalToolContent
            | Reason::ImageTooLarge
            | Reason::ImagesRejected
            | Reason::ToolsRejected
            | Reason::EncryptedReasoning
            | Reason::MaxTokensKey
            | Reason::TemperatureRejected
            | Reason::StreamingRejected
            | Reason::ContextOverflow
            | Reason::OutputCap
            | Reason::FormatError
            | Reason::LocalModel
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
        assert!(matches!(patient, Verdict::Leave { .. }));
        assert_eq!(outcome(&HelperFailure::TimedOut), Outcome::TimedOut);
        assert_eq!(verdict(&HelperFailure::TimedOut, true), Verdict::Local);
        assert_eq!(verdict(&HelperFailure::TooLong, false), Verdict::Local);
        assert_eq!(verdict(&HelperFailure::Stopped, true), Verdict::Stopped);
    }
}
