//! What there is to know, as pages.

use hermes_agent::message_tokens;
use hermes_config::Variable;
use hermes_core::Role;
use hermes_store::Session;

use super::{Order, aside};
use crate::args::config::ConfigArgs;
use crate::args::profile::{ProfileArgs, ProfileCommand};
use crate::args::prompt_size::PromptSizeArgs;
use crate::args::report::{DumpArgs, InsightsArgs};
use crate::commands::{auth, config, dump, insights, profile, prompt_size, version};
use crate::complaint::{Complaint, Outcome};
use crate::output::Output;
use crate::table::Table;

/// Prints the page a command asks for.
pub(super) async fn print(order: &Order<'_>, output: &mut Output) -> Outcome {
    let context = order.context;
    match order.command.name {
        "status" => status(order, output).await,
        "usage" => usage(order, output).await,
        "whoami" => whoami(order, output),
        "context" => {
            aside::print(context, output, |context, output| {
                let args = PromptSizeArgs {
                    platform: "cli".to_owned(),
                    json: false,
                };
                prompt_size::run(&args, context, output)
            })
            .await?;
            context_use(order, output).await
        }
        "insights" => {
            let args = InsightsArgs {
                days: days(order)?,
                source: None,
                json: false,
            };
            aside::print(context, output, move |context, output| {
                insights::run(&args, context, output)
            })
            .await
        }
        "version" => version::run(context, output),
        "profile" => {
            aside::print(context, output, |context, output| {
                let name = context.home()?.profile().to_string();
                let command = Some(ProfileCommand::Show {
                    name: Some(name),
                    json: false,
                });
                profile::run(ProfileArgs { command }, context, output)
            })
            .await
        }
        "config" => {
            aside::print(context, output, |context, output| {
                config::run(ConfigArgs { command: None }, context, output)
            })
            .await
        }
        "debug" => {
            aside::print(context, output, |context, output| {
                let args = DumpArgs {
                    show_keys: false,
                    json: false,
                };
                dump::run(&args, context, output)
            })
            .await
        }
        name => Err(Complaint::bad_request(format!("/{name} is not there")).hint("see /help")),
    }
}

fn days(order: &Order<'_>) -> Outcome<u32> {
    match order.argument() {
        None => Ok(30),
        Some(word) => word
            .parse()
            .ok()
            .filter(|days| (1..=1_000_000).contains(days))
            .ok_or_else(|| {
                Complaint::bad_request(format!("{word} is no number of days"))
                    .hint("/insights 7 looks back a week")
            }),
    }
}

/// How the conversation stands and who answers.
async fn status(order: &Order<'_>, output: &mut Output) -> Outcome {
    let conversation = order.conversation;
    let front = conversation.front();
    let id = front.id();
    let row = conversation.house.store.session(&id).await?;
    let mut more = Vec::new();
    if let Some(row) = row {
        more.extend(row.title.map(|title| ("title", title)));
        more.push(("messages", row.message_count.to_string()));
        let tokens = row.usage.total().to_string();
        more.push(("tokens", tokens));
    }
    more.push(("directory", front.directory.display().to_string()));
    let asks = if front.is_asking() {
        "asked before risky actions"
    } else {
        "nothing is asked"
    };
    more.push(("approvals", asks.to_owned()));
    let running = conversation.house.hands.running().await.len();
    for (part, count) in [
        ("prompts beside it", conversation.prompts.count()),
        ("processes", running),
    ] {
        if count > 0 {
            more.push((part, count.to_string()));
        }
    }
    let route = front.route();
    route.page(&id.to_string(), &more, &conversation.house.models, output)
}

/// What the conversation took.
async fn usage(order: &Order<'_>, output: &mut Output) -> Outcome {
    let conversation = order.conversation;
    let id = conversation.front().id();
    let Some(row) = conversation.house.store.session(&id).await? else {
        return Ok(output.line("Nothing was used yet.")?);
    };
    let used = &row.usage;
    let mut table = Table::new(["PART", "AMOUNT"]);
    for (part, amount) in [
        ("input tokens", used.input_tokens),
        ("read from the provider's cache", used.cache_read_tokens),
        ("written to it", used.cache_write_tokens),
        ("output tokens", used.output_tokens),
        ("of these for thinking", used.reasoning_tokens),
        ("tokens in all", used.total()),
        ("model calls", row.api_call_count),
        ("tool calls", row.tool_call_count),
    ] {
        table.row([part.to_owned(), amount.to_string()]);
    }
    table.row(["cost".to_owned(), cost(&row)]);
    let allowances = &conversation.house.models.allowances;
    for row in auth::allowed::rows(allowances, order.context.clock().now()) {
        table.row(row);
    }
    Ok(table.print(output)?)
}

/// What it cost, and how far that can be trusted.
fn cost(row: &Session) -> String {
    match (row.cost_usd(), row.cost_status.as_deref()) {
        (Some(usd), _) if row.costs_more() => {
            format!("at least ${usd:.4}; the price of some calls is not known")
        }
        (Some(usd), Some("estimated")) => format!("${usd:.4}, estimated"),
        (Some(usd), _) => format!("${usd:.4}"),
        (None, Some("included")) => "included".to_owned(),
        (None, _) => "not known".to_owned(),
    }
}

/// What the conversation adds to what every one begins with.
async fn context_use(order: &Order<'_>, output: &mut Output) -> Outcome {
    let house = &order.conversation.house;
    let front = order.conversation.front();
    let rows = match front.has_talked() {
        true => house.store.history(&front.id()).await?,
        false => Vec::new(),
    };
    let of = |wanted: Role| -> u64 {
        let said = rows.iter().filter(|row| row.role() == Some(wanted));
        said.map(|row| u64::from(message_tokens(&row.to_message())))
            .sum()
    };
    let parts = [
        ("your messages", of(Role::User)),
        ("answers and calls", of(Role::Assistant)),
        ("results of tools", of(Role::Tool)),
    ];
    let all: u64 = parts.iter().map(|(_, tokens)| tokens).sum();
    output.line("")?;
    let mut table = Table::new(["CONVERSATION", "TOKENS"]);
    for (part, tokens) in parts {
        table.row([part.to_owned(), tokens.to_string()]);
    }
    table.print(output)?;
    let window = front.route().window(&house.models);
    Ok(output.line(match window {
        Some(window) => {
            format!("About {all} tokens were said so far. The model reads {window} tokens at most.")
        }
        None => {
            format!("About {all} tokens were said so far. How much the model reads is not known.")
        }
    })?)
}

fn whoami(order: &Order<'_>, output: &mut Output) -> Outcome {
    let context = order.context;
    let user = context.environment.filled(&Variable::USER).unwrap_or("you");
    let home = context.home()?;
    output.line(format!(
        "{user} at the terminal, profile {}, home {}.",
        home.profile(),
        home.path().display()
    ))?;
    let asking = order.conversation.front().is_asking();
    Ok(output.line(match asking {
        true => "You may use everything; risky actions of the agent ask you first.",
        false => "You may use everything; risky actions of the agent run without asking.",
    })?)
}
