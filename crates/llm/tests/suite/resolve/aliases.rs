//! Names of providers and models, as people type them.

use hermes_llm::alias::{Spoken, parse};
use hermes_llm::profile::Profiles;
use hermes_llm::resolve::resolve;

use crate::suite::profiles::Setup;

const ALIASES: &[(&str, &str)] = &[
    ("zai", "glm z-ai z.ai zhipu"),
    ("gemini", "google google-gemini google-ai-studio"),
    ("vertex", "google-vertex vertex-ai gcp-vertex"),
    ("xai", "x-ai x.ai grok"),
    ("kimi-coding", "kimi moonshot kimi-for-coding"),
    ("kimi-coding-cn", "kimi-cn moonshot-cn"),
    ("stepfun", "step"),
    ("minimax-cn", "minimax-china"),
    ("anthropic", "claude claude-code"),
    ("opencode-zen", "opencode zen"),
    ("opencode-go", "go"),
    ("kilocode", "kilo"),
    ("alibaba", "dashscope aliyun qwen"),
    ("huggingface", "hf"),
    ("xiaomi", "mimo"),
    ("tencent-tokenhub", "tencent tokenhub"),
    ("bedrock", "aws amazon"),
    ("azure-foundry", "azure azure-ai"),
    ("nvidia", "nim nemotron"),
    ("arcee", "arcee-ai"),
    ("gmi", "gmi-cloud"),
    ("novita", "novita-ai"),
    ("fireworks", "fw"),
    ("upstage", "solar"),
    ("deepseek", "deep-seek"),
    ("lmstudio", "lm-studio"),
    ("custom", "ollama vllm llamacpp llama.cpp"),
    ("nous", "nous-portal"),
];

// PV-4
#[test]
fn every_alias_leads_to_its_provider() {
    let profiles = Profiles::new(None);
    for (id, aliases) in ALIASES {
        for alias in aliases.split(' ') {
            let found = profiles.find(alias).expect("profiles parse");
            assert_eq!(
                found.map(|found| found.id.clone()).as_deref(),
                Some(*id),
                "{alias}"
            );
        }
    }
}

// PV-4
#[test]
fn the_part_before_a_colon_counts_only_when_it_is_a_provider() {
    let profiles = Profiles::new(None);
    let known = |name: &str| match name.strip_prefix("custom:") {
        Some(own) => Ok(own == "a" || own == "my-lab"),
        None => profiles.find(name).map(|found| found.is_some()),
    };
    for (text, provider, model) in [
        ("gpt-5.5", None, Some("gpt-5.5")),
        ("qwen:7b", None, Some("qwen:7b")),
        ("qwen:latest", None, Some("qwen:latest")),
        ("qwen:qwen3-max", Some("qwen"), Some("qwen3-max")),
        ("llama3.1:70b-instruct", None, Some("llama3.1:70b-instruct")),
        (
            "openrouter:deepseek/deepseek-r1:free",
            Some("openrouter"),
            Some("deepseek/deepseek-r1:free"),
        ),
        (
            "deepseek/deepseek-r1:free",
            None,
            Some("deepseek/deepseek-r1:free"),
        ),
        ("custom:a:b:c", Some("custom:a"), Some("b:c")),
        ("custom:a", Some("custom:a"), None),
        ("custom:My Lab:big", Some("custom:my-lab"), Some("big")),
        ("custom:m1", Some("custom"), Some("m1")),
        ("Custom", Some("custom"), None),
        ("ollama:qwen:7b", Some("ollama"), Some("qwen:7b")),
        (
            "DeepSeek:deepseek-chat",
            Some("deepseek"),
            Some("deepseek-chat"),
        ),
        ("z.ai:glm-5.2", Some("z.ai"), Some("glm-5.2")),
        (
            "claude\u{2011}opus\u{2013}4\u{2014}6",
            None,
            Some("claude-opus-4-6"),
        ),
        (
            "kimi\u{2212}cn:kimi\u{2010}k2.5",
            Some("kimi-cn"),
            Some("kimi-k2.5"),
        ),
        ("anthropic:", Some("anthropic"), None),
        ("amazon.nova-pro-v1:0", None, Some("amazon.nova-pro-v1:0")),
        ("  gpt-5  ", None, Some("gpt-5")),
        ("", None, None),
    ] {
        let wanted = Spoken {
            provider: provider.map(ToOwned::to_owned),
            model: model.map(ToOwned::to_owned),
        };
        assert_eq!(
            parse(text, known).expect("profiles parse"),
            wanted,
            "{text}"
        );
    }
}

// PV-4
#[test]
fn short_names_and_names_of_ones_own_stand_for_models() {
    let setup = Setup::new(
        "model:\n  provider: openrouter\n  aliases: {quick: 'deepseek:deepseek-chat'}\n\
         model_aliases:\n  fav: {model: glm-5.2, provider: zai}\n  here: {model: m1, provider: custom, base_url: 'http://127.0.0.1:9/v1'}\n",
        &[
            ("OPENROUTER_API_KEY", "or-0123456789"),
            ("DEEPSEEK_API_KEY", "ds-0123456789"),
            ("GLM_API_KEY", "gl-0123456789"),
        ],
    );
    for (typed, wanted) in [
        ("sonnet", "openrouter/anthropic/claude-sonnet-4.6"),
        ("gpt5", "openrouter/openai/gpt-5.5"),
        ("gemini", "openrouter/google/gemini-3-pro-preview"),
        ("kimi-k2.5", "openrouter/moonshotai/kimi-k2.5"),
        ("claude-opus-4-6", "openrouter/anthropic/claude-opus-4.6"),
        ("FAV", "zai/glm-5.2"),
        ("quick", "deepseek/deepseek-chat"),
        ("here", "custom/m1"),
        ("zai:z-ai/glm-5.2", "zai/glm-5.2"),
        ("something:free", "openrouter/something:free"),
    ] {
        let mut request = setup.request();
        request.flags.model = Some(typed);
        let resolved = resolve(&request).expect(typed);
        assert_eq!(resolved.route.label(), wanted, "{typed}");
    }
}
