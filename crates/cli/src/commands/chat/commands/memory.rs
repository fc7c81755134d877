//! What is remembered, and who is asked before.

use std::sync::atomic::Ordering;

use super::{Order, aside};
use crate::args::memory::{MemoryArgs, MemoryCommand};
use crate::complaint::{Complaint, Outcome};
use crate::output::Output;

/// Changes that are listed.
const LOGGED: u32 = 20;

/// `/memory [list|log|pending|approve ID|reject ID|undo [N]|approval on|off]`
pub(super) async fn memory(order: &Order<'_>, output: &mut Output) -> Outcome {
    let words: Vec<&str> = order.arguments.split_whitespace().collect();
    let named = |which: &str| which.to_owned();
    let command = match words.as_slice() {
        [] => MemoryCommand::Status { json: false },
        ["list"] => MemoryCommand::List {
            target: None,
            json: false,
        },
        ["log"] => MemoryCommand::Log {
            limit: LOGGED,
            json: false,
        },
        ["pending"] => MemoryCommand::Pending { json: false },
        ["approve", which] => MemoryCommand::Approve {
            which: named(which),
        },
        ["reject", which] => MemoryCommand::Reject {
            which: named(which),
        },
        ["undo"] => MemoryCommand::Undo { id: None },
        ["undo", number] => MemoryCommand::Undo {
            id: Some(number.parse().map_err(|_| {
                Complaint::bad_request(format!("{number} is no number of a change"))
                    .hint("/memory log lists them")
            })?),
        },
        ["approval"] => {
            let on = order
                .conversation
                .house
                .hands
                .memory()
                .approval
                .load(Ordering::Relaxed);
            return Ok(output.line(approval(on))?);
        }
        ["approval", "on"] => return ask(order, true, output),
        ["approval", "off"] => return ask(order, false, output),
        _ => {
            return Err(Complaint::bad_request("/memory cannot do that").hint(
                "/memory list, log, pending, approve ID, reject ID, undo, approval on or approval off",
            ));
        }
    };
    aside::print(order.context, output, move |context, output| {
        let command = Some(command);
        crate::commands::memory::run(MemoryArgs { command }, context, output)
    })
    .await
}

/// Says whether a person is asked, for good and from now on.
fn ask(order: &Order<'_>, on: bool, output: &mut Output) -> Outcome {
    order.keep("memory.write_approval", if on { "true" } else { "false" })?;
    let services = order.conversation.house.hands.memory();
    services.approval.store(on, Ordering::Relaxed);
    Ok(output.line(approval(on))?)
}

fn approval(on: bool) -> &'static str {
    match on {
        true => "You are asked before something is remembered.",
        false => "Things are remembered without asking you.",
    }
}
