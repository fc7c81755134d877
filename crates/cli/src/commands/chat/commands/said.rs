//! What was said: shown, saved, copied and taken back.

use std::path::Path;

use hermes_core::{MessageId, Op, Role, SessionId};
use hermes_store::{Record, Visibility};

use super::{Next, Order, aside};
use crate::args::sessions::{ExportArgs, ExportFormat, SessionsArgs, SessionsCommand};
use crate::commands::chat::conversation::Conversation;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

/// Messages that can be taken back at once.
const MOST_UNDONE: u32 = 1_000;
/// Rows that are looked at for answers to copy.
const MOST_ROWS: u32 = 1_000;
/// What a terminal takes for its clipboard.
const MOST_COPIED: usize = 100_000;

/// `/history`
pub(super) async fn history(order: &Order<'_>, output: &mut Output) -> Outcome {
    let session = said_in(order.conversation).await?;
    aside::print(order.context, output, move |context, output| {
        let command = SessionsCommand::Show {
            session: session.to_string(),
            all: false,
            json: false,
        };
        run(command, context, output)
    })
    .await
}

/// `/save [file]`
pub(super) async fn save(order: &Order<'_>, output: &mut Output) -> Outcome {
    let session = said_in(order.conversation).await?;
    let (path, force) = match order.argument() {
        Some(name) => (order.conversation.front().directory.join(name), false),
        None => {
            let home = order.context.home()?;
            let folder = home.path().join("sessions").join("saved");
            home.create(&folder)?;
            (folder.join(format!("{session}.md")), true)
        }
    };
    aside::print(order.context, output, move |context, output| {
        let format = form(&path);
        let export = ExportArgs::of_one(session.to_string(), path, format, force);
        run(SessionsCommand::Export(Box::new(export)), context, output)
    })
    .await
}

fn form(path: &Path) -> ExportFormat {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json" | "jsonl") => ExportFormat::Jsonl,
        Some("html" | "htm") => ExportFormat::Html,
        Some("qmd") => ExportFormat::Qmd,
        _ => ExportFormat::Md,
    }
}

fn run(command: SessionsCommand, context: &Context, output: &mut Output) -> Outcome {
    let command = Some(command);
    crate::commands::sessions::run(SessionsArgs { command }, context, output)
}

/// The session in front, if there is anything in it.
async fn said_in(conversation: &Conversation) -> Outcome<SessionId> {
    let id = conversation.front().id();
    match conversation.house.store.session(&id).await? {
        Some(_) => Ok(id),
        None => Err(Complaint::bad_request("nothing was said yet").hint("say something first")),
    }
}

pub(super) fn turns(order: &Order<'_>) -> Outcome<u32> {
    match order.argument() {
        None => Ok(1),
        Some(word) => word
            .parse()
            .ok()
            .filter(|turns| (1..=MOST_UNDONE).contains(turns))
            .ok_or_else(|| {
                Complaint::bad_request(format!("{word} is no number of messages"))
                    .hint("/undo 2 takes the last two back")
            }),
    }
}

/// Where the last messages begin, if there are so many.
fn cut(records: &[Record], turns: u32) -> Option<Cut> {
    let active = records
        .iter()
        .filter(|row| row.visibility == Visibility::Active);
    Cut::find(&active.cloned().collect::<Vec<_>>(), turns)
}

/// Goes back one message, where there is one.
pub(super) async fn back(conversation: &Conversation) -> Outcome<Next> {
    let store = &conversation.house.store;
    let records = store.all_records(&conversation.front().id()).await?;
    Ok(match cut(&records, 1) {
        Some(_) => Next::Send(Op::Undo { turns: 1 }, None),
        None => Next::Nothing,
    })
}

/// `/undo [n]`
pub(super) async fn undo(order: &Order<'_>) -> Outcome<Next> {
    let turns = turns(order)?;
    let front = order.conversation.leave().await;
    let store = &order.conversation.house.store;
    let records = store.all_records(&front.id()).await?;
    match cut(&records, turns) {
        Some(cut) => Ok(Next::Send(Op::Undo { turns }, Some(typed(&records, cut)))),
        None => Err(Complaint::bad_request("there is nothing to take back")
            .hint("/history shows what was said, /resume goes to an earlier conversation")),
    }
}

/// Where a conversation is cut.
pub(super) struct Cut {
    row: MessageId,
    pub(super) text: String,
}

impl Cut {
    pub(super) fn find(records: &[Record], turns: u32) -> Option<Self> {
        let mut asked = records
            .iter()
            .rev()
            .filter(|record| record.role() == Some(Role::User))
            .take(turns as usize);
        let first = asked.by_ref().last()?;
        Some(Self {
            row: first.id,
            text: first.to_message().plain_text(),
        })
    }
}

/// What the user typed, without what was read for it and remarks that went along: the row as it was typed is the
/// one that was replaced.
fn typed(records: &[Record], cut: Cut) -> String {
    let before = records.iter().rfind(|record| record.id < cut.row);
    let replaced = before
        .filter(|record| {
            record.visibility != Visibility::Active && record.role() == Some(Role::User)
        })
        .map(|record| record.to_message().plain_text())
        .filter(|text| !text.is_empty() && cut.text.starts_with(text.as_str()));
    let text = replaced.unwrap_or(cut.text);
    let end = text.find("\n\n[About your tools: ").unwrap_or(text.len());
    text.get(..end).unwrap_or(&text).to_owned()
}

/// `/copy [n]`
pub(super) async fn copy(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let back: usize = match order.argument() {
        None => 1,
        Some(word) => word.parse().ok().filter(|back| *back > 0).ok_or_else(|| {
            Complaint::bad_request(format!("{word} is no number of an answer"))
                .hint("/copy copies the last answer, /copy 2 the one before")
        })?,
    };
    let conversation = order.conversation;
    let id = conversation.front().id();
    let (said, _) = conversation.house.store.last_said(&id, MOST_ROWS).await?;
    let answer = said
        .iter()
        .rev()
        .filter(|record| record.role() == Some(Role::Assistant))
        .map(|record| record.to_message().plain_text())
        .filter(|text| !text.trim().is_empty())
        .nth(back - 1);
    let Some(answer) = answer else {
        return Err(Complaint::bad_request("there is no such answer").hint("/history shows them"));
    };
    if answer.len() > MOST_COPIED {
        return Err(Complaint::bad_request(
            "the answer is too long for the clipboard of a terminal",
        )
        .hint("/save FILE writes the conversation to a file"));
    }
    output.line(format!(
        "Copied {} characters, if your terminal lets programs use its clipboard.",
        answer.chars().count()
    ))?;
    Ok(Next::Copy(answer))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_file_is_written_in_the_form_its_name_says() {
        assert_eq!(form(&PathBuf::from("talk.html")), ExportFormat::Html);
        assert_eq!(form(&PathBuf::from("talk.jsonl")), ExportFormat::Jsonl);
        assert_eq!(form(&PathBuf::from("talk")), ExportFormat::Md);
    }
}
