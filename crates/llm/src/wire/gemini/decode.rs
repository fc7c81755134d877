//! Reading an answer part by part.

use hermes_core::{CallId, FinishReason, ModelEvent, RawTurn, Usage, WireProtocol};
use serde_json::{Value as Json, json};

use crate::error::VendorError;
use crate::wire::chat::decode::says_something;
use crate::wire::{Decoder, Frame, WireError};

/// How far an answer has come.
#[derive(Clone, Copy)]
enum Progress {
    Nothing,
    UnderWay,
    Stopped(FinishReason),
}

/// A call that came, by what tells it from others. The stream may repeat whole parts.
struct Seen {
    function: Json,
    /// Its place among the parts.
    part: usize,
}

pub(super) struct ContentDecoder {
    provider: String,
    model: String,
    progress: Progress,
    /// The provider's name for the answer; makes the ids of calls differ between answers.
    response: Option<String>,
    parts: Vec<Json>,
    calls: Vec<Seen>,
    usage: Usage,
}

impl ContentDecoder {
    pub(super) fn new(provider: &str, model: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            progress: Progress::Nothing,
            response: None,
            parts: Vec::new(),
            calls: Vec::new(),
            usage: Usage::default(),
        }
    }

    fn take(&mut self, chunk: &Json, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        if let Some(several) = chunk.as_array() {
            return several.iter().try_for_each(|one| self.take(one, out));
        }
        if says_something(&chunk["error"]) {
            let vendor = VendorError::from_body(chunk).unwrap_or_default();
            return Err(WireError::Vendor(vendor));
        }
        if let Some(id) = chunk["responseId"].as_str().filter(|id| !id.is_empty()) {
            self.response.get_or_insert_with(|| id.to_owned());
        }
        let candidate = &chunk["candidates"][0];
        if candidate.is_object() {
            self.begin();
        }
        let before = self.calls.len();
        let mut repeated = Vec::new();
        for part in candidate["content"]["parts"]
            .as_array()
            .into_iter()
            .flatten()
        {
            if !part["functionCall"].is_object() {
                self.say(part, out);
            } else if let Some(index) = self.seen(part, before, &repeated) {
                repeated.push(index);
                self.complete(index, part);
            } else {
                self.call(part, out);
            }
        }
        self.count(&chunk["usageMetadata"], out);
        if chunk["promptFeedback"]["blockReason"].is_string() {
            self.progress = Progress::Stopped(FinishReason::Refused);
        }
        match candidate["finishReason"].as_str() {
            // The word for nothing, which stands in pieces on the way.
            Some("FINISH_REASON_UNSPECIFIED") | None => Ok(()),
            Some(reason) => self.stop(reason, candidate),
        }
    }

    fn begin(&mut self) {
        if let Progress::Nothing = self.progress {
            self.progress = Progress::UnderWay;
        }
    }

    fn stop(&mut self, reason: &str, candidate: &Json) -> Result<(), WireError> {
        let finished = match reason {
            "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "MODEL_ARMOR"
            | "IMAGE_SAFETY"
            | "IMAGE_RECITATION"
            | "IMAGE_PROHIBITED_CONTENT" => FinishReason::Refused,
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" => {
                return Err(broken_off(reason, candidate));
            }
            // A call comes as a whole, so it is complete even where the limit was reached.
            _ if !self.calls.is_empty() => FinishReason::ToolCalls,
            "MAX_TOKENS" => FinishReason::Length,
            "STOP" => FinishReason::Stop,
            // Whatever it was, the answer did not come to its end.
            _ => return Err(broken_off(reason, candidate)),
        };
        self.progress = Progress::Stopped(finished);
        Ok(())
    }

    /// The earlier call a part repeats. Parts of one chunk never repeat each other: there, two equal
    /// calls are two.
    fn seen(&self, part: &Json, before: usize, repeated: &[usize]) -> Option<usize> {
        let function = &part["functionCall"];
        self.calls
            .iter()
            .take(before)
            .enumerate()
            .position(|(index, seen)| {
                let same = match (function["id"].as_str(), seen.function["id"].as_str()) {
                    (Some(id), Some(known)) => id == known,
                    (None, None) => {
                        function["name"] == seen.function["name"]
                            && function["args"] == seen.function["args"]
                    }
                    (Some(_), None) | (None, Some(_)) => false,
                };
                same && !repeated.contains(&index)
            })
    }

    /// A repetition may bring the signature the first one lacked.
    fn complete(&mut self, index: usize, part: &Json) {
        let signature = &part["thoughtSignature"];
        let known = self
            .calls
            .get(index)
            .and_then(|seen| self.parts.get_mut(seen.part))
            .and_then(Json::as_object_mut);
        if let Some(known) = known
            && signature.is_string()
        {
            known
                .entry("thoughtSignature")
                .or_insert_with(|| signature.clone());
        }
    }

    fn call(&mut self, part: &Json, out: &mut Vec<ModelEvent>) {
        let function = &part["functionCall"];
        let id = self.call_id(function);
        out.push(ModelEvent::CallStarted {
            id: id.clone(),
            name: function["name"].as_str().unwrap_or_default().to_owned(),
        });
        if let Some(arguments) = function.get("args") {
            out.push(ModelEvent::CallArguments {
                id,
                fragment: arguments.to_string(),
            });
        }
        self.calls.push(Seen {
            function: function.clone(),
            part: self.parts.len(),
        });
        self.parts.push(part.clone());
    }

    fn call_id(&self, function: &Json) -> CallId {
        let number = self.calls.len();
        CallId(match (function["id"].as_str(), &self.response) {
            (Some(id), _) if !id.is_empty() => id.to_owned(),
            (_, Some(response)) => format!("call_{response}_{number}"),
            (_, None) => format!("call_{number}"),
        })
    }

    fn say(&mut self, part: &Json, out: &mut Vec<ModelEvent>) {
        let text = part["text"].as_str().unwrap_or_default();
        if !text.is_empty() {
            out.push(if part["thought"] == true {
                ModelEvent::Reasoning(text.to_owned())
            } else {
                ModelEvent::Text(text.to_owned())
            });
        }
        match self.parts.last_mut() {
            Some(last) if continues(last, part) => {
                if let Some(Json::String(known)) = last.get_mut("text") {
                    known.push_str(text);
                }
            }
            Some(_) | None => self.parts.push(part.clone()),
        }
    }

    /// Every report holds the counts so far.
    fn count(&mut self, report: &Json, out: &mut Vec<ModelEvent>) {
        if !report.is_object() {
            return;
        }
        let count = |name: &str| report[name].as_u64().unwrap_or(0);
        let cached = count("cachedContentTokenCount");
        let thoughts = count("thoughtsTokenCount");
        let prompt = count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount"));
        self.usage = Usage {
            input_tokens: prompt.saturating_sub(cached),
            output_tokens: count("candidatesTokenCount").saturating_add(thoughts),
            cache_read_tokens: cached,
            cache_write_tokens: 0,
            reasoning_tokens: thoughts,
        };
        out.push(ModelEvent::Usage {
            usage: self.usage,
            cost_usd: None,
        });
    }
}

/// An answer that ended before it was one.
fn broken_off(reason: &str, candidate: &Json) -> WireError {
    let words = candidate["finishMessage"].as_str().unwrap_or_default();
    WireError::Malformed(format!("{reason} {words}").trim_end().to_owned())
}

/// Whether a piece of text goes on where the last part stopped. A signature holds for exactly its part.
fn continues(last: &Json, part: &Json) -> bool {
    let plain = |part: &Json| {
        part.as_object()
            .is_some_and(|fields| fields.keys().all(|key| key == "text" || key == "thought"))
            && part["text"].is_string()
    };
    plain(last) && plain(part) && last["thought"] == part["thought"]
}

impl Decoder for ContentDecoder {
    fn frame(&mut self, frame: &Frame, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        let data = frame.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let chunk = serde_json::from_str(data)
            .map_err(|error| WireError::Malformed(format!("an event is not JSON: {error}")))?;
        self.take(&chunk, out)
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        match self.progress {
            Progress::Nothing => Err(WireError::Empty),
            Progress::UnderWay => Err(WireError::Cut {
                open_calls: self
                    .calls
                    .iter()
                    .map(|seen| {
                        seen.function["name"]
                            .as_str()
                            .unwrap_or_default()
                            .to_owned()
                    })
                    .collect(),
            }),
            Progress::Stopped(reason) => {
                let parts = std::mem::take(&mut self.parts);
                let raw = (!parts.is_empty()).then(|| RawTurn {
                    protocol: WireProtocol::Gemini,
                    provider: self.provider.clone(),
                    model: self.model.clone(),
                    body: json!(parts),
                });
                out.push(ModelEvent::Finished { reason, raw });
                Ok(())
            }
        }
    }

    fn document(&mut self, body: &Json, out: &mut Vec<ModelEvent>) -> Result<(), WireError> {
        self.take(body, out)?;
        if let Progress::UnderWay = self.progress {
            self.stop("STOP", &Json::Null)?;
        }
        self.end(out)
    }
}
