//! What errors mean, table by table.

use std::time::Duration;

use hermes_llm::classify::{Facts, Fault, Pace, Reason, classify};
use hermes_llm::failover::{Attempt, Health, Renewal, next_step};
use hermes_llm::wire::WireError;
use hermes_llm::{ModelError, VendorError};
use serde::Deserialize;
use serde_json::{Value as Json, json};

/// One line of the fixture: what a provider sent, and what must come of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    provider: String,
    #[serde(default)]
    model: String,
    status: Option<u16>,
    retry_after: Option<u64>,
    body: Json,
    #[serde(default)]
    tokens: u32,
    #[serde(default = "ordinary_window")]
    window: u32,
    #[serde(default)]
    messages: usize,
    reason: String,
    step: String,
}

fn ordinary_window() -> u32 {
    200_000
}

impl Case {
    fn error(&self) -> ModelError {
        let read = match &self.body {
            Json::String(text) => VendorError {
                message: text.clone(),
                ..VendorError::default()
            },
            body => VendorError::from_body(body).unwrap_or_default(),
        };
        ModelError::Vendor(VendorError {
            status: self.status.or(read.status),
            retry_after: self
                .retry_after
                .map(Duration::from_secs)
                .or(read.retry_after),
            ..read
        })
    }

    fn fault(&self) -> Fault {
        let facts = Facts {
            provider: &self.provider,
            address: "",
            model: &self.model,
            estimated_tokens: self.tokens,
            context_window: self.window,
            messages: self.messages,
            reasoning_model: false,
        };
        classify(&self.error(), &facts)
    }
}

fn cases() -> Vec<Case> {
    include_str!("../fixtures/failures.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

// AG-12
#[test]
fn every_known_error_has_one_reason_and_one_first_step() {
    let health = Health {
        other_credentials: 1,
        other_routes: 1,
        renewal: Renewal::OnAuth,
        ..Health::default()
    };
    let cases = cases();
    assert!(cases.len() >= 80, "{} cases", cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let fault = case.fault();
            let step = next_step(&fault, &health, &Attempt::default(), 0.0);
            let found = format!("{} {step:?}", fault.reason.word());
            let expected = format!("{} {}", case.reason, case.step);
            (found != expected).then(|| format!("{}: {found}, expected {expected}", case.name))
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

// AG-12
#[test]
fn every_reason_a_provider_can_give_is_in_the_table() {
    let cases = cases();
    let local = [
        Reason::LocalModel,
        Reason::SslCert,
        Reason::Misconfigured,
        Reason::Cancelled,
    ];
    for reason in Reason::ALL {
        let seen = cases.iter().any(|case| case.reason == reason.word());
        assert_eq!(seen, !local.contains(reason), "{}", reason.word());
    }
}

fn reason_of(error: &ModelError) -> Reason {
    classify(error, &Facts::default()).reason
}

// AG-12
#[test]
fn failures_without_a_word_from_the_provider_are_known_by_their_type() {
    let cut = WireError::Cut { open_calls: vec![] };
    assert_eq!(reason_of(&ModelError::Wire(cut)), Reason::Timeout);
    let empty = ModelError::Wire(WireError::Empty);
    assert_eq!(reason_of(&empty), Reason::InvalidAnswer);
    assert_eq!(
        reason_of(&ModelError::Stalled(Duration::from_secs(180))),
        Reason::Timeout
    );
    assert_eq!(reason_of(&ModelError::Cancelled), Reason::Cancelled);
}

// AG-12
#[test]
fn a_refusal_without_a_word_gets_the_one_of_its_status() {
    let said = |status, message: &str| {
        let error = ModelError::Vendor(VendorError {
            status,
            message: message.to_owned(),
            ..VendorError::default()
        });
        classify(&error, &Facts::default()).message
    };
    for (status, message, words) in [
        (Some(429), "", "Too Many Requests, without a further word"),
        (
            Some(500),
            " \n",
            "Internal Server Error, without a further word",
        ),
        (
            Some(529),
            "",
            "the provider reported a failure without saying which",
        ),
        (
            None,
            "",
            "the provider reported a failure without saying which",
        ),
        (Some(429), "slow down", "slow down"),
    ] {
        assert_eq!(said(status, message), words);
    }
}

// AG-12
#[test]
fn a_server_that_hangs_up_on_a_long_conversation_meant_its_length() {
    let error = hang_up();
    let at = |tokens, reasoning_model| {
        let facts = Facts {
            estimated_tokens: tokens,
            context_window: 200_000,
            reasoning_model,
            ..Facts::default()
        };
        classify(&error, &facts).reason
    };
    assert_eq!(at(1_000, false), Reason::Timeout);
    assert_eq!(at(130_000, false), Reason::ContextOverflow);
    assert_eq!(at(130_000, true), Reason::Timeout);
}

/// The error of a server that takes the request and closes the connection.
fn hang_up() -> ModelError {
    ModelError::Http(hermes_http::HttpError::Interrupted {
        url: hermes_http::DisplayUrl::new(
            &"https://example.com/".parse().unwrap(),
            hermes_secrets::Redactor::default(),
        ),
        source: "closed".into(),
    })
}

/// A sentence, the window it tells, and the limit of an answer.
const SENTENCES: &[(&str, Option<u32>, Option<u32>)] = &[
    (
        "This endpoint's maximum context length is 131072 tokens. However, you requested about \
         140000 tokens (130000 of text input, 10000 in the output).",
        Some(131_072),
        Some(1_072),
    ),
    (
        "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
        Some(131_072),
        None,
    ),
    (
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        Some(32_768),
        None,
    ),
    (
        "InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
        Some(129_024),
        None,
    ),
    (
        "prompt token count of 140000 exceeds the limit of 128000",
        Some(128_000),
        None,
    ),
    (
        "Your request exceeded model token limit: 262,144",
        Some(262_144),
        None,
    ),
    (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 7000 \
         `inputs` tokens and 2000 `max_new_tokens`",
        Some(8_193),
        Some(1_193),
    ),
    (
        "max_tokens: 30000 > context_window: 200000 - input_tokens: 180000 = available_tokens: 20000",
        Some(200_000),
        Some(20_000),
    ),
    (
        "too many tokens: the total number of tokens in the prompt cannot exceed 128000",
        Some(128_000),
        None,
    ),
    // Hardly anything is left: asking for it would be no answer.
    (
        "input length and `max_tokens` exceed context limit: 199900 + 20000 > 200000",
        Some(200_000),
        None,
    ),
    // The message is longer than the window: nothing is left.
    (
        "maximum context length is 8192 tokens. However, you requested 13000 tokens (9000 in the \
         messages, 4000 in the completion).",
        Some(8_192),
        None,
    ),
    // A code, not a size.
    ("context window exceeds limit (2013)", None, None),
    ("the context length is 12 tokens", None, None),
];

// AG-13
#[test]
fn numbers_are_read_out_of_the_sentences_of_providers() {
    for (message, window, left) in SENTENCES {
        let said = ModelError::Vendor(VendorError {
            status: Some(400),
            message: (*message).to_owned(),
            ..VendorError::default()
        });
        let facts = Facts {
            context_window: 1_000_000,
            ..Facts::default()
        };
        let fault = classify(&said, &facts);
        assert_eq!(fault.reason, Reason::ContextOverflow, "{message}");
        assert_eq!(fault.stated_window, *window, "{message}");
        assert_eq!(fault.stated_output_left, *left, "{message}");
    }
}

// AG-13
#[test]
fn what_is_left_for_the_answer_is_never_more_than_our_own_estimate() {
    let said = ModelError::Vendor(VendorError {
        status: Some(400),
        message: "exceed context limit: 190000 + 20000 > 200000".to_owned(),
        ..VendorError::default()
    });
    let facts = Facts {
        estimated_tokens: 195_000,
        context_window: 200_000,
        ..Facts::default()
    };
    assert_eq!(classify(&said, &facts).stated_output_left, Some(5_000));
}

// AG-11
#[test]
fn waits_in_words_are_understood() {
    let table = [
        ("Please try again in 20s.", Some(20.0)),
        ("try again in 1m30s", Some(90.0)),
        ("Please retry in 38.5s.", Some(38.5)),
        ("retry after 250ms", Some(0.25)),
        ("limit resets in 2 hours", Some(7_200.0)),
        ("resets in 1h 20m", Some(4_800.0)),
        ("please wait 5 seconds", Some(5.0)),
        ("try again later", None),
        ("try again in a moment", None),
    ];
    for (message, seconds) in table {
        let said = ModelError::Vendor(VendorError {
            status: Some(429),
            message: message.to_owned(),
            ..VendorError::default()
        });
        assert_eq!(
            classify(&said, &Facts::default()).retry_after,
            seconds.map(Duration::from_secs_f64),
            "{message}"
        );
    }
}

// AG-11, AG-12: one model, where the coding plan is served, and only when it says that it is busy.
#[test]
fn only_the_busy_model_is_waited_for_with_patience() {
    let coding = "https://api.z.ai/api/coding/paas/v4";
    let china = "https://open.bigmodel.cn/api/coding/paas/v4";
    let plain = "https://api.z.ai/api/paas/v4";
    for (provider, address, model, code, pace) in [
        ("zai", coding, "GLM-5.2", Some("1305"), Pace::Patient),
        ("zai", china, "glm-5.2", Some("1305"), Pace::Patient),
        ("zai", plain, "glm-5.2", Some("1305"), Pace::Usual),
        ("zai", coding, "glm-4.6", Some("1305"), Pace::Usual),
        ("zai", coding, "glm-5.2", None, Pace::Usual),
        ("other", coding, "glm-5.2", Some("1305"), Pace::Usual),
    ] {
        let said = ModelError::Vendor(VendorError {
            status: Some(503),
            code: code.map(str::to_owned),
            ..VendorError::default()
        });
        let facts = Facts {
            provider,
            address,
            model,
            ..Facts::default()
        };
        assert_eq!(
            classify(&said, &facts).pace,
            pace,
            "{address} {model} {code:?}"
        );
    }
}

// AG-12
#[test]
fn the_numbers_of_a_provider_say_more_than_its_status() {
    let busy = json!({"error": {"code": "1305", "message": "Please try again later."}});
    let unpaid = json!({"error": {"code": 1113, "message": "Please recharge."}});
    let fault = |provider, body: &Json| {
        let said = VendorError {
            status: Some(429),
            ..VendorError::from_body(body).unwrap()
        };
        let facts = Facts {
            provider,
            ..Facts::default()
        };
        classify(&ModelError::Vendor(said), &facts)
    };
    let said = fault("zai", &busy);
    assert_eq!((said.reason, said.status), (Reason::Overloaded, Some(429)));
    assert_eq!(said.code.as_deref(), Some("1305"));
    assert_eq!(fault("zai", &unpaid).reason, Reason::Billing);
    assert_eq!(fault("other", &busy).reason, Reason::RateLimit);
    // A number that repeats the status is no code.
    let repeated = json!({"error": {"code": 429, "message": "slow", "type": "limit"}});
    assert_eq!(fault("zai", &repeated).code.as_deref(), Some("limit"));
}
