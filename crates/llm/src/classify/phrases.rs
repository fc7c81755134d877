//! How providers word their failures. Everything is in lower case; `*` stands for any text between two
//! pieces that must come in this order. More wordings are more lines, never more code.

/// Phrases of which any one will do.
pub(super) type Phrases = &'static [&'static str];

/// Whether `text`, in lower case, holds one of the phrases.
pub(super) fn says(text: &str, phrases: Phrases) -> bool {
    phrases.iter().any(|phrase| holds(text, phrase))
}

fn holds(text: &str, phrase: &str) -> bool {
    let mut rest = text;
    phrase.split('*').all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = rest.get(at + piece.len()..).unwrap_or_default();
            true
        }
        None => false,
    })
}

pub(super) const POLICY: Phrases = &[
    "usage policy",
    "usage policies",
    "content_policy",
    "content policy",
    "content_filter",
    "content filter",
    "content management policy",
    "responsibleai",
    "responsible ai",
    "safety system",
    "safety_check",
    "cyber_policy",
    "flagged*cyber",
    "cybersecurity risk",
    "prohibited_content",
    "prohibited content",
    "data_inspection_failed",
    "inappropriate content",
    "content exists risk",
    "sensitive content",
    "requires moderation",
    "flagged*moderation",
];

pub(super) const THINKING_SIGNATURE: Phrases = &[
    "thinking*signature",
    "signature*thinking",
    "thinking*cannot be modified",
    "thought signature is not valid",
    "corrupted thought signature",
];

pub(super) const LONG_CONTEXT_TIER: Phrases =
    &["extra usage*long context", "long context*extra usage"];

pub(super) const LONG_CONTEXT_BETA: Phrases = &[
    "long context beta*not",
    "long context beta*incompatible",
    "context-1m*not",
    "context-1m*incompatible",
    "unexpected value*context-1m",
];

/// A preview feature, whichever it is.
pub(super) const BETA: Phrases = &[
    "invalid beta flag",
    "unexpected value*anthropic-beta",
    "anthropic-beta*not support",
    "anthropic-beta*unsupported",
    "anthropic_beta*not permitted",
    "anthropic_beta*not support",
    "unsupported beta",
    "unknown beta",
    "interleaved-thinking*not",
    "fine-grained-tool-streaming*not",
];

pub(super) const GRAMMAR: Phrases = &[
    "parse grammar",
    "parsing grammar",
    "generate parser",
    "parser generation",
    "json schema conversion failed",
    "initialize samplers",
];

pub(super) const NO_SUBSCRIPTION: Phrases = &["active grok subscription"];

/// A 403 that a renewed credential may cure.
pub(super) const STALE_CREDENTIAL: Phrases = &[
    "expired",
    "security token*invalid",
    "invalid token",
    "token is invalid",
    "unrecognizedclient",
    "invalid api key",
    "invalid_api_key",
    "api key not valid",
    "api_key_invalid",
    "incorrect api key",
    "could not validate credentials",
];

pub(super) const AUTH: Phrases = &[
    "unauthorized",
    "unauthenticated",
    "authentication failed",
    "invalid authentication",
    "no auth credentials",
    "invalid api key",
    "invalid_api_key",
    "api key not valid",
    "api_key_invalid",
    "incorrect api key",
    "security token*invalid",
    "token has expired",
    "token expired",
    "expired token",
];

pub(super) const BILLING: Phrases = &[
    "insufficient credit",
    "insufficient_credit",
    "insufficient_quota",
    "insufficient balance",
    "insufficient_balance",
    "insufficient funds",
    "credit balance is too low",
    "not enough credit",
    "out of credit",
    "no credits",
    "requires more credits",
    "can only afford",
    "billing",
    "payment required",
    "payment_required",
    "spending limit",
    "spend limit",
    "spending cap",
    "key limit exceeded",
    "top up",
    "arrearage",
    "overdue payment",
    "used all available credits",
];

/// Billing where limits are worded the same way: only the code is clear enough.
pub(super) const BILLING_CODE: Phrases = &["insufficient_quota", "credit balance is too low"];

pub(super) const USAGE_LIMIT: Phrases = &[
    "usage limit",
    "usage_limit",
    "usage cap",
    "daily limit",
    "weekly limit",
    "monthly limit",
    "5-hour limit",
    "per day",
    "requests_per_day",
];

pub(super) const QUOTA: Phrases = &["usage limit", "usage_limit", "quota", "limit"];

pub(super) const TRANSIENT: Phrases = &["try again", "retry", "reset", "wait"];

pub(super) const PROVIDER_POLICY: Phrases = &[
    "data policy",
    "guardrail restrictions",
    "privacy settings",
    "settings/privacy",
    "allowed providers",
];

pub(super) const MODEL_MISSING: Phrases = &[
    "model_not_found",
    "model*not found",
    "model*does not exist",
    "no such model",
    "not a valid model",
    "invalid model",
    "unknown model",
    "unsupported model",
    "model is not supported",
    "model identifier is invalid",
    "model*not available",
    "no endpoints found",
    "deploymentnotfound",
    "model*deprecated",
    "model*no longer available",
    "model*end of its life",
];

pub(super) const OVERLOADED: Phrases = &[
    "overloaded",
    "at capacity",
    "over capacity",
    "no capacity",
    "capacity constraints",
    "too busy",
    "server is busy",
    "servers are busy",
    "high demand",
    "high load",
    "high traffic",
    "modelnotready",
    "model is not ready",
    "model is loading",
    "loading model",
    "slow_down",
    "service unavailable",
    "serviceunavailable",
];

pub(super) const UPSTREAM_LIMIT: Phrases = &["provider returned error", "rate-limited upstream"];

pub(super) const RATE_LIMIT: Phrases = &[
    "rate limit",
    "rate_limit",
    "rate-limit",
    "ratelimit",
    "too many requests",
    "too_many_requests",
    "throttl",
    "requests per minute",
    "tokens per minute",
    "quota exceeded",
    "exceeded your current quota",
    "servicequotaexceeded",
    "resource_exhausted",
    "resource exhausted",
    "resource has been exhausted",
    "concurrency limit",
];

pub(super) const BAD_CALL: Phrases = &["tool_use_failed"];

pub(super) const TOOL_TEXT_ONLY: Phrases = &[
    "tool*must be a string",
    "tool*must be string",
    "tool*expected a string",
    "tool*should be a valid string",
    "tool*only supports text",
    "tool*does not support image",
    "image*not supported*tool",
    "text is not set",
];

pub(super) const IMAGE_TOO_LARGE: Phrases = &[
    "image exceeds",
    "image dimensions exceed",
    "image is too large",
    "image too large",
    "image_too_large",
    "image size*exceed",
    "image file is too large",
    "images*too large",
];

pub(super) const IMAGES_REJECTED: Phrases = &[
    "support image input",
    "does not support image",
    "not support images",
    "image input is not supported",
    "image inputs are not supported",
    "images are not supported",
    "image content is not supported",
    "image_url is only supported",
    "image_url*not supported",
    "unknown variant `image_url`",
    "does not support vision",
    "vision is not supported",
    "not a multimodal model",
    "mmproj",
    "only text content is supported",
];

pub(super) const ENCRYPTED: Phrases = &[
    "invalid_encrypted_content",
    "encrypted content*could not be",
    "encrypted_content*could not be",
    "encrypted content*verif",
];

pub(super) const ENCRYPTED_UNSUPPORTED: Phrases = &[
    "encrypted content is not supported",
    "encrypted_content*not support",
    "parameter: 'include",
    "value: 'include",
];

pub(super) const SUMMARIES: Phrases = &["reasoning summar", "reasoning.summary"];

/// Names where a field's name stands only: other parameters are turned down "with reasoning models".
pub(super) const REASONING: Phrases = &[
    "parameter: 'reasoning",
    "parameter: reasoning",
    "parameter 'reasoning",
    "value: 'reasoning",
    "argument supplied: reasoning",
    "property 'reasoning",
    "field \"reasoning",
    "\"body\",\"reasoning",
    "'body', 'reasoning",
    "parameter: 'think",
    "parameter: think",
    "parameter 'think",
    "argument supplied: think",
    "property 'think",
    "field \"think",
    "\"body\",\"think",
    "'body', 'think",
    "think: extra inputs",
    "reasoning_effort*not support",
    "reasoning.effort*not support",
    "reasoning effort*not support",
    "reasoning_effort: extra inputs",
    "thinking: extra inputs",
    "output_config: extra inputs",
    "does not support reasoning",
    "does not support thinking",
    "reasoning is not supported",
    "thinking is not supported",
    "reasoning_effort*must be one of",
    "reasoning_effort*input should be",
    "not support parameters*'reasoning_effort'",
];

pub(super) const PARAMETER: Phrases = &[
    "unsupported parameter",
    "unsupported_parameter",
    "unknown parameter",
    "unknown_parameter",
    "unrecognized request argument",
    "unsupported value",
    "unsupported_value",
    "extra inputs are not permitted",
    "not supported with this model",
    "is not supported by this model",
    "unknown field",
    "unknown name",
];

pub(super) const MAX_TOKENS_KEY: Phrases = &["max_tokens", "max_completion_tokens"];

pub(super) const TEMPERATURE: Phrases = &[
    "parameter*temperature",
    "unsupported value*temperature",
    "temperature*not support",
    "does not support*temperature",
    "temperature*deprecated",
    "temperature*only the default",
    "temperature*may only be set to 1",
    "invalid temperature*only",
    "temperature*extra inputs",
];

pub(super) const STREAMING: Phrases = &[
    "invokemodelwithresponsestream",
    "streaming is not supported",
    "streaming not supported",
    "does not support streaming",
    "stream*must be verified",
    "verified to stream",
    "unsupported*'stream'",
    "tool use in streaming mode",
];

pub(super) const TOOLS_REJECTED: Phrases = &[
    "does not support tools",
    "does not support tool use",
    "doesn't support tool use",
    "does not support tool calling",
    "does not support function calling",
    "doesn't support function calling",
    "tool use is not supported",
    "tool calling is not supported",
    "function calling is not supported",
    "found that support tool use",
];

pub(super) const EMPTY_ANSWER: Phrases = &[
    "empty response",
    "empty_response",
    "returned an empty",
    "returned empty",
    "no response from provider",
];

pub(super) const OVERFLOW: Phrases = &[
    "context length",
    "context_length",
    "context window",
    "context_window",
    "context size",
    "context_size",
    "context limit",
    "maximum context",
    "exceed_context",
    "prompt is too long",
    "input is too long",
    "input too long",
    "too many tokens",
    "token limit",
    "maximum number of tokens",
    "input token count",
    "prompt token count",
    "range of input length",
    "reduce the length",
    "max_model_len",
    "maximum prompt length",
    "prompt exceeds max length",
    "too large for model",
    "`inputs` tokens",
    "tokens in the prompt cannot exceed",
    "上下文",
    "输入长度",
];

pub(super) const OUTPUT_CAP: Phrases = &[
    "maximum allowed number of output tokens",
    "at most*completion tokens",
    "at most*output tokens",
    "max_tokens*too large",
    "max_tokens*must be less than",
    "max_tokens*less than or equal",
    "max_tokens*exceed",
    "max_completion_tokens*too large",
    "max_output_tokens*too large",
    "max_output_tokens*exceed",
    "maxoutputtokens*range",
    "range of max_tokens",
    "maximum tokens you requested exceeds",
    "output token limit",
];

/// Wrong requests that come under the flag of a broken server.
pub(super) const VALIDATION: Phrases = &[
    "invalid_request_error",
    "validation error",
    "validation_error",
    "unknown parameter",
    "unsupported parameter",
    "unrecognized request argument",
    "extra inputs are not permitted",
];

pub(super) const TOO_LARGE: Phrases = &[
    "request entity too large",
    "payload too large",
    "request_too_large",
    "error code: 413",
];

pub(super) const TIMED_OUT: Phrases = &[
    "timed out",
    "timeout",
    "deadline exceeded",
    "connection reset",
    "connection closed",
    "server disconnected",
];
