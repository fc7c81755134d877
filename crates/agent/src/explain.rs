//! Failures in words: the route, the cause and the next step.

use hermes_config::{Config, Effort as SetEffort};
use hermes_core::Effort;
use hermes_llm::CallFailure;
use hermes_llm::classify::Reason;

/// What failed, in one line, and what to do about it.
pub(crate) fn failure(failure: &CallFailure) -> (String, String) {
    let route = failure.route.label();
    let said = one_line(&failure.fault.message);
    let status = failure
        .fault
        .status
        .map(|status| format!(" ({status})"))
        .unwrap_or_default();
    let (what, next) = words(failure);
    let next = failure.fault.hint.clone().unwrap_or(next);
    (format!("{route}: {what}{status}: {said}"), next)
}

/// The cause, and what to do about it.
#[expect(
    clippy::too_many_lines,
    reason = "a table: one entry for each reason, and nothing else"
)]
fn words(failure: &CallFailure) -> (&'static str, String) {
    match failure.fault.reason {
        Reason::Auth | Reason::UsageLimit if failure.fault.unasked => (
            "no key can be used",
            format!("see `hermes auth list {}`", failure.route.provider),
        ),
        Reason::Overloaded if failure.fault.unasked => (
            "it is not ready",
            "try again later, or set fallback_providers".to_owned(),
        ),
        Reason::Auth => (
            "the key was not accepted",
            format!(
                "check it with `hermes auth status {}`",
                failure.route.provider
            ),
        ),
        Reason::Forbidden => (
            "the key may not use this model",
            "choose another model with `hermes model`, or check the account".to_owned(),
        ),
        Reason::Billing => (
            "the account has no credit",
            "add credit at the provider, or set fallback_providers".to_owned(),
        ),
        Reason::RateLimit | Reason::UpstreamRateLimit | Reason::UsageLimit => (
            "the provider limits us",
            "try again later, add a key with `hermes auth add`, or set fallback_providers"
                .to_owned(),
        ),
        Reason::ModelNotFound => (
            "there is no such model",
            format!(
                "see `hermes model list --provider {}`",
                failure.route.provider
            ),
        ),
        Reason::ProviderPolicyBlocked => (
            "the account's privacy settings exclude this model",
            "change them at the provider, or choose another model".to_owned(),
        ),
        Reason::ContentPolicyBlocked => (
            "the provider refuses this content",
            "say it in another way, or choose another provider".to_owned(),
        ),
        Reason::Overloaded | Reason::ServerError => (
            "the provider has trouble",
            "try again later, or set fallback_providers".to_owned(),
        ),
        Reason::Timeout => (
            "no answer came",
            "check the network and the address with `hermes model --why`".to_owned(),
        ),
        Reason::SslCert => (
            "the server's certificate is not trusted",
            "set ssl_ca_cert for this provider if it has a certificate of its own".to_owned(),
        ),
        Reason::ContextOverflow | Reason::PayloadTooLarge => (
            "the conversation is too long for the model",
            "start a new one, or choose a model with a larger window".to_owned(),
        ),
        Reason::OutputCap => (
            "more output was asked for than the model gives",
            "lower model.max_tokens".to_owned(),
        ),
        Reason::Misconfigured if failure.fault.status.is_some() => (
            "no API answers at this address",
            "check the address with `hermes model --why`; many end in /v1".to_owned(),
        ),
        Reason::Misconfigured => (
            "the settings do not allow this call",
            "see `hermes model --why`".to_owned(),
        ),
        Reason::InvalidAnswer => (
            "what came is not an answer",
            "check the address with `hermes model --why`".to_owned(),
        ),
        Reason::LocalModel => (
            "the model cannot run here",
            "name another model file, or have `hermes model pull smollm2` fetch one that runs"
                .to_owned(),
        ),
        // Nobody complained about the request: what came was longer than any answer.
        Reason::FormatError if failure.fault.status.is_none() => (
            "what came is not an answer",
            "check the address with `hermes model --why`".to_owned(),
        ),
        Reason::Unknown if matches!(failure.fault.status, Some(404 | 405)) => (
            "nothing answers at this address",
            "check the address with `hermes model --why`; many end in /v1".to_owned(),
        ),
        Reason::ThinkingSignature
        | Reason::LongContextTier
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
        | Reason::EncryptedReasoning
        | Reason::MaxTokensKey
        | Reason::TemperatureRejected
        | Reason::StreamingRejected
        | Reason::FormatError
        | Reason::Cancelled
        | Reason::Unknown => (
            "the call failed",
            "see `hermes logs`, or choose another model with `hermes model`".to_owned(),
        ),
    }
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Whoever sent it must not steer the terminal it is shown on.
    line.chars()
        .filter(|letter| !letter.is_control())
        .take(300)
        .collect()
}

/// How hard to think: what the session says, then the model's own setting, then the general one.
pub(crate) fn effort(config: &Config, model: &str, session: Option<Effort>) -> Option<Effort> {
    if session.is_some() {
        return session;
    }
    let wanted = plain(model);
    let overridden = config
        .agent
        .reasoning_overrides
        .iter()
        .find(|(name, _)| plain(name) == wanted)
        .map(|(_, effort)| *effort);
    effort_level(overridden.unwrap_or(config.agent.reasoning_effort))
}

/// How hard to think by a word of the settings; the model's own choice when absent.
pub fn effort_level(word: SetEffort) -> Option<Effort> {
    match word {
        SetEffort::Unset => None,
        SetEffort::None => Some(Effort::Off),
        SetEffort::Minimal => Some(Effort::Minimal),
        SetEffort::Low => Some(Effort::Low),
        SetEffort::Medium => Some(Effort::Medium),
        SetEffort::High => Some(Effort::High),
        SetEffort::ExtraHigh => Some(Effort::ExtraHigh),
        SetEffort::Max => Some(Effort::Max),
        SetEffort::Ultra => Some(Effort::Ultra),
    }
}

/// A model's name without its vendor, dots and dashes alike.
fn plain(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    name.to_ascii_lowercase().replace('.', "-")
}
