//! One model call, with everything that failover decides done: waiting, other credentials, other
//! routes, changed requests. The same for the conversation and for helper tasks.

mod taken;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{FinishReason, ModelClient, ModelEvent, ModelRequest, Random};
use tokio_util::sync::CancellationToken;

use crate::answer::Answer;
use crate::classify::{Facts, Fault, Reason, classify};
use crate::course::{Course, changed};
use crate::delivered::{Shown, is_open_thought};
use crate::error::ModelError;
use crate::failover::{Delivered, Health, next_step};
use crate::keys::Keyring;
use crate::lessons::Learned;
use crate::model::{Model, Sending};
use crate::patience::{PatienceSettings, is_reasoning_model, patience};
use crate::quiet::Quiet;
use crate::refused::Refused;
use crate::route::Route;
use crate::transport::Transport;
use crate::wire;
use taken::Taken;

/// Calls models.
#[derive(Clone)]
pub struct Caller {
    /// How requests leave.
    pub transport: Transport,
    /// The credentials.
    pub keys: Arc<Keyring>,
    /// Spreads waits.
    pub random: Arc<dyn Random>,
    /// How long to wait.
    pub patience: PatienceSettings,
    /// Failed calls of one route before it is given up.
    pub attempts: u32,
    /// What models turned out to want, for as long as the program runs.
    pub learned: Learned,
}

/// What is asked, and what is known about its size.
pub struct Ask<'a> {
    /// The request; its model is filled in from the route.
    pub request: &'a ModelRequest,
    /// How large it is, roughly.
    pub tokens: u32,
    /// Whether compaction could make it smaller.
    pub compactable: bool,
    /// What of the request depends on who answers it, where anything does.
    pub addressed: Option<Addressed<'a>>,
}

/// Makes of a request the one for a route; the same request for the same route.
pub type Addressed<'a> = &'a (dyn Fn(&mut ModelRequest, &Route) + Sync);

/// What happens while a call is under way.
#[derive(Debug, Clone, PartialEq)]
pub enum CallEvent {
    /// More text.
    Text(String),
    /// More readable thinking.
    Reasoning(String),
    /// A tool call begins to be written.
    CallStarted {
        /// The tool, as the model spells it.
        name: String,
    },
    /// Nothing has come for a while.
    Quiet {
        /// How long.
        since: Duration,
        /// How much longer until the connection is given up.
        left: Duration,
    },
    /// The call failed and is tried again after a while.
    Waiting {
        /// How long.
        wait: Duration,
        /// Why, in one line.
        why: String,
    },
    /// The model is asked for less than the user may expect from here on.
    Reduced {
        /// What is left out and why, in one line.
        what: String,
    },
    /// Another route is used from here on.
    RouteChanged {
        /// Why, in one line.
        why: String,
    },
}

/// Takes the events of a call in. May make the call wait.
pub trait CallSink: Send {
    /// Takes the next event.
    fn event(&mut self, event: CallEvent) -> impl Future<Output = ()> + Send;
}

/// How a call ended.
#[derive(Debug)]
pub enum CallEnd {
    /// With an answer.
    Answered(Box<Answer>),
    /// It broke off after text was shown, and this is why; the text counts as an answer that ran into its limit.
    /// Where the provider has trouble or a limit, the next call begins with what is done about that.
    Partial(Box<Answer>, Box<CallFailure>),
    /// The history must become shorter first.
    TooLong(Fault),
    /// The caller stopped it; this is what had come.
    Stopped(Box<Answer>),
    /// Nothing is left to try.
    Failed(Box<CallFailure>),
}

/// Why a call failed for good, or broke off.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{} at {}: {}", fault.reason.word(), route.label(), fault.message)]
pub struct CallFailure {
    /// The route that failed last.
    pub route: Arc<Route>,
    /// Its fault.
    pub fault: Fault,
    /// How many requests were sent in all.
    pub calls: u32,
}

impl CallFailure {
    fn of(course: &Course, fault: Fault, calls: u32) -> Self {
        Self {
            route: course.route().clone(),
            fault,
            calls,
        }
    }
}

impl Caller {
    /// Calls until there is an answer or nothing is left to try.
    pub async fn call<S: CallSink>(
        &self,
        course: &mut Course,
        ask: &Ask<'_>,
        sink: &mut S,
        cancel: &CancellationToken,
    ) -> CallEnd {
        let mut progress = Progress::default();
        loop {
            progress.answer = Answer::default();
            progress.answer.cache = ask.request.settings.cache;
            let fault = if let Some(fault) = course.trouble.take() {
                *fault
            } else if course.stalls() >= self.patience.most_stalls {
                self.fault(course, ask, &ModelError::GivenUp(course.stalls()))
            } else {
                match self.attempt(course, ask, &mut progress, sink, cancel).await {
                    Ok(()) => return self.answered(course, progress.answer),
                    Err(fault) => fault,
                }
            };
            let answer = &progress.answer;
            if fault.reason == Reason::Cancelled {
                return CallEnd::Stopped(Box::new(progress.answer));
            }
            if fault.reason == Reason::Billing {
                let provider = &course.route().provider;
                self.learned.unwell(provider, self.transport.clock.now());
            }
            // What counts is this attempt: text of an earlier one is not part of this answer.
            let unsaid = answer.text.trim().is_empty() || is_open_thought(&answer.text);
            course.attempt.delivered = match (unsaid, answer.calls.is_empty()) {
                (true, _) => Delivered::Nothing,
                (false, true) => Delivered::Text,
                (false, false) => Delivered::OpenCall,
            };
            let step = next_step(
                &fault,
                &self.health(course, ask),
                &course.attempt,
                self.jitter(),
            );
            course.attempt.record(&step);
            match self.take(step, course, fault, sink, cancel).await {
                Taken::Again => progress.shown.again(),
                Taken::Stopped => return CallEnd::Stopped(Box::new(progress.answer)),
                Taken::TooLong(fault) => return CallEnd::TooLong(fault),
                Taken::Partial(fault) => {
                    course.trouble = fault.is_trouble().then(|| Box::new(fault.clone()));
                    let mut answer = progress.answer;
                    answer.finish = Some(FinishReason::Length);
                    answer.calls.clear();
                    answer.raw = None;
                    let failure = CallFailure::of(course, fault, progress.calls);
                    return CallEnd::Partial(Box::new(answer), Box::new(failure));
                }
                Taken::Failed(fault) => {
                    course.all_failed(self.transport.clock.now());
                    let failure = CallFailure::of(course, fault, progress.calls);
                    return CallEnd::Failed(Box::new(failure));
                }
            }
        }
    }

    /// Notes that everything went well.
    fn answered(&self, course: &mut Course, answer: Answer) -> CallEnd {
        course.has_answered();
        course.refused = None;
        course.attempt.succeeded();
        self.learned.well(&course.route().provider);
        if let Some(lease) = &course.lease {
            self.keys.worked(lease);
        }
        CallEnd::Answered(Box::new(answer))
    }

    /// Sends the request once. One that was refused just now, and is still the same, is refused without being
    /// sent: whatever was changed, it was not the request.
    async fn attempt<S: CallSink>(
        &self,
        course: &mut Course,
        ask: &Ask<'_>,
        progress: &mut Progress,
        sink: &mut S,
        cancel: &CancellationToken,
    ) -> Result<(), Fault> {
        let sending = self.sending(course, ask, cancel).await;
        let sending = sending.map_err(|error| self.fault(course, ask, &error))?;
        if let Some(refused) = &course.refused {
            let repeats = unless(cancel, refused.repeats(&sending)).await;
            if repeats.map_err(|error| self.fault(course, ask, &error))? {
                return Err(refused.fault.clone());
            }
        }
        progress.calls += 1;
        let Err(error) = self.listen(&sending, progress, sink, cancel).await else {
            return Ok(());
        };
        if matches!(error, ModelError::Stalled(_)) {
            course.stalled(self.patience.most_stalls);
        }
        let fault = self.fault(course, ask, &error);
        if fault.reason == Reason::Cancelled {
            return Err(fault);
        }
        tracing::debug!(
            route = course.route().label(),
            reason = fault.reason.word(),
            code = fault.code,
            "a model call failed: {}",
            fault.message
        );
        let refused = unless(cancel, Refused::new(&sending, fault.clone())).await;
        let refused = refused.map_err(|error| self.fault(course, ask, &error))?;
        course.refused = Some(Box::new(refused));
        Err(fault)
    }

    /// What is to be sent: the request with all changes in force, and a credential.
    async fn sending(
        &self,
        course: &mut Course,
        ask: &Ask<'_>,
        cancel: &CancellationToken,
    ) -> Result<Sending, ModelError> {
        let route = course.route().clone();
        // A login may have to be renewed first, which takes as long as its server takes.
        if let Some(lease) = &course.lease {
            course.lease = unless(cancel, self.keys.keep(lease)).await??;
        }
        if course.lease.is_none() {
            let lease = async {
                match course.is_beside() {
                    true => self.keys.lease_beside(&route).await,
                    false => self.keys.lease(&route).await,
                }
            };
            course.lease = Some(unless(cancel, lease).await??);
        }
        let secret = course.lease.as_ref().and_then(|lease| lease.secret.clone());
        let mut fixes = self.learned.of(&route);
        for fix in course.attempt.fixes() {
            // What was learned just now is in both lists.
            if !fixes.contains(fix) {
                fixes.push(*fix);
            }
        }
        let mut request = ModelRequest {
            model: route.model.clone(),
            ..ask.request.clone()
        };
        if let Some(addressed) = ask.addressed {
            addressed(&mut request, &route);
        }
        let limit = &mut request.settings.max_output_tokens;
        *limit = limit
            .or_else(|| course.output_limit())
            .or_else(|| roomy_output(&route, course.window()));
        let (quirks, settings) = changed(&route.quirks, request.settings, fixes);
        request.settings = settings;
        let mut route = Route {
            quirks: Arc::new(quirks),
            ..Route::clone(&route)
        };
        self.keys.complete(&mut route);
        let route = Arc::new(route);
        Ok(Sending {
            patience: patience(&route, ask.tokens, &self.patience),
            model: Model::new(&self.transport, route, secret.clone()),
            request,
            secret,
        })
    }

    /// Sends it and takes the answer in.
    async fn listen<S: CallSink>(
        &self,
        sending: &Sending,
        progress: &mut Progress,
        sink: &mut S,
        cancel: &CancellationToken,
    ) -> Result<(), ModelError> {
        let limits = sending.patience;
        let events = sending
            .model
            .stream(sending.request.clone(), limits, cancel.child_token());
        let mut events = pin!(events);
        let mut quiet = Quiet::new(&limits, self.patience.notice);
        let Progress { answer, shown, .. } = progress;
        while let Some(event) = quiet.next(&mut events, sink).await {
            let event = event?;
            answer.take(&event);
            match event {
                ModelEvent::Text(text) => {
                    // Text behind the beginning of a call belongs to the call, not to the answer.
                    if answer.calls.is_empty()
                        && let Some(fresh) = shown.fresh(&text)
                    {
                        sink.event(CallEvent::Text(fresh)).await;
                    }
                }
                ModelEvent::Reasoning(text) => sink.event(CallEvent::Reasoning(text)).await,
                ModelEvent::CallStarted { name, .. } => {
                    sink.event(CallEvent::CallStarted { name }).await;
                }
                ModelEvent::CallArguments { .. }
                | ModelEvent::Usage { .. }
                | ModelEvent::Finished { .. } => {}
            }
        }
        Ok(())
    }

    fn fault(&self, course: &Course, ask: &Ask<'_>, error: &ModelError) -> Fault {
        let route = course.route();
        let address = route.address_text();
        classify(
            error,
            &Facts {
                provider: &route.provider,
                address: &address,
                model: &route.model,
                estimated_tokens: ask.tokens,
                context_window: course.window(),
                messages: ask.request.messages.len(),
                reasoning_model: is_reasoning_model(&route.model),
            },
        )
    }

    fn health(&self, course: &Course, ask: &Ask<'_>) -> Health {
        let keys = self.keys.state(course.route(), course.lease.as_ref());
        Health {
            attempts: self.attempts.max(1),
            other_credentials: keys.others,
            renewal: keys.renewal,
            other_routes: course.others(),
            compactable: ask.compactable,
            stalls: course.stalls(),
            most_stalls: self.patience.most_stalls,
            retries: self.patience.retries,
        }
    }

    fn jitter(&self) -> f64 {
        self.random.below(1_000) as f64 / 1_000.0
    }
}

/// Waits for something, unless the call is stopped first.
async fn unless<T>(
    cancel: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, ModelError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(ModelError::Cancelled),
        done = work => Ok(done),
    }
}

/// The limit of an answer when nobody set one, where the usual one would leave no room for the question.
fn roomy_output(route: &Route, window: u32) -> Option<u32> {
    let usual = wire::usual_output(route.protocol()?, &route.model)?;
    let most = window / 2;
    (usual > most).then_some(most)
}

/// How far a call has come, over all its attempts.
#[derive(Default)]
struct Progress {
    /// Requests that were sent.
    calls: u32,
    /// The answer of the attempt under way.
    answer: Answer,
    shown: Shown,
}
