//! Merging skills that overlap: a model reads them and writes wider ones, with hands for skills only. What it may put
//! away is not its to say: a skill goes only when the wider one holds every line of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_config::ToolSearch;
use hermes_core::{
    CacheLife, CallId, Clock, Consultation, Event, Message, ModelRequest, ModelSettings, Origin,
    Role, RunMode, SessionId, Tool, ToolChoice, ToolContext, ToolError, ToolHost, ToolOutcome,
    TurnId,
};
use hermes_llm::{Caller, Course};
use hermes_secrets::RedactorHandle;
use hermes_store::Store;
use tokio_util::sync::CancellationToken;

use super::words;
use crate::asker::SessionAsker;
use crate::engine::Helpers;
use crate::errand::Errand;
use crate::lane::Lane;
use crate::toolbox::Toolbox;

/// The task, as `auxiliary` in the settings and the ledger name it.
pub const TASK: &str = "curator";
/// Most model calls of one run.
const MOST_CALLS: u32 = 60;
/// The tools that work in it.
const HANDS: [&str; 3] = ["skills_list", "skill_view", "skill_manage"];

/// What merging works with; everything is handed in.
pub struct Merge {
    /// Calls models.
    pub caller: Caller,
    /// Where calls are counted.
    pub store: Store,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Masks known secrets.
    pub redactor: RedactorHandle,
    /// Where results that are too long for the model are kept.
    pub spill: PathBuf,
    /// Who does it.
    pub helpers: Helpers,
    /// How long one answer is waited for.
    pub limit: Duration,
    /// The tools there are; only those for skills work.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The skills that may be merged, by name, and what each is for.
    pub skills: Vec<(String, String)>,
    /// The name of this run.
    pub run: SessionId,
    /// Ends it.
    pub cancel: CancellationToken,
}

/// How it went. What was merged is seen at the skills themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The model that did it.
    pub model: String,
    /// Its answers.
    pub calls: u32,
    /// Why it ended before the model was done with it.
    pub cut_short: Option<String>,
}

impl Merge {
    /// Does it. `None` when no model is there for it.
    pub async fn run(mut self) -> Option<Merged> {
        if self.helpers.routes.is_empty() {
            return None;
        }
        let first = self.helpers.routes.remove(0);
        let toolbox = Arc::new(Toolbox::new(
            std::mem::take(&mut self.tools),
            |name| HANDS.contains(&name),
            &ToolSearch::default(),
            first.limits.window,
        ));
        let question = words::merging(&self.skills);
        let request = ModelRequest {
            model: first.model.clone(),
            conversation: self.run.to_string(),
            system: words::CURATOR.into(),
            tools: toolbox.specs(),
            messages: vec![Message::text(Role::User, question).into()],
            settings: ModelSettings {
                // Each route has its own.
                max_output_tokens: None,
                temperature: None,
                effort: self.helpers.effort,
                tool_choice: ToolChoice::Auto,
                cache: CacheLife::Short,
            },
        };
        let model = first.model.clone();
        let mut course = Course::new(first, std::mem::take(&mut self.helpers.routes)).beside();
        let errand = Errand {
            caller: &self.caller,
            store: &self.store,
            clock: &*self.clock,
            redactor: &self.redactor,
            spill: self.spill.clone(),
            task: TASK,
            session: None,
            hands: &HANDS,
            refused: words::refused_while_merging,
            most_calls: MOST_CALLS,
            // It runs when the user asks for it or switched it on, and seldom.
            budget: None,
            limit: self.limit,
            context: self.context(&toolbox),
            toolbox,
        };
        let outcome = errand.run(request, &mut course).await;
        Some(Merged {
            model,
            calls: outcome.calls,
            cut_short: outcome.cut_short,
        })
    }

    fn context(&self, toolbox: &Arc<Toolbox>) -> ToolContext {
        let unheard: Lane<Event> = Lane::new(1);
        ToolContext {
            session: self.run.clone(),
            turn: TurnId(0),
            call: CallId(String::new()),
            directory: self.spill.clone(),
            cancel: self.cancel.clone(),
            deadline: self.limit,
            asker: SessionAsker::new(unheard, None),
            mode: RunMode::Manual,
            attended: false,
            lasting: false,
            origin: Origin::Curator,
            nested: false,
            host: Arc::new(Alone {
                names: toolbox.names().map(str::to_owned).collect(),
            }),
        }
    }
}

/// There is no session behind these tools.
struct Alone {
    names: Vec<String>,
}

impl ToolHost for Alone {
    fn show<'a>(&'a self, _: &'a ToolContext, _: String) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn tell<'a>(&'a self, _: &'a ToolContext, text: String) -> BoxFuture<'a, ()> {
        tracing::info!("while merging skills: {text}");
        Box::pin(async {})
    }

    fn consult<'a>(&'a self, _: &'a ToolContext, _: Consultation) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
    }

    fn offered(&self) -> Vec<String> {
        self.names.clone()
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        _: serde_json::Value,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        let message = words::refused_while_merging(name);
        Box::pin(async { Err(ToolError::ForModel { message }) })
    }
}
