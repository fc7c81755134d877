//! The data files of providers, and what a request made from each looks like.

mod own;
mod replay;
mod setup;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::suite::lab::SCHEMAS;
use hermes_config::PROVIDER_KEYS;
use hermes_core::Effort;
use hermes_llm::profile::{AuthStyle, KeyNeed, Profile, Profiles};
use hermes_llm::resolve::{Resolved, resolve};
use hermes_llm::wire::{self, Dialect};
use hermes_llm::{Auth, ReasoningStyle};
use hermes_testkit::model_server::{ModelServer, Scenario};
use serde_json::{Map, Value as Json};

use setup::{NoMedia, question};
pub(crate) use setup::{Setup, ask, base_of, http_of, runtime};

fn profile(id: &str) -> Arc<Profile> {
    let found = Profiles::new(None).get(id);
    found.expect("a profile that parses").expect("a profile")
}

fn path_of(base: &str) -> String {
    let rest = base.split("://").nth(1).unwrap_or_default();
    rest.find('/')
        .map_or(String::new(), |at| rest[at..].to_owned())
}

#[test]
fn every_file_is_registered_and_keeps_the_rules() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("profiles");
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("the profiles")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            path.file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    files.sort();
    let mut registered: Vec<_> = Profiles::built_in().map(ToOwned::to_owned).collect();
    registered.sort();
    assert_eq!(files, registered);

    let mut names = BTreeMap::new();
    for id in Profiles::built_in() {
        let profile = profile(id);
        assert_eq!(profile.id, id);
        for name in std::iter::once(&profile.id).chain(&profile.aliases) {
            let other = names.insert(name.clone(), id);
            assert_eq!(other, None, "{name} is also a name of {id}");
        }
        let can_be_moved = !profile.base_url_env.is_empty() || id == "local";
        assert!(can_be_moved, "{id} cannot be pointed at another address");
        let says_where = profile.signup.is_some() || profile.key != KeyNeed::Required;
        assert!(says_where, "{id} does not say where to get a key");
    }
}

/// The row of a provider in `docs/providers.md`.
fn row(profile: &Profile) -> String {
    let code = |words: &[String]| {
        let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
        quoted.join(", ")
    };
    let key = match profile.key {
        _ if profile.auth == AuthStyle::Google => {
            code(&["VERTEX_CREDENTIALS_PATH", "GOOGLE_APPLICATION_CREDENTIALS"].map(str::to_owned))
        }
        KeyNeed::Login => "signing in".to_owned(),
        KeyNeed::Required | KeyNeed::Optional => code(&profile.key_env),
    };
    format!(
        "| `{}` | {} | {} | {key} | {} | {} |",
        profile.id,
        profile.name,
        profile.about,
        code(&profile.base_url_env),
        code(&profile.aliases),
    )
}

#[test]
fn the_page_about_providers_lists_every_one() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/providers.md");
    let page = std::fs::read_to_string(page).expect("docs/providers.md");
    let mut missing = Vec::new();
    for id in Profiles::built_in() {
        let row = row(&profile(id));
        if !page.lines().any(|line| line == row) {
            missing.push(row);
        }
    }
    assert!(
        missing.is_empty(),
        "rows to put in:\n{}",
        missing.join("\n")
    );
}

/// The bodies and heads of all providers, each reached with one key and one address.
fn requests() -> String {
    let server = ModelServer::start(Scenario::echo().lenient()).expect("a server");
    let runtime = runtime();
    let mut table = String::new();
    for id in Profiles::built_in().filter(|id| *id != "local") {
        let profile = profile(id);
        let path = profile
            .base_url
            .as_deref()
            .map_or("/v1".to_owned(), path_of)
            .replace("{project}", "p1")
            .replace("{region}", "global");
        let base = format!("{}{path}", server.origin());
        let mut variables = vec![(profile.base_url_env[0].as_str(), base.as_str())];
        let canary = format!("canary-{id}-0123456789");
        if let Some(name) = profile.key_env.first() {
            variables.push((name, &canary));
        }
        let account = account_file();
        variables.push(("GOOGLE_APPLICATION_CREDENTIALS", &account));
        let model = profile.default_model.clone().unwrap_or("m1".to_owned());
        let config = format!("model: {{provider: {id}, default: \"{model}\"}}");
        let setup = Setup::new(&config, &variables);
        let mut request = setup.request();
        let logins = vec!["nous".to_owned()];
        request.logins = &logins;
        let resolved = resolve(&request).unwrap_or_else(|error| panic!("{id}: {error}"));
        let local_key = http_of(&resolved).auth != Auth::None;
        assert_eq!(local_key, id != "custom", "{id}");
        runtime.block_on(ask(resolved));

        let seen = server.requests().pop().expect("a request");
        let auth = ["authorization", "x-api-key", "x-goog-api-key"]
            .into_iter()
            .filter_map(|name| seen.header(name).map(|value| format!("{name}: {value}")))
            .collect::<Vec<_>>()
            .join(", ")
            .replace(&canary, "KEY");
        let body = seen.expect_json().as_object().expect("an object").clone();
        let usual = profile.base_url.as_deref().unwrap_or("-");
        let names = profile.key_env.join(" ");
        let asked = format!("  {} | {auth}{}", seen.path, keys(&body));
        for line in [format!("{id}: {usual} | {names}"), asked] {
            table.push_str(line.trim_end());
            table.push('\n');
        }
    }
    table.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

/// The fields of a body that profiles decide about.
fn keys(body: &Map<String, Json>) -> String {
    const DECIDED: [&str; 6] = [
        "max_tokens",
        "max_completion_tokens",
        "temperature",
        "reasoning_effort",
        "session_id",
        "tags",
    ];
    let shown = DECIDED
        .iter()
        .filter_map(|key| Some((key, body.get(*key)?)));
    let parts: Vec<_> = shown
        .map(|(key, value)| format!(" | {key}={value}"))
        .collect();
    parts.concat()
}

// PV-1
#[test]
fn every_provider_is_reached_with_its_path_its_header_and_its_fields() {
    insta::assert_snapshot!(requests(), @r#"
    openrouter: https://openrouter.ai/api/v1 | OPENROUTER_API_KEY
      /api/v1/chat/completions | authorization: Bearer KEY | session_id="c1"
    openai-api: https://api.openai.com/v1 | OPENAI_API_KEY
      /v1/responses | authorization: Bearer KEY
    anthropic: https://api.anthropic.com | ANTHROPIC_API_KEY
      /v1/messages | x-api-key: KEY | max_tokens=64000
    gemini: https://generativelanguage.googleapis.com/v1beta | GOOGLE_API_KEY GEMINI_API_KEY
      /v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse | x-goog-api-key: KEY
    vertex: https://{region-}aiplatform.googleapis.com/v1beta1/projects/{project}/locations/{region}/endpoints/openapi |
      /v1beta1/projects/p1/locations/global/endpoints/openapi/chat/completions |
    deepseek: https://api.deepseek.com/v1 | DEEPSEEK_API_KEY
      /v1/chat/completions | authorization: Bearer KEY
    xai: https://api.x.ai/v1 | XAI_API_KEY
      /v1/responses | authorization: Bearer KEY
    zai: https://api.z.ai/api/paas/v4 | GLM_API_KEY ZAI_API_KEY Z_AI_API_KEY
      /api/paas/v4/chat/completions | authorization: Bearer KEY
    kimi-coding: https://api.moonshot.ai/v1 | KIMI_API_KEY KIMI_CODING_API_KEY
      /v1/chat/completions | authorization: Bearer KEY | max_tokens=32000
    kimi-coding-cn: https://api.moonshot.cn/v1 | KIMI_CN_API_KEY
      /v1/chat/completions | authorization: Bearer KEY | max_tokens=32000
    minimax: https://api.minimax.io/anthropic | MINIMAX_API_KEY
      /anthropic/v1/messages | authorization: Bearer KEY | max_tokens=131072
    minimax-cn: https://api.minimaxi.com/anthropic | MINIMAX_CN_API_KEY
      /anthropic/v1/messages | authorization: Bearer KEY | max_tokens=131072
    alibaba: https://dashscope-intl.aliyuncs.com/compatible-mode/v1 | DASHSCOPE_API_KEY
      /compatible-mode/v1/chat/completions | authorization: Bearer KEY
    alibaba-coding-plan: https://coding-intl.dashscope.aliyuncs.com/v1 | ALIBABA_CODING_PLAN_API_KEY DASHSCOPE_API_KEY
      /v1/chat/completions | authorization: Bearer KEY
    fireworks: https://api.fireworks.ai/inference/v1 | FIREWORKS_API_KEY
      /inference/v1/chat/completions | authorization: Bearer KEY
    novita: https://api.novita.ai/openai/v1 | NOVITA_API_KEY
      /openai/v1/chat/completions | authorization: Bearer KEY
    xiaomi: https://api.xiaomimimo.com/v1 | XIAOMI_API_KEY
      /v1/chat/completions | authorization: Bearer KEY
    tencent-tokenhub: https://tokenhub.tencentmaas.com/v1 | TOKENHUB_API_KEY
      /v1/chat/completions | authorization: Bearer KEY | reasoning_effort="high"
    nvidia: https://integrate.api.nvidia.com/v1 | NVIDIA_API_KEY
      /v1/chat/completions | authorization: Bearer KEY | max_tokens=16384
    stepfun: https://api.stepfun.ai/step_plan/v1 | STEPFUN_API_KEY
      /step_plan/v1/chat/completions | authorization: Bearer KEY
    ollama-cloud: https://ollama.com/v1 | OLLAMA_API_KEY
      /v1/chat/completions | authorization: Bearer KEY
    arcee: https://api.arcee.ai/api/v1 | ARCEEAI_API_KEY
      /api/v1/chat/completions | authorization: Bearer KEY | temperature=0.5
    gmi: https://api.gmi-serving.com/v1 | GMI_API_KEY
      /v1/chat/completions | authorization: Bearer KEY
    kilocode: https://api.kilo.ai/api/gateway | KILOCODE_API_KEY
      /api/gateway/chat/completions | authorization: Bearer KEY
    opencode-zen: https://opencode.ai/zen/v1 | OPENCODE_ZEN_API_KEY
      /zen/v1/messages | x-api-key: KEY | max_tokens=64000
    opencode-go: https://opencode.ai/zen/go/v1 | OPENCODE_GO_API_KEY
      /zen/go/v1/chat/completions | authorization: Bearer KEY
    deepinfra: https://api.deepinfra.com/v1/openai | DEEPINFRA_API_KEY
      /v1/openai/chat/completions | authorization: Bearer KEY
    upstage: https://api.upstage.ai/v1 | UPSTAGE_API_KEY
      /v1/chat/completions | authorization: Bearer KEY | reasoning_effort="medium"
    azure-foundry: - | AZURE_FOUNDRY_API_KEY
      /v1/chat/completions | authorization: Bearer KEY
    huggingface: https://router.huggingface.co/v1 | HF_TOKEN
      /v1/chat/completions | authorization: Bearer KEY
    nous: https://inference-api.nousresearch.com/v1 |
      /v1/chat/completions |  | tags=["product=hermes-agent","client=hermes-client-vVERSION","conversation=c1"]
    bedrock: https://bedrock-runtime.{region}.amazonaws.com | AWS_BEARER_TOKEN_BEDROCK
      /model/us.anthropic.claude-sonnet-4-6/converse-stream | authorization: Bearer KEY
    lmstudio: http://127.0.0.1:1234/v1 | LM_API_KEY
      /v1/chat/completions | authorization: Bearer KEY
    custom: - |
      /v1/chat/completions |
    "#);
}

// PV-12
#[test]
fn every_effort_becomes_the_fields_of_the_provider() {
    const EFFORTS: [(&str, Option<Effort>); 6] = [
        ("unset", None),
        ("none", Some(Effort::Off)),
        ("minimal", Some(Effort::Minimal)),
        ("medium", Some(Effort::Medium)),
        ("xhigh", Some(Effort::ExtraHigh)),
        ("max", Some(Effort::Max)),
    ];
    let mut tables: Vec<(String, Vec<String>)> = Vec::new();
    for id in Profiles::built_in().filter(|id| *id != "local") {
        for resolved in models_of(id) {
            if resolved.route.quirks.reasoning == ReasoningStyle::Native {
                continue;
            }
            let lines = EFFORTS.map(|(word, effort)| {
                let fields = effort_fields(&resolved, effort);
                format!("  {word}: {fields}").trim_end().to_owned()
            });
            let (table, name) = (lines.join("\n"), resolved.route.label());
            match tables.iter_mut().find(|(known, _)| *known == table) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => tables.push((table, vec![name])),
            }
        }
    }
    let text: Vec<_> = tables
        .into_iter()
        .map(|(table, names)| format!("{}\n{table}\n", names.join(", ")))
        .collect();
    insta::assert_snapshot!(text.concat(), @r#"
    openrouter/deepseek/x, openrouter/anthropic/x, openrouter/openai/x, openrouter/x-ai/x, openrouter/google/gemini-2x, openrouter/google/gemma-4x, openrouter/qwen/qwen3x, openrouter/tencent/hy3x, openrouter/xiaomi/x, openrouter/x-ai/grokx, openrouter/anthropic/claudex
      unset:
      none: reasoning={"enabled":false}
      minimal: reasoning={"enabled":true,"effort":"minimal"}
      medium: reasoning={"enabled":true,"effort":"medium"}
      xhigh: reasoning={"enabled":true,"effort":"xhigh"}
      max: reasoning={"enabled":true,"effort":"max"}
    openrouter/anthropic/claude-x-4.6x, openrouter/anthropic/claude-x-4.7x, openrouter/anthropic/claude-x-4.8x, openrouter/anthropic/claude-x-5x
      unset:
      none:
      minimal: reasoning={"enabled":true} verbosity="low"
      medium: reasoning={"enabled":true} verbosity="medium"
      xhigh: reasoning={"enabled":true} verbosity="max"
      max: reasoning={"enabled":true} verbosity="max"
    openai-api/gpt-3x, openai-api/gpt-4x, openai-api/gpt-5-chatx, openai-api/chatgpt-x, upstage/solar-minix, upstage/syn-prox
      unset:
      none:
      minimal:
      medium:
      xhigh:
      max:
    vertex/google/gemini-3-flash-preview
      unset:
      none: extra_body={"google":{"thinking_config":{"include_thoughts":false}}}
      minimal: extra_body={"google":{"thinking_config":{"include_thoughts":true,"thinking_level":"low"}}}
      medium: extra_body={"google":{"thinking_config":{"include_thoughts":true,"thinking_level":"medium"}}}
      xhigh: extra_body={"google":{"thinking_config":{"include_thoughts":true,"thinking_level":"high"}}}
      max: extra_body={"google":{"thinking_config":{"include_thoughts":true,"thinking_level":"high"}}}
    deepseek/deepseek-reasonerx, deepseek/deepseek-v4x, deepseek/deepseek-v5x, opencode-go/deepseekx
      unset: thinking={"type":"enabled"}
      none: thinking={"type":"disabled"}
      minimal: reasoning_effort="low" thinking={"type":"enabled"}
      medium: reasoning_effort="medium" thinking={"type":"enabled"}
      xhigh: reasoning_effort="max" thinking={"type":"enabled"}
      max: reasoning_effort="max" thinking={"type":"enabled"}
    xai/grok-4.5, xai/grok-3-minix, xai/grok-4.20-multi-agentx, xai/grok-4.3x, xai/grok-4.5x
      unset:
      none:
      minimal: reasoning={"effort":"low","summary":"auto"}
      medium: reasoning={"effort":"medium","summary":"auto"}
      xhigh: reasoning={"effort":"high","summary":"auto"}
      max: reasoning={"effort":"high","summary":"auto"}
    zai/glm-5.2, zai/glm-5.2x, opencode-go/glm-5.2, opencode-go/glm-5.2x
      unset:
      none: thinking={"type":"disabled"}
      minimal: reasoning_effort="high" thinking={"type":"enabled"}
      medium: reasoning_effort="high" thinking={"type":"enabled"}
      xhigh: reasoning_effort="max" thinking={"type":"enabled"}
      max: reasoning_effort="max" thinking={"type":"enabled"}
    zai/glm-4.5x, zai/glm-4.6x, zai/glm-4.7x, zai/glm-5x
      unset:
      none: thinking={"type":"disabled"}
      minimal: thinking={"type":"enabled"}
      medium: thinking={"type":"enabled"}
      xhigh: thinking={"type":"enabled"}
      max: thinking={"type":"enabled"}
    kimi-coding/kimi-k2.5, kimi-coding-cn/kimi-k2.5, opencode-go/kimi-k2x
      unset:
      none: thinking={"type":"disabled"}
      minimal: reasoning_effort="low" thinking={"type":"enabled"}
      medium: reasoning_effort="medium" thinking={"type":"enabled"}
      xhigh: reasoning_effort="high" thinking={"type":"enabled"}
      max: reasoning_effort="high" thinking={"type":"enabled"}
    tencent-tokenhub/hy3
      unset: reasoning_effort="high"
      none:
      minimal: reasoning_effort="low"
      medium: reasoning_effort="medium"
      xhigh: reasoning_effort="high"
      max: reasoning_effort="high"
    ollama-cloud/glm-5.2, ollama-cloud/xdeepseekx, ollama-cloud/xkimix, ollama-cloud/xmimox
      unset:
      none: reasoning_effort="none"
      minimal: reasoning_effort="low"
      medium: reasoning_effort="medium"
      xhigh: reasoning_effort="max"
      max: reasoning_effort="max"
    upstage/solar-pro3
      unset: reasoning_effort="medium"
      none:
      minimal:
      medium: reasoning_effort="medium"
      xhigh: reasoning_effort="high"
      max: reasoning_effort="high"
    nous/z-ai/glm-5.2, nous/anthropic/claudex, nous/moonshotai/kimix, nous/qwen/x, nous/xgpt-5x, nous/xcodexx
      unset: reasoning={"enabled":true,"effort":"medium"}
      none:
      minimal: reasoning={"enabled":true,"effort":"minimal"}
      medium: reasoning={"enabled":true,"effort":"medium"}
      xhigh: reasoning={"enabled":true,"effort":"xhigh"}
      max: reasoning={"enabled":true,"effort":"max"}
    lmstudio/m1
      unset:
      none: reasoning_effort="none" think=false
      minimal: reasoning_effort="low"
      medium: reasoning_effort="medium"
      xhigh: reasoning_effort="high"
      max: reasoning_effort="high"
    custom/m1, custom/xdeepseekx, custom/xkimix, custom/xmimox, custom/xclaudex
      unset:
      none: reasoning_effort="none"
      minimal: reasoning_effort="low"
      medium: reasoning_effort="medium"
      xhigh: reasoning_effort="high"
      max: reasoning_effort="high"
    "#);
}

// PV-12: only servers nearby know the word of local servers.
#[test]
fn an_endpoint_of_the_users_own_is_told_not_to_think_in_words_it_knows() {
    for (host, told) in [
        (
            "http://127.0.0.1:8000",
            r#"reasoning_effort="none" think=false"#,
        ),
        (
            "http://192.168.1.7:8000",
            r#"reasoning_effort="none" think=false"#,
        ),
        ("https://api.lab.test", r#"reasoning_effort="none""#),
    ] {
        let config = format!(
            "model: {{provider: custom, default: m1, base_url: '{host}/v1', api_key: '0123456789'}}"
        );
        let setup = Setup::new(&config, &[]);
        let resolved = resolve(&setup.request()).unwrap();
        assert_eq!(effort_fields(&resolved, Some(Effort::Off)), told, "{host}");
        let high = effort_fields(&resolved, Some(Effort::High));
        assert_eq!(high, r#"reasoning_effort="high""#, "{host}");
    }
}

/// A file of credentials of Google Cloud that nobody can sign with.
fn account_file() -> String {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/google-account.json");
    file.display().to_string()
}

/// Routes of a provider: its usual model, and one for every name its rules are about.
fn models_of(id: &str) -> Vec<Resolved> {
    let profile = profile(id);
    let of_rules = profile.rules.iter().flat_map(|rule| &rule.models);
    let named = of_rules.map(|pattern| pattern.replace('*', "x"));
    let usual = profile.default_model.clone().unwrap_or("m1".to_owned());
    let account = account_file();
    let key = profile.key_env.first().map_or("LM_API_KEY", String::as_str);
    let variables = [
        (key, "0123456789"),
        (
            "AZURE_FOUNDRY_BASE_URL",
            "https://x.openai.azure.com/openai/v1",
        ),
        ("CUSTOM_BASE_URL", "https://example.test/v1"),
        ("GOOGLE_APPLICATION_CREDENTIALS", &account),
    ];
    let logins = vec!["nous".to_owned()];
    std::iter::once(usual)
        .chain(named)
        .map(|model| {
            let config = format!("model: {{provider: {id}, default: \"{model}\"}}");
            let setup = Setup::new(&config, &variables);
            let mut request = setup.request();
            request.logins = &logins;
            resolve(&request).unwrap_or_else(|error| panic!("{id}: {error}"))
        })
        .collect()
}

fn effort_fields(resolved: &Resolved, effort: Option<Effort>) -> String {
    const FIELDS: [&str; 7] = [
        "reasoning",
        "verbosity",
        "reasoning_effort",
        "thinking",
        "think",
        "extra_body",
        "output_config",
    ];
    let dialect = Dialect {
        provider: &resolved.route.provider,
        quirks: &resolved.route.quirks,
        media: &NoMedia,
        schemas: &SCHEMAS,
    };
    let request = question(resolved, effort);
    let body = wire::encode(http_of(resolved).protocol, &request, &dialect);
    let parts: Vec<_> = FIELDS
        .iter()
        .filter_map(|field| Some(format!("{field}={}", body.get(field)?)))
        .collect();
    parts.join(" ")
}

// PV-12
#[test]
fn minimax_is_told_to_think_in_its_own_word_where_it_speaks_chat() {
    for provider in ["minimax", "minimax-cn"] {
        let place = format!(
            "https://api.{}/v1",
            match provider {
                "minimax" => "minimax.io",
                _ => "minimaxi.com",
            }
        );
        let config = format!("model: {{provider: {provider}, default: MiniMax-M3}}");
        let variables = [
            ("MINIMAX_API_KEY", "canary-0123456789"),
            ("MINIMAX_CN_API_KEY", "canary-0123456789"),
            ("MINIMAX_BASE_URL", &place),
            ("MINIMAX_CN_BASE_URL", &place),
        ];
        let setup = Setup::new(&config, &variables);
        let resolved = setup.resolve();
        for (effort, expected) in [
            (None, ""),
            (Some(Effort::Off), r#"thinking={"type":"disabled"}"#),
            (Some(Effort::High), r#"thinking={"type":"adaptive"}"#),
        ] {
            assert_eq!(effort_fields(&resolved, effort), expected, "{provider}");
        }
        assert_eq!(resolved.route.quirks.extra_body["reasoning_split"], true);
    }
}

// PV-12
#[test]
fn models_of_bedrock_that_use_no_tools_are_offered_none() {
    for (model, offered) in [
        ("us.deepseek.r1-v1:0", false),
        ("stability.stable-image-v1:0", false),
        ("amazon.titan-embed-text-v2:0", false),
        ("deepseek.v3-v1:0", true),
        ("us.anthropic.claude-sonnet-4-6", true),
    ] {
        let config = format!("model: {{provider: bedrock, default: '{model}'}}");
        let setup = Setup::new(
            &config,
            &[("AWS_BEARER_TOKEN_BEDROCK", "canary-0123456789")],
        );
        let resolved = setup.resolve();
        let dialect = Dialect {
            provider: "bedrock",
            quirks: &resolved.route.quirks,
            media: &NoMedia,
            schemas: &SCHEMAS,
        };
        let mut request = crate::suite::lab::question();
        request.model = resolved.route.model.clone();
        let body = wire::encode(http_of(&resolved).protocol, &request, &dialect);
        assert_eq!(body.get("toolConfig").is_some(), offered, "{model}");
    }
}

// PV-7
#[test]
fn a_service_tier_is_asked_of_those_who_have_tiers() {
    for (provider, model, key, sent) in [
        ("openai-api", "gpt-5.5", "OPENAI_API_KEY", true),
        ("openai-api", "gpt-4.1", "OPENAI_API_KEY", true),
        ("openrouter", "openai/gpt-5.5", "OPENROUTER_API_KEY", true),
        ("xai", "grok-4.5", "XAI_API_KEY", false),
        ("anthropic", "claude-opus-4-6", "ANTHROPIC_API_KEY", false),
        ("deepseek", "deepseek-chat", "DEEPSEEK_API_KEY", false),
    ] {
        for tier in ["flex", ""] {
            let config = format!(
                "agent: {{service_tier: '{tier}'}}\nmodel: {{provider: {provider}, default: {model}}}\n"
            );
            let setup = Setup::new(&config, &[(key, "canary-0123456789")]);
            let resolved = setup.resolve();
            let dialect = Dialect {
                provider,
                quirks: &resolved.route.quirks,
                media: &NoMedia,
                schemas: &SCHEMAS,
            };
            let request = question(&resolved, None);
            let body = wire::encode(http_of(&resolved).protocol, &request, &dialect);
            let expected = (sent && !tier.is_empty()).then_some(tier);
            let found = body.get("service_tier").and_then(Json::as_str);
            assert_eq!(found, expected, "{provider}/{model}");
        }
    }
}

/// `config show` and `status` list these; a variable nobody reads, or one that is not listed, misleads.
#[test]
fn the_listed_variables_are_those_the_profiles_read() {
    let elsewhere = [
        "AWS_PROFILE",
        "AWS_REGION",
        "AZURE_ANTHROPIC_KEY",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "VERTEX_CREDENTIALS_PATH",
        "VERTEX_PROJECT_ID",
        "VERTEX_REGION",
    ];
    let profiles: Vec<_> = Profiles::built_in().map(profile).collect();
    for listed in PROVIDER_KEYS {
        let profile = profiles
            .iter()
            .find(|profile| profile.id == listed.provider);
        let profile = profile.unwrap_or_else(|| panic!("there is no {}", listed.provider));
        let mut read = profile.key_env.iter().chain(&profile.base_url_env);
        let known = read.any(|name| name == listed.name) || elsewhere.contains(&listed.name);
        assert!(known, "{} does not read {}", profile.id, listed.name);
    }
    for profile in &profiles {
        for name in profile.key_env.iter().chain(&profile.base_url_env) {
            let listed = PROVIDER_KEYS.iter().any(|key| key.name == name);
            assert!(listed, "{name} of {} is not listed", profile.id);
        }
    }
}
