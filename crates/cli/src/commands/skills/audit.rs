//! `hermes skills audit`: a look for dangers in skills that are here.

use hermes_core::FailureKind;
use hermes_skills::guard::{Depth, Report, Severity, Verdict, scan_directory};
use hermes_skills::hub::HubError;
use serde_json::{Value, json};

use super::ground::Ground;
use super::show;
use crate::args::skills::AuditArgs;
use crate::complaint::{Complaint, Outcome};
use crate::output::{Output, Style};

pub(super) fn run(args: &AuditArgs, ground: &Ground<'_>, output: &mut Output) -> Outcome {
    let depth = if args.deep { Depth::Deep } else { Depth::Usual };
    let catalog = ground.library()?.catalog();
    let installed = ground.hub()?.installed()?;
    let skills = ground.skills()?;
    let mut reports: Vec<(String, Report)> = Vec::new();
    for entry in &catalog.entries {
        if args.name.as_ref().is_some_and(|name| *name != entry.name) {
            continue;
        }
        let waivers = installed
            .iter()
            .find(|(_, locked)| entry.directory == skills.join(&locked.install_path))
            .map(|(_, locked)| locked.waivers.as_slice())
            .unwrap_or_default();
        let report = scan_directory(&entry.directory, depth).map_err(HubError::from)?;
        reports.push((entry.name.clone(), report.without(waivers)));
    }
    if let (Some(name), true) = (&args.name, reports.is_empty()) {
        let message = format!("there is no skill called {name}");
        return Err(Complaint::new(FailureKind::NotFound, message).hint("hermes skills list"));
    }
    if args.json {
        let skills: Vec<Value> = reports
            .iter()
            .map(|(name, report)| {
                let mut value = show::json_of(report);
                value["name"] = json!(name);
                value
            })
            .collect();
        return Ok(output.json(&json!({ "skills": skills }))?);
    }
    print(&reports, args.name.is_some() || args.deep, output)
}

fn print(reports: &[(String, Report)], everything: bool, output: &mut Output) -> Outcome {
    let least = if everything {
        Severity::Low
    } else {
        Severity::High
    };
    for (name, report) in reports {
        let verdict = report.verdict();
        let style = match verdict {
            Verdict::Safe => Style::Good,
            Verdict::Caution => Style::Warning,
            Verdict::Dangerous => Style::Bad,
        };
        output.line(format!("{} {name}", output.paint(style, verdict.word())))?;
        let weighty = report.findings.iter().filter(|one| one.severity >= least);
        show::lines(weighty, output)?;
    }
    let count = |wanted| {
        reports
            .iter()
            .filter(|(_, one)| one.verdict() == wanted)
            .count()
    };
    Ok(output.line(format!(
        "{} skills: {} safe, {} to look at, {} dangerous.",
        reports.len(),
        count(Verdict::Safe),
        count(Verdict::Caution),
        count(Verdict::Dangerous)
    ))?)
}
