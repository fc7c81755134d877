//! Windows, limits and prices.

use hermes_core::{CacheLife, CostStatus, Usage};
use hermes_llm::metadata::{
    Catalogue, KeptList, KeptLists, Learned, WindowQuery, cost, facts_from_listing, output, sees,
    window, window_from_listing,
};
use hermes_llm::profile::Profiles;
use hermes_llm::resolve::{CloudMachine, Request, resolve};
use hermes_llm::{Route, WindowSource};
use serde_json::json;

use super::profiles::Setup;

fn query(model: &str) -> (u32, WindowSource) {
    window(&WindowQuery {
        model,
        base: None,
        configured: None,
        learned: None,
        provider: "lab",
        catalogue: None,
    })
}

// PV-22
#[test]
fn the_window_is_what_is_set_then_learned_then_known_then_guessed() {
    let learned = Learned::from_yaml("context_lengths:\n  m1@http://10.0.0.1/v1: 40960\n");
    let of = |config: &str| {
        let setup = Setup::new(config, &[]);
        let mut request = setup.request();
        request.learned = Some(&learned);
        let route = resolve(&request).expect("a route").route;
        let shown = route.why.iter().find(|why| why.part == "window");
        let shown = shown.expect("an explanation").from.clone();
        (route.limits.window, route.limits.window_from, shown)
    };
    let told = |window, from: WindowSource| (window, from, from.to_string());
    let lab = "base_url: 'http://10.0.0.1/v1/'";
    let model = |more: &str| format!("model: {{provider: custom, default: m1, {lab}{more}}}");
    assert_eq!(
        of(&model(", context_length: 9000")),
        told(9000, WindowSource::Configured)
    );
    assert_eq!(of(&model("")), told(40960, WindowSource::Learned));
    assert_eq!(
        of("model: {provider: custom, default: kimi-k2.5, base_url: 'http://10.0.0.1/v1'}"),
        told(262_144, WindowSource::Family)
    );
    assert_eq!(
        of("model: {provider: custom, default: m1, base_url: 'http://10.0.0.2/v1'}"),
        told(32_768, WindowSource::Guess)
    );
}

// PV-22
#[test]
fn nobody_guesses_about_the_usual_model_of_a_provider() {
    let profiles = Profiles::new(None);
    for profile in profiles.all().expect("profiles parse") {
        let model = profile.default_model.as_deref();
        let guess = model.is_some_and(|model| query(model).1 == WindowSource::Guess);
        assert!(!guess, "{}: {model:?}", profile.id);
    }
}

// PV-22
#[test]
fn a_list_on_disk_counts_before_what_is_known_of_the_family() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("models_dev_cache.json");
    std::fs::write(
        &path,
        json!({
            "lab": {"name": "Lab", "models": {"kimi-k2.5": {"limit": {"context": 111_000, "output": 5}}}},
            "aihub": {"models": {"m9": {"limit": {"context": 4_000}}}},
            "zoo": {"models": {"m9": {"limit": {"context": 333_000}}}},
            "other": {"models": {
                "kimi-k2.5": {"limit": {"context": 222_000}},
                "m9": {"limit": {"context": 333_000}, "cost": {"input": 1.5}},
                "unsaid": {"cost": {}},
            }},
        })
        .to_string(),
    )
    .unwrap();
    let of = |path: &std::path::Path, provider: &str, model: &str| {
        window(&WindowQuery {
            model,
            base: None,
            configured: None,
            learned: None,
            provider,
            catalogue: Some(&Catalogue::new(path)),
        })
    };
    let listed = |window| (window, WindowSource::Catalogue);
    assert_eq!(of(&path, "lab", "kimi-k2.5"), listed(111_000));
    assert_eq!(of(&path, "lab", "moonshotai/kimi-k2.5"), listed(111_000));
    // What others give a model says less than what is known of its family, and most of them more than one.
    assert_eq!(of(&path, "elsewhere", "kimi-k2.5").1, WindowSource::Family);
    assert_eq!(of(&path, "elsewhere", "m9"), listed(333_000));
    assert_eq!(of(&path, "lab", "unsaid").1, WindowSource::Guess);
    // Neither a missing list nor a broken one is trouble.
    let missing = folder.path().join("none.json");
    assert_eq!(of(&missing, "lab", "kimi-k2.5").1, WindowSource::Family);
    std::fs::write(&path, "{\"lab\": [").unwrap();
    assert_eq!(of(&path, "lab", "kimi-k2.5").1, WindowSource::Family);
}

// PV-22
#[test]
fn each_provider_is_looked_up_under_the_name_that_the_list_has_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("models_dev_cache.json");
    let rows = [
        ("openai-api", "openai", "gpt-4.1"),
        ("gemini", "google", "gemini-2.5-pro"),
        ("vertex", "google-vertex", "google/gemini-2.5-pro"),
        ("kimi-coding", "moonshotai", "kimi-k2.5"),
        ("kimi-coding-cn", "moonshotai-cn", "kimi-k2.5"),
        (
            "fireworks",
            "fireworks-ai",
            "accounts/fireworks/models/glm-5p2",
        ),
        ("novita", "novita-ai", "deepseek/deepseek-v3"),
        ("gmi", "gmicloud", "zai-org/glm-5.2"),
        ("kilocode", "kilo", "openai/gpt-4.1"),
        ("opencode-zen", "opencode", "gpt-5.5"),
        ("azure-foundry", "azure", "gpt-4.1"),
        ("bedrock", "amazon-bedrock", "amazon.nova-pro-v1:0"),
        ("deepseek", "deepseek", "deepseek-chat"),
    ];
    let mut list = serde_json::Map::new();
    for (_, listed, model) in rows {
        let name = model.strip_prefix("google/").unwrap_or(model);
        let models = |window: u32| json!({"models": {name: {"limit": {"context": window}}}});
        list.insert(listed.to_owned(), models(77_000));
        // A reseller that gives it less, and comes first.
        list.insert(format!("a-{listed}"), models(8_000));
    }
    std::fs::write(&path, serde_json::to_string(&list).unwrap()).unwrap();
    let catalogue = Catalogue::new(&path);
    let azure = "https://x.openai.azure.com/openai/v1";
    for (provider, _, model) in rows {
        let config = format!("model: {{provider: {provider}, default: '{model}'}}");
        let profile = Profiles::new(None).get(provider).unwrap().unwrap();
        let mut variables = vec![
            ("AZURE_FOUNDRY_BASE_URL", azure),
            ("VERTEX_PROJECT_ID", "p"),
        ];
        if let Some(name) = profile.key_env.first() {
            variables.push((name, "key-0123456789"));
        }
        let setup = Setup::new(&config, &variables);
        let mut request = setup.request();
        request.catalogue = Some(&catalogue);
        request.machine = Some(CloudMachine::Google);
        let limits = resolve(&request).expect(provider).route.limits;
        let found = (limits.window, limits.window_from);
        assert_eq!(found, (77_000, WindowSource::Catalogue), "{provider}");
    }
}

// PV-22
#[test]
fn families_are_told_by_the_longest_name() {
    for (model, size) in [
        ("claude-opus-4-6", 1_000_000),
        ("anthropic/claude-opus-4.6", 1_000_000),
        ("claude-opus-4-5", 200_000),
        ("us.anthropic.claude-sonnet-4-5-v1:0", 200_000),
        ("claude-sonnet-5", 1_000_000),
        ("gpt-5.5", 1_050_000),
        ("openai/gpt-5-mini", 400_000),
        ("gpt-4.1-mini", 1_047_576),
        ("gemini-3.5-flash", 1_048_576),
        ("deepseek-v4-flash", 1_000_000),
        ("deepseek-chat", 131_072),
        ("glm-5.2", 1_048_576),
        ("glm-4.7", 202_752),
        ("grok-4.5", 256_000),
        ("MiniMax-M3", 204_800),
        ("qwen2.5:7b", 131_072),
        ("smollm2", 8_192),
    ] {
        assert_eq!(query(model), (size, WindowSource::Family), "{model}");
    }
    assert_eq!(query("demo3").1, WindowSource::Guess);
    assert_eq!(output("claude-3-5-haiku"), Some(8_192));
    assert_eq!(output("m1"), None);
    assert_eq!(sees("deepseek-chat"), Some(false));
    assert_eq!(sees("gpt-5.5"), Some(true));
    assert_eq!(sees("m1"), None);
}

// PV-22
#[test]
fn lists_of_models_name_windows_in_many_ways() {
    for (listing, wanted) in [
        (
            json!({"data": [{"id": "m", "context_length": 1000}]}),
            Some(1000),
        ),
        (
            json!({"data": [{"id": "m", "max_model_len": 2000}]}),
            Some(2000),
        ),
        (
            json!({"data": [{"id": "m", "meta": {"n_ctx_train": 3000}}]}),
            Some(3000),
        ),
        (
            json!({"data": [{"id": "m", "context_size": "4000"}]}),
            Some(4000),
        ),
        (
            json!({"models": [{"name": "models/m", "max_input_tokens": 5000}]}),
            Some(5000),
        ),
        (
            json!([{"id": "m", "top_provider": {"context_length": 6000}}]),
            Some(6000),
        ),
        (
            json!({"data": [{"id": "other", "context_length": 1000}]}),
            None,
        ),
        (json!({"data": [{"id": "m", "context_length": 0}]}), None),
        (json!({"error": "no"}), None),
    ] {
        assert_eq!(window_from_listing(&listing, "m"), wanted, "{listing}");
    }
}

#[test]
fn what_was_learned_survives_the_file() {
    let base = url::Url::parse("https://api.example.com/v1?x=1").expect("a url");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("context_length_cache.yaml");
    // Many learn at the same time, and nothing of it is lost.
    std::thread::scope(|scope| {
        for nth in 0..8_u32 {
            let (file, base) = (&file, &base);
            scope.spawn(move || {
                for step in 0..5 {
                    let model = format!("vendor/m{nth}-{step}:free");
                    let kept = Learned::keep(file, &model, base, 65_536 + nth);
                    assert!(kept.expect("a file"), "{model}");
                }
            });
        }
    });
    let again = Learned::read(&file).expect("a file");
    for nth in 0..8 {
        for step in 0..5 {
            let model = format!("vendor/m{nth}-{step}:free");
            assert_eq!(again.window(&model, &base), Some(65_536 + nth));
        }
    }
    let junk = Learned::from_yaml("context_lengths: {a@b: many, c@d: 12, e@f: -1}");
    assert_eq!(junk, Learned::default());
    assert_eq!(Learned::from_yaml("{{{"), Learned::default());
}

// AG-25
#[test]
fn a_cost_is_reported_estimated_included_or_unknown() {
    let usage = Usage {
        input_tokens: 1_000_000,
        output_tokens: 100_000,
        cache_read_tokens: 1_000_000,
        cache_write_tokens: 1_000_000,
        reasoning_tokens: 50_000,
    };
    let route = |provider: &str, model: &str| {
        let config = format!("model: {{provider: '{provider}', default: '{model}'}}");
        let keys = &[
            ("ANTHROPIC_API_KEY", "an-0123456789"),
            ("OPENROUTER_API_KEY", "or-0123456789"),
            ("OPENAI_API_KEY", "oa-0123456789"),
        ];
        Setup::new(&config, keys).resolve().route
    };
    let of = |provider: &str, model: &str| {
        let cost = cost(&usage, &route(provider, model), CacheLife::Short, None);
        (
            cost.usd.map(|usd| (usd * 1000.0).round() / 1000.0),
            cost.status,
        )
    };
    assert_eq!(
        of("anthropic", "claude-opus-4-6"),
        (Some(14.25), CostStatus::Estimated)
    );
    assert_eq!(
        of("openrouter", "anthropic/claude-opus-4.6"),
        (Some(14.25), CostStatus::Estimated)
    );
    assert_eq!(
        of("anthropic", "claude-haiku-4-5-20251001"),
        (Some(2.85), CostStatus::Estimated)
    );
    for (provider, model) in [
        ("openai", "gpt-9"),
        ("openai", "gpt-5-pro"),
        ("anthropic", "claude-opus-9"),
        ("openrouter", "openai/gpt-5:free"),
        ("openrouter", "vendor/m"),
    ] {
        assert_eq!(of(provider, model), (None, CostStatus::Unknown), "{model}");
    }
    assert_eq!(of("ollama", "m"), (None, CostStatus::Included));
    // An hour in memory costs twice what is sent, five minutes a quarter more.
    let hour = |provider: &str, model: &str| {
        let cost = cost(&usage, &route(provider, model), CacheLife::Long, None);
        cost.usd.map(|usd| (usd * 1000.0).round() / 1000.0)
    };
    assert_eq!(hour("anthropic", "claude-opus-4-6"), Some(18.0));
    assert_eq!(hour("anthropic", "claude-haiku-4-5-20251001"), Some(3.6));
    let reported = cost(
        &usage,
        &route("openrouter", "vendor/m"),
        CacheLife::Short,
        Some(0.5),
    );
    assert_eq!(
        (reported.usd, reported.status),
        (Some(0.5), CostStatus::Actual)
    );
}

// AG-25
#[test]
fn what_the_built_in_providers_usually_answer_with_has_a_price() {
    // Their prices stand in lists of their own, or nowhere.
    const WITHOUT: [&str; 3] = ["novita", "tencent-tokenhub", "nvidia"];
    let usage = Usage {
        input_tokens: 10_000,
        output_tokens: 1_000,
        cache_read_tokens: 10_000,
        ..Usage::default()
    };
    let setup = Setup::new("", &[]);
    let mut without = Vec::new();
    for profile in setup.profiles.all().unwrap() {
        let Some(model) = profile.default_model.as_deref() else {
            continue;
        };
        let route = Route {
            provider: profile.id.clone(),
            model: model.to_owned(),
            ..elsewhere()
        };
        if profile.id != "local"
            && cost(&usage, &route, CacheLife::Short, None).status == CostStatus::Unknown
        {
            without.push(profile.id.clone());
        }
    }
    assert_eq!(without, WITHOUT);
}

// AG-25
#[test]
fn a_long_request_is_charged_as_such_and_a_name_of_aws_is_read() {
    let of = |provider: &str, model: &str, input_tokens| {
        let route = Route {
            provider: provider.to_owned(),
            model: model.to_owned(),
            ..elsewhere()
        };
        let usage = Usage {
            input_tokens,
            ..Usage::default()
        };
        let usd = cost(&usage, &route, CacheLife::Short, None).usd;
        usd.map(|usd| (usd * 1_000.0).round() / 1_000.0)
    };
    assert_eq!(of("openai-api", "gpt-5.5", 100_000), Some(0.5));
    assert_eq!(of("openai-api", "gpt-5.5", 300_000), Some(3.0));
    let sonnet = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
    assert_eq!(of("bedrock", sonnet, 200_000), Some(0.6));
    assert_eq!(of("bedrock", sonnet, 300_000), Some(1.8));
    assert_eq!(of("anthropic", "claude-sonnet-4-6", 300_000), Some(0.9));
    assert_eq!(of("gemini", "gemini-2.5-pro", 200_000), Some(0.25));
    assert_eq!(of("gemini", "gemini-2.5-pro", 300_000), Some(0.75));
    assert_eq!(of("gemini", "gemini-3.1-pro-preview", 300_000), Some(1.2));
    assert_eq!(of("bedrock", "amazon.nova-pro-v1:0", 1_000_000), Some(0.8));
    let glm = "accounts/fireworks/models/glm-5p2";
    assert_eq!(of("fireworks", glm, 1_000_000), Some(1.4));
    assert_eq!(of("bedrock", "meta.llama4-scout", 1_000_000), None);
}

// AG-25: what is remembered counts to the length of a request, and the answer to a long one costs more too.
#[test]
fn the_price_of_a_long_request_holds_for_all_of_it() {
    let route = Route {
        provider: "gemini".to_owned(),
        model: "gemini-3-pro-preview".to_owned(),
        ..elsewhere()
    };
    let usd = |cache_read_tokens| {
        let usage = Usage {
            input_tokens: 50_000,
            output_tokens: 10_000,
            cache_read_tokens,
            ..Usage::default()
        };
        let cost = cost(&usage, &route, CacheLife::Short, None);
        assert_eq!(cost.status, CostStatus::Estimated);
        (cost.usd.unwrap() * 1_000.0).round() / 1_000.0
    };
    assert_eq!(usd(150_000), 0.1 + 0.12 + 0.03);
    assert_eq!(usd(200_000), 0.2 + 0.18 + 0.08);
}

/// A route to a provider far away.
fn elsewhere() -> Route {
    let config = "model: {provider: openai-api, default: gpt-4.1}";
    let setup = Setup::new(config, &[("OPENAI_API_KEY", "oa-0123456789")]);
    setup.resolve().route
}

/// A list as several providers write it.
fn listing() -> serde_json::Value {
    json!({"data": [
        {"id": "x-ai/grok-4-fast", "context_length": 2_000_000,
         "pricing": {"prompt": "0.0000002", "completion": "0.0000005", "input_cache_read": "0.00000005"}},
        {"id": "openrouter/auto", "context_length": 2_000_000, "pricing": {"prompt": "-1", "completion": "-1"}},
        {"id": "novita/one", "context_size": 65_536, "input_token_price_per_m": 2_690,
         "output_token_price_per_m": 4_000},
        {"id": "deepinfra/one", "metadata": {"context_length": 1, "pricing": {"input_tokens": 0.1,
         "output_tokens": 0.3}}},
        {"id": "bare"},
    ]})
}

// PV-22
#[test]
fn prices_are_read_in_every_spelling() {
    let facts = facts_from_listing(&listing());
    let price = |name: &str| facts[name].price.map(|price| (price.input, price.output));
    let near = |name: &str, (input, output): (f64, f64)| {
        let (in_fact, out) = price(name).unwrap();
        assert!((in_fact - input).abs() < 1e-9, "{name}: {in_fact}");
        assert!((out - output).abs() < 1e-9, "{name}: {out}");
    };
    near("x-ai/grok-4-fast", (0.2, 0.5));
    near("novita/one", (0.269, 0.4));
    near("deepinfra/one", (0.1, 0.3));
    assert_eq!(price("openrouter/auto"), None);
    assert!(!facts.contains_key("bare"));
}

// AG-25, PV-22
#[test]
fn what_a_provider_lists_counts_more_than_what_is_known_of_the_family() {
    let config = "model: {provider: openrouter, default: x-ai/grok-4-fast}";
    let setup = Setup::new(config, &[("OPENROUTER_API_KEY", "or-0123456789")]);
    let lists = KeptLists::new(&setup.home.path().join("cache"));
    let resolve = || {
        let request = Request {
            lists: Some(&lists),
            ..setup.request()
        };
        resolve(&request).unwrap().route
    };
    let of_family = resolve().limits;
    assert_eq!(of_family.window_from, WindowSource::Family);
    let list = KeptList {
        address: "https://openrouter.ai/api/v1".to_owned(),
        credential: String::new(),
        fetched_at: 1_700_000_000,
        models: vec!["x-ai/grok-4-fast".to_owned()],
        facts: facts_from_listing(&listing()),
    };
    lists.keep("openrouter", &list);
    let route = resolve();
    assert_eq!(route.limits.window, 2_000_000);
    assert_eq!(route.limits.window_from, WindowSource::Endpoint);
    let window = route.why.iter().find(|why| why.part == "window").unwrap();
    assert_eq!(
        (window.value.as_str(), window.from.as_str()),
        ("2000000", "reported by the server")
    );
    let usage = Usage {
        input_tokens: 1_000_000,
        cache_read_tokens: 1_000_000,
        ..Usage::default()
    };
    let cost = cost(&usage, &route, CacheLife::Short, None);
    assert_eq!(cost.status, CostStatus::Estimated);
    assert_eq!(cost.source, "listed by OpenRouter");
    assert!((cost.usd.unwrap() - 0.25).abs() < 1e-9, "{cost:?}");
    // A list of another address says nothing about this one.
    let address = "https://elsewhere.test/v1".to_owned();
    lists.keep("openrouter", &KeptList { address, ..list });
    assert_eq!(resolve().limits, of_family);
}
