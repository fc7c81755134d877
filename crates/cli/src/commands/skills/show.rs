//! What the guard found, in words.

use hermes_skills::guard::{Finding, Report, Severity, Trust, Verdict};
use serde_json::{Value, json};

use crate::complaint::Outcome;
use crate::output::{Output, Style, one_line};

/// Most findings that are shown at once.
const MOST: usize = 20;

/// The verdict and what it rests on, the heaviest first.
pub(super) fn report(report: &Report, trust: Trust, output: &mut Output) -> Outcome {
    let verdict = report.verdict();
    let style = match verdict {
        Verdict::Safe => Style::Good,
        Verdict::Caution => Style::Warning,
        Verdict::Dangerous => Style::Bad,
    };
    let word = output.paint(style, verdict.word());
    output.line(format!("guard     {word} (source: {trust})"))?;
    let weighty = report
        .findings
        .iter()
        .filter(|finding| finding.severity >= Severity::Medium);
    lines(weighty, output)?;
    if !report.waived.is_empty() {
        output.line(format!(
            "  {} findings you accepted before",
            report.waived.len()
        ))?;
    }
    Ok(())
}

/// The first of these findings, and how many more there are.
pub(super) fn lines<'f>(
    findings: impl Iterator<Item = &'f Finding> + Clone,
    output: &mut Output,
) -> Outcome {
    let count = findings.clone().count();
    for finding in findings.take(MOST) {
        line(finding, output)?;
    }
    if count > MOST {
        output.line(format!("  … and {} more", count - MOST))?;
    }
    Ok(())
}

/// One finding.
fn line(finding: &Finding, output: &mut Output) -> Outcome {
    let style = match finding.severity {
        Severity::Critical => Style::Bad,
        Severity::High => Style::Warning,
        Severity::Medium | Severity::Low => Style::Faint,
    };
    let severity = output.paint(style, finding.severity.word());
    output.line(format!(
        "  {severity} {} at {}: {}",
        finding.id,
        one_line(&finding.place()),
        one_line(&finding.excerpt)
    ))?;
    Ok(())
}

/// The same for programs.
pub(super) fn json_of(report: &Report) -> Value {
    let findings = |all: &[Finding]| -> Vec<Value> {
        all.iter()
            .map(|finding| {
                json!({
                    "id": finding.id,
                    "category": finding.category,
                    "severity": finding.severity,
                    "file": finding.file,
                    "line": finding.line,
                    "excerpt": finding.excerpt,
                })
            })
            .collect()
    };
    json!({
        "verdict": report.verdict(),
        "findings": findings(&report.findings),
        "waived": findings(&report.waived),
    })
}
