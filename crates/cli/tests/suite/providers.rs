//! What single providers want of every request, from their profiles.

use hermes_testkit::model_server::{
    ModelServer, RecordedRequest, Scenario, Step, json as document, text, tool_call,
};
use hermes_testkit::pty::Terminal;
use serde_json::json;

use super::program::Program;
use super::screen::{LIMIT, quiet};

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

// PV-1 PV-5 PV-8 PV-10
#[test]
fn claude_on_bedrock_speaks_messages_where_a_key_pair_signs() {
    const MODEL: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
    let called = tool_call("todo", json!({}));
    let called = called.reasoning("What is there to do?").signature("seal-1");
    let scenario = Scenario::new()
        .reply(called)
        .reply(Step::new(text("Nothing to do.")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = Program::new();
    let pair = format!(
        "AWS_ACCESS_KEY_ID=AKIDWORK\nAWS_SECRET_ACCESS_KEY=work-secret-1234\nAWS_REGION=eu-west-1\n\
         BEDROCK_BASE_URL={}\n",
        server.origin()
    );
    program.home.write_env(&pair).unwrap();
    let effort = "agent: {reasoning_effort: medium}\n";
    program.home.write_config(effort).unwrap();
    let ask = ["-z", "hello", "--provider", "bedrock", "-m", MODEL];
    assert_eq!(program.run(&ask).ok().stdout, "Nothing to do.\n");

    let [first, second] = [0, 1].map(|index| server.requests()[index].clone());
    let escaped = MODEL.replace(':', "%3A");
    let stream = format!("/model/{escaped}/invoke-with-response-stream");
    assert_eq!([&first.path, &second.path], [&stream, &stream]);
    let signed = first.header("authorization").unwrap();
    let scope = "/eu-west-1/bedrock/aws4_request";
    assert!(signed.contains("Credential=AKIDWORK/") && signed.contains(scope));
    assert_eq!(first.header("anthropic-version"), None);
    let body = first.expect_json();
    assert_eq!(body["anthropic_version"], "bedrock-2023-05-31");
    assert_eq!(
        body["anthropic_beta"],
        json!([
            "interleaved-thinking-2025-05-14",
            "fine-grained-tool-streaming-2025-05-14",
            "context-1m-2025-08-07",
        ])
    );
    assert!(body.get("model").is_none() && body.get("stream").is_none());
    assert_eq!(body["thinking"]["type"], "enabled");
    // The turn goes back as it came, with its seal.
    let turn = &second.expect_json()["messages"][1]["content"];
    let thought =
        json!({"type": "thinking", "thinking": "What is there to do?", "signature": "seal-1"});
    assert_eq!(turn[0], thought, "{turn}");
    assert_eq!(turn[1]["type"], "tool_use", "{turn}");

    // A token, a guardrail and other models leave it at Converse.
    let why = |set: &[&str]| {
        let page = ["model", "--why", "--provider", "bedrock", "-m"];
        program.stdout(&[&page[..], set].concat())
    };
    assert!(why(&[MODEL]).contains("anthropic messages"));
    assert!(why(&["amazon.nova-pro-v1:0"]).contains("bedrock converse"));
    let guarded = format!("{effort}bedrock: {{guardrail: {{guardrail_identifier: g1}}}}\n");
    program.home.write_config(&guarded).unwrap();
    assert!(why(&[MODEL]).contains("bedrock converse"));
    program.home.write_config(effort).unwrap();
    let token = format!("{pair}AWS_BEARER_TOKEN_BEDROCK=key-1234567890\n");
    program.home.write_env(&token).unwrap();
    assert!(why(&[MODEL]).contains("bedrock converse"));
}

// AG-25
#[test]
fn what_providers_say_may_still_be_used_is_shown_beside_what_was_used() {
    let mut answer = Step::new(text("Hello yourself."));
    for (name, value) in [
        ("x-ratelimit-limit-requests", "60"),
        ("x-ratelimit-remaining-requests", "59"),
        ("x-ratelimit-reset-requests", "6m0s"),
        ("x-ratelimit-limit-tokens-1h", "800000"),
        ("x-ratelimit-remaining-tokens-1h", "799123"),
        ("x-ratelimit-reset-tokens-1h", "2999.5"),
        ("x-nous-credits-remaining-micros", "12345678"),
        ("x-nous-credits-subscription-micros", "-50000"),
        ("x-nous-credits-purchased-micros", "12395678"),
        ("x-nous-credits-paid-access", "false"),
    ] {
        answer = answer.header(name, value);
    }
    let server = ModelServer::start(Scenario::new().reply(answer)).unwrap();
    let program = quiet(&server, "");
    let terminal = Terminal::spawn(&program.command(&["chat", "--plain"]), 160, 50).unwrap();
    terminal.wait_for_text("Ctrl+D ends.", LIMIT).unwrap();
    terminal.send("hello\r").unwrap();
    terminal.wait_for_text("Hello yourself.", LIMIT).unwrap();
    terminal.send("/usage\r").unwrap();
    let screen = terminal.wait_for_text("are refused", LIMIT).unwrap();
    let rows: Vec<String> = screen
        .text()
        .lines()
        .filter(|line| line.contains(" at Your own endpoint"))
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        rows,
        [
            "requests left at Your own endpoint 59 of 60, all back in 5 min",
            "tokens in an hour left at Your own endpoint 799123 of 800000, all back in 49 min",
            "credit at Your own endpoint $12.34 (-$0.05 by subscription, $12.39 bought); \
             models that cost something are refused",
        ]
    );
    terminal.send("/exit\r").unwrap();
    assert_eq!(terminal.wait_exit(LIMIT).unwrap().code, 0);
}

// PV-28
#[test]
fn openrouter_hears_how_to_route_and_its_inner_providers_are_heard() {
    let raw = json!({"error": {"message": "the moon is in the way"}}).to_string();
    let inner = json!({"error": {
        "code": 400, "message": "Provider returned error",
        "metadata": {"provider_name": "Moonbase", "raw": raw},
    }});
    let scenario = Scenario::new()
        .lenient()
        .reply(text("ok"))
        .reply(Step::new(document(inner)).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = Program::new();
    let variables = format!(
        "OPENROUTER_API_KEY=key-of-many-1234\nOPENROUTER_BASE_URL={}\n",
        server.base_url()
    );
    program.home.write_env(&variables).unwrap();
    let config = "provider_routing: {order: [near, far], ignore: [slow], sort: price, require_parameters: true}\n\
                  openrouter: {response_cache_ttl: 60}\nagent: {api_max_retries: 1}\n";
    program.home.write_config(config).unwrap();
    let request = asked(&server, &program, "openrouter", "anthropic/claude-opus-4.6");
    let routing = json!({
        "order": ["near", "far"], "ignore": ["slow"], "sort": "price", "require_parameters": true,
    });
    assert_eq!(request.expect_json()["provider"], routing);
    for (name, value) in [
        ("authorization", "Bearer key-of-many-1234"),
        ("x-title", "Hermes Agent"),
        ("x-openrouter-cache", "true"),
        ("x-openrouter-cache-ttl", "60"),
        ("x-anthropic-beta", "fine-grained-tool-streaming-2025-05-14"),
    ] {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
    assert!(request.header("http-referer").is_some());

    let ask = [
        "-z",
        "hello",
        "--provider",
        "openrouter",
        "-m",
        "z-ai/glm-5.2",
    ];
    let output = program.run(&ask).code(2);
    let said = &output.stderr;
    assert!(said.contains("the moon is in the way"), "{said}");
    let plain = server.requests().pop().unwrap();
    assert_eq!(plain.header("x-anthropic-beta"), None);
}
