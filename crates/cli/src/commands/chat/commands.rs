//! Commands of a conversation, the same at the prompt and on the screen.

use hermes_agent::commands::{CommandInfo, Group, Known, Resolved, Surface, group, resolve};
use hermes_core::{Event, Op, SessionId};

use super::hands::{self, Rollback};
use super::open::Conversation;
use super::standing::RouteInUse;
use crate::complaint::Outcome;
use crate::output::{Output, printable};

/// Commands that are carried out wherever a conversation is.
const EVERYWHERE: &[&str] = &[
    "compress",
    "help",
    "model",
    "quit",
    "reload-mcp",
    "retry",
    "rollback",
    "status",
    "stop",
    "undo",
    "yolo",
];
/// Commands that the screen carries out itself.
const ON_SCREEN: &[&str] = &[
    "busy",
    "prompt",
    "queue",
    "reasoning",
    "redraw",
    "skin",
    "steer",
    "verbose",
];

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
        EVERYWHERE.contains(&command.name)
            || (self == Self::Screen && ON_SCREEN.contains(&command.name))
    }
}

/// What changes while somebody talks.
pub(super) struct Talk {
    pub(super) route: RouteInUse,
    /// The session; a conversation may go on in another one.
    pub(super) session: SessionId,
    /// Whether the user is asked before risky commands.
    asking: bool,
}

impl Talk {
    pub(super) fn new(conversation: &Conversation) -> Self {
        Self {
            route: RouteInUse::new(&conversation.course),
            session: conversation.session.id().clone(),
            asking: conversation.asks,
        }
    }

    /// Takes in what the session says about itself.
    pub(super) fn hear(&mut self, event: &Event) {
        match event {
            Event::RouteChanged {
                provider,
                model,
                reason,
            } => self
                .route
                .change(provider.clone(), model.clone(), reason.clone()),
            Event::SessionChanged { session } => self.session = session.clone(),
            _ => {}
        }
    }
}

/// What is left to do after a command.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Next {
    /// Nothing.
    Nothing,
    /// It is no command: say it to the session.
    Message,
    /// Say this to the session.
    Send(Op),
    /// Read the settings of MCP servers again, in this way.
    Reload(Option<String>),
    /// The screen carries it out: its name, and what stands behind it.
    OnScreen(&'static str, String),
    /// End.
    Leave,
}

/// Carries out a line that begins with a slash.
pub(super) async fn carry_out(
    line: &str,
    place: Place,
    conversation: &Conversation,
    talk: &mut Talk,
    output: &mut Output,
) -> Outcome<Next> {
    let is_path = |word: &str| conversation.directory.join(word).exists();
    let (command, arguments) = match resolve(line, &Known::default(), Surface::Terminal, is_path) {
        Resolved::Message => return Ok(Next::Message),
        Resolved::BuiltIn { command, arguments } => (command, arguments.trim()),
        Resolved::Ambiguous { names } => {
            let names: Vec<String> = names.iter().map(|name| format!("/{name}")).collect();
            output.line(format!("That could be {}.", names.join(" or ")))?;
            return Ok(Next::Nothing);
        }
        Resolved::Elsewhere { command } => {
            output.line(format!("/{} is for messaging platforms.", command.name))?;
            return Ok(Next::Nothing);
        }
        Resolved::Unknown { typed, nearest } => {
            let meant = nearest.map(|near| format!(" Did you mean /{near}?"));
            output.line(format!(
                "There is no /{}; /help lists commands.{}",
                printable(typed),
                meant.unwrap_or_default()
            ))?;
            return Ok(Next::Nothing);
        }
        Resolved::Quick { name, .. } | Resolved::Bundle { name, .. } => {
            output.line(format!("/{} is not there.", printable(name)))?;
            return Ok(Next::Nothing);
        }
        Resolved::Skills { .. } => {
            output.line("There are no skills.")?;
            return Ok(Next::Nothing);
        }
    };
    if !place.has(command) {
        let why = match ON_SCREEN.contains(&command.name) {
            true => "needs the screen: hermes chat without --plain",
            false => "is not part of Hermes yet",
        };
        output.line(format!("/{} {why}.", command.name))?;
        return Ok(Next::Nothing);
    }
    if ON_SCREEN.contains(&command.name) {
        return Ok(Next::OnScreen(command.name, arguments.to_owned()));
    }
    let argument = Some(arguments).filter(|text| !text.is_empty());
    serve(command, argument, place, conversation, talk, output).await
}

async fn serve(
    command: &CommandInfo,
    argument: Option<&str>,
    place: Place,
    conversation: &Conversation,
    talk: &mut Talk,
    output: &mut Output,
) -> Outcome<Next> {
    match command.name {
        "quit" => return Ok(Next::Leave),
        "retry" => return Ok(Next::Send(Op::Retry)),
        "undo" => return Ok(Next::Send(Op::Undo)),
        "reload-mcp" => return Ok(Next::Reload(argument.map(str::to_owned))),
        "compress" => {
            return Ok(Next::Send(Op::Compact {
                focus: argument.map(str::to_owned),
            }));
        }
        "rollback" => {
            let asked = Rollback::parse(argument);
            // The conversation goes back along with the files.
            if hands::rollback(conversation, asked, output).await? {
                return Ok(Next::Send(Op::Undo));
            }
        }
        "yolo" => talk.asking = hands::yolo(conversation, talk.asking, output)?,
        "stop" => hands::stop(conversation, output).await?,
        "status" => {
            let session = talk.session.to_string();
            talk.route.page(&session, &conversation.models, output)?;
        }
        "model" => match argument {
            Some(name) => return Ok(Next::Send(switch(name))),
            None => {
                output.line(talk.route.line(&conversation.models))?;
                output.line(
                    "/model NAME or /model PROVIDER:NAME changes it for this conversation.",
                )?;
            }
        },
        _ => help(place, output)?,
    }
    Ok(Next::Nothing)
}

/// Lets another model answer in this conversation.
fn switch(name: &str) -> Op {
    let (model, provider) = match name.split_once("--provider") {
        Some((model, provider)) => (model, Some(provider.trim_start_matches('=').trim())),
        None => (name, None),
    };
    Op::SetModel {
        model: model.trim().to_owned(),
        provider: provider.map(str::to_owned),
    }
}

/// What can be said here.
fn help(place: Place, output: &mut Output) -> Outcome {
    for about in Group::ALL {
        let commands: Vec<_> = group(about)
            .iter()
            .filter(|command| place.has(command))
            .collect();
        if commands.is_empty() {
            continue;
        }
        output.line(about.title())?;
        for command in commands {
            let line = format!("/{} {}", command.name, command.hint);
            output.line(format!("  {line:<32} {}", command.about))?;
        }
    }
    Ok(())
}
