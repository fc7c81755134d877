//! Questions of servers to a model: asked like every helper task, and accounted for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_core::future::BoxFuture;
use hermes_agent::{Routes as _, ledger_entry};
use hermes_core::{
    CacheLife, Clock, Effort, FinishReason, Message, ModelRequest, ModelSettings, Part, SessionId,
    ToolCall,
};
use hermes_llm::{Answer, Ask, AskedCall, CallEnd, CallEvent, CallSink, Caller, Course, Route};
use hermes_mcp::{Sample, Sampled, Sampler};
use hermes_store::Store;
use tokio_util::sync::CancellationToken;

use crate::models::{Chosen, Models};

/// The task, as `auxiliary` in the settings and the ledger name it.
const TASK: &str = "mcp";
/// Sessions whose model is remembered.
const MOST_SESSIONS: usize = 256;
/// Bytes of text a token stands for, roughly.
const BYTES_OF_TOKEN: usize = 4;

/// Nobody: commands that only look at servers ask no model. Servers offer some tools only to clients that have
/// one, and a look must show the same tools as a conversation.
pub(super) struct NoModel;

impl Sampler for NoModel {
    fn sample(&self, _: Sample, _: CancellationToken) -> BoxFuture<'_, Result<Sampled, String>> {
        Box::pin(async { Err("this command asks no model".to_owned()) })
    }
}

/// Asks the models of this run.
pub(crate) struct ModelSampler {
    models: Arc<Models>,
    caller: Caller,
    store: Store,
    clock: Arc<dyn Clock>,
    /// The route of the program, for questions that no call led to.
    main: Arc<Route>,
    session: SessionId,
    /// What answers in each session now.
    in_use: Mutex<HashMap<SessionId, Arc<Route>>>,
}

/// Who is asked, and how.
struct Asked {
    session: SessionId,
    course: Course,
    caller: Caller,
    /// How hard to think, where the settings say so.
    effort: Option<Effort>,
}

impl ModelSampler {
    /// Tells the time.
    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// `main` and `session` are used where no conversation is behind a question.
    pub(crate) fn new(
        models: Arc<Models>,
        store: Store,
        clock: Arc<dyn Clock>,
        main: Arc<Route>,
        session: SessionId,
    ) -> Self {
        Self {
            caller: models.caller(&store),
            models,
            store,
            clock,
            main,
            session,
            in_use: Mutex::default(),
        }
    }

    /// Notes what answers in a session from now on.
    pub(super) fn uses(&self, session: &SessionId, route: &Arc<Route>) {
        let mut in_use = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        if in_use.len() >= MOST_SESSIONS && !in_use.contains_key(session) {
            // Each is noted again with its next turn.
            in_use.clear();
        }
        in_use.insert(session.clone(), route.clone());
    }

    /// The model that is named, where somebody serves it, and those of helpers behind it. Where only some models
    /// are allowed these are all of them there is, however the first ones fail.
    async fn asked(&self, sample: &Sample) -> Result<Asked, String> {
        let session = sample.session.as_ref().unwrap_or(&self.session);
        let main = {
            let in_use = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
            in_use.get(session).unwrap_or(&self.main).clone()
        };
        let named = sample
            .model
            .as_deref()
            .and_then(|model| self.serving(model));
        let main = self.models.asked(&main).await;
        let helpers = self.models.helpers(TASK, &main);
        let mut caller = self.caller.clone();
        if let Some(retries) = helpers.retries {
            caller.attempts = retries.saturating_add(1);
        }
        let effort = helpers.effort;
        let usual = self.caller.by_health(helpers.routes);
        let mut routes: Vec<Arc<Route>> = named.into_iter().chain(usual).collect();
        if sample.allowed.is_empty() && routes.is_empty() {
            routes.push(main);
        } else if !sample.allowed.is_empty() {
            self.only_allowed(&sample.allowed, &mut routes);
        }
        if routes.is_empty() {
            let allowed = sample.allowed.join(", ");
            return Err(format!(
                "nobody serves one of the allowed models ({allowed})"
            ));
        }
        let media = |message: &Message| {
            message
                .parts
                .iter()
                .any(|part| matches!(part, Part::Media(_)))
        };
        if sample.messages.iter().any(media) {
            routes.retain(|route| !route.quirks.no_images);
        }
        let course = without_doubles(routes)
            .ok_or("it has a picture, and none of the models can see".to_owned())?;
        Ok(Asked {
            session: session.clone(),
            course,
            caller,
            effort,
        })
    }

    /// Takes out what is not allowed, and adds the rest of what is.
    fn only_allowed(&self, models: &[String], routes: &mut Vec<Arc<Route>>) {
        let allowed = models.iter().filter_map(|model| self.serving(model));
        let allowed: Vec<Arc<Route>> = allowed.collect();
        let is_allowed = |route: &Route| {
            models.contains(&route.model) || allowed.iter().any(|one| one.model == route.model)
        };
        routes.retain(|route| is_allowed(route));
        routes.extend(allowed);
    }

    /// The way to a model, by the name people have for it.
    fn serving(&self, model: &str) -> Option<Arc<Route>> {
        let chosen = Chosen {
            model: Some(model.to_owned()),
            provider: None,
        };
        let found = self.models.route(&chosen).ok()?;
        Some(self.models.known(found))
    }

    async fn ask(&self, sample: Sample, cancel: &CancellationToken) -> Result<Sampled, String> {
        let Asked {
            session,
            mut course,
            caller,
            effort,
        } = self.asked(&sample).await?;
        let wanted = sample.model.as_deref();
        let wanted = wanted.map(|model| (model.to_owned(), self.serving(model)));
        let request = ModelRequest {
            model: String::new(),
            conversation: format!("{session}-{TASK}-{}", sample.server),
            system: sample.system.unwrap_or_default().into(),
            tools: sample.tools.into(),
            messages: sample.messages.into_iter().map(Arc::new).collect(),
            settings: ModelSettings {
                max_output_tokens: Some(sample.max_tokens),
                temperature: sample.temperature.map(f64::from),
                effort,
                tool_choice: sample.tool_choice,
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
            addressed: None,
        };
        let started = self.clock.now();
        let mut silent = Silent;
        let end = caller.call(&mut course, &ask, &mut silent, cancel);
        let answer = match end.await {
            CallEnd::Answered(answer) | CallEnd::Partial(answer, _) => answer,
            CallEnd::TooLong(_) => return Err("it is too long for the model".to_owned()),
            CallEnd::Stopped(_) => return Err("it was stopped".to_owned()),
            CallEnd::Failed(failure) => return Err(failure.to_string()),
        };
        let route = course.route();
        if let Some((wanted, way)) = wanted
            && way.is_none_or(|way| way.model != route.model)
        {
            let (server, used) = (&sample.server, &route.model);
            tracing::warn!(server, wanted, used, "another model answered an MCP server");
        }
        let now = self.clock.now();
        let call = ledger_entry(&session, TASK, route, &answer, started, now);
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

/// The routes in their order, each once.
fn without_doubles(routes: Vec<Arc<Route>>) -> Option<Course> {
    let mut routes = routes.into_iter();
    let first = routes.next()?;
    let mut seen = vec![(first.provider.clone(), first.model.clone())];
    let others = routes.filter(|route| {
        let key = (route.provider.clone(), route.model.clone());
        let new = !seen.contains(&key);
        seen.push(key);
        new
    });
    Some(Course::new(first, others.collect::<Vec<_>>()).beside())
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
