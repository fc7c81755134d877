//! What of earlier turns goes back, and which parts are marked for a provider's memory, by provider.

use hermes_core::WireProtocol;
use hermes_llm::resolve::resolve;
use hermes_llm::{CacheStyle, ReasoningReplay};

use super::{Setup, http_of};

const KEYS: [(&str, &str); 22] = [
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
    ("NOVITA_API_KEY", "0123456789"),
    ("DEEPINFRA_API_KEY", "0123456789"),
    ("HF_TOKEN", "0123456789"),
    ("NVIDIA_API_KEY", "0123456789"),
    ("GMI_API_KEY", "0123456789"),
    ("OLLAMA_API_KEY", "0123456789"),
    ("OPENCODE_GO_API_KEY", "0123456789"),
    ("KILOCODE_API_KEY", "0123456789"),
    ("AZURE_FOUNDRY_API_KEY", "0123456789"),
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

// AG-20: wherever these models are hosted, they want their thinking back with every message.
#[test]
fn models_that_want_their_thinking_back_get_it_from_every_host() {
    let azure = "azure-foundry, base_url: 'https://lab.services.ai.azure.com/openai/v1'";
    for provider in [
        "novita",
        "deepinfra",
        "fireworks",
        "huggingface",
        "nvidia",
        "gmi",
        "ollama-cloud",
        "opencode-zen",
        "opencode-go",
        "kilocode",
        azure,
    ] {
        for (model, replay) in [
            ("deepseek-v4", ReasoningReplay::Content),
            ("kimi-k2.5", ReasoningReplay::Content),
            ("mimo-v2.5-pro", ReasoningReplay::Content),
            ("glm-5.2", ReasoningReplay::Native),
        ] {
            let config = format!("model: {{default: '{model}', provider: {provider}}}");
            let resolved = Setup::new(&config, &KEYS).resolve();
            let label = resolved.route.label();
            assert_eq!(
                http_of(&resolved).protocol,
                WireProtocol::ChatCompletions,
                "{label}"
            );
            assert_eq!(resolved.route.quirks.replay, replay, "{label}");
        }
    }
    // As their vendors spell them at most hosts.
    for model in [
        "deepseek-ai/DeepSeek-V4",
        "moonshotai/Kimi-K2.5",
        "XiaomiMiMo/MiMo-V2.5",
    ] {
        let config = format!("model: {{default: '{model}', provider: huggingface}}");
        let resolved = Setup::new(&config, &KEYS).resolve();
        assert_eq!(
            resolved.route.quirks.replay,
            ReasoningReplay::Content,
            "{model}"
        );
    }
}

// PV-6
#[test]
fn the_system_text_of_gpt_5_is_the_developers_wherever_it_is_asked() {
    let azure = "azure-foundry, base_url: 'https://lab.openai.azure.com/openai/v1', \
        api_mode: chat_completions";
    let openai = "openai-api, api_mode: chat_completions";
    for (provider, model, developer) in [
        (openai, "gpt-5.5", true),
        (azure, "gpt-5.5", true),
        (azure, "my-gpt-5-codex", true),
        (azure, "gpt-4.1", false),
        ("openrouter", "openai/gpt-5.5", true),
        ("openrouter", "openai/codex-mini", true),
        ("openrouter", "anthropic/claude-opus-4.6", false),
        ("nous", "openai/gpt-5.5", true),
        ("nous", "z-ai/glm-5.2", false),
        ("kilocode", "openai/gpt-5.5", true),
        ("kilocode", "z-ai/glm-5.2", false),
    ] {
        let config = format!("model: {{default: '{model}', provider: {provider}}}");
        let setup = Setup::new(&config, &KEYS);
        let (mut request, logins) = (setup.request(), ["nous".to_owned()]);
        request.logins = &logins;
        let resolved = resolve(&request).unwrap();
        let label = resolved.route.label();
        assert_eq!(resolved.route.quirks.developer_role, developer, "{label}");
    }
}
