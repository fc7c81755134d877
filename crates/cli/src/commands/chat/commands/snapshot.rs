//! Copies of settings, memory and conversations.

use hermes_store::KeptSnapshot;

use super::{Order, aside};
use crate::args::backup::BackupArgs;
use crate::commands::backup;
use crate::complaint::{Complaint, Outcome};
use crate::output::{Output, one_line};
use crate::size;
use crate::table::Table;

const HINT: &str = "/snapshot create LABEL takes one, /snapshot list shows them";

/// `/snapshot [list|create [label]]`
pub(super) async fn snapshot(order: &Order<'_>, output: &mut Output) -> Outcome {
    let words: Vec<&str> = order.arguments.split_whitespace().collect();
    let label = match words.as_slice() {
        [] | ["list"] => return list(order, output),
        ["create"] => None,
        ["create", label] => Some((*label).to_owned()),
        ["create", ..] => {
            return Err(Complaint::bad_request("a label is one word").hint(HINT));
        }
        ["restore" | "prune", ..] => {
            let place = order.context.home()?.path().join("state-snapshots");
            return Err(Complaint::bad_request(format!(
                "/snapshot {} is not part of this version",
                words.first().copied().unwrap_or_default()
            ))
            .hint(format!("the copies are directories in {}", place.display())));
        }
        [word, ..] => {
            return Err(Complaint::bad_request(format!("/snapshot knows no {word}")).hint(HINT));
        }
    };
    aside::print(order.context, output, move |context, output| {
        let args = BackupArgs {
            output: None,
            quick: true,
            label,
            json: false,
        };
        backup::run(&args, context, output)
    })
    .await
}

fn list(order: &Order<'_>, output: &mut Output) -> Outcome {
    let kept = KeptSnapshot::all(order.context.home()?.path());
    if kept.is_empty() {
        return Ok(output.line("There are no snapshots; /snapshot create takes one.")?);
    }
    let mut table = Table::new(["SNAPSHOT", "TAKEN", "FILES", "SIZE"]);
    for one in kept {
        table.row([
            one_line(&one.id),
            one_line(&one.timestamp),
            one.file_count.to_string(),
            size::show(one.total_size),
        ]);
    }
    Ok(table.print(output)?)
}
