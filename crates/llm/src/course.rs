//! Which route a conversation is on, and what it has tried.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::classify::{Fault, Reason};
use crate::failover::{Attempt, Fix, RENEWALS, Step};
use crate::keys::{KeyError, Lease};
use crate::quirks::{
    Beta, MaxTokensKey, Quirks, ReasoningReplay, ReasoningStyle, SchemaTarget, Temperature,
};
use crate::refused::Refused;
use crate::route::Route;
use hermes_core::{ModelSettings, WireProtocol};

/// How long a provider that limited us is left alone.
const LIMITED: Duration = Duration::from_secs(60);
/// How long everything is left alone after the whole chain failed.
const ALL_FAILED: Duration = Duration::from_secs(5);

/// The routes of a conversation, the first one preferred.
#[derive(Debug, Clone)]
pub struct Course {
    routes: Arc<[Arc<Route>]>,
    at: usize,
    beside: bool,
    /// Until when the first route is left alone.
    resting: Option<Timestamp>,
    pub(crate) attempt: Attempt,
    /// The stalls in a row of each route.
    streaks: Vec<Streak>,
    /// The limit of an answer, for routes that need one.
    most: Option<u32>,
    /// The limit of the next answer in place of the route's own, which was too low for one.
    raised: Option<u32>,
    pub(crate) lease: Option<Lease>,
    /// What was refused last and would be refused again. Seldom there, so that it costs an idle session nothing.
    pub(crate) refused: Option<Box<Refused>>,
    /// What the last answer broke off with and nothing was done about yet.
    pub(crate) trouble: Option<Box<Fault>>,
    window: Option<u32>,
}

/// Stalls of one route, counted over turns until it answers.
#[derive(Debug, Clone, Copy, Default)]
struct Streak {
    stalls: u32,
    is_full: bool,
}

impl Course {
    /// A course over these routes; `first` is the preferred one.
    pub fn new(first: Arc<Route>, fallbacks: impl IntoIterator<Item = Arc<Route>>) -> Self {
        let mut routes = vec![first];
        for route in fallbacks {
            if !routes.iter().any(|known| known.is_like(&route)) {
                routes.push(route);
            }
        }
        Self {
            streaks: vec![Streak::default(); routes.len()],
            most: None,
            raised: None,
            routes: routes.into(),
            at: 0,
            beside: false,
            resting: None,
            attempt: Attempt::default(),
            lease: None,
            refused: None,
            trouble: None,
            window: None,
        }
    }

    /// The same for work beside a conversation, which takes a credential that nobody has in hand where there is one.
    #[must_use]
    pub fn beside(mut self) -> Self {
        self.beside = true;
        self
    }

    /// The same with a limit for the answer, which is told to those only who want to be told one: providers know how
    /// much their models can say, and some turn down what they do not expect.
    #[must_use]
    pub fn within(mut self, most: u32) -> Self {
        self.most = Some(most);
        self
    }

    /// Gives the next answers of the route in use this much room, until the turn ends or another route takes over.
    pub fn raise_output(&mut self, most: u32) {
        self.raised = Some(most);
    }

    /// The limit of the next answer of the route in use; the provider's own when absent.
    pub fn output_limit(&self) -> Option<u32> {
        let route = self.route();
        let set = self.raised.or(route.limits.output);
        // A model inside this process would go on and on.
        let told = route.is_embedded() || route.protocol() == Some(WireProtocol::Anthropic);
        match self.most.filter(|_| told || set.is_some()) {
            Some(most) => Some(set.map_or(most, |set| most.min(set))),
            None => set,
        }
    }

    /// How often the route in use has stalled in a row.
    pub(crate) fn stalls(&self) -> u32 {
        self.streaks.get(self.at).map_or(0, |streak| streak.stalls)
    }

    /// The route in use has stalled; after `most` times in a row it is not gone back to.
    pub(crate) fn stalled(&mut self, most: u32) {
        if let Some(streak) = self.streaks.get_mut(self.at) {
            streak.stalls += 1;
            streak.is_full = streak.stalls >= most;
        }
    }

    /// The route in use has answered.
    pub(crate) fn has_answered(&mut self) {
        if let Some(streak) = self.streaks.get_mut(self.at) {
            *streak = Streak::default();
        }
    }

    pub(crate) fn is_beside(&self) -> bool {
        self.beside
    }

    /// The route in use.
    pub fn route(&self) -> &Arc<Route> {
        // There is always a first one.
        self.routes.get(self.at).unwrap_or(&self.routes[0])
    }

    /// All routes, the preferred one first.
    pub fn routes(&self) -> &[Arc<Route>] {
        &self.routes
    }

    /// The preferred route.
    pub fn preferred(&self) -> &Arc<Route> {
        &self.routes[0]
    }

    /// The window in tokens, as far as it is known by now.
    pub fn window(&self) -> u32 {
        self.window.unwrap_or(self.route().limits.window)
    }

    /// The most tokens of an answer that the provider turned out to give in this turn.
    pub fn most_output(&self) -> Option<u32> {
        let known = self.attempt.fixes().iter().filter_map(|fix| match fix {
            Fix::ShrinkOutput(most) => Some(*most),
            _ => None,
        });
        known.min()
    }

    /// The name of the credential in use.
    pub fn credential(&self) -> Option<&str> {
        self.lease.as_ref().map(|lease| lease.label.as_str())
    }

    /// Starts a turn: what was tried is forgotten, and the preferred route is used again unless it is
    /// being left alone or has stalled too often. Says whether the route changed.
    pub fn begin_turn(&mut self, now: Timestamp) -> bool {
        self.attempt = self.attempt.next_turn();
        // Somebody wants it all the same.
        self.refused = None;
        self.trouble = None;
        self.raised = None;
        let given_up = self.streaks.first().is_some_and(|streak| streak.is_full);
        if self.at != 0 && !given_up && self.resting.is_none_or(|until| now >= until) {
            self.go_to(0);
            return true;
        }
        false
    }

    /// Whether a compaction may still help; the engine says so before each call.
    pub fn compactions(&self) -> u32 {
        self.attempt.compactions
    }

    /// Goes to the next route because this one will not answer; `false` when it is the last.
    pub fn leave_refusing(&mut self, now: Timestamp) -> bool {
        self.leave(Reason::ContentPolicyBlocked, now)
    }

    /// Goes to the next route because this one answers nothing; `false` when it is the last.
    pub fn leave_silent(&mut self, now: Timestamp) -> bool {
        self.leave(Reason::InvalidAnswer, now)
    }

    fn leave(&mut self, reason: Reason, now: Timestamp) -> bool {
        let more = self.others() > 0;
        if more {
            self.attempt.record(&Step::NextRoute);
            self.next_route(reason, now);
        }
        more
    }

    pub(crate) fn others(&self) -> u32 {
        u32::try_from(self.routes.len() - 1 - self.at).unwrap_or(u32::MAX)
    }

    pub(crate) fn next_route(&mut self, reason: Reason, now: Timestamp) {
        if self.at == 0 {
            let limited = matches!(
                reason,
                Reason::RateLimit
                    | Reason::UsageLimit
                    | Reason::Billing
                    | Reason::UpstreamRateLimit
            );
            self.resting = limited.then(|| later(now, LIMITED));
        }
        self.go_to(self.at + 1);
    }

    pub(crate) fn all_failed(&mut self, now: Timestamp) {
        // Whoever asks for the same again knows that.
        self.refused = None;
        if self.at != 0 {
            let until = later(now, ALL_FAILED);
            self.resting = Some(self.resting.map_or(until, |set| set.max(until)));
        }
    }

    pub(crate) fn learn_window(&mut self, window: u32) {
        self.window = Some(window.min(self.window()));
    }

    /// The credential could not be renewed. It stays as it is, and is not renewed again for this call.
    pub(crate) fn not_renewed(&mut self, lease: Lease, error: &KeyError) {
        self.lease = Some(lease);
        self.attempt.renewals = RENEWALS;
        if let Some(refused) = &mut self.refused {
            let said = std::mem::take(&mut refused.fault.message);
            refused.fault.message = format!("{said}; {error}");
        }
    }

    fn go_to(&mut self, at: usize) {
        self.at = at;
        self.lease = None;
        self.refused = None;
        self.trouble = None;
        self.window = None;
        self.raised = None;
    }
}

fn later(now: Timestamp, wait: Duration) -> Timestamp {
    now.checked_add(wait).unwrap_or(now)
}

/// The quirks and settings with the changes in force.
pub(crate) fn changed(
    usual: &Quirks,
    mut settings: ModelSettings,
    fixes: impl IntoIterator<Item = Fix>,
) -> (Quirks, ModelSettings) {
    let mut quirks = usual.clone();
    for fix in fixes {
        match fix {
            Fix::StripImages => quirks.no_images = true,
            Fix::ShrinkImages(edge) => quirks.picture_edge = Some(edge),
            Fix::DropToolImages => quirks.no_tool_images = true,
            Fix::StripToolImages => quirks.text_only_tool_results = true,
            Fix::DropReasoningSignatures | Fix::DropEncryptedReasoning => {
                quirks.replay = quirks.replay.without_seals();
            }
            Fix::StripSchemaPatterns => quirks.schema = SchemaTarget::LlamaCpp,
            Fix::DropLongContextBeta => quirks.long_context = false,
            Fix::DropBeta(beta) => quirks.refused_betas.push(beta.name().to_owned()),
            Fix::DropBetas => {
                let all = Beta::ALL.map(|beta| beta.name().to_owned());
                quirks.refused_betas.extend(all);
            }
            Fix::OmitEncryptedReasoning => quirks.replay = ReasoningReplay::Never,
            Fix::OmitReasoning => quirks.reasoning = ReasoningStyle::Omit,
            Fix::OmitSummaries => quirks.no_summaries = true,
            Fix::OmitTools => quirks.no_tools = true,
            Fix::SwapMaxTokensKey => {
                quirks.max_tokens_key = match usual.max_tokens_key {
                    MaxTokensKey::MaxTokens => MaxTokensKey::MaxCompletionTokens,
                    MaxTokensKey::MaxCompletionTokens => MaxTokensKey::MaxTokens,
                };
            }
            Fix::OmitTemperature => quirks.temperature = Temperature::Omit,
            Fix::ShrinkOutput(most) => {
                let asked = settings.max_output_tokens.unwrap_or(most);
                settings.max_output_tokens = Some(asked.min(most));
            }
            Fix::NonStreaming => quirks.no_streaming = true,
            // The caller shortens the history; the request itself stays.
            Fix::CutWindow(_) => {}
        }
    }
    (quirks, settings)
}
