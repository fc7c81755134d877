//! What the Tirith scanner says about a command.
//!
//! Its exit code decides; its JSON only says why.

use serde::Deserialize;

use crate::{Finding, Severity, Span};

/// The most findings that are taken over.
const MAX_FINDINGS: usize = 50;

/// The longest text that is taken over from one field.
const MAX_TEXT: usize = 500;

/// Crashes in a row after which it is left alone.
const MAX_CRASHES: u32 = 3;

/// How a run of it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// With this code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// Not within its time.
    TimedOut,
    /// It could not be started, and why.
    NotStarted(String),
    /// It could not be handed this command, and why. That says nothing about the scanner.
    NotTaken(String),
}

/// What holds when it gives no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failing {
    /// The command is judged without it.
    Open,
    /// Somebody is asked.
    Closed,
}

/// What a run means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What was found, with categories `tirith:<rule>`.
    pub findings: Vec<Finding>,
    /// Why there is no answer, if there is none.
    pub failure: Option<String>,
}

/// The part of its report that is used.
#[derive(Debug, Default, Deserialize)]
struct Report {
    #[serde(default)]
    findings: Vec<Reported>,
    #[serde(default)]
    summary: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reported {
    rule_id: String,
    severity: String,
    title: String,
    description: String,
}

/// Reads how it ended and what it printed.
pub fn read_check(ended: &Ended, output: &str, failing: Failing, command: &str) -> Reading {
    let span = Span {
        start: 0,
        end: command.len(),
    };
    let failure = match ended {
        Ended::Code(0) => None,
        Ended::Code(code @ (1 | 2)) => {
            return Reading {
                findings: found(*code, output, span),
                failure: None,
            };
        }
        Ended::Code(code) => Some(format!("Tirith ended with code {code}")),
        Ended::Signal(signal) => Some(format!("Tirith was ended by signal {signal}")),
        Ended::TimedOut => Some("Tirith did not answer in time".to_owned()),
        Ended::NotStarted(why) => Some(format!("Tirith could not be started: {why}")),
        // Who writes the command could hide it from the scanner this way, so somebody looks at it instead.
        Ended::NotTaken(why) => {
            let why = format!("Tirith cannot look at this command: {why}");
            return Reading {
                findings: vec![unchecked(&why, span)],
                failure: Some(why),
            };
        }
    };
    let findings = match (&failure, failing) {
        (Some(why), Failing::Closed) => vec![unchecked(why, span)],
        (Some(_), Failing::Open) | (None, _) => Vec::new(),
    };
    Reading { findings, failure }
}

/// What follows for a command that it was not asked about, because it is left alone.
pub fn left_alone(failing: Failing, command: &str) -> Vec<Finding> {
    let span = Span {
        start: 0,
        end: command.len(),
    };
    match failing {
        Failing::Open => Vec::new(),
        Failing::Closed => {
            let why =
                format!("Tirith failed {MAX_CRASHES} times in a row and is not asked any more");
            vec![unchecked(&why, span)]
        }
    }
}

fn found(code: i32, output: &str, span: Span) -> Vec<Finding> {
    let report: Report = serde_json::from_str(output.trim()).unwrap_or_default();
    if code == 2
        && let [only] = report.findings.as_slice()
        && is_app_warning(only)
    {
        return Vec::new();
    }
    let mut findings: Vec<Finding> = report
        .findings
        .iter()
        .take(MAX_FINDINGS)
        .map(|one| {
            let rule = if one.rule_id.is_empty() {
                "unnamed"
            } else {
                &one.rule_id
            };
            let reason = [&one.title, &one.description, &one.severity]
                .into_iter()
                .find(|text| !text.is_empty());
            finding(rule, suspicious(reason.map_or("", String::as_str)), span)
        })
        .collect();
    if findings.is_empty() {
        let rule = if code == 1 { "block" } else { "warn" };
        findings.push(finding(rule, suspicious(&report.summary), span));
    }
    findings
}

/// Addresses that end in `.app` are common and no reason for a question by themselves.
fn is_app_warning(one: &Reported) -> bool {
    let rule = one.rule_id.to_ascii_lowercase().replace('-', "_");
    let about = format!("{} {}", one.title, one.description);
    rule.contains("lookalike_tld") && about.contains(".app")
}

/// What is said about a command that nobody looked at. Reasons go on after «it».
fn unchecked(why: &str, span: Span) -> Finding {
    let reason = format!("could not be looked through beforehand ({why})");
    finding("unavailable", reason, span)
}

/// What is said about a finding, with the scanner's own words if it has any.
fn suspicious(words: &str) -> String {
    match words {
        "" => "is suspicious to Tirith".to_owned(),
        words => format!("is suspicious to Tirith (\"{}\")", cut(words)),
    }
}

fn finding(rule: &str, reason: String, span: Span) -> Finding {
    Finding {
        category: format!("tirith:{rule}"),
        severity: Severity::Ask,
        reason,
        span,
    }
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

/// Counts crashes, so that a broken scanner is not started for every command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Breaker {
    crashes: u32,
}

impl Breaker {
    /// The state after a run.
    #[must_use]
    pub fn after(self, ended: &Ended) -> Self {
        match ended {
            Ended::Code(0..=2) => Self::default(),
            Ended::NotTaken(_) => self,
            Ended::Code(_) | Ended::Signal(_) | Ended::TimedOut | Ended::NotStarted(_) => Self {
                crashes: self.crashes.saturating_add(1),
            },
        }
    }

    /// Whether it is left alone until the program starts anew.
    pub fn is_open(self) -> bool {
        self.crashes >= MAX_CRASHES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn categories(ended: Ended, output: &str, failing: Failing) -> Vec<String> {
        let reading = read_check(&ended, output, failing, "curl u");
        reading
            .findings
            .into_iter()
            .map(|finding| finding.category)
            .collect()
    }

    // EX-59
    #[test]
    fn the_exit_code_decides_and_the_report_says_why() {
        let report = r#"{"findings":[{"rule_id":"pipe_to_shell","severity":"high","title":"pipes","description":"d"}],"summary":"s"}"#;
        assert!(categories(Ended::Code(0), report, Failing::Closed).is_empty());
        for code in [1, 2] {
            assert_eq!(
                categories(Ended::Code(code), report, Failing::Open),
                ["tirith:pipe_to_shell"]
            );
        }
        assert_eq!(
            categories(Ended::Code(1), "no json", Failing::Open),
            ["tirith:block"]
        );
        assert_eq!(
            categories(Ended::Code(2), "", Failing::Open),
            ["tirith:warn"]
        );
        let app = r#"{"findings":[{"rule_id":"lookalike_tld","title":"x.app looks like a file"}]}"#;
        assert!(categories(Ended::Code(2), app, Failing::Open).is_empty());
        assert_eq!(
            categories(Ended::Code(1), app, Failing::Open),
            ["tirith:lookalike_tld"]
        );
        // A reason goes on after «it».
        let said = |output, code| {
            let reading = read_check(&Ended::Code(code), output, Failing::Closed, "curl u");
            reading.findings.into_iter().next().unwrap().reason
        };
        assert_eq!(said(report, 1), "is suspicious to Tirith (\"pipes\")");
        assert_eq!(said("", 2), "is suspicious to Tirith");
        assert_eq!(
            said("", 7),
            "could not be looked through beforehand (Tirith ended with code 7)"
        );
        let many = format!(
            "{{\"findings\":[{}]}}",
            vec![r#"{"rule_id":"a"}"#; 80].join(",")
        );
        assert_eq!(categories(Ended::Code(1), &many, Failing::Open).len(), 50);
    }

    // EX-59
    #[test]
    fn a_failure_is_open_or_closed_as_configured() {
        for ended in [
            Ended::Code(139),
            Ended::Signal(11),
            Ended::TimedOut,
            Ended::NotStarted("no such file".to_owned()),
        ] {
            let open = read_check(&ended, "", Failing::Open, "x");
            assert!(open.findings.is_empty() && open.failure.is_some());
            assert_eq!(
                categories(ended, "", Failing::Closed),
                ["tirith:unavailable"]
            );
        }
    }

    // EX-59
    #[test]
    fn a_command_that_cannot_be_handed_over_is_asked_about_and_is_no_crash() {
        let ended = Ended::NotTaken("it is too long".to_owned());
        for failing in [Failing::Open, Failing::Closed] {
            let found = categories(ended.clone(), "", failing);
            assert_eq!(found, ["tirith:unavailable"]);
        }
        let many = (0..10).fold(Breaker::default(), |breaker, _| breaker.after(&ended));
        assert!(!many.is_open());
    }

    // EX-59
    #[test]
    fn a_scanner_that_is_left_alone_lets_nothing_through_where_it_must_answer() {
        assert!(left_alone(Failing::Open, "x").is_empty());
        let found = left_alone(Failing::Closed, "x");
        assert_eq!(found.first().unwrap().category, "tirith:unavailable");
    }

    // EX-59
    #[test]
    fn three_crashes_in_a_row_open_the_breaker() {
        let crash = Ended::Signal(6);
        let two = Breaker::default().after(&crash).after(&crash);
        assert!(!two.is_open());
        assert!(!two.after(&Ended::Code(2)).after(&crash).is_open());
        assert!(two.after(&Ended::TimedOut).is_open());
    }
}
