//! What a provider turns down is left out, and the call goes through all the same.

use hermes_testkit::model_server::{ModelServer, RecordedRequest, Scenario, Step, error, text};
use serde_json::json;

use super::program::Program;

const THINKING: &str = "interleaved-thinking-2025-05-14";
const STREAMING: &str = "fine-grained-tool-streaming-2025-05-14";

fn asked(server: &ModelServer) -> Vec<RecordedRequest> {
    let all = server.requests().into_iter();
    all.filter(|request| request.method == "POST").collect()
}

fn home(config: &str, variables: &str) -> Program {
    let program = Program::new();
    program.home.write_config(config).unwrap();
    program.home.write_env(variables).unwrap();
    program
}

// PV-11
#[test]
fn a_model_that_turns_tools_down_is_asked_without_them_by_every_protocol() {
    for (provider, variables, model) in [
        (
            "openai-api",
            "OPENAI_API_KEY=key-of-many-1234\nOPENAI_BASE_URL={}/v1\n",
            "gpt-5",
        ),
        (
            "anthropic",
            "ANTHROPIC_API_KEY=key-of-many-1234\nANTHROPIC_BASE_URL={}\n",
            "claude-x",
        ),
        (
            "gemini",
            "GEMINI_API_KEY=key-of-many-1234\nGEMINI_BASE_URL={}/v1beta\n",
            "gemma-3",
        ),
        (
            "bedrock",
            "AWS_BEARER_TOKEN_BEDROCK=key-of-many-1234\nBEDROCK_BASE_URL={}\n",
            "meta.x",
        ),
        (
            "openrouter",
            "OPENROUTER_API_KEY=key-of-many-1234\nOPENROUTER_BASE_URL={}/v1\n",
            "a/b",
        ),
    ] {
        let said = "This model does not support tool use.";
        let scenario = Scenario::new()
            .reply(error(400).message(said))
            .reply(text("fine"));
        let server = ModelServer::start(scenario.lenient()).unwrap();
        let program = home(
            "agent: {api_max_retries: 1}\n",
            &variables.replace("{}", &server.origin()),
        );
        let output = program
            .run(&["-z", "hello", "--provider", provider, "-m", model])
            .ok();
        assert_eq!(output.stdout, "fine\n", "{provider}");
        assert!(output.stderr.contains("without tools"), "{}", output.stderr);
        let offered = |request: &RecordedRequest| {
            let body = request.expect_json();
            ["tools", "toolConfig"].map(|key| body.get(key).is_some())
        };
        let offered: Vec<_> = asked(&server).iter().map(offered).collect();
        assert!(offered[0].contains(&true), "{provider}: {offered:?}");
        assert_eq!(offered[1..], [[false, false]], "{provider}");
    }
}

// PV-8 PV-10
#[test]
fn a_claude_at_bedrock_that_knows_no_preview_feature_answers() {
    let scenario = Scenario::new()
        .reply(error(400).message("invalid beta flag"))
        .reply(text("ok"));
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let pair = format!(
        "AWS_ACCESS_KEY_ID=AKIDWORK\nAWS_SECRET_ACCESS_KEY=work-secret-1234\nBEDROCK_BASE_URL={}\n",
        server.origin()
    );
    let program = home("agent: {api_max_retries: 1}\n", &pair);
    let model = "anthropic.claude-3-haiku-20240307-v1:0";
    let ask = ["-z", "hello", "--provider", "bedrock", "-m", model];
    assert_eq!(program.run(&ask).ok().stdout, "ok\n");
    let betas: Vec<_> = asked(&server)
        .iter()
        .map(|request| request.expect_json()["anthropic_beta"].clone())
        .collect();
    assert_eq!(betas, [json!([THINKING, STREAMING]), json!(null)]);
}

// PV-8
#[test]
fn an_imitation_of_anthropic_is_not_asked_for_the_feature_it_named() {
    let said = format!("Unexpected value(s) `{STREAMING}` for the `anthropic-beta` header");
    let scenario = Scenario::new()
        .reply(error(400).message(&said))
        .reply(text("ok"));
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let config = format!(
        "model: {{provider: custom, default: m1, base_url: '{}', api_mode: anthropic_messages, context_length: 100000}}\n",
        server.base_url()
    );
    let program = home(&config, "");
    assert_eq!(program.run(&["-z", "hello"]).ok().stdout, "ok\n");
    let betas: Vec<_> = asked(&server)
        .iter()
        .map(|request| request.header("anthropic-beta").map(str::to_owned))
        .collect();
    assert_eq!(
        betas,
        [
            Some(format!("{THINKING},{STREAMING}")),
            Some(THINKING.to_owned())
        ]
    );
}

// PV-7 PV-12
#[test]
fn models_of_openai_that_do_not_think_hear_nothing_about_it() {
    let answer = Step::new(text("ok")).repeat();
    let server = ModelServer::start(Scenario::new().lenient().reply(answer)).unwrap();
    let variables = format!(
        "OPENAI_API_KEY=key-of-many-1234\nOPENAI_BASE_URL={}\n",
        server.base_url()
    );
    // As at OpenAI's own address.
    let config = "model: {provider: openai-api, api_mode: codex_responses}\n\
                  agent: {reasoning_effort: high}\n";
    let program = home(config, &variables);
    for model in [
        "gpt-4.1",
        "gpt-4o",
        "gpt-5-chat-latest",
        "chatgpt-4o-latest",
    ] {
        let ask = ["-z", "hello", "--provider", "openai", "-m", model];
        program.run(&ask).ok();
        let last = asked(&server).pop().unwrap();
        assert!(last.path.ends_with("/responses"), "{}", last.path);
        let body = last.expect_json();
        let said = ["reasoning", "include"].map(|key| body.get(key).is_some());
        assert_eq!(said, [false, false], "{model}: {body}");
    }
    let ask = ["-z", "hello", "--provider", "openai", "-m", "gpt-5.5"];
    program.run(&ask).ok();
    let last = asked(&server).pop().unwrap();
    assert_eq!(
        last.expect_json()["reasoning"],
        json!({"effort": "high", "summary": "auto"})
    );
}

// PV-7 PV-11 PV-12
#[test]
fn what_a_model_or_an_account_turns_down_about_thinking_is_left_out() {
    let refused = |said: &str| Step::new(error(400).message(said));
    let scenario = Scenario::new()
        .reply(refused(
            "Your organization must be verified to generate reasoning summaries.",
        ))
        .reply(refused(
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
        ))
        .reply(refused(
            "Encrypted content is not supported with this model.",
        ))
        .reply(text("ok"));
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let variables = format!(
        "OPENAI_API_KEY=key-of-many-1234\nOPENAI_BASE_URL={}\n",
        server.base_url()
    );
    let program = home("agent: {api_max_retries: 1}\n", &variables);
    let ask = ["-z", "hello", "--provider", "openai", "-m", "gpt-5.5"];
    assert_eq!(program.run(&ask).ok().stdout, "ok\n");
    let said: Vec<_> = asked(&server)
        .iter()
        .map(|request| {
            let body = request.expect_json();
            (body["reasoning"].clone(), body["include"].is_array())
        })
        .collect();
    assert_eq!(
        said,
        [
            (json!({"effort": "medium", "summary": "auto"}), true),
            (json!({"effort": "medium"}), true),
            (json!(null), true),
            (json!(null), false),
        ]
    );
}

// PV-9
#[test]
fn an_answer_of_gemini_that_broke_off_is_gone_on_with() {
    let scenario = Scenario::new()
        .reply(text("half an ans").finish_reason("OTHER"))
        .reply(text("wer and its end"));
    let server = ModelServer::start(scenario.lenient()).unwrap();
    let variables = format!(
        "GEMINI_API_KEY=key-of-google-1234\nGEMINI_BASE_URL={}/v1beta\n",
        server.origin()
    );
    let program = home("", &variables);
    let ask = [
        "-z",
        "hello",
        "--provider",
        "gemini",
        "-m",
        "gemini-2.5-pro",
    ];
    assert_eq!(
        program.run(&ask).ok().stdout,
        "half an answer and its end\n"
    );
    let all = asked(&server);
    assert_eq!(all.len(), 2);
    for request in all {
        let client = request.header("x-goog-api-client").unwrap_or_default();
        assert!(client.starts_with("hermes/"), "{client}");
    }
}
