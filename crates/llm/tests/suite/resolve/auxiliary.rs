//! Models for work on the side.

use std::time::Duration;

use hermes_core::Effort;
use hermes_llm::resolve::{Auxiliary, ResolveError, auxiliary};

use crate::suite::profiles::{Setup, base_of};

const KEYS: &[(&str, &str)] = &[
    ("OPENROUTER_API_KEY", "or-0123456789"),
    ("DEEPSEEK_API_KEY", "ds-0123456789"),
    ("ANTHROPIC_API_KEY", "an-0123456789"),
];

fn plan(config: &str, task: &str, variables: &[(&str, &str)]) -> Result<Auxiliary, ResolveError> {
    let setup = Setup::new(config, variables);
    auxiliary(task, &setup.request(), &setup.resolve())
}

fn labels(plan: &Auxiliary) -> Vec<String> {
    plan.candidates
        .iter()
        .map(|next| next.route.label())
        .collect()
}

// PV-21
#[test]
fn auto_goes_from_the_conversation_over_the_chains_to_whoever_has_a_key() {
    let config = "
model: {provider: deepseek, default: deepseek-chat}
fallback_providers: [{provider: anthropic, model: claude-opus-4-6}]
auxiliary:
  compression:
    fallback_chain: [{provider: anthropic, model: claude-haiku-4-5}]
";
    let plan = plan(config, "compression", KEYS).expect("a plan");
    assert_eq!(
        labels(&plan),
        [
            "deepseek/deepseek-chat",
            "anthropic/claude-haiku-4-5",
            "anthropic/claude-opus-4-6",
            "openrouter/google/gemini-3-flash-preview",
        ]
    );
    assert!(!plan.explicit);
    assert_eq!(plan.timeout, Duration::from_secs(300));
    assert_eq!(plan.retries, 2);
}

// PV-21
#[test]
fn another_model_of_a_local_server_is_asked_where_that_server_is() {
    let config = "
model: {provider: ollama, default: qwen3}
auxiliary: {compression: {model: small}}
";
    let plan = plan(config, "compression", &[]).expect("a plan");
    assert_eq!(labels(&plan)[0], "ollama/small");
    assert_eq!(base_of(&plan.candidates[0]), "http://127.0.0.1:11434/v1");
}

// PV-21
#[test]
fn a_named_provider_comes_first_and_the_conversation_last() {
    let config = "
model: {provider: deepseek, default: deepseek-chat}
auxiliary:
  title_generation: {provider: anthropic, timeout: 12, reasoning_effort: low}
  approval: {provider: main, model: deepseek-reasoner}
  mcp: {base_url: 'http://10.0.0.1/v1', model: small, extra_body: {a: 1}}
  web_extract: {provider: xai}
";
    let title = plan(config, "title_generation", KEYS).expect("a plan");
    assert_eq!(
        labels(&title),
        [
            "anthropic/claude-haiku-4-5-20251001",
            "deepseek/deepseek-chat"
        ]
    );
    assert!(title.explicit);
    assert_eq!(title.timeout, Duration::from_secs(12));
    assert_eq!(title.effort, Some(Effort::Low));
    let approval = plan(config, "approval", KEYS).expect("a plan");
    assert_eq!(labels(&approval), ["deepseek/deepseek-reasoner"]);
    let mcp = plan(config, "mcp", KEYS).expect("a plan");
    assert_eq!(labels(&mcp), ["custom/small", "deepseek/deepseek-chat"]);
    let first = mcp.candidates.first().expect("a candidate");
    assert_eq!(base_of(first), "http://10.0.0.1/v1");
    assert_eq!(first.route.quirks.extra_body["a"], 1);
    let error = plan(config, "web_extract", KEYS).expect_err("no key for it");
    assert_eq!(error.to_string(), "xAI needs a key");
}

// PV-21
#[test]
fn pictures_go_to_a_model_that_sees() {
    let vision =
        |config: &str, variables| labels(&plan(config, "vision", variables).expect("a plan"));
    assert_eq!(
        vision("model: {provider: anthropic}", KEYS)[0],
        "anthropic/claude-sonnet-4-6"
    );
    assert_eq!(
        vision("model: {provider: deepseek}", KEYS),
        ["openrouter/google/gemini-3-flash-preview"]
    );
    let zai = vision(
        "model: {provider: zai}",
        &[("GLM_API_KEY", "gl-0123456789")],
    );
    assert_eq!(zai, ["zai/glm-5v-turbo"]);
    // One that sees is not left for the provider's usual eyes, which may cost more or less.
    let at_openrouter =
        |model: &str| vision(&format!("model: {{provider: openrouter, {model}}}"), KEYS)[0].clone();
    assert_eq!(
        at_openrouter("default: anthropic/claude-sonnet-4.6"),
        "openrouter/anthropic/claude-sonnet-4.6"
    );
    assert_eq!(
        at_openrouter("default: lab/new-1, supports_vision: true"),
        "openrouter/lab/new-1"
    );
    for blind in [
        "default: lab/new-1",
        "default: z-ai/glm-5.2",
        "default: anthropic/claude-sonnet-4.6, supports_vision: false",
    ] {
        assert_eq!(
            at_openrouter(blind),
            "openrouter/google/gemini-3-flash-preview",
            "{blind}"
        );
    }
    // Nobody sees: the conversation's model is asked all the same, and says so.
    let blind = vision(
        "model: {provider: deepseek}",
        &[("DEEPSEEK_API_KEY", "ds-0123456789")],
    );
    assert_eq!(blind, ["deepseek/deepseek-chat"]);
}

#[test]
fn every_task_has_its_time_limit() {
    for (task, seconds) in [
        ("vision", 120),
        ("web_extract", 360),
        ("compression", 300),
        ("title_generation", 30),
        ("approval", 30),
        ("memory_query_rewrite", 8),
        ("kanban_decomposer", 180),
        ("goal_judge", 60),
        ("curator", 600),
        ("moa_aggregator", 900),
        ("a_task_of_a_plugin", 30),
    ] {
        let plan = plan("model: {provider: anthropic}", task, KEYS).expect("a plan");
        assert_eq!(plan.timeout.as_secs(), seconds, "{task}");
    }
}

// PV-18, PV-20: also in the chain of one task.
#[test]
fn helpers_name_the_variable_with_their_key_as_endpoints_do() {
    let config = "
model: {provider: deepseek, default: deepseek-chat}
auxiliary:
  title_generation:
    base_url: 'https://lab.test/v1'
    model: small
    api_key_env: LAB_KEY
    fallback_chain:
      - {provider: custom, base_url: 'https://spare.test/v1', model: spare, api_key_env: SPARE_KEY}
";
    let keys = [
        KEYS,
        &[("LAB_KEY", "la-0123456789"), ("SPARE_KEY", "sp-0123456789")],
    ];
    let plan = plan(config, "title_generation", &keys.concat()).expect("a plan");
    let from: Vec<_> = plan
        .candidates
        .iter()
        .map(|candidate| {
            let why = candidate.route.why.iter().find(|why| why.part == "key");
            (base_of(candidate), why.expect("a key").from.clone())
        })
        .collect();
    assert!(from[0].1.contains("LAB_KEY"), "{from:?}");
    assert_eq!(from[1].0, "https://spare.test/v1");
    assert!(from[1].1.contains("SPARE_KEY"), "{from:?}");
}
