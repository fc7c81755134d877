//! What single providers want of every request, from their profiles.

use hermes_testkit::model_server::{ModelServer, RecordedRequest, Scenario, Step, text};

use super::program::Program;

fn scenario() -> Scenario {
    Scenario::new()
        .lenient()
        .reply(Step::new(text("ok")).repeat())
}

/// Asks once and gives the request that reached the model.
fn asked(server: &ModelServer, program: &Program, provider: &str, model: &str) -> RecordedRequest {
    let ask = ["-z", "hello", "--provider", provider, "-m", model];
    program.run(&ask).ok();
    let mut requests = server.requests().into_iter().rev();
    requests.find(|request| request.method == "POST").unwrap()
}

// PV-1
#[test]
fn grok_is_told_which_conversation_it_is() {
    let server = ModelServer::start(scenario()).unwrap();
    let program = Program::new();
    let base = server.base_url();
    let variables = [
        format!("XAI_API_KEY=key-of-grok-1234\nXAI_BASE_URL={base}"),
        format!("OPENROUTER_API_KEY=key-of-many-1234\nOPENROUTER_BASE_URL={base}\n"),
    ];
    program.home.write_env(&variables.join("\n")).unwrap();
    let direct = asked(&server, &program, "xai", "grok-4.5");
    let named = direct.header("x-grok-conv-id").unwrap();
    assert_eq!(direct.expect_json()["prompt_cache_key"], named);
    let routed = asked(&server, &program, "openrouter", "x-ai/grok-4.5");
    let named = routed.header("x-grok-conv-id").unwrap();
    assert_eq!(routed.expect_json()["session_id"], named);
    let other = asked(&server, &program, "openrouter", "openai/gpt-5.5");
    assert_eq!(other.header("x-grok-conv-id"), None);
}

// PV-12, PV-28
#[test]
fn effort_reaches_models_that_decide_themselves_as_verbosity() {
    let server = ModelServer::start(scenario()).unwrap();
    let program = Program::new();
    program
        .home
        .write_env(&format!(
            "OPENROUTER_API_KEY=key-of-many-1234\nOPENROUTER_BASE_URL={}\n",
            server.base_url()
        ))
        .unwrap();
    let cases = [
        (
            "xhigh",
            "anthropic/claude-opus-4.6",
            Some("max"),
            Some(true),
        ),
        ("none", "anthropic/claude-opus-4.6", None, None),
        ("none", "anthropic/claude-opus-4.5", None, Some(false)),
    ];
    for (effort, model, verbosity, enabled) in cases {
        let set = ["config", "set", "agent.reasoning_effort", effort];
        program.run(&set).ok();
        let request = asked(&server, &program, "openrouter", model);
        let body = request.expect_json();
        assert_eq!(body["verbosity"].as_str(), verbosity, "{effort} {model}");
        let thinks = body["reasoning"]["enabled"].as_bool();
        assert_eq!(thinks, enabled, "{effort} {model}");
    }
}

// PV-1, PV-10
#[test]
fn bedrock_signs_with_the_key_pair_of_a_profile_of_aws() {
    let server = ModelServer::start(scenario()).unwrap();
    let program = Program::new();
    let file = "# mine\n[default]\naws_access_key_id = AKIDOTHER\naws_secret_access_key = other-secret\n\
                [work]\naws_access_key_id=AKIDWORK\naws_secret_access_key=work-secret-1234\naws_session_token=work-token-1234\n";
    program.home.write("aws", file).unwrap();
    let path = program.home.path().join("aws");
    let variables = |profile: &str| {
        let text = format!(
            "AWS_SHARED_CREDENTIALS_FILE={}\nAWS_PROFILE={profile}\nBEDROCK_BASE_URL={}\n",
            path.display(),
            server.origin()
        );
        program.home.write_env(&text).unwrap();
    };
    variables("work");
    let signed = asked(&server, &program, "bedrock", "amazon.nova-pro-v1:0");
    let authorization = signed.header("authorization").unwrap();
    assert!(
        authorization.contains("Credential=AKIDWORK/"),
        "{authorization}"
    );
    assert_eq!(
        signed.header("x-amz-security-token"),
        Some("work-token-1234")
    );
    let why = ["model", "--why", "--provider", "bedrock"];
    let page = program.stdout(&why);
    assert!(
        page.contains("[work]") && !page.contains("work-secret"),
        "{page}"
    );
    variables("absent");
    let refused = program.run(&why).code(1);
    assert!(
        refused.stderr.contains("the profile absent"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("or a sign-in"),
        "{}",
        refused.stderr
    );
}

// PV-14, PV-27: who would have to pose as another program is not offered, and asking for it says so.
#[test]
fn a_provider_that_answers_programs_of_others_only_is_not_offered() {
    let program = Program::new();
    let keys = "GITHUB_TOKEN=ghp-canary-1234567890\nGH_TOKEN=ghp-canary-1234567890\n\
                COPILOT_GITHUB_TOKEN=ghp-canary-1234567890\n";
    program.home.write_env(keys).unwrap();
    for (name, why) in [
        ("copilot", "editors that GitHub has registered"),
        ("github-copilot", "editors that GitHub has registered"),
        ("openai-codex", "openai-api"),
        ("xai-oauth", "xai"),
        ("qwen-oauth", "alibaba"),
        ("minimax-oauth", "minimax"),
    ] {
        for ask in [
            &["-z", "hello", "--provider", name, "-m", "a-model"][..],
            &["auth", "add", name],
        ] {
            let output = program.run(ask);
            assert_ne!(output.code, Some(0), "{ask:?}");
            assert!(output.stderr.contains(why), "{ask:?}: {}", output.stderr);
            assert!(!output.stderr.contains("canary"), "{}", output.stderr);
        }
    }
}

// AG-21
#[test]
fn claude_on_bedrock_is_told_what_to_remember() {
    let server = ModelServer::start(Scenario::new().reply(Step::new(text("ok")).repeat())).unwrap();
    let program = Program::new();
    let keys = format!(
        "AWS_BEARER_TOKEN_BEDROCK=key-1234567890\nBEDROCK_BASE_URL={}\n",
        server.origin()
    );
    program.home.write_env(&keys).unwrap();
    let claude = asked(
        &server,
        &program,
        "bedrock",
        "us.anthropic.claude-sonnet-4-6",
    );
    assert!(claude.violations.is_empty(), "{:?}", claude.violations);
    let point = serde_json::json!({"cachePoint": {"type": "default"}});
    let body = claude.expect_json();
    assert_eq!(body["system"][1], point, "{body}");
    assert_eq!(body["messages"][0]["content"][1], point, "{body}");
    let nova = asked(&server, &program, "bedrock", "amazon.nova-pro-v1:0");
    assert!(!nova.expect_json().to_string().contains("cachePoint"));
}
