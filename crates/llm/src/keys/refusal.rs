//! The words for having nothing to lend, and the reason as which they are acted on.

use std::time::Duration;

use super::pool::Target;
use super::ring::Shared;
use super::standing::Standing;
use crate::classify::Reason;
use crate::error::ModelError;
use crate::route::Route;

impl Shared {
    /// Nothing is set: the words say what to do.
    pub(super) fn missing(&self, route: &Route) -> ModelError {
        let (provider, name) = (&route.provider, &route.provider_name);
        let known = self
            .state()
            .known
            .get(provider)
            .cloned()
            .unwrap_or_default();
        let mut ways = Vec::new();
        if !known.variables.is_empty() {
            ways.push(format!("set {}", known.variables.join(" or ")));
        }
        ways.push(format!("run `hermes auth add {provider}`"));
        let mut words = format!("no key for {name}: {}", ways.join(", or "));
        if let Some(url) = &known.signup_url {
            words.push_str(&format!("; keys are made at {url}"));
        }
        refused(Reason::Auth, words)
    }

    /// There are credentials, but none can be used now.
    pub(super) fn unready(&self, route: &Route, target: &Target) -> ModelError {
        let (now, state) = (self.now(), self.state());
        let provider = &route.provider;
        let rests: Vec<_> = state
            .pools
            .get(provider)
            .into_iter()
            .flat_map(|pool| pool.candidates(target))
            .filter_map(|credential| match credential.standing {
                Standing::Resting { until, code, .. } => Some((until, code)),
                Standing::Good | Standing::Dead { .. } => None,
            })
            .collect();
        let Some((until, _)) = rests.iter().min() else {
            return refused(
                Reason::Auth,
                format!(
                    "no credential of {provider} can be used at {}: each has ended, is \
                     meant for another address or of a kind that is not supported; see `hermes \
                     auth list {provider}`",
                    target.origin
                ),
            );
        };
        let left = Duration::try_from(until.duration_since(now)).unwrap_or_default();
        let words = format!(
            "every credential of {provider} rests after a refusal, the first one for {} s more; \
             `hermes auth reset {provider}` ends that",
            left.as_secs()
        );
        if rests.iter().all(|(_, code)| *code == 401) {
            return refused(Reason::Auth, words);
        }
        ModelError::Unasked {
            reason: Reason::UsageLimit,
            message: words,
            retry_after: Some(left),
        }
    }
}

/// A failure of our own, which no provider has a part in.
pub(super) fn refused(reason: Reason, message: String) -> ModelError {
    ModelError::Unasked {
        reason,
        message,
        retry_after: None,
    }
}
