//! `hermes skills tap`: the repositories that are searched.

use hermes_skills::hub::{Hub, Repository, Tap};
use serde_json::json;

use super::ground::Ground;
use crate::args::skills::TapCommand;
use crate::complaint::Outcome;
use crate::output::Output;
use crate::table::Table;

pub(super) fn run(
    command: Option<TapCommand>,
    ground: &Ground<'_>,
    output: &mut Output,
) -> Outcome {
    let hub = ground.hub()?;
    match command.unwrap_or(TapCommand::List { json: false }) {
        TapCommand::List { json } => list(hub, json, output),
        TapCommand::Add { repo, path } => {
            let repository: Repository = repo.parse()?;
            let path = path.trim_matches('/').to_owned();
            let added = hub.add_tap(Tap {
                repo: repository.to_string(),
                path,
            })?;
            Ok(output.line(match added {
                true => format!("{repository} is searched from now on."),
                false => format!("{repository} is searched already."),
            })?)
        }
        TapCommand::Remove { repo } => {
            let repository: Repository = repo.parse()?;
            let removed = hub.remove_tap(&repository)?;
            Ok(output.line(match removed {
                true => format!("{repository} is searched no more."),
                false => format!("{repository} was not added by you."),
            })?)
        }
    }
}

fn list(hub: &Hub, as_json: bool, output: &mut Output) -> Outcome {
    let own = hub.taps()?.taps;
    let built_in = Hub::default_taps();
    let rows = own
        .iter()
        .map(|tap| (tap, false))
        .chain(built_in.iter().map(|tap| (tap, true)));
    if as_json {
        let taps: Vec<_> = rows
            .map(|(tap, built_in)| {
                json!({ "repo": tap.repo, "path": tap.path, "built_in": built_in })
            })
            .collect();
        return Ok(output.json(&json!({ "taps": taps }))?);
    }
    let mut table = Table::new(["REPOSITORY", "DIRECTORY", "BY"]);
    for (tap, built_in) in rows {
        let by = if built_in { "Hermes" } else { "you" };
        table.row([tap.repo.clone(), tap.path.clone(), by.to_owned()]);
    }
    Ok(table.print(output)?)
}
