//! `hermes skills inspect`: a skill of others, before it is installed.

use hermes_skills::guard::{Decision, Depth, Report, Trust, Verdict, decide};
use hermes_skills::hub::Bundle;
use serde_json::{Value as Json, json};

use super::ground::Ground;
use super::{install, show};
use crate::complaint::Outcome;
use crate::output::{Output, one_line, printable};

/// Lines of the text that are shown.
const MOST_LINES: usize = 40;

pub(super) fn run(skill: &str, as_json: bool, ground: &Ground<'_>, output: &mut Output) -> Outcome {
    let bundle = install::fetched(skill, ground)?;
    let report = bundle
        .scan(Depth::Usual)
        .map_err(hermes_skills::hub::HubError::from)?;
    let about = bundle.skill();
    let origin = &bundle.origin;
    if as_json {
        return Ok(output.json(&document(&bundle, &report))?);
    }
    output.line(format!("name      {}", bundle.name))?;
    output.line(format!("for       {}", one_line(&about.description)))?;
    for (label, value) in [
        ("version", &about.version),
        ("author", &about.author),
        ("license", &about.license),
    ] {
        if let Some(value) = value {
            output.line(format!("{label:<9} {}", one_line(value)))?;
        }
    }
    output.line(format!("from      {}", origin.identifier))?;
    let names: Vec<String> = bundle.files().map(|(path, _)| path.to_string()).collect();
    output.line(format!("files     {}", one_line(&names.join(", "))))?;
    let needed: Vec<String> = about
        .required_variables
        .iter()
        .map(|variable| variable.name.to_string())
        .collect();
    if !needed.is_empty() {
        output.line(format!("needs     {}", needed.join(", ")))?;
    }
    show::report(&report, origin.trust, output)?;
    output.line(format!(
        "install   {}",
        outlook(origin.trust, report.verdict())
    ))?;
    output.line("")?;
    let text = bundle.text();
    for line in text.lines().take(MOST_LINES) {
        output.line(printable(line))?;
    }
    let more = text.lines().count().saturating_sub(MOST_LINES);
    if more > 0 {
        output.line(format!("… and {more} more lines"))?;
    }
    Ok(())
}

fn document(bundle: &Bundle, report: &Report) -> Json {
    let about = bundle.skill();
    let origin = &bundle.origin;
    let files: Vec<_> = bundle
        .files()
        .map(|(path, size)| json!({ "path": path.as_str(), "bytes": size }))
        .collect();
    json!({
        "name": bundle.name.as_str(),
        "description": about.description,
        "version": about.version,
        "author": about.author,
        "license": about.license,
        "source": origin.source,
        "identifier": origin.identifier.to_string(),
        "trust": origin.trust,
        "metadata": origin.metadata,
        "content_hash": bundle.content_hash(),
        "files": files,
        "left_out": bundle.left_out().iter().map(|path| path.as_str()).collect::<Vec<_>>(),
        "guard": show::json_of(report),
        "text": bundle.text(),
    })
}

fn outlook(trust: Trust, verdict: Verdict) -> &'static str {
    match decide(trust, verdict) {
        Decision::Allow => "allowed",
        Decision::Ask => "asks you first",
        Decision::Block { overridable: true } => "only with --force",
        Decision::Block { overridable: false } => "never",
    }
}
