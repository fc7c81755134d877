//! `openrouter`, `bedrock`, `vertex`, `model_catalog` and `network`: details of single services.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::macros::{choice, secs, section, text};
use crate::value::Value;

section! {
    /// OpenRouter.
    pub struct OpenRouter {
        /// Lets it answer a repeated request from its cache.
        response_cache: bool = true;
        /// Seconds such an answer is kept.
        response_cache_ttl: Duration = secs(300);
        /// Least coding score of models its coding router may pick.
        min_coding_score: f64 = 0.65, in 0.0..=1.0;
    }
}

section! {
    /// AWS Bedrock.
    pub struct Bedrock {
        /// AWS region; that of the AWS configuration when empty.
        region: String = String::new();
        /// Finding out which models the account may use.
        discovery: BedrockDiscovery = BedrockDiscovery::default();
        /// A guardrail applied to every request.
        guardrail: BedrockGuardrail = BedrockGuardrail::default();
    }
}

section! {
    /// Finding out which models the AWS account may use.
    pub struct BedrockDiscovery {
        /// Asks AWS.
        enabled: bool = true;
        /// Only models of these makers.
        provider_filter: Vec<String> = Vec::new();
        /// Seconds the answer is kept.
        refresh_interval: Duration = secs(3600);
    }
}

choice! {
    /// When a guardrail sees streamed text.
    pub enum GuardrailStream {
        /// Beside the stream, which is not held up.
        Async = "async",
        /// Before the text is passed on.
        Sync = "sync",
    }
}

choice! {
    /// Whether the guardrail's reasons are returned.
    pub enum GuardrailTrace {
        /// They are not.
        Disabled = "disabled" | "off",
        /// They are.
        Enabled = "enabled" | "on",
        /// With everything the guardrail looked at.
        Full = "enabled_full",
    }
}

section! {
    /// A Bedrock guardrail applied to every request.
    pub struct BedrockGuardrail {
        /// Its id or ARN; none when empty.
        guardrail_identifier: String = String::new();
        /// Its version.
        guardrail_version: String = String::new();
        /// When it sees streamed text.
        stream_processing_mode: GuardrailStream = GuardrailStream::Async;
        /// Whether its reasons are returned.
        trace: GuardrailTrace = GuardrailTrace::Disabled;
    }
}

section! {
    /// Google Vertex AI.
    pub struct Vertex {
        /// Google Cloud project; that of the credentials when empty.
        project_id: String = String::new();
        /// Google Cloud region.
        region: String = text("global");
    }
}

section! {
    /// The list of recommended models of the reference.
    pub struct ModelCatalog {
        /// Fetches it.
        enabled: bool = true;
        /// Where it is.
        url: String = text("https://hermes-agent.nousresearch.com/docs/api/model-catalog.json");
        /// Hours a fetched list is used.
        ttl_hours: f64 = 1.0, in 0.0..=1_000_000.0;
        /// Lists for single providers, in place of the fetched ones.
        providers: BTreeMap<String, Value> = BTreeMap::new();
    }
}

section! {
    /// How Hermes uses the network.
    pub struct Network {
        /// Only uses IPv4, for networks where IPv6 is broken.
        force_ipv4: bool = false;
    }
}
