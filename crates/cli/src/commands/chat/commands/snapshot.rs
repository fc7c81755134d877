//! Copies of settings, memory and conversations.

use hermes_store::KeptSnapshot;

use super::{Next, Order, aside};
use crate::args::backup::BackupArgs;
use crate::commands::chat::ask::{Ask, Entry, List};
use crate::commands::{backup, restore};
use crate::complaint::{Complaint, Outcome};
use crate::number;
use crate::output::{Output, one_line};
use crate::size;
use crate::table::Table;

const HINT: &str = "/snapshot create LABEL takes one, /snapshot list shows them, /snapshot restore ID goes back to one, \
                    /snapshot prune N keeps the latest N";
/// Answers the question in advance.
const YES: &str = "--yes";

/// `/snapshot [list|create [label]|restore [id]|prune [n]]`
pub(super) async fn snapshot(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let words: Vec<&str> = order.arguments.split_whitespace().collect();
    match words.as_slice() {
        [] | ["list"] => list(order, output)?,
        ["create"] => create(None, order, output).await?,
        ["create", label] => create(Some((*label).to_owned()), order, output).await?,
        ["create", ..] => return Err(wrong("a label is one word")),
        ["restore"] => return which(order, output),
        ["restore", id] => return Ok(Next::Ask(sure(&restore::kept(id, order.context)?))),
        ["restore", id, YES] => {
            let kept = restore::kept(id, order.context)?;
            *order.conversation.put_back.borrow_mut() = Some(kept);
            return Ok(Next::Leave);
        }
        ["prune"] => prune(hermes_store::KEPT_SNAPSHOTS, order, output)?,
        ["prune", count] => return fewer(count, order, output),
        ["prune", count, YES] => prune(counted(count)?, order, output)?,
        [word, ..] => return Err(wrong(&format!("/snapshot knows no {word}"))),
    }
    Ok(Next::Nothing)
}

fn wrong(what: &str) -> Complaint {
    Complaint::bad_request(what).hint(HINT)
}

async fn create(label: Option<String>, order: &Order<'_>, output: &mut Output) -> Outcome {
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
    let kept = all(order)?;
    if kept.is_empty() {
        return none(output);
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

fn all(order: &Order<'_>) -> Outcome<Vec<KeptSnapshot>> {
    Ok(KeptSnapshot::all(order.context.home()?.path()))
}

fn none(output: &mut Output) -> Outcome {
    Ok(output.line("There are no snapshots; /snapshot create takes one.")?)
}

/// Asks which one to go back to.
fn which(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let kept = all(order)?;
    if kept.is_empty() {
        return none(output).map(|()| Next::Nothing);
    }
    let entries = kept.into_iter().map(|one| Entry {
        line: format!("/snapshot restore {}", one.id),
        cells: vec![
            one.id,
            one.timestamp,
            one.file_count.to_string(),
            size::show(one.total_size),
        ],
        also: String::new(),
        picked: false,
    });
    Ok(Next::Ask(Ask::One(List {
        title: "Go back to".to_owned(),
        columns: vec![
            ("Snapshot", false),
            ("Taken", false),
            ("Files", true),
            ("Size", true),
        ],
        entries: entries.collect(),
    })))
}

fn sure(kept: &KeptSnapshot) -> Ask {
    Ask::Confirm {
        title: "Go back to this snapshot".to_owned(),
        text: format!(
            "Settings, memory and conversations become what they were at {}; a copy of what they are now is taken \
             first, and the program ends.",
            one_line(&kept.timestamp)
        ),
        yes: format!("/snapshot restore {} {YES}", kept.id),
        always: None,
    }
}

/// Asks before any goes that would have stayed.
fn fewer(count: &str, order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let keep = counted(count)?;
    let surplus = all(order)?.len().saturating_sub(keep);
    if surplus == 0 {
        prune(keep, order, output)?;
        return Ok(Next::Nothing);
    }
    Ok(Next::Ask(Ask::Confirm {
        title: format!("Remove {}", number::of(surplus as u64, "old snapshot")),
        text: "They are gone for good.".to_owned(),
        yes: format!("/snapshot prune {keep} {YES}"),
        always: None,
    }))
}

fn counted(word: &str) -> Outcome<usize> {
    word.parse()
        .map_err(|_| wrong(&format!("{word} is no number of snapshots to keep")))
}

fn prune(keep: usize, order: &Order<'_>, output: &mut Output) -> Outcome {
    let removed = KeptSnapshot::prune(order.context.home()?.path(), keep)?;
    tracing::info!(removed = removed.len(), keep, "snapshots pruned");
    let removed = number::of(removed.len() as u64, "snapshot");
    let left = number::of(all(order)?.len() as u64, "snapshot");
    Ok(output.line(format!("Removed {removed}; {left} left."))?)
}
