//! The one external memory of a program, with everything that keeps it from getting in the way: recall that is
//! waited for only so long, a queue on disk behind answers, a pause when it fails again and again, and one word to
//! the user about it.

mod ahead;
mod courier;
mod trouble;
mod turns;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use hermes_core::{Clock, Random, Tool};
use hermes_store::{MemoryBacklog, Pending, Store, StoreError};
use serde_json::Value as Json;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use self::ahead::Ahead;
use self::courier::Parcel;
use self::trouble::{Task, Trouble};
use super::error::ProviderError;
use super::fence::fenced;
use super::provider::{Errand, Manner, Provider, Question, Scene};
use super::tool::ExternalTool;

/// How long what waits may still be sent when the program ends.
const DRAIN: Duration = Duration::from_secs(5);
/// Conversations that are remembered as having spoken.
const MOST_SESSIONS: usize = 256;
/// How long tasks that were told to stop may take for it.
const LAST_STEPS: Duration = Duration::from_secs(2);

/// Makes the provider when it is first needed.
type Make = Box<dyn Fn() -> Result<Arc<dyn Provider>, ProviderError> + Send + Sync>;

/// What it is made from.
pub struct ExternalOptions {
    /// The name, as `memory.provider` says.
    pub name: String,
    /// Makes the provider when it is first needed.
    pub make: Make,
    /// Where what is to be told waits.
    pub store: Store,
    /// Held by the process that sends what waits; given back when it ends, however it ends.
    pub lock: PathBuf,
    /// How long a message waits for what is recalled.
    pub patience: Duration,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

/// The external memory of a program. Cheap to clone.
#[derive(Clone)]
pub struct External {
    inner: Arc<Inner>,
}

struct Inner {
    options: ExternalOptions,
    provider: OnceLock<Result<Arc<dyn Provider>, String>>,
    state: Mutex<State>,
    /// Rung when something was put into the queue.
    bell: Notify,
    tasks: TaskTracker,
    /// Fires when the program is about to end: what waits is sent once more.
    closing: CancellationToken,
    /// Fires when nothing is waited for any more.
    stop: CancellationToken,
}

/// Conversations, the latest ones: an earlier one gives way to one too many.
#[derive(Default)]
struct Latest(VecDeque<String>);

impl Latest {
    /// Whether it was not among them.
    fn add(&mut self, session: &str) -> bool {
        let new = !self.0.iter().any(|one| one == session);
        if new {
            if self.0.len() >= MOST_SESSIONS {
                self.0.pop_front();
            }
            self.0.push_back(session.to_owned());
        }
        new
    }

    /// Whether it was among them.
    fn remove(&mut self, session: &str) -> bool {
        let place = self.0.iter().position(|one| one == session);
        place.and_then(|place| self.0.remove(place)).is_some()
    }
}

#[derive(Default)]
struct State {
    trouble: Trouble,
    ahead: Ahead,
    /// Conversations that began here.
    begun: Latest,
    /// Conversations with something to end.
    spoken: Latest,
    /// Whether the courier runs.
    courier: bool,
    /// Whether everything is to be sent now, however little it is.
    flush: bool,
}

impl State {
    /// Whether a conversation begins now.
    fn begins(&mut self, session: &str) -> bool {
        self.begun.add(session)
    }

    fn spoke(&mut self, session: &str) {
        self.spoken.add(session);
    }

    /// Whether anything was said in a conversation since this was asked last; that is sent now.
    fn settles(&mut self, session: &str) -> bool {
        let spoke = self.spoken.remove(session);
        self.flush |= spoke;
        spoke
    }
}

/// What a change of one of the two files is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entries {
    pub new: Vec<String>,
    pub gone: Vec<String>,
}

/// What a turn begins with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recollection {
    /// Fenced, for the wire.
    pub text: Option<String>,
    /// What the user should know, once.
    pub notice: Option<String>,
}

impl External {
    /// The memory of this name. Nothing is read and nobody is asked.
    pub fn new(options: ExternalOptions) -> Self {
        Self {
            inner: Arc::new(Inner {
                options,
                provider: OnceLock::new(),
                state: Mutex::default(),
                bell: Notify::new(),
                tasks: TaskTracker::new(),
                closing: CancellationToken::new(),
                stop: CancellationToken::new(),
            }),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.options.name
    }

    /// What the system prompt says about it on a surface.
    pub fn prompt(&self, surface: &str) -> String {
        match self.used_on(surface) {
            Some(provider) => provider.prompt(),
            None => String::new(),
        }
    }

    /// Its own tools on a surface, for whoever speaks there.
    pub fn tools(&self, surface: &str, user: Option<&str>) -> Vec<Arc<dyn Tool>> {
        let Some(provider) = self.used_on(surface) else {
            return Vec::new();
        };
        let tools = provider.tools().into_iter().map(|spec| {
            Arc::new(ExternalTool {
                spec,
                external: self.clone(),
                surface: surface.to_owned(),
                user: user.map(str::to_owned),
            }) as Arc<dyn Tool>
        });
        tools.collect()
    }

    /// What is known that bears on a message. Never fails and never takes longer than it may.
    pub async fn recall(&self, question: Question) -> Recollection {
        let used = self.used_on(&question.scene.surface);
        if let Some(provider) = &used {
            // What an earlier run left is sent now that there is time.
            self.ring();
            self.begin(provider, &question.scene);
        }
        let found = match used {
            Some(provider) if provider.manner().recalls && !self.is_resting() => {
                self.found(&provider, question).await
            }
            _ => None,
        };
        Recollection {
            text: found.and_then(|found| fenced(self.name(), &found)),
            notice: self.state().trouble.untold(self.name()),
        }
    }

    /// Tells of a conversation that is new here, where the provider wants that. Nobody waits for it.
    fn begin(&self, provider: &Arc<dyn Provider>, scene: &Scene) {
        if !provider.manner().begins || !self.state().begins(&scene.session) {
            return;
        }
        let (provider, scene) = (provider.clone(), scene.clone());
        let (name, stop) = (self.known_name(), self.inner.stop.clone());
        self.inner.tasks.spawn(async move {
            let begun = tokio::select! {
                () = stop.cancelled() => return,
                begun = provider.begin(&scene) => begun,
            };
            if let Err(error) = begun {
                tracing::warn!(%error, "{name} was not told that a conversation began");
            }
        });
    }

    async fn found(&self, provider: &Arc<dyn Provider>, question: Question) -> Option<String> {
        let waiting = self.state().ahead.take(&question.scene.session);
        let asked = async {
            match waiting {
                // It was asked behind the last turn and may be there already.
                Some(task) => match task.await {
                    Ok(found) => found,
                    Err(_) => Ok(None),
                },
                None => provider.recall(&question).await,
            }
        };
        let limit = self.inner.options.patience;
        let name = self.known_name();
        let found = tokio::time::timeout(limit, asked).await;
        let found = found.unwrap_or(Err(ProviderError::Slow { provider: name }));
        self.judged(found, Task::Recall).flatten()
    }

    /// Asks for the next turn of a conversation, where the provider wants that.
    pub fn look_ahead(&self, question: Question) {
        let Some(provider) = self.used_on(&question.scene.surface) else {
            return;
        };
        let Manner { recalls, ahead, .. } = provider.manner();
        if !recalls || !ahead || self.is_resting() {
            return;
        }
        let session = question.scene.session.clone();
        let stop = self.inner.closing.clone();
        let task = self.inner.tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => Ok(None),
                found = provider.recall(&question) => found,
            }
        });
        let task = AbortOnDropHandle::new(task);
        self.state().ahead.keep(session, task);
    }

    /// Takes in what was written to one of the two files, and what is gone from it.
    pub async fn written(&self, scene: Scene, target: &str, entries: Entries) {
        for errand in self.mirrored(&scene, target, entries) {
            self.queue(scene.clone(), errand).await;
        }
    }

    /// The same from a program that ends at once: the next conversation sends it. Blocks.
    pub fn leave_written(&self, scene: &Scene, target: &str, entries: Entries) {
        for errand in self.mirrored(scene, target, entries) {
            if let Some(queued) = self.enqueue(scene.clone(), errand) {
                self.note_queued(queued.wait());
            }
        }
    }

    /// What is told of entries, where the provider has a place for them.
    fn mirrored(&self, scene: &Scene, target: &str, entries: Entries) -> Vec<Errand> {
        let used = self.used_on(&scene.surface);
        if !used.is_some_and(|provider| provider.manner().mirrors) {
            return Vec::new();
        }
        let removed = entries.gone.into_iter().map(|content| Errand::Removed {
            target: target.to_owned(),
            content,
        });
        let written = entries.new.into_iter().map(|content| Errand::Written {
            target: target.to_owned(),
            content,
        });
        removed.chain(written).collect()
    }

    /// A conversation is over, or goes on as another one.
    pub async fn ended(&self, scene: Scene) {
        drop(self.state().ahead.take(&scene.session));
        self.settle(scene).await;
    }

    /// Has everything that was said so far sent, and made into memories where the provider waits for a word.
    async fn settle(&self, scene: Scene) {
        if !self.state().settles(&scene.session) {
            return;
        }
        let wants = self
            .used_on(&scene.surface)
            .is_some_and(|provider| provider.manner().ends);
        match wants {
            true => self.queue(scene, Errand::Ended).await,
            false => self.inner.bell.notify_one(),
        }
    }

    /// Carries a call of one of its tools out.
    pub(crate) async fn call(
        &self,
        scene: &Scene,
        tool: &str,
        arguments: &Json,
    ) -> Result<Json, ProviderError> {
        match self.provider() {
            Ok(provider) => provider.call(scene, tool, arguments).await,
            Err(what) => Err(ProviderError::Setup {
                provider: self.known_name(),
                what: what.clone(),
            }),
        }
    }

    /// How much waits to be sent.
    pub async fn backlog(&self) -> Result<MemoryBacklog, StoreError> {
        let store = &self.inner.options.store;
        store.memory_backlog(self.name()).await
    }

    /// Sends what waits for a few seconds more, and ends. Answers with what the user should know about that.
    pub async fn close(&self) -> Option<String> {
        self.inner.closing.cancel();
        self.inner.bell.notify_one();
        self.inner.tasks.close();
        let ended = tokio::time::timeout(DRAIN, self.inner.tasks.wait()).await;
        self.inner.stop.cancel();
        if ended.is_err() {
            let stopped = tokio::time::timeout(LAST_STEPS, self.inner.tasks.wait()).await;
            if stopped.is_err() {
                tracing::warn!(
                    "{} was still at work when the program ended",
                    self.known_name()
                );
            }
        }
        self.state().trouble.untold_loss(self.name())
    }

    async fn queue(&self, scene: Scene, errand: Errand) {
        let Some(queued) = self.enqueue(scene, errand) else {
            return;
        };
        self.note_queued(queued.await);
        self.ring();
    }

    /// Puts something into the queue; it is there when the answer has come.
    fn enqueue(&self, scene: Scene, errand: Errand) -> Option<Pending<u64>> {
        let parcel = self.parcel(scene, errand);
        let body = serde_json::to_string(&parcel).ok()?;
        let store = &self.inner.options.store;
        Some(store.queue_memory_delivery(self.name(), body))
    }

    fn parcel(&self, scene: Scene, errand: Errand) -> Parcel {
        Parcel {
            token: format!("{:016x}", self.inner.options.random.next_u64()),
            scene,
            errand,
        }
    }

    fn note_queued(&self, queued: Result<u64, StoreError>) {
        match queued {
            Ok(0) => {}
            Ok(gone) => tracing::warn!(gone, "the oldest of what waits for {} went", self.name()),
            Err(error) => tracing::warn!(%error, "{} will not hear of something", self.name()),
        }
    }

    fn ring(&self) {
        self.inner.bell.notify_one();
        if self.provider().is_err() {
            return;
        }
        let mut state = self.state();
        if !std::mem::replace(&mut state.courier, true) {
            let courier = self.clone();
            self.inner.tasks.spawn(async move { courier.carry().await });
        }
    }

    /// The provider, made at the first question.
    fn provider(&self) -> Result<&Arc<dyn Provider>, &String> {
        let made = self.inner.provider.get_or_init(|| {
            (self.inner.options.make)().map_err(|error| {
                let why = format!("{error}; {}", error.hint());
                self.state().trouble.failed(Task::Recall, why.clone(), None);
                why
            })
        });
        made.as_ref()
    }

    /// The provider, where it is used: plans that run by themselves are nobody's conversation.
    fn used_on(&self, surface: &str) -> Option<Arc<dyn Provider>> {
        if surface == "cron" {
            return None;
        }
        self.provider().ok().cloned()
    }

    fn known_name(&self) -> &'static str {
        super::catalog::known(self.name()).map_or("the external memory", |known| known.name)
    }

    fn is_resting(&self) -> bool {
        let now = self.inner.options.clock.now();
        self.state().trouble.is_resting(now)
    }

    /// Takes note of how something went.
    fn judged<T>(&self, outcome: Result<T, ProviderError>, task: Task) -> Option<T> {
        let now = self.inner.options.clock.now();
        match outcome {
            Ok(value) => {
                self.state().trouble.worked(task);
                Some(value)
            }
            Err(error) => {
                tracing::warn!(%error, "{} failed", self.name());
                let why = format!("{error}; {}", error.hint());
                self.state().trouble.failed(task, why, Some(now));
                None
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.inner
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // LN-37
    #[test]
    fn of_many_conversations_the_latest_are_told_that_they_ended() {
        let mut state = State::default();
        for number in 0..=MOST_SESSIONS {
            assert!(state.begins(&number.to_string()));
            state.spoke(&number.to_string());
        }
        assert!(!state.settles("0"), "one had to give way");
        for number in 1..=MOST_SESSIONS {
            assert!(!state.begins(&number.to_string()), "{number} began already");
            assert!(state.settles(&number.to_string()), "{number} is to be told");
            assert!(!state.settles(&number.to_string()), "{number} was told");
        }
    }
}
