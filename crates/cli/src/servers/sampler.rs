//! Questions of servers to a model: asked like every helper task, and accounted for.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_agent::{Routes as _, ledger_entry};
use hermes_core::{
    CacheLife, Clock, FinishReason, ModelRequest, ModelSettings, SessionId, ToolCall, ToolChoice,
};
use hermes_llm::{Answer, Ask, AskedCall, CallEnd, CallEvent, CallSink, Caller, Course, Route};
use hermes_mcp::{Sample, Sampled, Sampler};
use hermes_store::Store;
use tokio_util::sync::CancellationToken;

use crate::models::{Chosen, Models};

/// The task, as `auxiliary` in the settings and the ledger name it.
const TASK: &str = "mcp";
/// Bytes of text a token stands for, roughly.
const BYTES_OF_TOKEN: usize = 4;

/// Asks the models of this run.
pub(crate) struct ModelSampler {
    pub(crate) models: Arc<Models>,
    pub(crate) caller: Caller,
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    /// The route of the conversation.
    pub(crate) main: Arc<Route>,
    pub(crate) session: SessionId,
}

impl ModelSampler {
    /// The model that is named, where somebody serves it, and those of helpers behind it.
    fn course(&self, named: Option<&str>) -> Course {
        let named = named.and_then(|model| {
            let chosen = Chosen {
                model: Some(model.to_owned()),
                provider: None,
            };
            let found = self.models.route(&chosen).ok()?;
            Some(self.models.known(found))
        });
        let helpers = self.models.helpers(TASK, &self.main).routes;
        let helpers = self.caller.by_health(helpers);
        let mut routes = named.into_iter().chain(helpers);
        let first = routes.next().unwrap_or_else(|| self.main.clone());
        Course::new(first, routes)
    }

    async fn ask(&self, sample: Sample, cancel: &CancellationToken) -> Result<Sampled, String> {
        let mut course = self.course(sample.model.as_deref());
        let offers_tools = !sample.tools.is_empty();
        let request = ModelRequest {
            model: String::new(),
            conversation: format!("{}-{TASK}-{}", self.session, sample.server),
            system: sample.system.unwrap_or_default().into(),
            tools: sample.tools.into(),
            messages: sample.messages.into_iter().map(Arc::new).collect(),
            settings: ModelSettings {
                max_output_tokens: Some(sample.max_tokens),
                temperature: sample.temperature.map(f64::from),
                effort: None,
                tool_choice: match offers_tools {
                    true => ToolChoice::Auto,
                    false => ToolChoice::None,
                },
                cache: CacheLife::Short,
            },
        };
        let bytes: usize = request
            .messages
            .iter()
            .map(|one| one.plain_text().len())
            .sum();
        let ask = Ask {
            request: &request,
            tokens: u32::try_from((bytes + request.system.len()) / BYTES_OF_TOKEN)
                .unwrap_or(u32::MAX),
            compactable: false,
        };
        let started = self.clock.now();
        let mut silent = Silent;
        let end = self.caller.call(&mut course, &ask, &mut silent, cancel);
        let answer = match end.await {
            CallEnd::Answered(answer) | CallEnd::Partial(answer) => answer,
            CallEnd::TooLong(_) => return Err("it is too long for the model".to_owned()),
            CallEnd::Stopped(_) => return Err("it was stopped".to_owned()),
            CallEnd::Failed(failure) => return Err(failure.to_string()),
        };
        let route = course.route();
        let now = self.clock.now();
        let call = ledger_entry(&self.session, TASK, route, &answer, started, now);
        // Written behind the answer; a row that is lost is only a number.
        drop(self.store.record_call(call));
        Ok(sampled(*answer, route, &sample.stop))
    }
}

impl Sampler for ModelSampler {
    fn sample(
        &self,
        sample: Sample,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Sampled, String>> {
        Box::pin(async move { self.ask(sample, &cancel).await })
    }
}

fn sampled(answer: Answer, route: &Route, stops: &[String]) -> Sampled {
    Sampled {
        model: route.model.clone(),
        tokens: answer.usage.total(),
        text: until(&answer.text, stops).to_owned(),
        calls: answer.calls.into_iter().map(call).collect(),
        finish: answer.finish.unwrap_or(FinishReason::Length),
    }
}

/// The text before the first of the texts at which it should have ended.
fn until<'t>(text: &'t str, stops: &[String]) -> &'t str {
    let stops = stops.iter().filter(|stop| !stop.is_empty());
    let end = stops.filter_map(|stop| text.find(stop.as_str())).min();
    end.map_or(text, |end| &text[..end]).trim()
}

fn call(asked: AskedCall) -> ToolCall {
    ToolCall {
        id: asked.id,
        name: asked.name,
        // A server that gets no arguments says so, and the model writes them again.
        arguments: serde_json::from_str(&asked.arguments).unwrap_or_default(),
    }
}

struct Silent;

impl CallSink for Silent {
    async fn event(&mut self, _: CallEvent) {}
}
