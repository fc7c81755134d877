//! `memory`: what the agent keeps for later sessions.
//!
//! The files and their rules are the memory crate's; here is what a model may ask and is told, and who is asked
//! before something is kept.

mod answer;
mod approval;
mod pending;
mod request;

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{
    Handling, Origin, SessionId, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec,
};
use hermes_memory::{Entries, External, Footing, Memory, MemoryError, Scene, Target, Why};
use hermes_secrets::{RedactorHandle, Scope};
use serde_json::Value as Json;

use crate::arguments::{refuse, text};
use crate::staging::Staging;
use approval::Permission;
use pending::waiting;
pub use pending::{ApproveError, StagedChange, approve_memory};
use request::{Asked, Wish};

/// Failures for want of room or of an entry that a turn may have; the next one ends it.
const MOST_FAILURES: u32 = 3;
/// Sessions that are remembered; the one that came first is forgotten first.
const MOST_SESSIONS: usize = 1_000;
/// How long a call may take beyond a person's patience.
const BEYOND_PATIENCE: Duration = Duration::from_secs(120);

/// What the memory tools of all sessions share.
pub struct MemoryServices {
    /// What is remembered.
    pub memory: Arc<Memory>,
    /// Where changes wait for a yes.
    pub staging: Staging,
    /// Masks known secrets before they are kept.
    pub redactor: RedactorHandle,
    /// Whether a person is asked before something is kept.
    pub approval: AtomicBool,
    /// How long that person may take.
    pub patience: Duration,
    /// Sessions in which a person allowed changes, or was told something.
    pub sessions: Marks,
    /// What is kept is told to it too.
    pub external: Option<External>,
}

/// Who calls the tool, and whether somebody can be asked at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryCaller {
    /// Whether a question may be put to the person behind the session; changes wait otherwise.
    pub may_ask: bool,
    /// Where the session runs.
    pub surface: String,
    /// Who speaks there, where it serves several people.
    pub user: Option<String>,
}

/// The tool. One for each turn: what fails is counted by turn.
pub struct MemoryTool {
    spec: ToolSpec,
    services: Arc<MemoryServices>,
    caller: MemoryCaller,
    failures: Failures,
}

/// Failures so far. A look back uses the tool of the turn it follows, and begins to count anew.
#[derive(Default)]
struct Failures {
    conversation: AtomicU32,
    behind: AtomicU32,
}

impl Failures {
    fn of(&self, context: &ToolContext) -> &AtomicU32 {
        match context.origin {
            Origin::Review | Origin::Curator => &self.behind,
            Origin::Conversation => &self.conversation,
        }
    }
}

impl MemoryTool {
    /// The tool for one turn.
    pub fn new(services: Arc<MemoryServices>, caller: MemoryCaller) -> Self {
        Self {
            spec: Self::described(),
            services,
            caller,
            failures: Failures::default(),
        }
    }

    /// What the model is told of it.
    pub fn described() -> ToolSpec {
        request::spec()
    }

    /// Where something is remembered, for the external memory.
    fn scene(&self, context: &ToolContext) -> Scene {
        Scene {
            session: context.session.as_str().to_owned(),
            directory: context.directory.clone(),
            surface: self.caller.surface.clone(),
            user: self.caller.user.clone(),
        }
    }

    async fn serve(&self, asked: Asked, context: &ToolContext) -> ToolOutcome {
        let target = asked.target()?;
        if !self.services.memory.settings().of(target).enabled {
            return Ok(told(answer::switched_off(target)));
        }
        let mut operations = match asked.wish()? {
            Wish::Read => return self.read(target).await,
            Wish::Change(operations) => operations,
        };
        let redactor = self.services.redactor.snapshot();
        for operation in &mut operations {
            if let Some(content) = &mut operation.content {
                *content = redactor.redact_in(Scope::Known, content).into_owned();
            }
        }
        let scene = self.scene(context);
        let change = StagedChange {
            target,
            operations,
            scene: Some(scene.clone()),
        };
        if self.services.approval.load(Ordering::Relaxed) {
            // What would fail anyway needs nobody's yes.
            let footing = match self.rehearsed(&change).await? {
                Ok(footing) => footing,
                Err(error) => return Ok(told(self.failed(error, context).await?)),
            };
            match self.permission(&change, footing, context).await? {
                Permission::Given => {}
                Permission::Refused(answer) | Permission::Waits(answer) => return Ok(told(answer)),
            }
        }
        let (origin, session) = (crate::origin::origin(context), context.session.clone());
        let contents = change.contents();
        let changed = self
            .blocking(move |memory| {
                memory.change(change.target, &change.operations, origin, Some(&session))
            })
            .await?;
        match changed {
            Ok(changed) => {
                self.failures.of(context).store(0, Ordering::Relaxed);
                // What is kept is told to the external memory too.
                if let (Some(external), Some(_)) = (&self.services.external, changed.id) {
                    let entries = Entries {
                        new: contents,
                        gone: changed.gone.clone(),
                    };
                    external.written(scene, target.word(), entries).await;
                }
                Ok(told(answer::changed(&changed)))
            }
            Err(error) => Ok(told(self.failed(error, context).await?)),
        }
    }

    /// Whether a change can be made, with what waits from its conversation.
    async fn rehearsed(
        &self,
        change: &StagedChange,
    ) -> Result<Result<Footing, MemoryError>, ToolError> {
        let (services, change) = (self.services.clone(), change.clone());
        self.blocking(move |memory| {
            let waiting = waiting(&services.staging, &change, None);
            memory.rehearse(change.target, &waiting, &change.operations)
        })
        .await
    }

    async fn read(&self, target: Target) -> ToolOutcome {
        let contents = self.blocking(move |memory| memory.contents(target)).await?;
        match contents {
            Ok(contents) => Ok(told(answer::read(&contents))),
            Err(error) => Err(refuse(format!("{error}; {}", error.hint()))),
        }
    }

    /// What the model is told about a failure. The person is told when there is no room, once in a session.
    async fn failed(&self, error: MemoryError, context: &ToolContext) -> Result<Json, ToolError> {
        let (refusal, contents) = match &error {
            MemoryError::Refused { refusal, contents } => (refusal, contents),
            MemoryError::Drifted { .. } => return Ok(answer::drifted(&error)),
            other => return Err(refuse(format!("{other}; {}", other.hint()))),
        };
        let target = contents.target;
        if let Why::Full { .. } = refusal.why
            && self
                .services
                .sessions
                .add(&context.session, Mark::ToldFull(target))
        {
            let words = answer::full_for_people(contents);
            context.host.tell(context, words).await;
        }
        if refusal.why.is_capacity_or_match()
            && self.failures.of(context).fetch_add(1, Ordering::Relaxed) >= MOST_FAILURES
        {
            return Ok(answer::enough(refusal));
        }
        Ok(answer::refused(refusal, contents))
    }

    /// Does something with memory on a thread that may wait.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Memory) -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let memory = self.services.memory.clone();
        tokio::task::spawn_blocking(move || work(&memory))
            .await
            .map_err(|error| ToolError::OutcomeUnknown {
                message: format!("the call ended early: {error}"),
            })
    }
}

impl Tool for MemoryTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        Handling {
            // The asker's own limit passes first, and the change then waits.
            deadline: self.services.patience + BEYOND_PATIENCE,
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            self.serve(crate::arguments::read(arguments)?, context)
                .await
        })
    }
}

fn told(answer: Json) -> hermes_core::ToolResult {
    text(answer.to_string())
}

/// Something that holds for the rest of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mark {
    /// A person allowed changes.
    Allowed,
    /// The person was told that a file is full.
    ToldFull(Target),
}

/// What holds for which session.
#[derive(Debug, Default)]
pub struct Marks(Mutex<Marked>);

#[derive(Debug, Default)]
struct Marked {
    all: HashSet<(SessionId, Mark)>,
    order: VecDeque<(SessionId, Mark)>,
}

impl Marks {
    /// Adds a mark; `false` when it was there.
    pub(crate) fn add(&self, session: &SessionId, mark: Mark) -> bool {
        let mut marked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let one = (session.clone(), mark);
        if !marked.all.insert(one.clone()) {
            return false;
        }
        marked.order.push_back(one);
        if marked.order.len() > MOST_SESSIONS
            && let Some(oldest) = marked.order.pop_front()
        {
            marked.all.remove(&oldest);
        }
        true
    }

    pub(crate) fn has(&self, session: &SessionId, mark: Mark) -> bool {
        let marked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        marked.all.contains(&(session.clone(), mark))
    }
}
