//! Who decides what may run: the one way from a wish to act to a clearance.
//!
//! Every tool that starts something asks here first. The policy crate judges and says what comes next; this
//! module does it: asks Tirith, a helper model or the person, remembers a yes, and writes down who decided
//! before anything runs.

mod action;
mod judging;
mod tirith;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_core::{
    Answer, AnsweredBy, Clock, Consultation, Question, QuestionId, QuestionKind, Reach, RunMode,
    SessionId, ToolContext,
};
use hermes_policy::{
    Approvals, Audience, Because, Finding, Isolation, Judgement, Review, Standing, Step,
    Unattended, decide, decide_leaving, denial, read_review, review_question, to_remember,
};
use hermes_secrets::{RedactorHandle, Scope};
use hermes_store::{Decision, DecisionOutcome, Store};

pub(crate) use action::{Action, Clearance, Cleared};
pub use tirith::Tirith;

use crate::workplace::Workplace;

/// Tokens the reviewing model may answer with: one word.
const REVIEW_TOKENS: u32 = 16;
/// How long it may take.
const REVIEW_LIMIT: Duration = Duration::from_secs(30);
/// Sessions whose grants are remembered; the one that came first is forgotten first.
const MOST_SESSIONS: usize = 1_000;
/// Most characters of an action that are kept with a decision.
const MOST_ACTION: usize = 4_000;

/// What the settings say about approvals.
pub struct GuardSettings {
    /// How long a person may take.
    pub patience: Duration,
    /// What happens where nobody can be asked.
    pub headless: Unattended,
    /// Patterns of commands that never run.
    pub deny: Vec<String>,
    /// Commands and categories that always may.
    pub allow: Vec<String>,
    /// The user's home directory.
    pub home: String,
    /// Our own home directory.
    pub product_home: String,
    /// How far commands are kept away where they run, when that is neither this machine nor one behind ssh.
    pub isolation: Isolation,
}

/// Keeps a yes that holds from now on.
pub trait Remembers: Send + Sync {
    /// Adds categories to the user's allow list.
    fn always(&self, categories: &BTreeSet<String>);
}

/// Decides what may run.
pub struct Guard {
    settings: GuardSettings,
    store: Store,
    clock: Arc<dyn Clock>,
    redactor: RedactorHandle,
    remembers: Arc<dyn Remembers>,
    tirith: Option<Tirith>,
    granted: Mutex<Granted>,
}

/// What persons allowed since we started.
#[derive(Default)]
struct Granted {
    always: BTreeSet<String>,
    sessions: HashMap<SessionId, BTreeSet<String>>,
    order: Vec<SessionId>,
}

impl Guard {
    /// A guard with these settings.
    pub fn new(
        settings: GuardSettings,
        store: Store,
        clock: Arc<dyn Clock>,
        redactor: RedactorHandle,
        remembers: Arc<dyn Remembers>,
        tirith: Option<Tirith>,
    ) -> Self {
        Self {
            settings,
            store,
            clock,
            redactor,
            remembers,
            tirith,
            granted: Mutex::default(),
        }
    }

    /// Whether an action may go ahead.
    pub(crate) async fn clear(
        &self,
        action: &Action<'_>,
        place: &Workplace,
        context: &ToolContext,
    ) -> Clearance {
        let judgement = self.judged(action, place, context).await;
        match self.decided(action, place, context, &judgement).await {
            Clearance::Cleared(cleared) => Clearance::Cleared(Cleared {
                changes_files: judgement.changes_files,
                defines: judgement.defines,
                ..cleared
            }),
            refused => refused,
        }
    }

    async fn decided(
        &self,
        action: &Action<'_>,
        place: &Workplace,
        context: &ToolContext,
        judgement: &Judgement,
    ) -> Clearance {
        let granted = self.granted(&context.session);
        let mut review = Review::Open;
        loop {
            let standing = Standing {
                command: action.text,
                mode: mode(context.mode),
                yolo: false,
                audience: match context.attended {
                    true => Audience::Person,
                    false => Audience::Headless(self.settings.headless),
                },
                deny: &self.settings.deny,
                allow: &self.settings.allow,
                granted: &granted,
                sudo_password: place.sudo.configured.is_some(),
                review,
            };
            let case = Case {
                action,
                place,
                context,
                judgement,
            };
            let step = match action.kind.leaves() {
                None => decide(judgement, &standing),
                Some(reach) => decide_leaving(judgement, &standing, reach),
            };
            return match step {
                Step::Run {
                    because: Because::Harmless,
                } => Clearance::Cleared(Cleared::default()),
                Step::Run { because } => self.runs(&case, because).await,
                Step::Review => {
                    review = self.reviewed(&case).await;
                    continue;
                }
                Step::Ask { findings, reach } => self.asked(&case, &findings, reach).await,
                Step::Refuse { by, text } => self.refused(&case, &by, &text).await,
            };
        }
    }

    async fn runs(&self, case: &Case<'_>, because: Because) -> Clearance {
        let (by, note) = match because {
            Because::Harmless => ("policy".to_owned(), None),
            Because::Isolated => ("the place is isolated".to_owned(), None),
            Because::Yolo | Because::ModeOff => ("approvals are off".to_owned(), None),
            Because::Listed(entry) => (format!("command_allowlist: {entry}"), None),
            Because::Granted => ("allowed before".to_owned(), None),
            Because::Unattended => ("approvals.headless_mode".to_owned(), None),
            Because::Reviewed => (
                "the reviewing model".to_owned(),
                Some("a model reviewed this command and let it run this once".to_owned()),
            ),
        };
        self.cleared(case, DecisionOutcome::Once, &by, note).await
    }

    /// Asks the helper model. No answer is a case for a person.
    async fn reviewed(&self, case: &Case<'_>) -> Review {
        let question = Consultation {
            task: "approval",
            system: "You judge shell commands for somebody else's computer. Answer with one word."
                .to_owned(),
            question: review_question(&self.masked(case.action.text), case.judgement),
            most_tokens: REVIEW_TOKENS,
            limit: REVIEW_LIMIT,
        };
        let said = case.context.host.consult(case.context, question).await;
        said.map_or(Review::Escalated, |word| read_review(&word))
    }

    async fn asked(&self, case: &Case<'_>, findings: &[Finding], reach: Reach) -> Clearance {
        let shown = self.masked(case.action.text);
        // A masked text has other places; better no marks than wrong ones.
        let marks = match shown == case.action.text {
            true => findings
                .iter()
                .map(|finding| (finding.span.start, finding.span.end))
                .collect(),
            false => Vec::new(),
        };
        let reasons: BTreeSet<&String> = findings.iter().map(|finding| &finding.reason).collect();
        let question = Question {
            id: QuestionId(0),
            session: case.context.session.clone(),
            kind: QuestionKind::Approval {
                action: shown,
                reasons: reasons.into_iter().cloned().collect(),
                marks,
                reach,
            },
            deadline: self.settings.patience,
        };
        let cancel = case.context.cancel.clone();
        let reply = case.context.asker.ask(question, cancel).await;
        // Nothing but a person lets anything out of the sandbox.
        let by_person = matches!(reply.by, AnsweredBy::Person(_));
        if case.action.kind.leaves().is_some() && !by_person {
            let told = denial(&reply.by, None);
            return self.refused(case, &reply.by, &told).await;
        }
        let outcome = match &reply.answer {
            Answer::AllowOnce => DecisionOutcome::Once,
            Answer::AllowSession => DecisionOutcome::Session,
            Answer::AllowAlways => DecisionOutcome::Always,
            Answer::Deny { reason } => {
                let told = denial(&reply.by, reason.as_deref());
                return self.refused(case, &reply.by, &told).await;
            }
            Answer::Text(_) => {
                let told = denial(&reply.by, None);
                return self.refused(case, &reply.by, &told).await;
            }
        };
        let lasting = to_remember(findings, &reply.answer, reach);
        self.grant(&case.context.session, &lasting, &reply.answer);
        let note = format!("{} allowed this command", name(&reply.by));
        self.cleared(case, outcome, &name(&reply.by), Some(note))
            .await
    }

    fn grant(&self, session: &SessionId, categories: &BTreeSet<String>, answer: &Answer) {
        if categories.is_empty() {
            return;
        }
        {
            let mut granted = self.lock();
            if *answer == Answer::AllowAlways {
                granted.always.extend(categories.iter().cloned());
            } else {
                granted.add(session, categories);
            }
        }
        if *answer == Answer::AllowAlways {
            self.remembers.always(categories);
        }
    }

    fn granted(&self, session: &SessionId) -> BTreeSet<String> {
        let granted = self.lock();
        let mut all = granted.always.clone();
        if let Some(more) = granted.sessions.get(session) {
            all.extend(more.iter().cloned());
        }
        all
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Granted> {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn cleared(
        &self,
        case: &Case<'_>,
        outcome: DecisionOutcome,
        by: &str,
        note: Option<String>,
    ) -> Clearance {
        match self.write(case, outcome, by, "").await {
            Ok(()) => Clearance::Cleared(Cleared {
                note,
                ..Cleared::default()
            }),
            // Nothing runs that nobody could answer for afterwards.
            Err(error) => Clearance::Refused(format!(
                "The command was not run: the decision could not be written down ({error})."
            )),
        }
    }

    async fn refused(&self, case: &Case<'_>, by: &AnsweredBy, told: &str) -> Clearance {
        let written = self
            .write(case, DecisionOutcome::Refused, &name(by), told)
            .await;
        if let Err(error) = written {
            tracing::warn!(%error, "a refusal could not be written down");
        }
        Clearance::Refused(told.to_owned())
    }

    async fn write(
        &self,
        case: &Case<'_>,
        outcome: DecisionOutcome,
        by: &str,
        reason: &str,
    ) -> Result<(), hermes_store::StoreError> {
        let action = self.masked(case.action.text);
        let decision = Decision {
            session: case.context.session.to_string(),
            call: case.context.call.clone(),
            at: self.clock.now().as_duration().as_secs_f64(),
            tool: case.action.tool.to_owned(),
            action: action.chars().take(MOST_ACTION).collect(),
            place: case.place.place(),
            categories: case.judgement.categories.clone(),
            outcome,
            decided_by: by.to_owned(),
            reason: reason.to_owned(),
        };
        self.store.record_decision(decision).await
    }

    fn masked(&self, text: &str) -> String {
        self.redactor
            .snapshot()
            .redact_in(Scope::Chat, text)
            .into_owned()
    }
}

/// One action with everything that is known about it.
struct Case<'a> {
    action: &'a Action<'a>,
    place: &'a Workplace,
    context: &'a ToolContext,
    judgement: &'a Judgement,
}

impl Granted {
    fn add(&mut self, session: &SessionId, categories: &BTreeSet<String>) {
        if !self.sessions.contains_key(session) {
            self.order.push(session.clone());
            if self.order.len() > MOST_SESSIONS {
                let oldest = self.order.remove(0);
                self.sessions.remove(&oldest);
            }
        }
        let granted = self.sessions.entry(session.clone()).or_default();
        granted.extend(categories.iter().cloned());
    }
}

fn mode(mode: RunMode) -> Approvals {
    match mode {
        RunMode::Manual => Approvals::Manual,
        RunMode::Smart => Approvals::Smart,
        RunMode::Off => Approvals::Off,
    }
}

fn name(by: &AnsweredBy) -> String {
    match by {
        AnsweredBy::Person(name) => name.clone(),
        AnsweredBy::Rule(rule) => format!("rule: {rule}"),
        AnsweredBy::Runtime => "runtime".to_owned(),
    }
}
