//! What to do after a failure: one pure function from a fault, what is left and what was tried to the
//! next step. The caller takes the step and records it; nothing here waits or remembers.

mod attempt;
mod pace;

use std::time::Duration;

use crate::classify::{Fault, Reason};
use crate::quirks::Beta;

pub use attempt::{Attempt, Delivered};

/// Most failed calls of one route, unless configured otherwise.
pub const ATTEMPTS: u32 = 3;
/// Most compactions of one turn.
pub const COMPACTIONS: u32 = 3;
/// Most renewals of one credential.
pub const RENEWALS: u32 = 2;
/// So many stalled calls in a row, and a route is given up.
pub const STALLS: u32 = 5;
/// The window that every plan pays for.
pub const STANDARD_WINDOW: u32 = 200_000;
/// Longest edge of a picture, unless the provider names another.
pub const IMAGE_EDGE: u32 = 8_000;
/// Tokens kept free when the limit of the answer is lowered to what is left.
const OUTPUT_MARGIN: u32 = 64;

/// What is left to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// Failed calls of one route before it is given up; at least one.
    pub attempts: u32,
    /// Other credentials of this provider that can be used now.
    pub other_credentials: u32,
    /// When the credential in use can be renewed.
    pub renewal: Renewal,
    /// Routes of the fallback chain that were not tried.
    pub other_routes: u32,
    /// Whether compaction can make the request smaller: it is switched on, and the last one gained
    /// something.
    pub compactable: bool,
    /// Calls in a row that stalled.
    pub stalls: u32,
    /// So many of them, and a route is given up.
    pub most_stalls: u32,
    /// Further calls after one that broke off, if the user set how many.
    pub retries: Option<u32>,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            attempts: ATTEMPTS,
            other_credentials: 0,
            renewal: Renewal::Never,
            other_routes: 0,
            compactable: true,
            stalls: 0,
            most_stalls: STALLS,
            retries: None,
        }
    }
}

/// When a credential can be renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Renewal {
    /// It is a plain key.
    #[default]
    Never,
    /// After it was not accepted.
    OnAuth,
    /// Also after a complaint about payment, because the new one carries what was paid meanwhile.
    OnAuthAndBilling,
}

/// What to do next. Every step but the last two repeats the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Wait, then send the same again.
    Wait(Duration),
    /// Wait, drop all pooled connections, then send the same again.
    Reconnect(Duration),
    /// Renew the credential.
    RefreshCredential,
    /// Set the credential aside and use another of the same provider.
    NextCredential,
    /// Go to the next route of the fallback chain.
    NextRoute,
    /// Change the request.
    Fix(Fix),
    /// Compact the history, for this window if one is given.
    Compact {
        /// The window that turned out to be the real one; kept for later sessions.
        window: Option<u32>,
    },
    /// Take what was delivered as an answer that ran into its limit. What the fault asks for is done before the rest
    /// is asked for.
    KeepPartial,
    /// Give up.
    Fail,
}

/// A change that answers one kind of complaint. Each is tried at most once; one that leaves the request as it
/// was is none, and the caller asks for the next step without sending anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fix {
    /// Leave out all pictures for the rest of the turn.
    StripImages,
    /// Show pictures in results of tools elsewhere or not at all, and remember that for the model.
    StripToolImages,
    /// Leave out pictures in results of tools, because the request is too large with them.
    DropToolImages,
    /// Make pictures smaller, to at most this many pixels along an edge.
    ShrinkImages(u32),
    /// Send no signed thinking back.
    DropReasoningSignatures,
    /// Send no encrypted reasoning back.
    DropEncryptedReasoning,
    /// Leave `pattern` and `format` out of tool schemas.
    StripSchemaPatterns,
    /// Do not ask for long contexts.
    DropLongContextBeta,
    /// Do not ask for this preview feature, and remember that for the model.
    DropBeta(Beta),
    /// Do not ask for any preview feature that nobody set, and remember that for the model.
    DropBetas,
    /// Do not ask for encrypted reasoning, and remember that for the model.
    OmitEncryptedReasoning,
    /// Say nothing about how hard to think, and remember that for the model.
    OmitReasoning,
    /// Ask for no summaries of the thinking, and remember that for the model.
    OmitSummaries,
    /// Offer no tools, and remember that for the model.
    OmitTools,
    /// Use the other name for the limit of the answer, and remember that for the model.
    SwapMaxTokensKey,
    /// Send no temperature, and remember that for the model.
    OmitTemperature,
    /// Take the window to be this large, and compact before the call if that makes it necessary.
    CutWindow(u32),
    /// Ask for at most this many tokens.
    ShrinkOutput(u32),
    /// Ask for the answer in one piece.
    NonStreaming,
}

impl Fix {
    /// Whether it changes what is said rather than how: it then holds for every later route too.
    pub fn is_of_content(self) -> bool {
        match self {
            Self::StripImages
            | Self::StripToolImages
            | Self::DropToolImages
            | Self::ShrinkImages(_)
            | Self::DropReasoningSignatures
            | Self::DropEncryptedReasoning => true,
            Self::StripSchemaPatterns
            | Self::DropLongContextBeta
            | Self::DropBeta(_)
            | Self::DropBetas
            | Self::OmitEncryptedReasoning
            | Self::OmitReasoning
            | Self::OmitSummaries
            | Self::OmitTools
            | Self::SwapMaxTokensKey
            | Self::OmitTemperature
            | Self::CutWindow(_)
            | Self::ShrinkOutput(_)
            | Self::NonStreaming => false,
        }
    }

    /// Whether both are the same kind of change, whatever their numbers.
    pub fn is_like(self, other: Self) -> bool {
        match (self, other) {
            (Self::DropBeta(one), Self::DropBeta(other)) => one == other,
            _ => std::mem::discriminant(&self) == std::mem::discriminant(&other),
        }
    }
}

/// What to do after `fault`. `jitter` is a random number from 0 to 1 that spreads the waits.
pub fn next_step(fault: &Fault, health: &Health, attempt: &Attempt, jitter: f64) -> Step {
    let turn = Turn {
        fault,
        health,
        attempt,
        jitter,
    };
    if attempt.delivered == Delivered::Text && may_pass(fault) {
        return Step::KeepPartial;
    }
    let second = match fault.reason {
        // Without pictures is better than not at all.
        Reason::ImageTooLarge | Reason::MultimodalToolContent => Some(Fix::StripImages),
        Reason::BetaRejected => Some(Fix::DropBetas),
        _ => None,
    };
    let untried = |fix: &Fix| !attempt.used(*fix);
    if let Some(fix) = fix(fault).into_iter().chain(second).find(untried) {
        return Step::Fix(fix);
    }
    turn.step()
}

/// Failures that say nothing against the request itself.
fn may_pass(fault: &Fault) -> bool {
    let reached_an_end = matches!(
        fault.reason,
        Reason::Timeout | Reason::InvalidAnswer | Reason::ContextOverflow
    );
    reached_an_end || fault.is_trouble()
}

/// The change that answers a fault.
fn fix(fault: &Fault) -> Option<Fix> {
    match fault.reason {
        Reason::ThinkingSignature => Some(Fix::DropReasoningSignatures),
        Reason::EncryptedReasoning => Some(Fix::DropEncryptedReasoning),
        Reason::LongContextTier => Some(Fix::CutWindow(STANDARD_WINDOW)),
        Reason::LongContextBeta => Some(Fix::DropLongContextBeta),
        // Where none is named, it is most often the long window.
        Reason::BetaRejected => Some(
            fault
                .stated_beta
                .map_or(Fix::DropLongContextBeta, Fix::DropBeta),
        ),
        Reason::EncryptedUnsupported => Some(Fix::OmitEncryptedReasoning),
        Reason::ReasoningRejected => Some(Fix::OmitReasoning),
        Reason::SummariesRejected => Some(Fix::OmitSummaries),
        Reason::GrammarRejected => Some(Fix::StripSchemaPatterns),
        Reason::MultimodalToolContent => Some(Fix::StripToolImages),
        Reason::ImageTooLarge => Some(Fix::ShrinkImages(
            fault.stated_image_edge.unwrap_or(IMAGE_EDGE),
        )),
        Reason::ImagesRejected => Some(Fix::StripImages),
        Reason::ToolsRejected => Some(Fix::OmitTools),
        Reason::MaxTokensKey => Some(Fix::SwapMaxTokensKey),
        Reason::TemperatureRejected => Some(Fix::OmitTemperature),
        Reason::StreamingRejected => Some(Fix::NonStreaming),
        Reason::OutputCap => fault.stated_output_left.map(Fix::ShrinkOutput),
        Reason::ContextOverflow => fault
            .stated_output_left
            .map(|left| Fix::ShrinkOutput(left.saturating_sub(OUTPUT_MARGIN).max(1))),
        Reason::ContentPolicyBlocked
        | Reason::Auth
        | Reason::Forbidden
        | Reason::Billing
        | Reason::RateLimit
        | Reason::UsageLimit
        | Reason::UpstreamRateLimit
        | Reason::ProviderPolicyBlocked
        | Reason::ModelNotFound
        | Reason::PayloadTooLarge
        | Reason::Overloaded
        | Reason::FormatError
        | Reason::LocalModel
        | Reason::ServerError
        | Reason::Timeout
        | Reason::SslCert
        | Reason::InvalidAnswer
        | Reason::Misconfigured
        | Reason::Cancelled
        | Reason::Unknown => None,
    }
}

/// Everything a decision depends on.
struct Turn<'a> {
    fault: &'a Fault,
    health: &'a Health,
    attempt: &'a Attempt,
    jitter: f64,
}

impl Turn<'_> {
    /// The step when no change to the request answers the fault.
    fn step(&self) -> Step {
        match self.fault.reason {
            Reason::Cancelled
            | Reason::SslCert
            | Reason::Misconfigured
            | Reason::ProviderPolicyBlocked => Step::Fail,
            Reason::ContentPolicyBlocked
            | Reason::Forbidden
            | Reason::ModelNotFound
            | Reason::FormatError
            | Reason::LocalModel
            | Reason::ThinkingSignature
            | Reason::EncryptedReasoning
            | Reason::LongContextBeta
            | Reason::BetaRejected
            | Reason::EncryptedUnsupported
            | Reason::ReasoningRejected
            | Reason::SummariesRejected
            | Reason::GrammarRejected
            | Reason::MultimodalToolContent
            | Reason::ImageTooLarge
            | Reason::ImagesRejected
            | Reason::ToolsRejected
            | Reason::MaxTokensKey
            | Reason::TemperatureRejected
            | Reason::StreamingRejected
            | Reason::OutputCap => self.route(),
            Reason::Auth => self.renew(Renewal::OnAuth, RENEWALS),
            Reason::Billing => self.renew(Renewal::OnAuthAndBilling, 1),
            Reason::RateLimit | Reason::LongContextTier => self.limited(),
            Reason::UsageLimit => self.used_up(),
            Reason::UpstreamRateLimit => self.route_or_wait(),
            Reason::PayloadTooLarge | Reason::ContextOverflow => self.shrink(),
            Reason::Timeout if self.health.stalls >= self.health.most_stalls => self.route(),
            Reason::Timeout | Reason::Overloaded if self.failed() >= 2 => self.route_or_wait(),
            Reason::InvalidAnswer => self.route_or_wait(),
            Reason::Timeout | Reason::Overloaded | Reason::ServerError | Reason::Unknown => {
                self.wait()
            }
        }
    }

    /// Failed calls of this route, this one included.
    fn failed(&self) -> u32 {
        self.attempt.failures + 1
    }

    fn is_exhausted(&self) -> bool {
        let attempts = match (self.fault.reason, self.health.retries) {
            (Reason::Timeout, Some(retries)) => retries.saturating_add(1),
            _ => pace::attempts(self.fault.pace, self.health.attempts),
        };
        self.failed() >= attempts
    }

    /// Another route, or the end.
    fn route(&self) -> Step {
        if self.health.other_routes > 0 {
            Step::NextRoute
        } else {
            Step::Fail
        }
    }

    /// Another credential, else another route, or the end.
    fn credential(&self) -> Step {
        if self.health.other_credentials > 0 {
            Step::NextCredential
        } else {
            self.route()
        }
    }

    fn renew(&self, needed: Renewal, most: u32) -> Step {
        let renewable = match self.health.renewal {
            Renewal::Never => false,
            Renewal::OnAuth => needed == Renewal::OnAuth,
            Renewal::OnAuthAndBilling => true,
        };
        if renewable && self.attempt.renewals < most {
            Step::RefreshCredential
        } else {
            self.credential()
        }
    }

    /// A limit: the same credential is tried once more, then others, then other routes.
    fn limited(&self) -> Step {
        if self.health.other_credentials == 0 {
            return self.route_or_wait();
        }
        let pointless = self
            .fault
            .retry_after
            .is_some_and(|wait| wait > pace::LONGEST_USUAL);
        if self.attempt.limits > 0 || pointless || self.is_exhausted() {
            Step::NextCredential
        } else {
            self.wait()
        }
    }

    /// An allowance that is gone does not come back within a turn, unless the provider says so.
    fn used_up(&self) -> Step {
        let soon = self
            .fault
            .retry_after
            .is_some_and(|wait| wait <= pace::LONGEST_ASKED);
        if self.health.other_credentials == 0 && self.health.other_routes == 0 && soon {
            self.wait()
        } else {
            self.credential()
        }
    }

    fn route_or_wait(&self) -> Step {
        if self.health.other_routes > 0 {
            Step::NextRoute
        } else {
            self.wait()
        }
    }

    /// Too large: compaction, then without the pictures of tools, then another route.
    fn shrink(&self) -> Step {
        if self.health.compactable && self.attempt.compactions < COMPACTIONS {
            return Step::Compact {
                window: self.fault.stated_window,
            };
        }
        if self.fault.reason == Reason::PayloadTooLarge && !self.attempt.used(Fix::DropToolImages) {
            return Step::Fix(Fix::DropToolImages);
        }
        // A server that only hung up may have had other reasons.
        if self.fault.status.is_none() && self.fault.code.is_none() {
            return self.route_or_wait();
        }
        self.route()
    }

    /// The same again after a while, as long as attempts are left.
    fn wait(&self) -> Step {
        if !self.is_exhausted() {
            return Step::Wait(pace::wait(self.fault, self.failed(), self.jitter));
        }
        // What the user set is final.
        let may_reconnect = self.health.retries.is_none() && !self.attempt.reconnected;
        if self.fault.reason == Reason::Timeout && may_reconnect {
            return Step::Reconnect(pace::before_reconnect(self.failed()));
        }
        self.route()
    }
}
