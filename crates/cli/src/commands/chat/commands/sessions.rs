//! Leaving a conversation, finding another, and changing what was said.

use clap::Parser;
use hermes_core::SessionId;
use hermes_store::{Listed, Listing, SessionFilter};

use super::said::{Cut, turns};
use super::{Next, Opening, Order, within};
use crate::args::sessions::BrowseArgs;
use crate::commands::chat::ask::{Ask, Entry, List};
use crate::commands::chat::conversation::Conversation;
use crate::complaint::{Complaint, Outcome};
use crate::output::{Output, one_line};
use crate::when;

/// Conversations that can be picked from.
const MOST_LISTED: usize = 500;
const HINT: &str = "/sessions, /sessions --source telegram, /sessions --limit 20";

/// What stands behind `/sessions`.
#[derive(Debug, Parser)]
#[command(name = "/sessions", no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(flatten)]
    args: BrowseArgs,
}

/// A conversation that can be chosen.
pub(in crate::commands::chat) struct Chosen {
    pub(in crate::commands::chat) id: SessionId,
    pub(in crate::commands::chat) name: String,
    pub(in crate::commands::chat) preview: String,
}

/// What is asked before a command that takes something away; nothing where nothing is lost.
pub(super) async fn confirmation(order: &Order<'_>) -> Outcome<Option<Ask>> {
    let conversation = order.conversation;
    let front = conversation.front();
    let deletes = order.command.name == "quit" && order.argument() == Some("--delete");
    let asks = match order.command.name {
        "quit" => deletes,
        _ => order.command.destructive && conversation.careful.get() && front.has_talked(),
    };
    if !asks {
        return Ok(None);
    }
    let (title, text) = match order.command.name {
        "quit" => (
            "Delete this conversation",
            "It is gone for good.".to_owned(),
        ),
        "undo" => {
            let records = conversation.house.store.history(&front.id()).await?;
            let Some(cut) = Cut::find(&records, turns(order)?) else {
                return Ok(None);
            };
            let words = one_line(&cut.text).chars().take(80).collect::<String>();
            (
                "Take back",
                format!("Everything from “{words}” on; the text comes back to you."),
            )
        }
        _ => (
            "Begin another conversation",
            format!("This one is kept; /resume {} brings it back.", front.id()),
        ),
    };
    let line = format!("/{} {}", order.command.name, order.arguments);
    let line = line.trim_end();
    Ok(Some(Ask::Confirm {
        title: title.to_owned(),
        text,
        yes: format!("{line} --yes"),
        always: (!deletes).then(|| format!("{line} --always")),
    }))
}

/// `/new [title]`, `/clear`
pub(super) async fn start_over(order: &Order<'_>) -> Outcome<Next> {
    let cleared = order.command.name == "clear";
    let title = order.argument().filter(|_| !cleared);
    order.conversation.start_over(title).await?;
    Ok(Next::Opened(Opening::Fresh { cleared }))
}

/// `/resume [id|prefix|title]`
pub(super) async fn resume(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let Some(wanted) = order.argument() else {
        return browse(order, output).await;
    };
    let conversation = order.conversation;
    let id = conversation.house.store.resolve(wanted).await?;
    if id == conversation.front().id() {
        output.line("That is this conversation.")?;
        return Ok(Next::Nothing);
    }
    let arrived = conversation.go_on_with(id).await?;
    Ok(Next::Opened(Opening::Earlier(arrived)))
}

/// `/sessions`
pub(super) async fn browse(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let conversation = order.conversation;
    let front = conversation.front();
    let here = front.id();
    let Line { args } = within::parsed(&within::words(order), HINT)?;
    let found = conversation.house.store.list(Listing {
        filter: SessionFilter {
            source: args.source,
            ..SessionFilter::default()
        },
        limit: args.limit.min(MOST_LISTED),
        ..wanted()
    });
    let found = found.await?;
    if found.is_empty() {
        output.line("There are no earlier conversations.")?;
        return Ok(Next::Nothing);
    }
    let clock = &*conversation.house.clock;
    let entries = found.into_iter().map(|listed| {
        let session = listed.session;
        let works = match session.id == here {
            true => front.is_busy(),
            false => conversation.away.has(&session.id),
        };
        Entry {
            cells: vec![
                session.title.unwrap_or_else(|| listed.preview.clone()),
                match works {
                    true => "● works".to_owned(),
                    false => when::since(session.last_active_at, clock),
                },
                session.message_count.to_string(),
                session.source,
            ],
            also: format!("{} {}", listed.preview, session.id),
            picked: session.id == here,
            line: format!("/resume {}", session.id),
        }
    });
    Ok(Next::Ask(Ask::One(List {
        title: "Go on with".to_owned(),
        columns: vec![
            ("Conversation", false),
            ("Last active", false),
            ("Messages", true),
            ("From", false),
        ],
        entries: entries.collect(),
    })))
}

pub(in crate::commands::chat) async fn listed(conversation: &Conversation) -> Outcome<Vec<Listed>> {
    Ok(conversation.house.store.list(wanted()).await?)
}

fn wanted() -> Listing {
    Listing {
        hidden_sources: vec!["tool".to_owned()],
        limit: MOST_LISTED,
        ..Listing::default()
    }
}

/// Conversations by name, for completion.
pub(in crate::commands::chat) async fn list(conversation: &Conversation) -> Vec<Chosen> {
    let found = listed(conversation).await.unwrap_or_default().into_iter();
    found
        .map(|listed| Chosen {
            id: listed.session.id,
            name: listed.session.title.unwrap_or_default(),
            preview: listed.preview,
        })
        .collect()
}

/// `/branch [name]`
pub(super) async fn branch(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let conversation = order.conversation;
    let store = &conversation.house.store;
    let left = conversation.leave().await;
    let old = left.id();
    let records = store.history(&old).await?;
    let Some(last) = records.last().map(|record| record.id) else {
        return Err(
            Complaint::bad_request("nothing was said yet that could be copied")
                .hint("say something first, or use /new"),
        );
    };
    let id = store
        .branch(&old, last, conversation.house.fresh_id())
        .await?;
    let title = match order.argument() {
        Some(name) => Some(name.to_owned()),
        None => match store.session(&old).await?.and_then(|row| row.title) {
            Some(title) => Some(store.next_title(&title).await?),
            None => None,
        },
    };
    if let Some(title) = title {
        let title = store.rename(&id, &title).await?;
        output.line(one_line(&format!("The copy is called {title}.")))?;
    }
    output.line(format!("/resume {old} goes back to where it came from."))?;
    conversation.go_on_with(id).await?;
    Ok(Next::Opened(Opening::Branch))
}

/// `/title [name]`
pub(super) async fn title(order: &Order<'_>, output: &mut Output) -> Outcome {
    let conversation = order.conversation;
    let front = conversation.front();
    let (store, id) = (&conversation.house.store, front.id());
    let row = store.session(&id).await?;
    let Some(title) = order.argument() else {
        let title = row.and_then(|row| row.title);
        return Ok(output.line(match title {
            Some(title) => one_line(&format!("This conversation is called {title}.")),
            None => "This conversation has no title; /title NAME gives it one.".to_owned(),
        })?);
    };
    if row.is_none() {
        conversation.create_row(&id, &front).await?;
    }
    let title = store.rename(&id, title).await?;
    Ok(output.line(one_line(&format!("This conversation is called {title}.")))?)
}
