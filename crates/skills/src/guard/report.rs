//! What was found, and what it comes to.

use std::fmt;

use hermes_secrets::{Redactor, Scope};
use serde::{Deserialize, Serialize};

use super::rule::{Category, Severity};
use super::waiver::{self, Waiver};

/// Most characters of a line that are shown.
const SHOWN: usize = 160;
/// Characters before the place that are shown of a longer line.
const BEFORE: usize = 40;

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which rule.
    pub id: &'static str,
    /// What it is about.
    pub category: Category,
    /// How much it weighs here.
    pub severity: Severity,
    /// The file, from the skill's directory.
    pub file: String,
    /// The line, counted from one; 0 when it is about the file as a whole.
    pub line: u32,
    /// The line itself, or what is wrong. Keys are masked.
    pub excerpt: String,
    /// The hash of what was judged: of the line, or of the bytes of what it is about. Empty where none were read.
    pub line_hash: String,
}

impl Finding {
    pub(super) fn of_line(
        (id, category, severity): (&'static str, Category, Severity),
        file: &str,
        line: u32,
        text: &str,
        place: Option<usize>,
    ) -> Self {
        Self {
            id,
            category,
            severity,
            file: file.to_owned(),
            line,
            excerpt: excerpt(text, place.unwrap_or(0)),
            line_hash: waiver::hash(text),
        }
    }

    /// One about a file or the whole skill. `judged` is the hash of the bytes it is about: others that would be
    /// described in the same words are another matter.
    pub(super) fn of_file(
        (id, severity): (&'static str, Severity),
        file: &str,
        what: &str,
        judged: String,
    ) -> Self {
        Self {
            id,
            category: Category::Structural,
            severity,
            file: file.to_owned(),
            line: 0,
            excerpt: what.to_owned(),
            line_hash: judged,
        }
    }

    /// Where it is, as editors write it.
    pub fn place(&self) -> String {
        match (self.file.as_str(), self.line) {
            ("", _) => "the skill".to_owned(),
            (file, 0) => file.to_owned(),
            (file, line) => format!("{file}:{line}"),
        }
    }
}

fn excerpt(text: &str, place: usize) -> String {
    let masked = Redactor::default().redact_in(Scope::Log, text).into_owned();
    let text = masked.trim();
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    // The place is counted in the line before masking, so it is only where to begin to look.
    let start = text
        .char_indices()
        .map(|(at, _)| at)
        .take_while(|at| *at <= place)
        .count()
        .saturating_sub(BEFORE + 1);
    let cut: String = text.chars().skip(start).take(SHOWN).collect();
    let before = if start > 0 { "…" } else { "" };
    format!("{before}{cut}…")
}

/// What the findings come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing that weighs much.
    Safe,
    /// Something a person should have seen.
    Caution,
    /// Something no skill has a good reason for.
    Dangerous,
}

impl Verdict {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Caution => "caution",
            Self::Dangerous => "dangerous",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Everything that was found in a skill, the worst first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// What counts.
    pub findings: Vec<Finding>,
    /// What a person has accepted before.
    pub waived: Vec<Finding>,
}

impl Report {
    pub(super) fn new(mut findings: Vec<Finding>) -> Self {
        findings.sort_by(|a, b| {
            let by_weight = b.severity.cmp(&a.severity);
            let place = |finding: &Finding| (finding.file.clone(), finding.line, finding.id);
            by_weight.then_with(|| place(a).cmp(&place(b)))
        });
        // A file that can be read in two ways says the same in both more often than not.
        findings.dedup();
        Self {
            findings,
            waived: Vec::new(),
        }
    }

    /// What the findings come to.
    pub fn verdict(&self) -> Verdict {
        match self.findings.iter().map(|finding| finding.severity).max() {
            Some(Severity::Critical) => Verdict::Dangerous,
            Some(Severity::High) => Verdict::Caution,
            Some(Severity::Medium | Severity::Low) | None => Verdict::Safe,
        }
    }

    /// The report without what was accepted before. What is critical always counts.
    #[must_use]
    pub fn without(self, waivers: &[Waiver]) -> Self {
        let (waived, findings) = self.findings.into_iter().partition(|finding| {
            finding.severity != Severity::Critical
                && waivers.iter().any(|waiver| waiver.covers(finding))
        });
        Self { findings, waived }
    }

    /// Waivers for what keeps the skill from being safe, for a person who accepts it.
    pub fn waivers(&self) -> Vec<Waiver> {
        let weighty = |finding: &&Finding| finding.severity == Severity::High;
        let fresh = self.findings.iter().filter(weighty);
        fresh.chain(&self.waived).map(Waiver::of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(severity: Severity, text: &str) -> Finding {
        let about = ("sudo_usage", Category::PrivilegeEscalation, severity);
        Finding::of_line(about, "run.sh", 3, text, None)
    }

    #[test]
    fn the_heaviest_finding_decides() {
        let verdict = |severities: &[Severity]| {
            let findings = severities.iter().map(|severity| finding(*severity, "x"));
            Report::new(findings.collect()).verdict()
        };
        assert_eq!(verdict(&[]), Verdict::Safe);
        assert_eq!(verdict(&[Severity::Medium, Severity::Low]), Verdict::Safe);
        assert_eq!(verdict(&[Severity::Low, Severity::High]), Verdict::Caution);
        assert_eq!(
            verdict(&[Severity::High, Severity::Critical]),
            Verdict::Dangerous
        );
    }

    #[test]
    fn what_was_accepted_counts_no_more_until_its_line_changes() {
        let accepted = Report::new(vec![finding(Severity::High, "sudo rm x")]).waivers();
        let again = Report::new(vec![finding(Severity::High, "sudo rm x")]);
        let again = again.without(&accepted);
        assert_eq!((again.verdict(), again.waived.len()), (Verdict::Safe, 1));
        let changed = Report::new(vec![finding(Severity::High, "sudo rm /x")]);
        assert_eq!(changed.without(&accepted).verdict(), Verdict::Caution);
        let critical = Report::new(vec![finding(Severity::Critical, "sudo rm x")]);
        assert_eq!(critical.without(&accepted).verdict(), Verdict::Dangerous);
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let text = format!("{}curl x | sh{}", "a".repeat(300), "b".repeat(300));
        let shown = excerpt(&text, 300);
        assert!(shown.contains("curl x | sh"), "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.chars().count() <= 162);
    }

    #[test]
    fn keys_are_masked() {
        let text = "token = ghp_000000000000000000000000000000000000";
        assert!(!excerpt(text, 0).contains("000000000000000000"));
    }
}
