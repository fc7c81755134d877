//! What a provider's refusal means: its status picks a rung, its words decide there.

use super::codes::{implied, implied_by_zai};
use super::phrases::{self, says};
use super::{Facts, Fault, Pace, Reason, numbers};
use crate::error::{VendorError, WEB_PAGE};
use crate::quirks::Beta;

/// From when on a conversation counts as large.
pub(super) struct Large {
    /// Share of the window in percent.
    percent: u64,
    /// Tokens, for windows of at most [`ORDINARY_WINDOW`].
    tokens: u32,
    /// Messages, for the same windows.
    messages: usize,
}

/// Windows that a conversation of a few thousand messages can fill.
const ORDINARY_WINDOW: u32 = 256_000;
/// Refusals shorter than this say nothing.
const SHORT: usize = 30;

/// Large enough to explain a refusal that says nothing.
const REFUSAL: Large = Large {
    percent: 40,
    tokens: 80_000,
    messages: 80,
};

/// Large enough to explain a server that hangs up.
pub(super) const DISCONNECT: Large = Large {
    percent: 60,
    tokens: 120_000,
    messages: 200,
};

/// Whether the conversation is as large as that.
pub(super) fn is_large(facts: &Facts<'_>, large: &Large) -> bool {
    let share = u64::from(facts.context_window) * large.percent / 100;
    facts.context_window > 0 && u64::from(facts.estimated_tokens) > share
        || facts.context_window <= ORDINARY_WINDOW
            && (facts.estimated_tokens > large.tokens || facts.messages > large.messages)
}

/// What a refusal means.
pub(super) fn classify(said: &VendorError, facts: &Facts<'_>) -> Fault {
    let code = said.code.clone().or_else(|| quoted_code(&said.message));
    let word = code.as_deref().filter(|code| !is_number(code));
    let text = format!("{} {}", word.unwrap_or_default(), said.message).to_lowercase();
    let meant = code.as_deref().and_then(|code| numbered(facts, code));
    let status = meant
        .or(said.status)
        .or_else(|| code.as_deref().and_then(implied));
    let reason = reason(status, &text, said.message.trim(), facts);
    let sizes = numbers::sizes(&text);
    let mut fault = Fault {
        status: said.status,
        code,
        retry_after: said.retry_after.or_else(|| numbers::wait(&text)),
        stated_image_edge: numbers::image_edge(&text),
        ..Fault::new(reason, said.to_string())
    };
    match reason {
        Reason::ContextOverflow => {
            let own = facts.context_window.checked_sub(facts.estimated_tokens);
            fault.stated_window = sizes
                .window
                .filter(|window| facts.context_window == 0 || *window < facts.context_window);
            fault.stated_output_left = sizes.output.map(|left| match own {
                Some(own) if own > 0 => left.min(own),
                _ => left,
            });
        }
        Reason::OutputCap => fault.stated_output_left = sizes.output,
        Reason::BetaRejected => fault.stated_beta = Beta::named_in(&text),
        Reason::Overloaded if busy_for_long(facts, fault.code.as_deref()) => {
            fault.pace = Pace::Patient
        }
        _ => {}
    }
    fault
}

fn is_number(code: &str) -> bool {
    code.bytes().all(|byte| byte.is_ascii_digit())
}

/// The status that a number of a provider's own stands for, where the status it sends says less.
fn numbered(facts: &Facts<'_>, code: &str) -> Option<u16> {
    facts
        .provider
        .starts_with("zai")
        .then(|| implied_by_zai(code))?
}

/// One model of one provider is known to be busy for minutes at a time, where its coding plan is served.
fn busy_for_long(facts: &Facts<'_>, code: Option<&str>) -> bool {
    facts.provider.starts_with("zai")
        && facts.address.contains("/coding/")
        && facts.model.to_lowercase().contains("glm-5.2")
        && code == Some("1305")
}

/// The code inside a message that quotes a JSON document.
fn quoted_code(message: &str) -> Option<String> {
    let quoted = message.get(message.find('{')?..=message.rfind('}')?)?;
    VendorError::from_body(&serde_json::from_str(quoted).ok()?)?.code
}

/// The table, top to bottom. `text` is code and message in lower case.
fn reason(status: Option<u16>, text: &str, message: &str, facts: &Facts<'_>) -> Reason {
    if says(text, phrases::POLICY) {
        return Reason::ContentPolicyBlocked;
    }
    if let Some(reason) = special(status, text) {
        return reason;
    }
    match status {
        Some(401) => Reason::Auth,
        Some(402) => payment(text),
        Some(403) => forbidden(text),
        Some(404) => missing(text, message),
        Some(408) => Reason::Timeout,
        Some(413) => Reason::PayloadTooLarge,
        Some(429) => limit(text),
        Some(400) => bad_request(text, message, facts),
        Some(500 | 502) => broken(text),
        Some(503 | 529) if says(text, phrases::OVERFLOW) => Reason::ContextOverflow,
        Some(503 | 529) => Reason::Overloaded,
        Some(400..500) => wrong_request(text).unwrap_or(Reason::FormatError),
        Some(500..) => Reason::ServerError,
        Some(_) | None => by_words(text),
    }
}

/// Complaints with an answer of their own.
fn special(status: Option<u16>, text: &str) -> Option<Reason> {
    let refused = status.is_none_or(|status| (400..500).contains(&status));
    let bad = matches!(status, Some(400) | None);
    let table = [
        (bad, phrases::THINKING_SIGNATURE, Reason::ThinkingSignature),
        (
            status == Some(429),
            phrases::LONG_CONTEXT_TIER,
            Reason::LongContextTier,
        ),
        (bad, phrases::LONG_CONTEXT_BETA, Reason::LongContextBeta),
        (bad, phrases::BETA, Reason::BetaRejected),
        // Some versions of the local server call it their own failure.
        (
            bad || status == Some(500),
            phrases::GRAMMAR,
            Reason::GrammarRejected,
        ),
        (true, phrases::NO_SUBSCRIPTION, Reason::Forbidden),
        (refused, phrases::STREAMING, Reason::StreamingRejected),
        (refused, phrases::TOOLS_REJECTED, Reason::ToolsRejected),
        // The model wrote a call its server could not read: the next try may write a better one.
        (bad, phrases::BAD_CALL, Reason::InvalidAnswer),
        (bad, phrases::TOOL_TEXT_ONLY, Reason::MultimodalToolContent),
        (refused, phrases::IMAGES_REJECTED, Reason::ImagesRejected),
    ];
    table
        .into_iter()
        .find(|(applies, phrases, _)| *applies && says(text, phrases))
        .map(|(_, _, reason)| reason)
}

fn payment(text: &str) -> Reason {
    if says(text, phrases::QUOTA) && says(text, phrases::TRANSIENT) {
        Reason::UsageLimit
    } else {
        Reason::Billing
    }
}

fn forbidden(text: &str) -> Reason {
    if says(text, phrases::BILLING) {
        Reason::Billing
    } else if says(text, phrases::STALE_CREDENTIAL) {
        Reason::Auth
    } else {
        Reason::Forbidden
    }
}

fn missing(text: &str, message: &str) -> Reason {
    if message == WEB_PAGE {
        // No API lives there: the base URL leads past it.
        Reason::Misconfigured
    } else if says(text, phrases::BILLING) {
        Reason::Billing
    } else if says(text, phrases::PROVIDER_POLICY) {
        Reason::ProviderPolicyBlocked
    } else if says(text, phrases::MODEL_MISSING) {
        Reason::ModelNotFound
    } else {
        Reason::Unknown
    }
}

fn limit(text: &str) -> Reason {
    if says(text, phrases::OVERLOADED) {
        Reason::Overloaded
    } else if says(text, phrases::UPSTREAM_LIMIT) {
        Reason::UpstreamRateLimit
    } else if says(text, phrases::BILLING_CODE) {
        Reason::Billing
    } else if says(text, phrases::USAGE_LIMIT) {
        Reason::UsageLimit
    } else {
        Reason::RateLimit
    }
}

/// What is wrong with a request, when the words tell.
fn wrong_request(text: &str) -> Option<Reason> {
    let parameter = says(text, phrases::PARAMETER);
    let table = [
        (phrases::IMAGE_TOO_LARGE, Reason::ImageTooLarge),
        (phrases::ENCRYPTED, Reason::EncryptedReasoning),
        (phrases::ENCRYPTED_UNSUPPORTED, Reason::EncryptedUnsupported),
        (phrases::TEMPERATURE, Reason::TemperatureRejected),
        (phrases::SUMMARIES, Reason::SummariesRejected),
        (phrases::REASONING, Reason::ReasoningRejected),
    ];
    if let Some((_, reason)) = table.into_iter().find(|(phrases, _)| says(text, phrases)) {
        return Some(reason);
    }
    if parameter && says(text, phrases::MAX_TOKENS_KEY) {
        return Some(Reason::MaxTokensKey);
    }
    if parameter {
        return Some(Reason::FormatError);
    }
    let table = [
        (phrases::EMPTY_ANSWER, Reason::ServerError),
        (phrases::OVERFLOW, Reason::ContextOverflow),
        (phrases::OUTPUT_CAP, Reason::OutputCap),
        (phrases::MODEL_MISSING, Reason::ModelNotFound),
        (phrases::RATE_LIMIT, Reason::RateLimit),
        (phrases::BILLING, Reason::Billing),
        (phrases::AUTH, Reason::Auth),
    ];
    table
        .into_iter()
        .find(|(phrases, _)| says(text, phrases))
        .map(|(_, reason)| reason)
}

fn bad_request(text: &str, message: &str, facts: &Facts<'_>) -> Reason {
    match wrong_request(text) {
        Some(reason) => reason,
        None if message.chars().count() < SHORT && is_large(facts, &REFUSAL) => {
            Reason::ContextOverflow
        }
        None => Reason::FormatError,
    }
}

fn broken(text: &str) -> Reason {
    if says(text, phrases::VALIDATION) {
        Reason::FormatError
    } else if says(text, phrases::EMPTY_ANSWER) {
        Reason::ServerError
    } else if says(text, phrases::OVERFLOW) {
        Reason::ContextOverflow
    } else {
        Reason::ServerError
    }
}

/// Neither a status nor a known code: only words are left.
fn by_words(text: &str) -> Reason {
    let table = [
        (phrases::TOO_LARGE, Reason::PayloadTooLarge),
        (phrases::USAGE_LIMIT, Reason::UsageLimit),
        (phrases::OVERLOADED, Reason::Overloaded),
        (phrases::BILLING_CODE, Reason::Billing),
        (phrases::UPSTREAM_LIMIT, Reason::UpstreamRateLimit),
        (phrases::RATE_LIMIT, Reason::RateLimit),
        (phrases::BILLING, Reason::Billing),
        (phrases::OVERFLOW, Reason::ContextOverflow),
        (phrases::AUTH, Reason::Auth),
        (phrases::MODEL_MISSING, Reason::ModelNotFound),
        (phrases::TIMED_OUT, Reason::Timeout),
    ];
    table
        .into_iter()
        .find(|(phrases, _)| says(text, phrases))
        .map_or(Reason::Unknown, |(_, reason)| reason)
}
