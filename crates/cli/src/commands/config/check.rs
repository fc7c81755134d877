//! `hermes config check`

use hermes_config::{
    CURRENT_VERSION, EnvProblem, Fault, Loaded, inspect_env_file, pending_migration,
};
use hermes_secrets::Scope;
use serde_json::json;

use crate::commands::tools::unheeded;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::{Output, Style};

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Severity {
    Error,
    Warning,
    /// Nothing is wrong, but the person should know.
    Note,
}

impl Severity {
    fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Error => Style::Bad,
            Self::Warning => Style::Warning,
            Self::Note => Style::Faint,
        }
    }
}

/// One thing found, ready to be shown.
struct Finding {
    severity: Severity,
    /// Works as it is; everything else should be looked at.
    is_harmless: bool,
    message: String,
    hint: Option<String>,
}

pub(crate) fn check(json: bool, context: &Context, output: &mut Output) -> Outcome {
    let loaded = context.load()?;
    let plan = pending_migration(context.home()?, &context.environment)?;
    let env_problems = inspect_env_file(&context.home()?.env_file())?;
    let mut findings = findings(&loaded, &env_problems);
    let redactor = context.redactor.snapshot();
    for finding in &mut findings {
        finding.message = redactor
            .redact_in(Scope::Code, &finding.message)
            .into_owned();
    }
    let is_fine = findings.iter().all(|finding| finding.is_harmless);
    if json {
        let rows: Vec<_> = findings
            .iter()
            .map(|finding| {
                let severity = finding.severity.word();
                json!({ "severity": severity, "message": finding.message, "hint": finding.hint })
            })
            .collect();
        output.json(&json!({
            "version": plan.from.number(),
            "current_version": CURRENT_VERSION,
            "migration": plan.steps,
            "findings": rows,
        }))?;
    } else {
        output.line(format!(
            "config.yaml is version {} of {CURRENT_VERSION}",
            plan.from.number()
        ))?;
        if !plan.is_empty() {
            output
                .line("  hermes config migrate brings it up to date; it is understood as it is")?;
        }
        for finding in &findings {
            let severity = finding.severity;
            let word = output.paint(severity.style(), severity.word());
            output.line(format!("{word}: {}", finding.message))?;
            if let Some(hint) = &finding.hint {
                output.line(format!("  hint: {hint}"))?;
            }
        }
        let only_notes = |finding: &Finding| finding.severity == Severity::Note;
        if findings.iter().all(only_notes) {
            output.line(output.paint(Style::Good, "nothing is wrong"))?;
        }
    }
    if is_fine {
        Ok(())
    } else {
        Err(Complaint::Code(1))
    }
}

fn findings(loaded: &Loaded, env_problems: &[EnvProblem]) -> Vec<Finding> {
    let mut found: Vec<Finding> = loaded
        .problems
        .iter()
        .map(|problem| Finding {
            severity: match problem.fault.is_error() {
                true => Severity::Error,
                false => Severity::Warning,
            },
            is_harmless: matches!(problem.fault, Fault::OldSpelling { .. }),
            message: problem.to_string(),
            hint: problem.hint(),
        })
        .collect();
    let env_problems = loaded.env_problems.iter().chain(env_problems);
    found.extend(env_problems.map(|problem| Finding {
        severity: Severity::Warning,
        is_harmless: false,
        message: problem.to_string(),
        hint: problem.hint(),
    }));
    found.extend(loaded.ignored.iter().map(|ignored| Finding {
        severity: Severity::Warning,
        is_harmless: false,
        message: ignored.to_string(),
        hint: Some(ignored.hint().to_owned()),
    }));
    let unheeded = unheeded(&loaded.config, |_| true).into_iter();
    found.extend(unheeded.map(|one| Finding {
        severity: Severity::Warning,
        is_harmless: false,
        message: one.to_string(),
        hint: Some(one.hint),
    }));
    found.extend(loaded.idle.iter().map(|idle| Finding {
        severity: Severity::Note,
        is_harmless: true,
        message: idle.to_string(),
        hint: None,
    }));
    found
}
