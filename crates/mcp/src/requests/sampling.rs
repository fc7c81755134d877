//! Questions of servers to a model: within limits, and answered by a seam that is handed in.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_config::McpSampling;
use hermes_core::{
    CallId, Effect, FinishReason, Media, Message, Part, Role, SessionId, ToolCall, ToolChoice,
    ToolSpec,
};
use hermes_secrets::{RedactorHandle, Scope};
#[expect(
    deprecated,
    reason = "servers of the present protocol still use sampling"
)]
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, SamplingMessage, SamplingMessageContentBlock,
    ToolChoiceMode,
};
use rmcp::model::{ErrorCode, ErrorData};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Shelf;

/// The code of every refusal.
const REFUSED: ErrorCode = ErrorCode(-1);
/// Most characters of a name of content that are repeated.
const LONGEST_KIND: usize = 40;
/// The window of `max_rpm`.
const WINDOW: Duration = Duration::from_secs(60);

/// A question for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The server that asks.
    pub server: String,
    /// The conversation whose call it asks in, where one is running.
    pub session: Option<SessionId>,
    /// The model it is for; the usual one for helpers when absent.
    pub model: Option<String>,
    /// The only models that may answer; any when empty.
    pub allowed: Vec<String>,
    /// Instructions.
    pub system: Option<String>,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Tools the model may ask for; the server runs them.
    pub tools: Vec<ToolSpec>,
    /// Whether it may or must.
    pub tool_choice: ToolChoice,
    /// Most tokens of the answer.
    pub max_tokens: u32,
    /// How much chance is in it.
    pub temperature: Option<f32>,
    /// Texts at which the answer ends.
    pub stop: Vec<String>,
}

/// What the model said.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// The model.
    pub model: String,
    /// Its words.
    pub text: String,
    /// The tools it asks for.
    pub calls: Vec<ToolCall>,
    /// Why it ended.
    pub finish: FinishReason,
    /// Tokens that were used.
    pub tokens: u64,
}

/// Asks a model on behalf of a server.
///
/// Called for each question that is within the limits, several at once for several servers. The future is
/// dropped when the time is over; it must end soon after the token fires.
pub trait Sampler: Send + Sync {
    /// Asks; the reason when there is no answer.
    fn sample(
        &self,
        sample: Sample,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Sampled, String>>;
}

/// What sampling has come to, for status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplingCounts {
    /// Questions.
    pub requests: u64,
    /// Those that were not answered.
    pub errors: u64,
    /// Tokens used.
    pub tokens_used: u64,
    /// Answers that asked for tools.
    pub tool_use_count: u64,
}

/// Answers the questions of one server.
pub(crate) struct SamplingDesk {
    server: String,
    limits: McpSampling,
    sampler: Arc<dyn Sampler>,
    redactor: RedactorHandle,
    /// Keeps the pictures of questions.
    shelf: Arc<Shelf>,
    recent: Mutex<VecDeque<Instant>>,
    tool_rounds: AtomicU64,
    requests: AtomicU64,
    errors: AtomicU64,
    tokens: AtomicU64,
    tool_uses: AtomicU64,
}

#[expect(
    deprecated,
    reason = "servers of the present protocol still use sampling"
)]
impl SamplingDesk {
    pub(crate) fn new(
        server: &str,
        limits: McpSampling,
        sampler: Arc<dyn Sampler>,
        redactor: RedactorHandle,
        shelf: Arc<Shelf>,
    ) -> Self {
        Self {
            server: server.to_owned(),
            limits,
            sampler,
            redactor,
            shelf,
            recent: Mutex::default(),
            tool_rounds: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            tokens: AtomicU64::new(0),
            tool_uses: AtomicU64::new(0),
        }
    }

    pub(crate) fn counts(&self) -> SamplingCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        SamplingCounts {
            requests: read(&self.requests),
            errors: read(&self.errors),
            tokens_used: read(&self.tokens),
            tool_use_count: read(&self.tool_uses),
        }
    }

    pub(super) async fn answer(
        &self,
        params: CreateMessageRequestParams,
        session: Option<SessionId>,
        gone: &CancellationToken,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let answered = self.within_limits(params, session, gone).await;
        match &answered {
            Ok(_) => self.log("MCP server asked a model"),
            Err(why) => {
                self.errors.fetch_add(1, Ordering::Relaxed);
                self.log(&format!("MCP server's question to a model failed: {why}"));
            }
        }
        answered.map_err(|why| {
            let shown = self
                .redactor
                .snapshot()
                .redact_in(Scope::Chat, &why)
                .into_owned();
            ErrorData::new(REFUSED, shown, None)
        })
    }

    fn log(&self, text: &str) {
        let server = &self.server;
        match self.limits.log_level.trim().to_lowercase().as_str() {
            "debug" => tracing::debug!(server, "{text}"),
            "warning" | "warn" => tracing::warn!(server, "{text}"),
            _ => tracing::info!(server, "{text}"),
        }
    }

    async fn within_limits(
        &self,
        params: CreateMessageRequestParams,
        session: Option<SessionId>,
        gone: &CancellationToken,
    ) -> Result<CreateMessageResult, String> {
        self.in_time()?;
        let sample = self.sample(params, session).await?;
        let cancel = gone.child_token();
        let asked = self.sampler.sample(sample, cancel.clone());
        let limit = self.limits.timeout;
        let answered = tokio::select! {
            answered = tokio::time::timeout(limit, asked) => answered,
            () = gone.cancelled() => return Err("the server does not want to know any more".to_owned()),
        };
        let sampled = answered.map_err(|_| {
            cancel.cancel();
            format!("the model gave no answer within {} s", limit.as_secs())
        })??;
        self.tokens.fetch_add(sampled.tokens, Ordering::Relaxed);
        self.reply(sampled)
    }

    /// Counts the question, unless there were too many in the last minute.
    fn in_time(&self) -> Result<(), String> {
        let now = Instant::now();
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.retain(|asked| now.duration_since(*asked) < WINDOW);
        if recent.len() >= self.limits.max_rpm as usize {
            return Err(format!(
                "more than {} questions in a minute",
                self.limits.max_rpm
            ));
        }
        recent.push_back(now);
        Ok(())
    }

    async fn sample(
        &self,
        params: CreateMessageRequestParams,
        session: Option<SessionId>,
    ) -> Result<Sample, String> {
        let hinted = params.model_preferences.and_then(|preferences| {
            let hints = preferences.hints.into_iter().flatten();
            hints.filter_map(|hint| hint.name).next()
        });
        let model = match self.limits.model.trim() {
            "" => hinted,
            configured => Some(configured.to_owned()),
        };
        let allowed = &self.limits.allowed_models;
        if let Some(model) = model.as_ref().filter(|_| !allowed.is_empty())
            && !allowed.contains(model)
        {
            return Err(format!("the model {model} is not among the allowed ones"));
        }
        let tools = params.tools.into_iter().flatten();
        let tools: Vec<ToolSpec> = match self.limits.max_tool_rounds {
            0 => Vec::new(),
            _ => tools.map(tool).collect(),
        };
        let asked = params.tool_choice.and_then(|choice| choice.mode);
        let tool_choice = match (tools.is_empty(), asked) {
            (true, _) | (false, Some(ToolChoiceMode::None)) => ToolChoice::None,
            (false, Some(ToolChoiceMode::Required)) => ToolChoice::Required,
            (false, _) => ToolChoice::Auto,
        };
        let mut messages = Vec::new();
        for message in &params.messages {
            let message = serde_json::to_value(message).unwrap_or_default();
            messages.extend(self.read(&message).await?);
        }
        Ok(Sample {
            server: self.server.clone(),
            session,
            model,
            allowed: allowed.clone(),
            system: params.system_prompt,
            messages,
            tools,
            tool_choice,
            max_tokens: params.max_tokens.min(self.limits.max_tokens_cap),
            temperature: params.temperature,
            stop: params.stop_sequences.unwrap_or_default(),
        })
    }

    /// One message of the protocol, which may be several of ours: results of tools stand alone.
    /// What a model cannot be shown is no question without it.
    async fn read(&self, message: &Json) -> Result<Vec<Message>, String> {
        let role = match message.get("role").and_then(Json::as_str) {
            Some("assistant") => Role::Assistant,
            _ => Role::User,
        };
        let blocks = match message.get("content") {
            Some(Json::Array(blocks)) => blocks.clone(),
            Some(block) => vec![block.clone()],
            None => Vec::new(),
        };
        let mut parts = Vec::new();
        let mut results = Vec::new();
        for block in &blocks {
            let text = |key: &str| block.get(key).and_then(Json::as_str).unwrap_or_default();
            match text("type") {
                "text" => parts.push(Part::Text {
                    text: text("text").to_owned(),
                }),
                "tool_use" => parts.push(Part::ToolCall(ToolCall {
                    id: CallId(text("id").to_owned()),
                    name: text("name").to_owned(),
                    arguments: block.get("input").cloned().unwrap_or_default(),
                })),
                "tool_result" => results.extend(self.result(block).await?),
                "image" => parts.push(Part::Media(self.picture(text("data")).await?)),
                kind => return Err(unknown(kind)),
            }
        }
        let of = |role: Role, parts: Vec<Part>| {
            (!parts.is_empty()).then_some(Message {
                role,
                parts,
                raw: None,
            })
        };
        let results = of(Role::Tool, results).into_iter();
        Ok(results.chain(of(role, parts)).collect())
    }

    /// What a tool of the server gave, with its pictures behind it.
    async fn result(&self, block: &Json) -> Result<Vec<Part>, String> {
        let text = |from: &Json, key: &str| from.get(key)?.as_str().map(str::to_owned);
        let mut texts = Vec::new();
        let mut pictures = Vec::new();
        for one in block
            .get("content")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
        {
            match text(one, "type").as_deref().unwrap_or_default() {
                "text" => texts.extend(text(one, "text")),
                "image" => {
                    let data = text(one, "data").unwrap_or_default();
                    pictures.push(Part::Media(self.picture(&data).await?));
                }
                kind => match one.get("resource").and_then(|inside| text(inside, "text")) {
                    Some(inside) => texts.push(inside),
                    None => return Err(unknown(kind)),
                },
            }
        }
        let structured = block
            .get("structuredContent")
            .filter(|given| !given.is_null());
        if let (true, Some(structured)) = (texts.is_empty(), structured) {
            texts.push(structured.to_string());
        }
        let result = Part::ToolResult {
            call: CallId(text(block, "toolUseId").unwrap_or_default()),
            name: String::new(),
            content: texts.join("\n"),
            failed: block.get("isError").and_then(Json::as_bool) == Some(true),
        };
        Ok(std::iter::once(result).chain(pictures).collect())
    }

    async fn picture(&self, data: &str) -> Result<Media, String> {
        let (shelf, data) = (Arc::clone(&self.shelf), data.to_owned());
        let kept = tokio::task::spawn_blocking(move || shelf.picture(&data)).await;
        let kept = kept.map_err(|error| error.to_string()).flatten();
        kept.map_err(|why| format!("a picture of the question cannot be used: {why}"))
    }

    fn reply(&self, sampled: Sampled) -> Result<CreateMessageResult, String> {
        let redactor = self.redactor.snapshot();
        let mut blocks = Vec::new();
        if !sampled.text.is_empty() || sampled.calls.is_empty() {
            let text = redactor.redact_in(Scope::Chat, &sampled.text).into_owned();
            blocks.push(SamplingMessageContentBlock::text(text));
        }
        let wants_tools = !sampled.calls.is_empty();
        if wants_tools {
            self.tool_uses.fetch_add(1, Ordering::Relaxed);
            let rounds = self.tool_rounds.fetch_add(1, Ordering::Relaxed) + 1;
            if rounds > u64::from(self.limits.max_tool_rounds) {
                self.tool_rounds.store(0, Ordering::Relaxed);
                return Err(format!(
                    "more than {} rounds of tools",
                    self.limits.max_tool_rounds
                ));
            }
        } else {
            self.tool_rounds.store(0, Ordering::Relaxed);
        }
        for call in sampled.calls {
            let input = match call.arguments {
                Json::Object(map) => map,
                _ => serde_json::Map::new(),
            };
            blocks.push(SamplingMessageContentBlock::tool_use(
                call.id.0, call.name, input,
            ));
        }
        let stop = match sampled.finish {
            FinishReason::Length => CreateMessageResult::STOP_REASON_END_MAX_TOKEN,
            FinishReason::ToolCalls => CreateMessageResult::STOP_REASON_TOOL_USE,
            _ if wants_tools => CreateMessageResult::STOP_REASON_TOOL_USE,
            FinishReason::Stop | FinishReason::Refused | FinishReason::Paused => {
                CreateMessageResult::STOP_REASON_END_TURN
            }
        };
        let message = match blocks.len() {
            1 => SamplingMessage::new(rmcp::model::Role::Assistant, blocks.remove(0)),
            _ => SamplingMessage::new_multiple(rmcp::model::Role::Assistant, blocks),
        };
        Ok(CreateMessageResult::new(message, sampled.model).with_stop_reason(stop))
    }
}

fn tool(tool: rmcp::model::Tool) -> ToolSpec {
    ToolSpec {
        name: tool.name.into_owned(),
        description: tool.description.unwrap_or_default().into_owned(),
        parameters: crate::normalise_schema(&Json::Object(tool.input_schema.as_ref().clone())),
        effect: Effect::Mutating,
    }
}

/// Said about what a model cannot be shown.
fn unknown(kind: &str) -> String {
    let kind: String = kind.chars().take(LONGEST_KIND).collect();
    format!("models are not asked about content of type {kind}")
}
