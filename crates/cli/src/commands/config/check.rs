//! `hermes config check`

use hermes_config::{CURRENT_VERSION, Loaded, pending_migration};
use serde_json::json;

use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::{Output, Style};

/// One thing found, ready to be shown.
struct Finding {
    is_error: bool,
    message: String,
    hint: Option<String>,
}

pub(crate) fn check(json: bool, context: &Context, output: &mut Output) -> Outcome {
    let loaded = context.load()?;
    let plan = pending_migration(context.home()?, &context.environment)?;
    let findings = findings(&loaded);
    let errors = findings.iter().filter(|finding| finding.is_error).count();
    if json {
        let rows: Vec<_> = findings
            .iter()
            .map(|finding| {
                let severity = if finding.is_error { "error" } else { "warning" };
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
            output.line(
                "  old spellings are in use and understood; hermes config migrate rewrites them",
            )?;
        }
        for finding in &findings {
            let (style, word) = if finding.is_error {
                (Style::Bad, "error")
            } else {
                (Style::Warning, "warning")
            };
            output.line(format!(
                "{}: {}",
                output.paint(style, word),
                finding.message
            ))?;
            if let Some(hint) = &finding.hint {
                output.line(format!("  hint: {hint}"))?;
            }
        }
        if findings.is_empty() {
            output.line(output.paint(Style::Good, "nothing is wrong"))?;
        }
    }
    if errors > 0 {
        Err(Complaint::Code(1))
    } else {
        Ok(())
    }
}

fn findings(loaded: &Loaded) -> Vec<Finding> {
    let mut found: Vec<Finding> = loaded
        .problems
        .iter()
        .map(|problem| Finding {
            is_error: problem.fault.is_error(),
            message: problem.to_string(),
            hint: problem.hint(),
        })
        .collect();
    found.extend(loaded.env_problems.iter().map(|problem| Finding {
        is_error: false,
        message: problem.to_string(),
        hint: problem.hint().map(ToOwned::to_owned),
    }));
    found.extend(loaded.ignored.iter().map(|ignored| Finding {
        is_error: false,
        message: ignored.to_string(),
        hint: Some(ignored.hint().to_owned()),
    }));
    found
}
