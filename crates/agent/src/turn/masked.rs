//! What is kept of a message, in its row as on the wire: without secrets. A later request must begin with the bytes of
//! the ones before it, so whatever is masked is masked before it is sent for the first time.
//!
//! What a tool executes is never masked: it is taken from the answer as it came.

use std::borrow::Cow;

use hermes_core::{Message, Part, Role};
use hermes_secrets::{Redactor, Scope};
use serde_json::Value as Json;

use super::Turn;

impl Turn<'_> {
    /// The message as it is kept. Known secrets are masked in all of it; in what the model says, so is what has the
    /// shape of a key, unless the user does not want that. What only might be one by its name stays: a program that
    /// was written down must not be another one in the next request. Nor are arguments guessed about: a model writes
    /// its next call by the last one.
    pub(super) fn masked(&self, message: Message) -> Message {
        let services = self.around.services;
        let guesses = message.role == Role::Assistant && services.config.security.redact_secrets;
        let said = match guesses {
            true => Scope::Code,
            false => Scope::Known,
        };
        masked(message, &services.redactor.snapshot(), said)
    }
}

fn masked(message: Message, redactor: &Redactor, said: Scope) -> Message {
    let Message { role, parts, raw } = message;
    let mut is_changed = false;
    let parts = parts
        .into_iter()
        .map(|part| {
            let clean = part_masked(&part, redactor, said);
            is_changed |= clean.is_some();
            clean.unwrap_or(part)
        })
        .collect();
    // The provider's own form says the same again, and cannot be read by it any more once it is changed.
    let raw = raw.filter(|raw| {
        let body = raw.body.to_string();
        !is_changed && matches!(redactor.redact_in(Scope::Known, &body), Cow::Borrowed(_))
    });
    Message { role, parts, raw }
}

/// `None` where there is nothing to mask.
fn part_masked(part: &Part, redactor: &Redactor, said: Scope) -> Option<Part> {
    let text = |scope, text: &str| match redactor.redact_in(scope, text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(masked) => Some(masked),
    };
    match part {
        Part::Text { text: words } => text(said, words).map(|text| Part::Text { text }),
        Part::Reasoning { text: words } => text(said, words).map(|text| Part::Reasoning { text }),
        Part::ToolResult {
            call,
            name,
            content,
            failed,
        } => text(Scope::Known, content).map(|content| Part::ToolResult {
            call: call.clone(),
            name: name.clone(),
            content,
            failed: *failed,
        }),
        Part::ToolCall(call) => {
            let arguments = json_masked(&call.arguments, redactor);
            (arguments != call.arguments).then(|| {
                let mut call = call.clone();
                call.arguments = arguments;
                Part::ToolCall(call)
            })
        }
        Part::Media(_) => None,
    }
}

/// The value with known secrets masked in every text, name and number of it; it stays a value whatever is masked.
fn json_masked(value: &Json, redactor: &Redactor) -> Json {
    let clean = |text: &str| redactor.redact_in(Scope::Known, text).into_owned();
    match value {
        Json::String(text) => Json::String(clean(text)),
        // A password of digits is a number to whoever writes it without quotes.
        Json::Number(number) => match redactor.redact_in(Scope::Known, &number.to_string()) {
            Cow::Borrowed(_) => value.clone(),
            Cow::Owned(masked) => Json::String(masked),
        },
        Json::Array(items) => items
            .iter()
            .map(|item| json_masked(item, redactor))
            .collect(),
        Json::Object(fields) => fields
            .iter()
            .map(|(name, field)| (clean(name), json_masked(field, redactor)))
            .collect(),
        Json::Null | Json::Bool(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use hermes_core::{CallId, RawTurn, ToolCall, WireProtocol};
    use hermes_secrets::{Secret, SecretName};
    use serde_json::json;

    use super::*;

    const KNOWN: &str = "canary-7f3a9b2c4d5e6f70";
    const SHAPED: &str = "sk-proj-abcdEFGH1234ijklMNOP5678qrstUVWX";

    fn redactor() -> Redactor {
        let name = SecretName::new("LAB_API_KEY").unwrap();
        let secrets = [KNOWN, "73519264"];
        Redactor::new(secrets.map(|value| Secret::new(name.clone(), value.to_owned(), []).unwrap()))
    }

    fn saying(text: String, arguments: Json, body: Json) -> Message {
        let call = ToolCall {
            id: CallId("a".to_owned()),
            name: "terminal".to_owned(),
            arguments,
        };
        Message {
            role: Role::Assistant,
            parts: vec![Part::Text { text }, Part::ToolCall(call)],
            raw: Some(RawTurn {
                protocol: WireProtocol::Anthropic,
                provider: "lab".to_owned(),
                model: "m".to_owned(),
                body,
            }),
        }
    }

    // AG-35, AG-2
    #[test]
    fn known_secrets_are_masked_in_all_of_it_and_shapes_in_what_is_said() {
        let plain = saying(
            "fine".to_owned(),
            json!({"n": 1}),
            json!([{"text": "fine"}]),
        );
        assert_eq!(masked(plain.clone(), &redactor(), Scope::Code), plain);
        let arguments = json!({"command": format!("echo {KNOWN} {SHAPED}"), KNOWN: [73_519_264]});
        let clean = saying(format!("{KNOWN} {SHAPED}"), arguments, json!([]));
        let clean = masked(clean, &redactor(), Scope::Code);
        let text = serde_json::to_string(&clean).unwrap();
        assert!(
            !text.contains(KNOWN) && !text.contains("73519264"),
            "{text}"
        );
        assert_eq!(text.matches(SHAPED).count(), 1, "{text}");
        assert!(clean.tool_calls().next().unwrap().arguments.is_object());
        assert_eq!(clean.raw, None);
    }

    // AG-35
    #[test]
    fn what_only_the_providers_own_form_holds_goes_with_it() {
        let hidden = saying("fine".to_owned(), json!({}), json!([{"thinking": KNOWN}]));
        let clean = masked(hidden, &redactor(), Scope::Code);
        assert_eq!((clean.plain_text().as_str(), clean.raw), ("fine", None));
    }

    // AG-35: whoever switched the guessing off keeps what was said.
    #[test]
    fn shapes_stay_where_nobody_wants_guesses() {
        let said = Message::text(Role::Assistant, SHAPED);
        assert_eq!(masked(said.clone(), &redactor(), Scope::Known), said);
    }
}
