//! What an error means. One pure function from a typed error and a few facts about the call to a
//! [`Fault`]; the wording of providers is data in `phrases` and `numbers`.

mod codes;
mod numbers;
mod phrases;
mod vendor;

use std::time::Duration;

use hermes_http::HttpError;

use crate::error::{ModelError, VendorError};
use crate::quirks::Beta;
use crate::wire::WireError;
pub(crate) use numbers::span;

/// Declares [`Reason`] together with the word of each, so that neither can be forgotten.
macro_rules! reasons {
    ($($(#[$doc:meta])+ $name:ident = $word:literal,)+) => {
        /// Why a call failed, named by what can be done about it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Reason {
            $($(#[$doc])+ $name,)+
        }

        impl Reason {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The word for logs and for the reason of a failed turn.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)+
                }
            }
        }
    };
}

reasons! {
    /// The provider's rules forbid the content; another provider may have others.
    ContentPolicyBlocked = "content_policy_blocked",
    /// Signed thinking that is sent back was changed, or comes from somebody else.
    ThinkingSignature = "thinking_signature",
    /// The plan does not pay for a long context.
    LongContextTier = "long_context_tier",
    /// The account may not use the flag for long contexts.
    LongContextBeta = "oauth_long_context_beta",
    /// A preview feature is not offered here.
    BetaRejected = "beta_rejected",
    /// A local server cannot make a grammar of a tool's schema.
    GrammarRejected = "llama_cpp_grammar",
    /// The credential is not accepted.
    Auth = "auth",
    /// The credential is good, but may not do this; a new one of the same account would not either.
    Forbidden = "auth_forbidden",
    /// Nothing is paid.
    Billing = "billing",
    /// Too much at once.
    RateLimit = "rate_limit",
    /// The credential's allowance of hours or days is used up.
    UsageLimit = "usage_limit",
    /// The provider behind an aggregator limits all of the aggregator's customers.
    UpstreamRateLimit = "upstream_rate_limit",
    /// The user's own privacy settings exclude every provider of the model.
    ProviderPolicyBlocked = "provider_policy_blocked",
    /// There is no such model here.
    ModelNotFound = "model_not_found",
    /// The body has too many bytes.
    PayloadTooLarge = "payload_too_large",
    /// The provider has no capacity.
    Overloaded = "overloaded",
    /// The results of tools must be plain text.
    MultimodalToolContent = "multimodal_tool_content",
    /// A picture is too large.
    ImageTooLarge = "image_too_large",
    /// The model cannot see.
    ImagesRejected = "images_rejected",
    /// The model cannot call tools.
    ToolsRejected = "tools_rejected",
    /// Encrypted reasoning that is sent back cannot be read.
    EncryptedReasoning = "invalid_encrypted_content",
    /// The model has no encrypted reasoning to give.
    EncryptedUnsupported = "encrypted_content_unsupported",
    /// The model cannot be told how hard to think, or not in this word.
    ReasoningRejected = "reasoning_rejected",
    /// The account gets no summaries of the thinking.
    SummariesRejected = "reasoning_summaries_rejected",
    /// The limit of the answer goes by another name.
    MaxTokensKey = "max_tokens_key",
    /// The model takes no temperature.
    TemperatureRejected = "temperature_rejected",
    /// Answers do not come in pieces here.
    StreamingRejected = "streaming_rejected",
    /// The request is wrong in some other way.
    FormatError = "format_error",
    /// The model inside this process cannot be run, for which its file is to blame most often.
    LocalModel = "local_model",
    /// The provider broke.
    ServerError = "server_error",
    /// The conversation does not fit.
    ContextOverflow = "context_overflow",
    /// More output was asked for than the model can give.
    OutputCap = "output_cap",
    /// The connection failed or nothing came in time.
    Timeout = "timeout",
    /// The server's certificate is not trusted.
    SslCert = "ssl_cert",
    /// An answer came that is none.
    InvalidAnswer = "invalid_answer",
    /// Our own settings forbid the call.
    Misconfigured = "misconfigured",
    /// Somebody stopped it.
    Cancelled = "cancelled",
    /// Nothing above.
    Unknown = "unknown",
}

/// What is known about the call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts<'a> {
    /// The provider's id.
    pub provider: &'a str,
    /// The address it is reached at.
    pub address: &'a str,
    /// The model.
    pub model: &'a str,
    /// How large we think the request was.
    pub estimated_tokens: u32,
    /// The window we believe in.
    pub context_window: u32,
    /// How many messages were sent.
    pub messages: usize,
    /// Whether the model thinks before it answers, and so may be silent for long.
    pub reasoning_model: bool,
}

/// A failure that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What it means.
    pub reason: Reason,
    /// What was said.
    pub message: String,
    /// The HTTP status, when there was one.
    pub status: Option<u16>,
    /// The provider's own word or number for it, when it gave one.
    pub code: Option<String>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// The real window, when the message tells and it is smaller than the one we believe in.
    pub stated_window: Option<u32>,
    /// How many tokens are left for the answer, when the message tells and they are worth asking for.
    pub stated_output_left: Option<u32>,
    /// The longest edge of a picture in pixels, when the message tells.
    pub stated_image_edge: Option<u32>,
    /// The preview feature that is turned down, when the message tells.
    pub stated_beta: Option<Beta>,
    /// How the waits between attempts grow.
    pub pace: Pace,
    /// Whether it was answering when the connection was lost, so that there is somebody to answer.
    pub broke_off: bool,
    /// Whether nobody was asked, because there was nothing to ask with.
    pub unasked: bool,
    /// What to do about it, where the failure tells more than its reason.
    pub hint: Option<String>,
}

/// How the waits between attempts grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// From two seconds to a minute.
    #[default]
    Usual,
    /// From five seconds to two minutes, after answers that were none.
    Slow,
    /// More attempts and minutes between them, for a model known to be busy for long.
    Patient,
}

impl Fault {
    /// Whether the provider would answer if it had more to give or could be reached: others may take over.
    pub fn is_capacity(&self) -> bool {
        matches!(
            self.reason,
            Reason::Timeout
                | Reason::Billing
                | Reason::RateLimit
                | Reason::UsageLimit
                | Reason::UpstreamRateLimit
                | Reason::Overloaded
        )
    }

    /// Whether the provider itself has trouble or a limit, which the next request would meet as well.
    pub fn is_trouble(&self) -> bool {
        matches!(
            self.reason,
            Reason::Billing
                | Reason::RateLimit
                | Reason::UsageLimit
                | Reason::UpstreamRateLimit
                | Reason::Overloaded
                | Reason::ServerError
                | Reason::Unknown
        )
    }

    /// A fault without further details, for failures that are found while an answer is read.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            status: None,
            code: None,
            retry_after: None,
            stated_window: None,
            stated_output_left: None,
            stated_image_edge: None,
            stated_beta: None,
            pace: if reason == Reason::InvalidAnswer {
                Pace::Slow
            } else {
                Pace::Usual
            },
            broke_off: false,
            unasked: false,
            hint: None,
        }
    }

    fn broken_off(self) -> Self {
        Self {
            broke_off: true,
            ..self
        }
    }
}

/// What an error means.
pub fn classify(error: &ModelError, facts: &Facts<'_>) -> Fault {
    match error {
        ModelError::Vendor(said) => vendor::classify(said, facts),
        ModelError::Http(failed) => http(failed, facts),
        ModelError::Wire(WireError::Vendor(said)) => vendor::classify(said, facts),
        ModelError::Wire(WireError::Cut { .. }) => {
            Fault::new(Reason::Timeout, error.to_string()).broken_off()
        }
        ModelError::Stalled(_) | ModelError::GivenUp(_) => {
            Fault::new(Reason::Timeout, error.to_string())
        }
        ModelError::Wire(WireError::Empty | WireError::Malformed(_)) => {
            Fault::new(Reason::InvalidAnswer, error.to_string())
        }
        // Repeating it would give the same: no server, no network, no chance is involved.
        ModelError::Embedded(_) => Fault::new(Reason::LocalModel, error.to_string()),
        ModelError::Unasked {
            reason,
            retry_after,
            ..
        } => Fault {
            retry_after: *retry_after,
            unasked: true,
            ..Fault::new(*reason, error.to_string())
        },
        ModelError::Cancelled => Fault::new(Reason::Cancelled, error.to_string()),
    }
}

/// A failure of the exchange.
fn http(error: &HttpError, facts: &Facts<'_>) -> Fault {
    let reason = match error {
        HttpError::Status(answer) => {
            return vendor::classify(&VendorError::from_excerpt(answer), facts);
        }
        HttpError::Tls { flaw, .. } if flaw.is_of_certificate() => Reason::SslCert,
        HttpError::Interrupted { .. } => {
            return Fault::new(disconnected(facts), rooted(error)).broken_off();
        }
        HttpError::Tls { .. }
        | HttpError::Dns { .. }
        | HttpError::Connect { .. }
        | HttpError::Timeout { .. } => Reason::Timeout,
        // One that is too large to be read will not be smaller the next time.
        HttpError::TooLarge { .. } => Reason::FormatError,
        HttpError::Decode { .. } => Reason::InvalidAnswer,
        HttpError::Cancelled => Reason::Cancelled,
        // The enum may grow in its own crate: what is not known to pass is a matter of settings.
        _ => Reason::Misconfigured,
    };
    Fault {
        hint: error.hint(),
        ..Fault::new(reason, rooted(error))
    }
}

/// The error and what is at the bottom of it, such as a refused connection; what lies between says the same
/// in the words of libraries.
fn rooted(error: &HttpError) -> String {
    let text = error.to_string();
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    match causes.last().map(ToString::to_string) {
        Some(root) if !text.contains(&root) => format!("{text}: {root}"),
        Some(_) | None => text,
    }
}

/// A server that hangs up on a long conversation may do so because of its length, unless the model is
/// one that connections are lost to while it thinks.
fn disconnected(facts: &Facts<'_>) -> Reason {
    if !facts.reasoning_model && vendor::is_large(facts, &vendor::DISCONNECT) {
        Reason::ContextOverflow
    } else {
        Reason::Timeout
    }
}
