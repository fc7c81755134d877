//! What runs beside the conversation: prompts and processes.

use hermes_core::Op;

use super::{Next, Order};
use crate::commands::chat::prompts::MOST_PROMPTS;
use crate::complaint::{Complaint, Outcome};
use crate::output::{Output, one_line};
use crate::table::{Table, cut};
use crate::when;

/// Characters of a prompt or a command in the list.
const WIDEST: usize = 60;

/// `/queue PROMPT` and `/steer PROMPT`, while nothing runs.
pub(super) fn say(order: &Order<'_>) -> Outcome<Next> {
    let Some(text) = order.argument() else {
        let name = order.command.name;
        return Err(Complaint::bad_request("there is nothing to say")
            .hint(format!("/{name} TEXT, also while the agent works")));
    };
    let (text, media) = (text.to_owned(), Vec::new());
    Ok(Next::Send(Op::UserMessage { text, media }, None))
}

/// `/background PROMPT`
pub(super) async fn start(order: &Order<'_>, output: &mut Output) -> Outcome {
    let conversation = order.conversation;
    let Some(text) = order.argument() else {
        return Err(Complaint::bad_request("there is nothing to do")
            .hint("/background PROMPT has it done beside this conversation"));
    };
    if conversation.prompts.count() >= MOST_PROMPTS {
        return Err(Complaint::bad_request(format!(
            "{MOST_PROMPTS} prompts run in the background already"
        ))
        .hint("/agents lists them, /stop ends them"));
    }
    let label = conversation.ask_aside(text).await;
    Ok(output.line(format!(
        "{label} works on it; the answer is shown here when it is there."
    ))?)
}

/// `/agents`
pub(super) async fn list(order: &Order<'_>, output: &mut Output) -> Outcome {
    let conversation = order.conversation;
    let front = conversation.front();
    let clock = &*conversation.house.clock;
    let mut table = Table::new(["WHO", "WHAT", "SINCE"]);
    let state = if front.is_busy() {
        "answers"
    } else {
        "waits for you"
    };
    table.row([front.id().to_string(), state.to_owned(), String::new()]);
    for left in conversation.away.all() {
        let asked = cut(&one_line(&left.last_asked()), WIDEST);
        table.row([left.id().to_string(), asked, String::new()]);
    }
    for prompt in conversation.prompts.running() {
        table.row([
            prompt.label().to_owned(),
            cut(&one_line(&prompt.text), WIDEST),
            when::since(prompt.since.as_duration().as_secs_f64(), clock),
        ]);
    }
    for process in conversation.house.hands.running().await {
        table.row([
            process.id,
            cut(&one_line(&process.command), WIDEST),
            when::since(process.started_at, clock),
        ]);
    }
    Ok(table.print(output)?)
}

/// `/stop`
pub(super) async fn stop(order: &Order<'_>, output: &mut Output) -> Outcome {
    let conversation = order.conversation;
    let hands = &conversation.house.hands;
    let mut processes = hands.end_processes(&conversation.front().id()).await;
    for prompt in conversation.prompts.running() {
        processes += hands.end_processes(prompt.id()).await;
    }
    let prompts = conversation.prompts.stop();
    let away = conversation.away.all();
    for left in &away {
        processes += hands.end_processes(&left.id()).await;
        left.stop();
    }
    let told = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("one {what}")),
        more => Some(match what {
            "process" => format!("{more} processes"),
            what => format!("{more} {what}s"),
        }),
    };
    let parts = [
        told(away.len(), "conversation"),
        told(processes, "process"),
        told(prompts, "prompt"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Ok(output.line(match parts.is_empty() {
        true => "Nothing runs in the background.".to_owned(),
        false => format!("Ended {}.", parts.join(" and ")),
    })?)
}
