//! `providers`, `fallback_providers` and what else decides who serves a model.

use std::collections::BTreeMap;
use std::time::Duration;

use super::model::ApiMode;
use crate::macros::{choice, section};
use crate::setting::{Either, SecretText};
use crate::value::Value;

section! {
    /// An endpoint of your own, or settings of a built-in provider of that name.
    pub struct Provider [..rest: Value] {
        /// Name shown in lists; the key of the entry when empty.
        @unlisted name: String = String::new();
        /// Address of the API.
        @unlisted base_url: String = String::new();
        /// Key for it; better named in `key_env`.
        @unlisted api_key: SecretText = SecretText::default();
        /// Environment variable that holds the key.
        @unlisted key_env: String = String::new();
        /// Wire protocol, when it cannot be told from the address.
        @unlisted api_mode: ApiMode = ApiMode::Unset;
        /// Model used when none is named.
        @unlisted model: String = String::new();
        /// The same as `model`.
        @unlisted default_model: String = String::new();
        /// Models it serves, with what is known of each: a map, or a list of names.
        @unlisted models: Either<BTreeMap<String, ProviderModel>, Vec<Value>> = Either::First(BTreeMap::new());
        /// Context window in tokens of models that do not say otherwise.
        @unlisted context_length: Option<u32> = None;
        /// Most tokens of one answer.
        @unlisted max_output_tokens: Option<u32> = None;
        /// Most tokens of one answer, by its older name.
        @unlisted max_tokens: Option<u32> = None;
        /// Seconds to wait between two requests.
        @unlisted rate_limit_delay: Option<Duration> = None, no_effect "as waits follow what the provider answers";
        /// Seconds one request may take.
        @unlisted request_timeout_seconds: Option<Duration> = None;
        /// Seconds a stream may be silent before it is given up.
        @unlisted stale_timeout_seconds: Option<Duration> = None;
        /// Whether lists of models ask the endpoint; `false` shows those that are named here.
        @unlisted discover_models: Option<bool> = None;
        /// Fields added to every request body.
        @unlisted extra_body: BTreeMap<String, Value> = BTreeMap::new();
        /// HTTP headers added to every request.
        @unlisted extra_headers: BTreeMap<String, String> = BTreeMap::new();
        /// File with the certificate authority that signed the endpoint's certificate.
        @unlisted ssl_ca_cert: String = String::new();
        /// Checks the endpoint's certificate; a path names a certificate authority.
        @unlisted ssl_verify: Either<bool, String> = Either::First(true);
        /// Lets this provider be used at all.
        @unlisted enabled: bool = true;
    }
}

section! {
    /// What is known of one model of a provider.
    pub struct ProviderModel [..rest: Value] {
        /// Context window in tokens.
        @unlisted context_length: Option<u32> = None;
        /// Whether the model takes images.
        @unlisted supports_vision: Option<bool> = None;
        /// Seconds one request may take.
        @unlisted timeout_seconds: Option<Duration> = None;
        /// Seconds a stream may be silent before it is given up.
        @unlisted stale_timeout_seconds: Option<Duration> = None;
    }
}

section! {
    /// A model to turn to when the one before it fails.
    pub struct Fallback {
        /// Provider that serves it.
        provider: String = String::new();
        /// Name of the model.
        model: String = String::new();
        /// Address of the API, in place of the provider's own.
        @unlisted base_url: String = String::new();
        /// Key for it; better named in `key_env`.
        @unlisted api_key: SecretText = SecretText::default();
        /// Environment variable that holds the key.
        @unlisted key_env: String = String::new();
        /// Wire protocol, when it cannot be told from the address.
        @unlisted api_mode: ApiMode = ApiMode::Unset;
        /// Most tokens of one answer.
        @unlisted max_tokens: Option<u32> = None;
        /// HTTP headers added to every request.
        @unlisted extra_headers: BTreeMap<String, String> = BTreeMap::new();
    }
}

choice! {
    /// Which of several credentials of one provider is taken next.
    pub enum PoolStrategy {
        /// The first that works, until it is used up.
        FillFirst = "fill_first",
        /// One after the other.
        RoundRobin = "round_robin",
        /// The one with the fewest requests.
        LeastUsed = "least_used",
        /// Any.
        Random = "random",
    }
}

choice! {
    /// What OpenRouter looks at first when it picks an upstream provider.
    pub enum RoutingSort {
        /// Its own balance.
        Unset = "",
        /// The cheapest.
        Price = "price",
        /// The most tokens a second.
        Throughput = "throughput",
        /// The quickest first token.
        Latency = "latency",
    }
}

section! {
    /// Which upstream providers OpenRouter may pick.
    pub struct ProviderRouting {
        /// What counts first.
        @unlisted sort: RoutingSort = RoutingSort::Unset;
        /// Only these providers.
        @unlisted only: Vec<String> = Vec::new();
        /// Never these providers.
        @unlisted ignore: Vec<String> = Vec::new();
        /// These providers first, in this order.
        @unlisted order: Vec<String> = Vec::new();
        /// Only providers that honour every parameter of the request.
        @unlisted require_parameters: bool = false;
        /// `deny` leaves out providers that may keep the data.
        @unlisted data_collection: String = String::new();
    }
}
