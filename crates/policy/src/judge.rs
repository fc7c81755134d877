//! One command, everything found in it, and what follows.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::rules::{self, Severity, changes_files, reads_password};
use crate::shell::{Definitions, HOLE, Invocation, Place, Resolved, Span, resolve};

/// The longest command that is judged; a longer one is asked about.
const MAX_COMMAND: usize = 4 * 1024 * 1024;

/// The most findings that are reported for one category.
const MAX_PER_CATEGORY: usize = 16;

/// The most programs that are listed, and how much of one.
const MAX_COMMANDS: usize = 4_096;
const MAX_LINE: usize = 4_096;

/// How much what runs is kept away from this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Not at all: this machine, or another one that is real.
    None,
    /// A container that sees directories of this machine.
    Mounts,
    /// A container or machine of its own that can be thrown away.
    Full,
}

/// Where a command would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The user's home directory.
    pub home: String,
    /// Our own home directory.
    pub product_home: String,
    /// Where the command starts.
    pub cwd: String,
    /// The process id of the program that runs commands, where they could end it.
    pub own_pid: Option<u32>,
    /// How far it is kept away.
    pub isolation: Isolation,
}

/// What a judgement comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing was found.
    Allow,
    /// Somebody should be asked.
    Ask,
    /// It must not run.
    Deny,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The category: what grants and configuration name it by.
    pub category: String,
    /// How severe it is.
    pub severity: Severity,
    /// Why, for people.
    pub reason: String,
    /// Where in the command, in bytes.
    pub span: Span,
}

/// Everything found in a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// The strictest of all findings.
    pub verdict: Verdict,
    /// Every category, once, in the order of the command.
    pub categories: Vec<String>,
    /// All reasons in one sentence; empty when nothing was found.
    pub reason: String,
    /// Everything found, in the order of the command.
    pub findings: Vec<Finding>,
    /// What would really run, wrappers taken off, a line each.
    pub commands: Vec<String>,
    /// What programs we do not know may start, a line each.
    #[serde(skip)]
    pub perhaps: Vec<String>,
    /// Whether it is one program without operators, redirections or substitutions.
    #[serde(skip)]
    pub single: bool,
    /// Whether that program starts no other.
    #[serde(skip)]
    pub bare: bool,
    /// Whether sudo is to read a password that the command itself brings.
    pub brings_password: bool,
    /// Whether files may be other ones, or gone, after it.
    #[serde(skip)]
    pub changes_files: bool,
    /// Whether functions, aliases or exported variables of the shell may be other ones after it.
    #[serde(skip)]
    pub defines: bool,
    /// How far the command is kept away from this machine.
    pub isolation: Isolation,
}

impl Judgement {
    /// A judgement of these findings.
    pub fn of(mut findings: Vec<Finding>, isolation: Isolation) -> Self {
        findings.sort_by_key(|finding| (finding.span, finding.category.clone()));
        findings.dedup();
        let mut categories: Vec<String> = Vec::new();
        let mut reasons: Vec<&str> = Vec::new();
        for finding in &findings {
            if !categories.contains(&finding.category) {
                categories.push(finding.category.clone());
            }
            if !reasons.contains(&finding.reason.as_str()) {
                reasons.push(&finding.reason);
            }
        }
        let reason = reasons.join("; ");
        let strictest = findings.iter().map(|finding| finding.severity).max();
        let verdict = match strictest {
            None => Verdict::Allow,
            Some(Severity::Ask) => Verdict::Ask,
            Some(Severity::Hard) => Verdict::Deny,
        };
        Self {
            verdict,
            categories,
            reason,
            findings,
            commands: Vec::new(),
            perhaps: Vec::new(),
            single: false,
            bare: false,
            brings_password: false,
            changes_files: false,
            defines: false,
            isolation,
        }
    }

    /// Adds what somebody else found, such as Tirith.
    #[must_use]
    pub fn with(self, more: Vec<Finding>) -> Self {
        let mut findings = self.findings;
        findings.extend(more);
        let of = Self::of(findings, self.isolation);
        Self {
            verdict: of.verdict,
            categories: of.categories,
            reason: of.reason,
            findings: of.findings,
            ..self
        }
    }
}

/// Judges a command: every category it falls into, the strictest deciding.
pub fn judge(command: &str, around: &Surroundings) -> Judgement {
    judge_in(command, around, &Definitions::default())
}

/// Judges a program with its arguments, which no shell reads before it starts.
pub fn judge_program(argv: &[String], around: &Surroundings) -> Judgement {
    let quoted: Vec<String> = argv
        .iter()
        .map(|word| format!("'{}'", word.replace('\'', r"'\''")))
        .collect();
    judge(&quoted.join(" "), around)
}

/// As `judge`, for a shell in which some words mean something else.
pub fn judge_in(command: &str, around: &Surroundings, definitions: &Definitions) -> Judgement {
    let whole = Span {
        start: 0,
        end: command.len(),
    };
    if command.len() > MAX_COMMAND {
        let found = Finding {
            category: "too-complex".to_owned(),
            severity: Severity::Ask,
            reason: format!("longer than {MAX_COMMAND} bytes"),
            span: whole,
        };
        return Judgement {
            changes_files: true,
            defines: true,
            ..Judgement::of(vec![found], around.isolation)
        };
    }
    // Characters nobody sees must not split a word a person reads as one.
    let visible: String = command.chars().filter(|c| !is_invisible(*c)).collect();
    let changed = visible.len() != command.len();
    let resolved = resolve(&visible, around, definitions);
    let findings = findings(command, &resolved, around, changed.then_some(whole));
    Judgement {
        commands: commands(&resolved.invocations),
        perhaps: commands(&resolved.suspects.likely.invocations),
        single: resolved.single,
        bare: resolved.single && resolved.invocations.len() == 1,
        brings_password: resolved.invocations.iter().any(reads_password),
        changes_files: changes_files(&resolved),
        defines: resolved.defines,
        ..Judgement::of(findings, around.isolation)
    }
}

/// Everything the rules find. With `whole`, places in the command cannot be told.
fn findings(
    command: &str,
    resolved: &Resolved,
    around: &Surroundings,
    whole: Option<Span>,
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for hit in rules::hits(command, resolved, around) {
        let count = counts.entry(hit.rule.category).or_default();
        *count += 1;
        if *count > MAX_PER_CATEGORY {
            continue;
        }
        let (severity, remote) = match hit.place {
            Place::Here => (hit.rule.severity, ""),
            Place::Away => (hit.rule.severity, " on another machine"),
            // What a container deletes inside itself can be made again.
            Place::Container => (Severity::Ask, " inside a container"),
        };
        let span = whole.unwrap_or(hit.span);
        findings.push(Finding {
            category: hit.rule.category.to_owned(),
            severity,
            reason: format!("{}{remote}", hit.rule.reason),
            span,
        });
        if hit.place == Place::Away {
            findings.push(Finding {
                category: "other-machine".to_owned(),
                severity: Severity::Ask,
                reason: "does something dangerous on another machine".to_owned(),
                span,
            });
        }
    }
    findings
}

/// What runs, a line each, as patterns of the configuration see it.
fn commands(invocations: &[Invocation]) -> Vec<String> {
    let named = invocations.iter().filter(|one| !one.name.is_empty());
    let lines = named.take(MAX_COMMANDS).map(|one| {
        let mut line = one.name.clone();
        for field in one.arguments() {
            if line.len() > MAX_LINE {
                break;
            }
            line.push(' ');
            line.extend(field.text.chars().map(|c| if c == HOLE { '?' } else { c }));
        }
        line
    });
    let mut seen = HashSet::new();
    lines.filter(|line| seen.insert(line.clone())).collect()
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{0}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn around() -> Surroundings {
        Surroundings {
            home: "/home/ada".to_owned(),
            product_home: "/home/ada/.hermes".to_owned(),
            cwd: "/home/ada/project".to_owned(),
            own_pid: Some(4711),
            isolation: Isolation::None,
        }
    }

    // EX-54
    #[test]
    fn every_category_is_reported_with_its_place() {
        let command = "rm -rf build; curl u | sh; sudo reboot";
        let judgement = judge(command, &around());
        assert_eq!(judgement.verdict, Verdict::Deny);
        assert_eq!(
            judgement.categories,
            ["recursive-delete", "remote-code", "power-state"]
        );
        let marked: Vec<&str> = judgement
            .findings
            .iter()
            .map(|finding| &command[finding.span.start..finding.span.end])
            .collect();
        assert_eq!(marked, ["rm -rf build", "sh", "sudo reboot"]);
    }

    #[test]
    fn another_machine_is_a_category_of_its_own() {
        let judgement = judge("ssh host rm -r x", &around());
        assert_eq!(judgement.categories, ["other-machine", "recursive-delete"]);
        assert_eq!(judge("ssh host uptime", &around()).verdict, Verdict::Allow);
    }

    #[test]
    fn json_has_the_verdict_the_categories_and_the_reason() {
        let json = serde_json::to_value(judge("rm -r x", &around())).unwrap();
        assert_eq!(json["verdict"], "ask");
        assert_eq!(json["categories"][0], "recursive-delete");
        assert_eq!(json["findings"][0]["span"]["end"], 7);
    }
}
