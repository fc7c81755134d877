//! `hermes setup --reset`: every setting at its default.

use hermes_config::{Edit, Settings, Value, read_file};

use crate::commands::ask;
use crate::commands::edit::edit;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::Output;

pub(super) fn run(yes: bool, context: &Context, output: &mut Output) -> Outcome {
    let file = context.home()?.config_file();
    let Some(bytes) = read_file(&file)? else {
        return Ok(output.line("There are no settings: everything is at its default.")?);
    };
    if !yes {
        ask::confirm("Put every setting back to its default")?;
    }
    let copy = hermes_config::keep_copy(&file, context.clock().now().into(), &bytes)?;
    output.line(format!("The settings as they were: {}", copy.display()))?;
    let keys = names(context)?;
    let edits: Vec<(&str, Edit<'_>)> = keys.iter().map(|key| (key.as_str(), Edit::Unset)).collect();
    edit(context, |settings: &Settings<'_>| settings.change(&edits))?;
    Ok(output.line("Every setting is at its default. Keys and conversations are as they were.")?)
}

/// The keys at the top of the file.
fn names(context: &Context) -> Outcome<Vec<String>> {
    let root = crate::commands::edit::written(context, &hermes_config::KeyPath::default())?;
    Ok(match root.map(|node| node.value) {
        Some(Value::Map(map)) => map.iter().map(|(name, _)| name.to_string()).collect(),
        _ => Vec::new(),
    })
}
