//! From a judgement to the next step: run it, have it reviewed, ask, or refuse.
//!
//! One pure function holds the whole order, so that every way of running something passes the same one.

use std::collections::BTreeSet;

use hermes_core::{Answer, AnsweredBy, Reach};
use serde::{Deserialize, Serialize};

use crate::wildcard;
use crate::{Finding, Isolation, Judgement, Verdict};

/// Who decides about what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approvals {
    /// A person.
    Manual,
    /// A model first, a person where it is in doubt.
    Smart,
    /// Nobody: everything runs but what never may.
    Off,
}

impl Approvals {
    /// The mode of this name; a name nobody knows means a person. YAML reads `off` as false.
    pub fn named(name: &str) -> Self {
        match name.trim().to_ascii_lowercase().as_str() {
            "smart" => Self::Smart,
            "off" | "false" | "no" => Self::Off,
            _ => Self::Manual,
        }
    }
}

/// What happens where nobody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unattended {
    /// What would be asked about is refused.
    Deny,
    /// It runs.
    Approve,
}

/// Who is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// A person who can be asked.
    Person,
    /// Nobody: a timed job.
    Cron(Unattended),
    /// Nobody: no terminal, no chat.
    Headless(Unattended),
    /// The agent that started this one.
    Parent(Unattended),
}

/// What a reviewing model said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Review {
    /// It was not asked yet.
    Open,
    /// This command, this once.
    Approved,
    /// No; a person may overrule it once.
    Denied,
    /// A person should decide. Also when it could not be asked or its answer was not one.
    Escalated,
}

/// Everything besides the judgement that decides.
#[derive(Debug, Clone)]
pub struct Standing<'a> {
    /// The command as it was given.
    pub command: &'a str,
    /// The mode.
    pub mode: Approvals,
    /// Whether the user said that everything may run.
    pub yolo: bool,
    /// Who is there.
    pub audience: Audience,
    /// `approvals.deny`: patterns of commands that never run.
    pub deny: &'a [String],
    /// `command_allowlist`: commands, patterns of commands and categories that always may.
    pub allow: &'a [String],
    /// Categories allowed for this session.
    pub granted: &'a BTreeSet<String>,
    /// Whether a password for sudo is configured.
    pub sudo_password: bool,
    /// What the review said.
    pub review: Review,
}

/// Why something runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// Nothing was found.
    Harmless,
    /// It runs in a place of its own.
    Isolated,
    /// The user turned questions off for now.
    Yolo,
    /// The configuration turned questions off.
    ModeOff,
    /// This entry of the allow list covers it.
    Listed(String),
    /// Everything found was allowed before.
    Granted,
    /// The configuration lets it run where nobody can be asked.
    Unattended,
    /// The reviewing model let it pass, this once.
    Reviewed,
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Run it.
    Run {
        /// Why it may.
        because: Because,
    },
    /// Have a model look at it, then decide again.
    Review,
    /// Ask a person.
    Ask {
        /// What is not allowed yet, every finding.
        findings: Vec<Finding>,
        /// How far a yes may reach.
        reach: Reach,
    },
    /// Do not run it.
    Refuse {
        /// Who refused.
        by: AnsweredBy,
        /// What the model is told.
        text: String,
    },
}

/// Categories that differ from command to command, so that a lasting yes would mean anything.
const NEVER_LASTING: [&str; 5] = [
    "unreadable",
    "too-complex",
    "hidden-characters",
    "unknown-code",
    "unknown-program",
];

/// Decides.
pub fn decide(judgement: &Judgement, standing: &Standing<'_>) -> Step {
    let run = |because| Step::Run { because };
    if judgement.isolation == Isolation::Full {
        return run(match judgement.verdict {
            Verdict::Allow => Because::Harmless,
            Verdict::Ask | Verdict::Deny => Because::Isolated,
        });
    }
    if let Some(step) = forbidden(judgement, standing) {
        return step;
    }
    if judgement.verdict == Verdict::Allow {
        return run(Because::Harmless);
    }
    if standing.yolo {
        return run(Because::Yolo);
    }
    if standing.mode == Approvals::Off {
        return run(Because::ModeOff);
    }
    if let Some(entry) = listed(judgement, standing) {
        return run(Because::Listed(entry));
    }
    let open: Vec<Finding> = uncovered(judgement, standing);
    if open.is_empty() {
        return run(Because::Granted);
    }
    match standing.audience {
        Audience::Person => with_person(open, standing),
        Audience::Cron(Unattended::Approve)
        | Audience::Headless(Unattended::Approve)
        | Audience::Parent(Unattended::Approve) => run(Because::Unattended),
        Audience::Cron(Unattended::Deny) => unattended(
            &open,
            "this is a scheduled job and nobody can be asked",
            "approvals.cron_mode",
        ),
        Audience::Headless(Unattended::Deny) => unattended(
            &open,
            "there is no terminal or chat in which somebody could be asked",
            "approvals.headless_mode",
        ),
        Audience::Parent(Unattended::Deny) => unattended(
            &open,
            "delegated work is not asked about",
            "delegation.subagent_auto_approve",
        ),
    }
}

/// Decides about doing something outside the sandbox. A sandbox that a mode, a list or a model could lift would
/// be none: only a person can, as far as `reach`.
pub fn decide_leaving(judgement: &Judgement, standing: &Standing<'_>, reach: Reach) -> Step {
    if let Some(step) = forbidden(judgement, standing) {
        return step;
    }
    let findings: Vec<Finding> = judgement
        .findings
        .iter()
        .filter(|finding| !standing.granted.contains(&finding.category))
        .cloned()
        .collect();
    if findings.is_empty() {
        return Step::Run {
            because: Because::Granted,
        };
    }
    match standing.audience {
        Audience::Person => Step::Ask {
            findings,
            reach,
        },
        Audience::Cron(_) | Audience::Headless(_) | Audience::Parent(_) => Step::Refuse {
            by: AnsweredBy::Runtime,
            text: "The sandbox does not allow this. Only a person can let something happen outside it, and nobody \
                   can be asked here, so it was not done. Work inside the workspace, or report what is left to \
                   do. (`terminal.sandbox` in the settings decides what is inside.)"
                .to_owned(),
        },
    }
}

/// What nothing lifts.
fn forbidden(judgement: &Judgement, standing: &Standing<'_>) -> Option<Step> {
    if judgement.verdict == Verdict::Deny {
        let hard = judgement
            .findings
            .iter()
            .filter(|finding| finding.severity == crate::Severity::Hard);
        let reasons: BTreeSet<&str> = hard.map(|finding| finding.reason.as_str()).collect();
        let reasons: Vec<&str> = reasons.into_iter().collect();
        return Some(refused_by_rule(
            "built-in limit",
            &format!(
                "The command was not run: it {}. Hermes never runs such commands, whoever allows them. \
                 Nobody was asked. Do not try another spelling; tell the user what you wanted to reach.",
                reasons.join("; and it ")
            ),
        ));
    }
    if judgement.brings_password && !standing.sudo_password {
        return Some(refused_by_rule(
            "sudo password",
            "The command was not run: it hands sudo a password, and no password for sudo is configured. \
             Nobody was asked. Ask the user to set SUDO_PASSWORD or to run it themselves.",
        ));
    }
    let pattern = denied_by(standing.deny, judgement, standing.command)?;
    Some(refused_by_rule(
        pattern,
        &format!(
            "The command was not run: `approvals.deny` in the user's configuration forbids `{pattern}`. \
             Do not try another spelling of it."
        ),
    ))
}

fn refused_by_rule(rule: &str, text: &str) -> Step {
    Step::Refuse {
        by: AnsweredBy::Rule(rule.to_owned()),
        text: text.to_owned(),
    }
}

/// The pattern of `approvals.deny` that forbids a command.
pub fn denied_by<'p>(deny: &'p [String], judged: &Judgement, command: &str) -> Option<&'p str> {
    let mut patterns = deny.iter().map(String::as_str);
    patterns.find(|pattern| denies(pattern, judged, command))
}

/// Whether a pattern matches the command as written, anything that would really run, or what a program we do
/// not know may start: what nothing may lift is not passed by a launcher that no table holds.
fn denies(pattern: &str, judgement: &Judgement, command: &str) -> bool {
    let pattern = pattern.trim().to_lowercase();
    let matches = |text: &str| wildcard::matches(&pattern, &text.trim().to_lowercase());
    let mut runs = judgement.commands.iter().chain(&judgement.perhaps);
    !pattern.is_empty() && (matches(command) || runs.any(|one| matches(one)))
}

/// The entry of the allow list that covers the whole command. Only a single program can be covered:
/// an operator may hide another one behind the pattern.
fn listed(judgement: &Judgement, standing: &Standing<'_>) -> Option<String> {
    let command = standing.command.trim();
    let entry = standing.allow.iter().find(|entry| {
        let entry = entry.trim();
        judgement.single
            && (entry == command || judgement.bare && wildcard::matches(entry, command))
    });
    entry.cloned()
}

/// The findings that nothing has allowed yet.
pub fn uncovered(judgement: &Judgement, standing: &Standing<'_>) -> Vec<Finding> {
    let covered = |finding: &&Finding| {
        standing.granted.contains(&finding.category) || standing.allow.contains(&finding.category)
    };
    let findings = judgement.findings.iter();
    findings
        .filter(|finding| !covered(finding))
        .cloned()
        .collect()
}

fn with_person(open: Vec<Finding>, standing: &Standing<'_>) -> Step {
    let overrules = match (standing.mode, standing.review) {
        (Approvals::Smart, Review::Open) => return Step::Review,
        (Approvals::Smart, Review::Approved) => {
            return Step::Run {
                because: Because::Reviewed,
            };
        }
        (Approvals::Smart, Review::Denied) => true,
        (Approvals::Smart, Review::Escalated) | (Approvals::Manual | Approvals::Off, _) => false,
    };
    let lasting = open.iter().all(|finding| {
        !finding.category.starts_with("tirith:")
            && !NEVER_LASTING.contains(&finding.category.as_str())
    });
    let reach = match (overrules, lasting) {
        (true, _) => Reach::Once,
        (false, false) => Reach::Session,
        (false, true) => Reach::Always,
    };
    Step::Ask {
        findings: open,
        reach,
    }
}

fn unattended(open: &[Finding], why: &str, setting: &str) -> Step {
    let reasons: BTreeSet<&str> = open.iter().map(|finding| finding.reason.as_str()).collect();
    let reasons: Vec<&str> = reasons.into_iter().collect();
    Step::Refuse {
        by: AnsweredBy::Runtime,
        text: format!(
            "The command was not run: it {}, which needs a yes, and {why}. No person refused it; the \
             runtime did. Go on without it or report what is left to do. (`{setting}` decides this.)",
            reasons.join("; and it ")
        ),
    }
}

/// What the model is told when an answer was no.
pub fn denial(by: &AnsweredBy, reason: Option<&str>) -> String {
    let who = match by {
        AnsweredBy::Person(name) if name.is_empty() => "The user refused the command".to_owned(),
        AnsweredBy::Person(name) => format!("{name} refused the command"),
        AnsweredBy::Program(name) => {
            format!("A program that may answer for the user refused the command ({name})")
        }
        AnsweredBy::Rule(rule) => format!("The rule `{rule}` refused the command"),
        AnsweredBy::Runtime => "Nobody answered in time, so the command was not run".to_owned(),
        AnsweredBy::Stopped => {
            "The call was stopped before anybody answered, so the command was not run".to_owned()
        }
    };
    let why = reason
        .map(str::trim)
        .filter(|reason| !reason.is_empty())
        .map(|reason| format!(", saying: {reason}"))
        .unwrap_or_default();
    format!(
        "{who}{why}. Do not run it again, in this or another wording, unless the user asks for it."
    )
}

/// What an answer allows beyond this once: the categories to remember, or none. A yes that reaches further
/// than was offered counts for this once.
pub fn to_remember(open: &[Finding], answer: &Answer, offered: Reach) -> BTreeSet<String> {
    let reached = match answer {
        Answer::AllowSession => Reach::Session,
        Answer::AllowAlways => Reach::Always,
        Answer::AllowOnce
        | Answer::Deny { .. }
        | Answer::Instead(_)
        | Answer::Text(_)
        | Answer::Filled(_)
        | Answer::Dismiss => Reach::Once,
    };
    let lasts = reached > Reach::Once && reached <= offered;
    let categories = open.iter().filter(|_| lasts);
    categories.map(|finding| finding.category.clone()).collect()
}
