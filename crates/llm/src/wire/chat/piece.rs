//! The piece that an answer mostly comes in: a few letters of text and nothing else that counts.
//!
//! Thousands of them come in a row, and reading one this way takes a fraction of what the tree of any JSON costs.
//! Whatever has one more field than these, or another kind of value in it, is no such piece and is read as a tree.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// What such a piece says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece<'t> {
    /// The server's name for the answer.
    pub(super) answer: Option<&'t str>,
    pub(super) text: Cow<'t, str>,
}

impl<'t> Piece<'t> {
    /// Reads one; none when it is something else.
    pub(super) fn read(data: &'t str) -> Option<Self> {
        let Chunk {
            id,
            choices: [choice],
            usage,
            error,
            ..
        } = serde_json::from_str(data).ok()?;
        let text = choice.delta.content;
        let empty = usage.is_none() && error.is_none() && choice.finish_reason.is_none();
        let first = choice.index.unwrap_or(0) == 0;
        (empty && first && !text.is_empty()).then_some(Self { answer: id, text })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chunk<'t> {
    #[serde(default)]
    id: Option<&'t str>,
    #[serde(borrow)]
    choices: [Choice<'t>; 1],
    #[serde(default)]
    usage: Option<IgnoredAny>,
    #[serde(default)]
    error: Option<IgnoredAny>,
    #[serde(default, rename = "object")]
    _object: IgnoredAny,
    #[serde(default, rename = "created")]
    _created: IgnoredAny,
    #[serde(default, rename = "model")]
    _model: IgnoredAny,
    #[serde(default, rename = "provider")]
    _provider: IgnoredAny,
    #[serde(default, rename = "system_fingerprint")]
    _fingerprint: IgnoredAny,
    #[serde(default, rename = "service_tier")]
    _tier: IgnoredAny,
    /// Letters that hide how long the piece is.
    #[serde(default, rename = "obfuscation")]
    _padding: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice<'t> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow)]
    delta: Delta<'t>,
    #[serde(default)]
    finish_reason: Option<IgnoredAny>,
    #[serde(default, rename = "native_finish_reason")]
    _native: IgnoredAny,
    #[serde(default, rename = "logprobs")]
    _odds: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Delta<'t> {
    #[serde(borrow)]
    content: Cow<'t, str>,
    #[serde(default, rename = "role")]
    _role: IgnoredAny,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_text_is_read_this_way() {
        let with = |outer: serde_json::Value, inner: serde_json::Value| {
            let mut chunk = json!({
                "id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m", "usage": null,
                "choices": [{"index": 0, "delta": {"role": "assistant", "content": "one\n"}, "finish_reason": null}],
            });
            let fields = chunk.as_object_mut().unwrap();
            fields.extend(outer.as_object().unwrap().clone());
            let delta = chunk["choices"][0]["delta"].as_object_mut().unwrap();
            delta.extend(inner.as_object().unwrap().clone());
            chunk.to_string()
        };
        let plain = with(json!({}), json!({}));
        let piece = Piece::read(&plain).unwrap();
        assert_eq!((piece.answer, &*piece.text), (Some("a"), "one\n"));
        for other in [
            with(json!({"usage": {"prompt_tokens": 1}}), json!({})),
            with(json!({"error": {"message": "no"}}), json!({})),
            with(json!({"x_groq": {}}), json!({})),
            json!({"id": "a", "choices": []}).to_string(),
            with(json!({}), json!({"content": ""})),
            with(json!({}), json!({"content": null})),
            with(json!({}), json!({"content": [{"text": "x"}]})),
            with(json!({}), json!({"reasoning": "hm"})),
            with(json!({}), json!({"tool_calls": []})),
            plain.replace("\"finish_reason\":null", "\"finish_reason\":\"stop\""),
            plain.replace("\"index\":0", "\"index\":1"),
            "[DONE]".to_owned(),
            plain[..plain.len() - 1].to_owned(),
        ] {
            assert_eq!(Piece::read(&other), None, "{other}");
        }
    }
}
