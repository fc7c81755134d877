//! Commands of a conversation, the same at the prompt and on the screen.

mod aside;
mod beside;
mod curator;
mod hub;
mod learn;
mod memory;
mod models;
mod pages;
mod quick;
mod renew;
mod said;
pub(super) mod sessions;
mod shorten;
pub(super) mod skills;
mod snapshot;
mod speech;
mod tools;
mod within;

use std::path::Path;

use hermes_agent::commands::{
    CommandInfo, Group, Known, Resolved, Surface, find, group, later, resolve,
};
use hermes_core::Op;
use hermes_tui::composer::paste::leading_path;

use super::ask::Ask;
use super::conversation::{Arrived, Conversation};
use super::hands::{self, Rollback};
use super::servers;
use crate::commands::edit::edit;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::{Output, printable};
use skills::Callable;

pub(super) use models::offers;
pub(super) use sessions::list;

/// Commands that the screen carries out itself.
const ON_SCREEN: &[&str] = &[
    "busy",
    "details",
    "image",
    "indicator",
    "mouse",
    "paste",
    "prompt",
    "queue",
    "redraw",
    "skin",
    "statusbar",
    "steer",
    "timestamps",
    "verbose",
];
/// Those of them that mean something at the prompt too.
const AT_PROMPT_TOO: &[&str] = &["queue", "steer", "verbose"];
/// A command of the user's may stand for another one so often.
const MOST_ALIASES: usize = 5;

/// Where a command is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A line at a time.
    Prompt,
    /// The screen.
    Screen,
}

impl Place {
    /// Whether a command can be given here.
    pub(super) fn has(self, command: &CommandInfo) -> bool {
        command.surface.includes(Surface::Terminal)
            && later(command.name).is_none()
            && (self == Self::Screen
                || !ON_SCREEN.contains(&command.name)
                || AT_PROMPT_TOO.contains(&command.name))
    }
}

/// What is left to do after a command.
pub(super) enum Next {
    /// Nothing.
    Nothing,
    /// It is no command: say it to the session.
    Message,
    /// Say this to the session, and put this into the composer.
    Send(Op, Option<String>),
    /// The screen carries it out: its name, and what stands behind it.
    OnScreen(&'static str, String),
    /// Something has to be chosen or confirmed first.
    Ask(Ask),
    /// Another conversation is in front.
    Opened(Opening),
    /// Put this where the terminal's clipboard is.
    Copy(String),
    /// End.
    Leave,
}

/// How a conversation came to be in front.
pub(super) enum Opening {
    /// It is a fresh one; on an empty screen if that was asked for.
    Fresh { cleared: bool },
    /// It is a copy of the one before.
    Branch,
    /// It was taken up again.
    Earlier(Arrived),
}

/// A command, and where it was given.
pub(super) struct Order<'a> {
    pub(super) conversation: &'a Conversation,
    pub(super) context: &'a Context,
    pub(super) place: Place,
    pub(super) command: &'static CommandInfo,
    /// What stands behind its name, without what confirms it.
    pub(super) arguments: String,
}

impl Order<'_> {
    fn argument(&self) -> Option<&str> {
        Some(self.arguments.trim()).filter(|text| !text.is_empty())
    }

    /// Writes a setting for good.
    pub(super) fn keep(&self, key: &str, value: &str) -> Outcome {
        edit(self.context, |settings| {
            settings.set(key, value, hermes_config::UnknownKey::Refuse)
        })?;
        Ok(())
    }
}

/// Carries out a line that begins with a slash.
pub(super) async fn carry_out(
    line: &str,
    place: Place,
    conversation: &Conversation,
    context: &Context,
    output: &mut Output,
) -> Outcome<Next> {
    let directory = conversation.front().directory.clone();
    let own = &conversation.house.models.loaded.config.quick_commands;
    let names: Vec<String> = own.keys().cloned().collect();
    let callable = match is_built_in(line) {
        true => Callable::default(),
        false => Callable::find(conversation, context).await,
    };
    let (skills, bundles) = (callable.skill_commands(), callable.bundle_names());
    let known = Known {
        quick: &names,
        skills: &skills,
        bundles: &bundles,
    };
    let mut line = line.to_owned();
    for _ in 0..MOST_ALIASES {
        let (command, arguments) = match meant(&line, &known, &callable, &directory, output)? {
            Meant::Done(next) => return Ok(next),
            Meant::BuiltIn(command, arguments) => (command, arguments),
            Meant::Quick(name, arguments) => {
                match quick::run(&name, &arguments, &directory, conversation, context, output)
                    .await?
                {
                    Some(target) => line = target,
                    None => return Ok(Next::Nothing),
                }
                continue;
            }
        };
        if let Some(will) = later(command.name) {
            output.line(format!("/{} {will}; this version cannot.", command.name))?;
            return Ok(Next::Nothing);
        }
        if !place.has(command) {
            output.line(format!(
                "/{} needs the screen: hermes chat without --plain.",
                command.name
            ))?;
            return Ok(Next::Nothing);
        }
        let consent = command.consent(&arguments);
        let order = Order {
            conversation,
            context,
            place,
            command,
            arguments: consent.rest,
        };
        if consent.lasting {
            order.keep("approvals.destructive_slash_confirm", "false")?;
            conversation.careful.set(false);
        }
        return serve(&order, consent.given, output).await;
    }
    Err(Complaint::bad_request("the command stands for itself")
        .hint("hermes config get quick_commands shows what stands for what"))
}

enum Meant {
    Done(Next),
    BuiltIn(&'static CommandInfo, String),
    Quick(String, String),
}

/// Whether a line begins with the whole name of a command. Skills need not be looked for then.
fn is_built_in(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    let name = word
        .trim_start_matches('/')
        .to_lowercase()
        .replace('_', "-");
    find(&name).is_some()
}

fn meant(
    line: &str,
    known: &Known<'_>,
    callable: &Callable,
    directory: &Path,
    output: &mut Output,
) -> Outcome<Meant> {
    // Quoted, with escaped spaces or `file://`, a path is more than the first word.
    let leading = leading_path(line).is_some_and(|(path, _)| directory.join(path).exists());
    let is_path = |word: &str| leading || directory.join(word).exists();
    match resolve(line, known, Surface::Terminal, is_path) {
        Resolved::Message => return Ok(Meant::Done(Next::Message)),
        Resolved::BuiltIn { command, arguments } => {
            return Ok(Meant::BuiltIn(command, arguments.trim().to_owned()));
        }
        Resolved::Quick { name, arguments } => {
            return Ok(Meant::Quick(name.to_owned(), arguments.trim().to_owned()));
        }
        Resolved::Ambiguous { names } => {
            let names: Vec<String> = names.iter().map(|name| format!("/{name}")).collect();
            output.line(format!("That could be {}.", names.join(" or ")))?;
        }
        Resolved::Elsewhere { command } => {
            output.line(format!("/{} is for messaging platforms.", command.name))?;
        }
        Resolved::Unknown { typed, nearest } => {
            let meant = nearest.map(|near| format!(" Did you mean /{near}?"));
            output.line(format!(
                "There is no /{}; /help lists commands.{}",
                printable(typed),
                meant.unwrap_or_default()
            ))?;
        }
        Resolved::Bundle { name, text } => return Ok(Meant::Done(callable.bundle(name, text))),
        Resolved::Skills { names, text } => {
            return Ok(Meant::Done(callable.skills(&names, text)));
        }
    }
    Ok(Meant::Done(Next::Nothing))
}

#[expect(
    clippy::too_many_lines,
    reason = "a table: one arm for each command, which has a function of its own"
)]
async fn serve(order: &Order<'_>, agreed: bool, output: &mut Output) -> Outcome<Next> {
    if !agreed && let Some(ask) = sessions::confirmation(order).await? {
        return Ok(Next::Ask(ask));
    }
    let conversation = order.conversation;
    let argument = order.argument();
    match order.command.name {
        name if order.place == Place::Screen && ON_SCREEN.contains(&name) => {
            return Ok(Next::OnScreen(name, order.arguments.clone()));
        }
        "new" | "clear" => return sessions::start_over(order).await,
        "resume" => return sessions::resume(order, output).await,
        "sessions" => return sessions::browse(order, output).await,
        "branch" => return sessions::branch(order, output).await,
        "undo" => return said::undo(order).await,
        "title" => sessions::title(order, output).await?,
        "history" => said::history(order, output).await?,
        "save" => said::save(order, output).await?,
        "copy" => return said::copy(order, output).await,
        "retry" => return Ok(Next::Send(Op::Retry, None)),
        // Nothing runs that could be told something, or that it could wait for.
        "queue" | "steer" => return beside::say(order),
        "background" => beside::start(order, output).await?,
        "agents" => beside::list(order, output).await?,
        "stop" => beside::stop(order, output).await?,
        "model" => return models::model(order, output).await,
        "provider" => return models::provider(order, output).await,
        "tools" => return tools::tools(order, output).await,
        "toolsets" => tools::list(order, output).await?,
        "skills" => return hub::skills(order, output).await,
        "reload-skills" => skills::reload(order, output).await?,
        "bundles" => skills::list_bundles(order, output).await?,
        "learn" => return learn::learn(order),
        "curator" => return curator::curator(order, output).await,
        "memory" => memory::memory(order, output).await?,
        "mcp" => servers::page(order, output)?,
        "reload-mcp" => return servers::reload(order, output).await,
        "personality" => return speech::personality(order, output),
        "reasoning" => return speech::reasoning(order, output),
        "reload" | "fast" | "footer" | "snapshot" | "verbose" => {
            return kept_up(order, output).await;
        }
        "yolo" => hands::yolo(conversation, output)?,
        "rollback" => {
            let asked = Rollback::parse(argument);
            // The conversation goes back along with the files.
            if hands::rollback(conversation, asked, output).await? {
                return said::back(conversation).await;
            }
        }
        "compress" => return Ok(Next::Send(shorten::compress(&order.arguments)?, None)),
        "quit" => {
            let forget = argument == Some("--delete");
            conversation.forgotten.set(forget);
            return Ok(Next::Leave);
        }
        "help" if order.place == Place::Screen => {
            return Ok(Next::OnScreen("help", String::new()));
        }
        "help" => help(output)?,
        _ => pages::print(order, output).await?,
    }
    Ok(Next::Nothing)
}

/// What concerns the program, or what is seen of it, more than the conversation.
async fn kept_up(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    match order.command.name {
        "fast" => return renew::fast(order, output).await,
        "reload" => return renew::reload(order, output).await,
        "snapshot" => return snapshot::snapshot(order, output).await,
        "verbose" => {
            let tools = &order.conversation.tools;
            tools.set(tools.get().next());
            output.line(tools.get().told())?;
        }
        _ => footer(order, output)?,
    }
    Ok(Next::Nothing)
}

/// `/footer [on|off]`
fn footer(order: &Order<'_>, output: &mut Output) -> Outcome {
    let conversation = order.conversation;
    let shown = match order.argument() {
        None => !conversation.footer.get(),
        Some("on") => true,
        Some("off") => false,
        Some(word) => {
            return Err(
                Complaint::bad_request(format!("/footer knows no {word}")).hint(
                    "/footer on or /footer off; display.runtime_footer.fields says what is in it",
                ),
            );
        }
    };
    order.keep(
        "display.runtime_footer.enabled",
        if shown { "true" } else { "false" },
    )?;
    conversation.footer.set(shown);
    Ok(output.line(match shown {
        true => "A line of facts stands below answers.",
        false => "Nothing stands below answers.",
    })?)
}

/// What can be said in a place, by what it is about.
pub(super) fn groups(
    place: Place,
) -> impl Iterator<Item = (&'static str, Vec<&'static CommandInfo>)> {
    let all = Group::ALL.into_iter().map(move |about| {
        let here = group(about).iter().filter(|command| place.has(command));
        (about.title(), here.collect::<Vec<_>>())
    });
    all.filter(|(_, commands)| !commands.is_empty())
}

fn help(output: &mut Output) -> Outcome {
    for (title, commands) in groups(Place::Prompt) {
        output.line(title)?;
        for command in commands {
            let line = format!("/{} {}", command.name, command.hint);
            output.line(format!("  {line:<32} {}", command.about))?;
        }
    }
    Ok(())
}
