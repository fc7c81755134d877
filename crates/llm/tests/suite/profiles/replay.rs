//! What of earlier turns goes back, and which parts are marked for a provider's memory, by provider.

use hermes_core::WireProtocol;
use hermes_llm::{CacheStyle, ReasoningReplay};

use super::{Setup, http_of};

const KEYS: [(&str, &str); 13] = [
    ("OPENROUTER_API_KEY", "0123456789"),
    ("OPENAI_API_KEY", "0123456789"),
    ("ANTHROPIC_API_KEY", "0123456789"),
    ("GEMINI_API_KEY", "0123456789"),
    ("DEEPSEEK_API_KEY", "0123456789"),
    ("KIMI_API_KEY", "0123456789"),
    ("XIAOMI_API_KEY", "0123456789"),
    ("MINIMAX_API_KEY", "0123456789"),
    ("FIREWORKS_API_KEY", "0123456789"),
    ("DASHSCOPE_API_KEY", "0123456789"),
    ("OPENCODE_ZEN_API_KEY", "0123456789"),
    ("AWS_BEARER_TOKEN_BEDROCK", "0123456789"),
    ("LAB_KEY", "0123456789"),
];

// AG-20, AG-21: how each style looks on the wire is shown by the tests of the protocols.
#[test]
fn thinking_and_marks_follow_the_provider_and_the_model() {
    use CacheStyle::{Automatic, Blocks, Envelope};
    use ReasoningReplay::{All, Content, Details, Native, Never, Unsigned};
    use WireProtocol::{Anthropic, ChatCompletions as Chat, Converse, Gemini, Responses};

    let own =
        |path: &str| format!("custom, base_url: 'https://lab.test/{path}', api_key: '0123456789'");
    let (third, plain) = (own("anthropic"), own("v1"));
    for (provider, model, protocol, replay, cache) in [
        ("fireworks", "glm-5p2", Chat, Native, Automatic),
        ("deepseek", "deepseek-chat", Chat, Content, Automatic),
        ("kimi", "kimi-k2.5", Chat, Content, Automatic),
        ("xiaomi", "mimo-v2.5", Chat, Content, Automatic),
        ("openrouter", "openai/gpt-5.5", Chat, Details, Automatic),
        (
            "openrouter",
            "anthropic/claude-opus-4.6",
            Chat,
            Details,
            Envelope,
        ),
        (
            "openrouter",
            "moonshotai/kimi-k2.5",
            Chat,
            Details,
            Envelope,
        ),
        ("anthropic", "claude-opus-4-6", Anthropic, Native, Blocks),
        ("minimax", "MiniMax-M3", Anthropic, Never, Blocks),
        ("opencode-zen", "claude-opus-4-6", Anthropic, Native, Blocks),
        ("alibaba", "qwen3-max", Chat, Native, Envelope),
        ("openai-api", "gpt-5.5", Responses, Native, Automatic),
        ("gemini", "gemini-3-pro-preview", Gemini, Native, Automatic),
        (
            "bedrock",
            "amazon.nova-pro-v1:0",
            Converse,
            Native,
            Automatic,
        ),
        (
            "bedrock",
            "us.anthropic.claude-sonnet-4-6",
            Converse,
            Native,
            Blocks,
        ),
        (
            "bedrock",
            "anthropic.claude-3-haiku-20240307-v1:0",
            Converse,
            Native,
            Automatic,
        ),
        (plain.as_str(), "some-model", Chat, Native, Automatic),
        (plain.as_str(), "deepseek-v4", Chat, Content, Automatic),
        (third.as_str(), "some-model", Anthropic, Never, Automatic),
        (third.as_str(), "kimi-k2", Anthropic, All, Automatic),
        (
            third.as_str(),
            "deepseek-v4",
            Anthropic,
            Unsigned,
            Automatic,
        ),
        (third.as_str(), "claude-opus-4-6", Anthropic, Never, Blocks),
    ] {
        let config = format!("model: {{default: '{model}', provider: {provider}}}");
        let resolved = Setup::new(&config, &KEYS).resolve();
        let label = resolved.route.label();
        assert_eq!(http_of(&resolved).protocol, protocol, "{label}");
        assert_eq!(resolved.route.quirks.replay, replay, "{label}");
        assert_eq!(resolved.route.quirks.cache, cache, "{label}");
    }
}
