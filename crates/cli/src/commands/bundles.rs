//! `hermes bundles`: several skills under one name.

use hermes_skills::{
    Bundle, BundleError, ViewError, bundles, command_name, create_bundle, delete_bundle,
};
use serde_json::{Value as Json, json};

use crate::args::bundles::{BundlesArgs, BundlesCommand};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::hands::{bundles_at, library_at};
use crate::output::{Output, one_line, printable};
use crate::table::Table;

pub(crate) fn run(args: BundlesArgs, context: &Context, output: &mut Output) -> Outcome {
    let folder = bundles_at(context, context.home()?);
    match args.command.unwrap_or(BundlesCommand::List { json: false }) {
        BundlesCommand::List { json } => list(&bundles(&folder), json, output),
        BundlesCommand::Reload => list(&bundles(&folder), false, output),
        BundlesCommand::Show { name, json } => {
            let wanted = command_name(&name);
            let found = bundles(&folder)
                .into_iter()
                .find(|bundle| bundle.name == wanted);
            let bundle = found.ok_or(BundleError::Unknown { name })?;
            show(&bundle, json, output)
        }
        BundlesCommand::Create {
            name,
            skills,
            description,
            instruction,
        } => {
            warn_unknown(&skills, context, output)?;
            let file = create_bundle(&folder, &name, &description, &skills, &instruction)?;
            let command = command_name(&name);
            Ok(output.line(format!("/{command} is in {}", file.display()))?)
        }
        BundlesCommand::Delete { name } => {
            let file = delete_bundle(&folder, &name)?;
            Ok(output.line(format!("removed {}", file.display()))?)
        }
    }
}

/// A skill may come later, so one that is not there yet is only told.
fn warn_unknown(skills: &[String], context: &Context, output: &mut Output) -> Outcome {
    let config = &context.settings()?.config;
    let library = library_at(context, config, context.home()?);
    for name in skills {
        if let Err(error @ ViewError::Unknown { .. }) = library.entry(name) {
            output.line(format!("warning: {}", printable(&error.to_string())))?;
        }
    }
    Ok(())
}

fn list(bundles: &[Bundle], json: bool, output: &mut Output) -> Outcome {
    if json {
        let documents: Vec<Json> = bundles.iter().map(document).collect();
        return Ok(output.json(&json!({ "bundles": documents }))?);
    }
    if bundles.is_empty() {
        return Ok(
            output.line("There are no bundles; hermes bundles create NAME SKILL… makes one.")?
        );
    }
    let mut table = Table::new(["NAME", "SKILLS", "DESCRIPTION"]);
    for bundle in bundles {
        table.row([
            format!("/{}", bundle.name),
            one_line(&bundle.skills.join(", ")),
            one_line(&bundle.description),
        ]);
    }
    Ok(table.print(output)?)
}

fn show(bundle: &Bundle, json: bool, output: &mut Output) -> Outcome {
    if json {
        return Ok(output.json(&document(bundle))?);
    }
    output.line(format!(
        "/{}  {}",
        bundle.name,
        printable(&bundle.description)
    ))?;
    for skill in &bundle.skills {
        output.line(format!("  {}", printable(skill)))?;
    }
    if !bundle.instruction.is_empty() {
        output.line(printable(&bundle.instruction))?;
    }
    Ok(output.line(bundle.file.display().to_string())?)
}

fn document(bundle: &Bundle) -> Json {
    json!({
        "name": bundle.name,
        "description": bundle.description,
        "skills": bundle.skills,
        "instruction": bundle.instruction,
        "file": bundle.file.display().to_string(),
    })
}

impl From<BundleError> for Complaint {
    fn from(error: BundleError) -> Self {
        Self::bad_request(error.to_string()).hint(error.hint())
    }
}
