//! How hard to think.

use hermes_core::{Effort, Message, Role};
use hermes_llm::Quirks;
use serde_json::json;

use super::{body, body_with, request};

#[test]
fn effort_goes_beside_the_common_fields() {
    let mut request = request(vec![Message::text(Role::User, "Hi")]);
    request.settings.effort = Some(Effort::Medium);
    request.settings.temperature = Some(0.2);
    let thinking = body(&request);
    assert_eq!(
        thinking["additionalModelRequestFields"],
        json!({ "thinking": { "type": "enabled", "budget_tokens": 8000 } })
    );
    assert_eq!(thinking["inferenceConfig"], json!({ "maxTokens": 12096 }));
    request.model = "openai.gpt-oss-120b-1:0".to_owned();
    assert_eq!(body(&request).get("additionalModelRequestFields"), None);
    let levels = Quirks {
        reasoning: hermes_llm::ReasoningStyle::Effort {
            levels: vec!["low".to_owned(), "high".to_owned()],
            default: None,
            unsaid: Vec::new(),
        },
        ..Quirks::default()
    };
    assert_eq!(
        body_with(&request, &levels)["additionalModelRequestFields"],
        json!({ "reasoning_effort": "low" })
    );
}

// PV-12: the same words as where the model's maker serves it.
#[test]
fn a_model_that_decides_itself_hears_the_words_its_maker_knows() {
    let mut request = request(vec![Message::text(Role::User, "Hi")]);
    for (model, effort, word) in [
        (
            "us.anthropic.claude-opus-4-7-v1:0",
            Effort::ExtraHigh,
            "xhigh",
        ),
        ("us.anthropic.claude-opus-4-6-v1", Effort::ExtraHigh, "high"),
        ("us.anthropic.claude-opus-4-6-v1", Effort::Max, "max"),
        ("us.anthropic.claude-opus-4-6-v1", Effort::Minimal, "low"),
    ] {
        request.model = model.to_owned();
        request.settings.effort = Some(effort);
        let expected = json!({
            "thinking": { "type": "adaptive", "display": "summarized" },
            "output_config": { "effort": word },
        });
        let sent = body(&request);
        assert_eq!(sent["additionalModelRequestFields"], expected, "{model}");
    }
}
