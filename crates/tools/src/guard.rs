//! Who decides what may run: the one way from a wish to act to a clearance.
//!
//! Every tool that starts something asks here first. The policy crate judges and says what comes next; this
//! module does it: asks Tirith, a helper model or the person, remembers a yes, and writes down who decided
//! before anything runs.

mod action;
mod changed;
mod judging;
mod tirith;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_core::{
    Answer, AnsweredBy, Clock, Consultation, Decider, Question, QuestionId, QuestionKind, Reach,
    RunMode, SessionId, ToolContext,
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
use changed::Changed;

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
        let mut changed: Option<Changed> = None;
        loop {
            let action = Action {
                text: changed
                    .as_ref()
                    .map_or(action.text, |changed| changed.text.as_str()),
                ..*action
            };
            let judgement = self.judged(&action, place, context).await;
            let case = Case {
                action: &action,
                place,
                context,
                judgement: &judgement,
                changed: changed.as_ref(),
            };
            match self.decided(&case).await {
                Decided::Over(Clearance::Cleared(cleared)) => {
                    return Clearance::Cleared(Cleared {
                        changes_files: judgement.changes_files,
                        defines: judgement.defines,
                        instead: changed.map(|changed| changed.text),
                        ..cleared
                    });
                }
                Decided::Over(refused) => return refused,
                // A person had the last word on the text, not on what it does: that is judged like any other.
                Decided::Changed(next) => changed = Some(next),
            }
        }
    }

    async fn decided(&self, case: &Case<'_>) -> Decided {
        let Case {
            action,
            place,
            context,
            judgement,
            changed,
        } = *case;
        let mut granted = self.granted(&context.session);
        // What a person was told about a command and then wrote again is not asked a second time.
        granted.extend(changed.into_iter().flat_map(|changed| changed.seen.clone()));
        let mut review = match changed {
            None => Review::Open,
            Some(_) => Review::Escalated,
        };
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
            let step = match action.kind.leaves() {
                None => decide(judgement, &standing),
                Some(reach) => decide_leaving(judgement, &standing, reach),
            };
            return Decided::Over(match (step, changed) {
                (Step::Run { .. }, Some(changed)) => self.runs_instead(case, changed).await,
                (
                    Step::Run {
                        because: Because::Harmless,
                    },
                    None,
                ) => Clearance::Cleared(Cleared::default()),
                (Step::Run { because }, None) => self.runs(case, because).await,
                (Step::Review, _) => {
                    review = self.reviewed(case).await;
                    continue;
                }
                (Step::Ask { findings, reach }, _) => {
                    return self.asked(case, &findings, reach).await;
                }
                (Step::Refuse { by, text }, _) => self.refused(case, &by, &text).await,
            });
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

    /// Asks the helper model. No answer is a case for a person, and so is what is too long to be shown.
    async fn reviewed(&self, case: &Case<'_>) -> Review {
        let (kind, text) = case.action.reviewed();
        let asked = review_question(kind, &self.masked(&text), case.judgement);
        let Some(question) = asked else {
            return Review::Escalated;
        };
        let question = Consultation {
            task: "approval",
            system: "You judge shell commands for somebody else's computer. Answer with one word."
                .to_owned(),
            question,
            most_tokens: REVIEW_TOKENS,
            temperature: 0.0,
            limit: REVIEW_LIMIT,
        };
        let said = case.context.host.consult(case.context, question).await;
        said.map_or(Review::Escalated, |word| read_review(&word))
    }

    async fn asked(&self, case: &Case<'_>, findings: &[Finding], reach: Reach) -> Decided {
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
                // What is not shown as it is cannot be changed either.
                editable: case.action.kind.is_editable() && shown == case.action.text,
                action: shown,
                reasons: reasons.into_iter().cloned().collect(),
                marks,
                reach,
                decider: case.decider(),
            },
            deadline: self.settings.patience,
        };
        let cancel = case.context.cancel.clone();
        let reply = case.context.asker.ask(question, cancel).await;
        let by_person = matches!(reply.by, AnsweredBy::Person(_));
        if case.decider() == Decider::Person && !by_person {
            let told = denial(&reply.by, None);
            return Decided::Over(self.refused(case, &reply.by, &told).await);
        }
        let outcome = match &reply.answer {
            Answer::AllowOnce => DecisionOutcome::Once,
            Answer::AllowSession => DecisionOutcome::Session,
            Answer::AllowAlways => DecisionOutcome::Always,
            Answer::Instead(text) if case.may_become(text, by_person) => {
                return Decided::Changed(case.become_another(text, findings, &reply.by));
            }
            Answer::Deny { reason } => {
                let told = denial(&reply.by, reason.as_deref());
                return Decided::Over(self.refused(case, &reply.by, &told).await);
            }
            Answer::Instead(_) | Answer::Text(_) | Answer::Filled(_) | Answer::Dismiss => {
                let told = denial(&reply.by, None);
                return Decided::Over(self.refused(case, &reply.by, &told).await);
            }
        };
        let lasting = to_remember(findings, &reply.answer, reach);
        self.grant(&case.context.session, &lasting, &reply.answer);
        Decided::Over(match case.changed {
            Some(changed) => self.runs_instead(case, changed).await,
            None => {
                let note = format!("{} allowed this command", name(&reply.by));
                self.cleared(case, outcome, &name(&reply.by), Some(note))
                    .await
            }
        })
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
        Clearance::Refused(match case.changed {
            Some(changed) => self.told_of(changed, told),
            None => told.to_owned(),
        })
    }

    async fn write(
        &self,
        case: &Case<'_>,
        outcome: DecisionOutcome,
        by: &str,
        reason: &str,
    ) -> Result<(), hermes_store::StoreError> {
        let action = self.masked(case.action.text);
        let reason = match case.changed {
            Some(changed) if reason.is_empty() => self.masked(&changed.words()),
            Some(changed) => format!("{reason} ({})", self.masked(&changed.words())),
            None => reason.to_owned(),
        };
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
            reason,
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
    /// What it was before a person changed it.
    changed: Option<&'a Changed>,
}

impl Case<'_> {
    /// Whose yes counts: nothing but a person's lets anything out of the sandbox.
    fn decider(&self) -> Decider {
        match self.action.kind.leaves() {
            Some(_) => Decider::Person,
            None => Decider::Anyone,
        }
    }
}

/// How far a decision is.
enum Decided {
    Over(Clearance),
    /// A person put something else in its place.
    Changed(Changed),
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
        AnsweredBy::Person(name) | AnsweredBy::Program(name) => name.clone(),
        AnsweredBy::Rule(rule) => format!("rule: {rule}"),
        AnsweredBy::Runtime => "runtime".to_owned(),
        AnsweredBy::Stopped => "stopped".to_owned(),
    }
}
