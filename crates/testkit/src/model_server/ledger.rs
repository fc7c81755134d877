//! The state of a running script: what has been used up and who asked.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::bail;
use axum::http::Method;
use serde_json::Value;

use super::protocol::Protocol;
use super::record::{Outcome, RecordedRequest};
use super::request::ModelRequest;
use super::scenario::Scenario;
use super::step::Step;
use crate::strict;

const MAX_RECORDED: usize = 10_000;

/// What all connections of one server share.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) scenario: Scenario,
    started_at: Instant,
    log: Option<Mutex<File>>,
    progress: Mutex<Progress>,
    arrival: Condvar,
}

#[derive(Debug)]
struct Progress {
    steps: Script,
    routes: Vec<Script>,
    arrived: u64,
    requests: VecDeque<RecordedRequest>,
}

/// How far a list of steps has been played.
#[derive(Debug)]
struct Script {
    used: Vec<bool>,
    asked: u64,
}

impl Script {
    fn unplayed(steps: &[Step]) -> Self {
        Self {
            used: vec![false; steps.len()],
            asked: 0,
        }
    }

    /// Marks the first free step that accepts the request.
    fn take(&mut self, steps: &[Step], request: &RecordedRequest) -> Option<usize> {
        self.asked += 1;
        let asked = asked(request);
        let (index, (_, used)) =
            steps
                .iter()
                .zip(&mut self.used)
                .enumerate()
                .find(|(_, (step, used))| {
                    (step.repeat || !**used) && step.when.accepts(request, &asked, self.asked)
                })?;
        *used = true;
        Some(index)
    }

    fn left(&self, steps: &[Step]) -> usize {
        let pairs = steps.iter().zip(&self.used);
        pairs.filter(|(step, used)| !step.repeat && !**used).count()
    }
}

impl Ledger {
    pub(super) fn new(scenario: Scenario, log: Option<File>) -> Self {
        let routes = scenario.routes.iter();
        let progress = Progress {
            steps: Script::unplayed(&scenario.steps),
            routes: routes
                .map(|route| Script::unplayed(&route.replies))
                .collect(),
            arrived: 0,
            requests: VecDeque::new(),
        };
        Self {
            scenario,
            started_at: Instant::now(),
            log: log.map(Mutex::new),
            progress: Mutex::new(progress),
            arrival: Condvar::new(),
        }
    }

    pub(super) fn requests(&self) -> Vec<RecordedRequest> {
        locked(&self.progress).requests.iter().cloned().collect()
    }

    pub(super) fn wait_for_requests(
        &self,
        count: usize,
        limit: Duration,
    ) -> anyhow::Result<Vec<RecordedRequest>> {
        let wanted = u64::try_from(count)?;
        let (progress, _) = self
            .arrival
            .wait_timeout_while(locked(&self.progress), limit, |progress| {
                progress.arrived < wanted
            })
            .unwrap_or_else(PoisonError::into_inner);
        if progress.arrived < wanted {
            bail!("{} of {count} requests within {limit:?}", progress.arrived);
        }
        Ok(progress.requests.iter().cloned().collect())
    }

    pub(super) fn unused_steps(&self) -> usize {
        let progress = locked(&self.progress);
        let routes = self.scenario.routes.iter().zip(&progress.routes);
        let in_routes: usize = routes
            .map(|(route, script)| script.left(&route.replies))
            .sum();
        progress.steps.left(&self.scenario.steps) + in_routes
    }

    /// Numbers the request, decides who answers it, and records both.
    pub(super) fn admit(&self, mut request: RecordedRequest) -> RecordedRequest {
        request.violations = self.violations(&request);
        let mut progress = locked(&self.progress);
        progress.arrived += 1;
        request.number = progress.arrived;
        request.outcome = self.decide(&request, &mut progress);
        if progress.requests.len() == MAX_RECORDED {
            progress.requests.pop_front();
        }
        progress.requests.push_back(request.clone());
        drop(progress);
        self.arrival.notify_all();
        if let Some(log) = &self.log {
            let line = request.log_line(request.arrived_at - self.started_at);
            // A full disk must not change what the client under test sees.
            let _ = writeln!(locked(log), "{line}");
        }
        request
    }

    /// Notes that the answer to a request is on its way.
    pub(super) fn answered(&self, number: u64) {
        let now = Instant::now();
        let mut progress = locked(&self.progress);
        let mut requests = progress.requests.iter_mut();
        if let Some(request) = requests.rfind(|request| request.number == number) {
            request.answered_at = Some(now);
        }
    }

    fn violations(&self, request: &RecordedRequest) -> Vec<String> {
        match (request.protocol, &request.json) {
            (Some(protocol), Some(body)) if self.scenario.strict => {
                strict::violations_allowing(protocol, body, &self.scenario.extra_keys)
            }
            _ => Vec::new(),
        }
    }

    fn decide(&self, request: &RecordedRequest, progress: &mut Progress) -> Outcome {
        let routes = self.scenario.routes.iter().zip(&mut progress.routes);
        let mut routes = routes.enumerate();
        if let Some((index, (route, script))) =
            routes.find(|(_, (route, _))| route.accepts(request))
        {
            let reply = script.take(&route.replies, request);
            return reply.map_or(Outcome::Unmatched, |reply| Outcome::Route {
                route: index,
                reply,
            });
        }
        let path = request.path.split('?').next().unwrap_or_default();
        if request.method == Method::GET.as_str() && path.ends_with("/models") {
            return Outcome::Models;
        }
        if request.protocol.is_none() {
            return Outcome::NotFound;
        }
        self.take_step(request, progress)
    }

    fn take_step(&self, request: &RecordedRequest, progress: &mut Progress) -> Outcome {
        if request.json.is_none() {
            return Outcome::BadRequest;
        }
        if !request.violations.is_empty() {
            return Outcome::Refused;
        }
        let step = progress.steps.take(&self.scenario.steps, request);
        step.map_or(Outcome::Unmatched, Outcome::Step)
    }
}

/// The request read by its protocol; on scripted paths, as chat completions.
pub(super) fn asked(request: &RecordedRequest) -> ModelRequest {
    let protocol = request.protocol.unwrap_or(Protocol::ChatCompletions);
    let body = request.json.as_ref().unwrap_or(&Value::Null);
    ModelRequest::read(protocol, &request.path, body)
}

/// A panic in one handler must not hide what the others recorded.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
