//! Which protocol is spoken.

use hermes_core::WireProtocol::{self, Anthropic, ChatCompletions, Converse, Gemini, Responses};
use hermes_llm::resolve::{Flags, resolve};

use crate::suite::profiles::{Setup, http_of};

const KEYS: &[(&str, &str)] = &[
    ("OPENROUTER_API_KEY", "k-0123456789"),
    ("OPENAI_API_KEY", "k-0123456789"),
    ("ANTHROPIC_API_KEY", "k-0123456789"),
    ("XAI_API_KEY", "k-0123456789"),
    ("MINIMAX_API_KEY", "k-0123456789"),
    ("GEMINI_API_KEY", "k-0123456789"),
    ("DEEPSEEK_API_KEY", "k-0123456789"),
    ("OPENCODE_ZEN_API_KEY", "k-0123456789"),
    ("OPENCODE_GO_API_KEY", "k-0123456789"),
    ("AZURE_FOUNDRY_API_KEY", "k-0123456789"),
    ("AWS_BEARER_TOKEN_BEDROCK", "k-0123456789"),
];

fn protocol(provider: &str, model: &str, more: &str) -> WireProtocol {
    let config = format!("model: {{provider: '{provider}', default: '{model}'{more}}}");
    let setup = Setup::new(&config, KEYS);
    http_of(&setup.resolve()).protocol
}

// PV-5
#[test]
fn provider_address_and_model_decide_in_this_order() {
    let at = |url: &str| format!(", base_url: '{url}'");
    let mode = |mode: &str, url: &str| format!(", api_mode: {mode}, base_url: '{url}'");
    let azure = at("https://x.openai.azure.com/openai/v1");
    let azure_claude = at("https://x.services.ai.azure.com/anthropic");
    let zen = String::new();
    for (provider, model, more, wanted) in [
        // As set.
        (
            "openai",
            "gpt-5.5",
            ", api_mode: chat_completions".to_owned(),
            ChatCompletions,
        ),
        (
            "custom",
            "m",
            mode("anthropic_messages", "http://h/v1"),
            Anthropic,
        ),
        (
            "custom",
            "m",
            mode("codex_responses", "http://h/v1"),
            ChatCompletions,
        ),
        (
            "custom",
            "m",
            mode("codex_responses", "https://api.openai.com/v1"),
            Responses,
        ),
        // By the provider.
        ("xai", "grok-4", zen.clone(), Responses),
        ("anthropic", "claude-opus-4-6", zen.clone(), Anthropic),
        ("minimax", "MiniMax-M3", zen.clone(), Anthropic),
        (
            "minimax",
            "MiniMax-M3",
            at("https://api.minimax.io/v1"),
            ChatCompletions,
        ),
        ("gemini", "gemini-2.5-pro", zen.clone(), Gemini),
        (
            "gemini",
            "gemini-2.5-pro",
            at("https://generativelanguage.googleapis.com/v1beta/openai"),
            ChatCompletions,
        ),
        (
            "bedrock",
            "us.anthropic.claude-opus-4-6-v1",
            zen.clone(),
            Converse,
        ),
        ("openrouter", "openai/gpt-5.5", zen.clone(), ChatCompletions),
        // By the address.
        ("openai", "gpt-4.1", zen.clone(), Responses),
        ("deepseek", "deepseek-chat", zen.clone(), ChatCompletions),
        (
            "deepseek",
            "deepseek-chat",
            at("https://api.deepseek.com/anthropic"),
            Anthropic,
        ),
        ("custom", "m", at("https://h.test/anthropic/v1/"), Anthropic),
        ("custom", "m", at("https://api.kimi.com/coding"), Anthropic),
        (
            "custom",
            "m",
            at("https://bedrock-runtime.eu-west-1.amazonaws.com"),
            Converse,
        ),
        ("custom", "gpt-5", at("https://h.test/v1"), ChatCompletions),
        // By the model.
        ("azure", "gpt-5.5", azure.clone(), Responses),
        ("azure", "codex-mini", azure.clone(), Responses),
        ("azure", "o4-mini", azure.clone(), Responses),
        ("azure", "gpt-4.1", azure, ChatCompletions),
        ("azure", "claude-opus-4-6", azure_claude, Anthropic),
        ("zen", "claude-sonnet-4-6", zen.clone(), Anthropic),
        ("zen", "qwen3-max", zen.clone(), Anthropic),
        ("zen", "gpt-5.5", zen.clone(), Responses),
        ("zen", "glm-5.2", zen.clone(), ChatCompletions),
        ("go", "minimax-m2.7", zen.clone(), Anthropic),
        ("go", "qwen3-max", zen.clone(), Anthropic),
        ("go", "glm-5.2", zen, ChatCompletions),
    ] {
        assert_eq!(
            protocol(provider, model, &more),
            wanted,
            "{provider} {model}{more}"
        );
    }
}

// PV-5
#[test]
fn switching_the_model_switches_the_protocol_and_leaves_nothing_behind() {
    let setup = Setup::new(
        "model: {provider: opencode-zen, default: claude-sonnet-4-6}",
        KEYS,
    );
    let paths: Vec<_> = [
        None,
        Some("gpt-5.5"),
        Some("glm-5.2"),
        Some("claude-opus-4-6"),
    ]
    .into_iter()
    .map(|model| {
        let mut request = setup.request();
        request.flags = Flags {
            model,
            ..Flags::default()
        };
        let resolved = resolve(&request).expect("a route");
        let address = http_of(&resolved).clone();
        let base = address.base.join("");
        let quirks = &resolved.route.quirks;
        let path =
            hermes_llm::wire::path(address.protocol, &resolved.route.model, base.path(), quirks);
        (address.base.join(&path).path().to_owned(), address.auth)
    })
    .collect();
    let [claude, gpt, glm, again] = paths.as_slice() else {
        panic!("four routes");
    };
    assert_eq!(claude.0, "/zen/v1/messages");
    assert_eq!(gpt.0, "/zen/v1/responses");
    assert_eq!(glm.0, "/zen/v1/chat/completions");
    assert_eq!(again, claude);
    assert_ne!(gpt.1, claude.1);
}

// PV-5
#[test]
fn a_protocol_that_is_set_in_vain_is_named() {
    let unheeded = |config: &str| Setup::new(config, KEYS).resolve().route.unheeded();
    let own = "base_url: 'http://h/v1', api_mode: codex_responses";
    let said = unheeded(&format!("model: {{provider: custom, default: m, {own}}}"));
    let said = said.expect("it does not count");
    for words in ["codex_responses", "line 1: model.api_mode", "providers"] {
        assert!(said.contains(words), "{said}");
    }
    let named = format!("model: {{provider: lab, default: m}}\nproviders: {{lab: {{{own}}}}}");
    assert_eq!(unheeded(&named), None);
    let openai = "model: {provider: openai, default: gpt-5.5, api_mode: codex_responses}";
    assert_eq!(unheeded(openai), None);
}
