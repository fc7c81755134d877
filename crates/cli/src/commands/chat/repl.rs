//! A conversation at the terminal, a line at a time.

mod calls;
mod follow;

use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::Duration;

use hermes_core::{Event, Op};
use hermes_tui::composer::paste::leading_path;

use super::ask;
use super::commands::{self, Next, Opening, Place};
use super::conversation::{Conversation, Heard, still_waiting};
use super::farewell;
use super::house::Company;
use super::question::{line_too_long, picture, pictures};
use super::waiting::Waited;
use super::{profile, servers};
use crate::args::chat::RunArgs;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::tell;
use crate::output::{Output, Style, cleaned, one_line};
use crate::typed::{Line, Typed};
use follow::{Fared, aside, follow, switched};

/// How long the end of a conversation waits for its title.
const LAST_MOMENT: Duration = Duration::from_secs(5);

pub(super) fn run(
    args: &RunArgs,
    first: Option<&str>,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let runtime = super::runtime()?;
    let loaded = super::settings(args, context)?;
    let company = match std::io::stdin().is_terminal() {
        true => Company::Person,
        false => Company::Pipe,
    };
    let conversation = Conversation::open(args, company, loaded, &runtime, context)?;
    tell(conversation.warning.as_slice());
    tell(&conversation.notes);
    greet(&conversation, output)?;
    if let Some(recap) = &conversation.recap {
        recap.print(output)?;
    }
    let talked: Outcome<_> = runtime.block_on(async {
        conversation.house.hands.recover().await;
        let talked = talk(&conversation, first, context, output).await;
        conversation.house.settle(LAST_MOMENT).await;
        let farewell = farewell::of(&conversation, context).await;
        let wished = conversation.put_back.take();
        tell(conversation.close().await.as_slice());
        let fared = talked?;
        if let Some(farewell) = farewell? {
            farewell.print(output)?;
        }
        Ok((fared, wished))
    });
    let (fared, wished) = talked?;
    super::put_back(wished, runtime, context, output)?;
    match fared {
        Fared::Well => Ok(()),
        // What was said about it is further up; a script looks at the code.
        Fared::Badly => Err(Complaint::Code(1)),
    }
}

fn greet(conversation: &Conversation, output: &mut Output) -> Outcome {
    let route = conversation.house.course.route();
    let line = format!(
        "Hermes, with {} from {}. Ctrl+C stops an answer, Ctrl+D ends.",
        route.model, route.provider
    );
    output.line(output.paint(Style::Strong, &line))?;
    if route.is_embedded() {
        output.line(
            "This is a tiny model that runs inside Hermes, for trying things out. It knows little and uses no \
             tools.\nFor real work choose a model: hermes model",
        )?;
    }
    Ok(output.flush()?)
}

/// How far the import behind the prompt is.
fn importing(conversation: &Conversation, output: &mut Output) -> Outcome {
    if let Some(line) = conversation.house.importing.now() {
        output.line(output.paint(Style::Faint, &line))?;
    }
    Ok(())
}

/// Reads lines and answers them. Says how they fared where nobody sits who sees it.
async fn talk(
    conversation: &Conversation,
    first: Option<&str>,
    context: &Context,
    output: &mut Output,
) -> Outcome<Fared> {
    let mut lines = Typed::new();
    let mut fared = Fared::Well;
    let settings = servers::Watch::new(conversation, context)?;
    waits(&conversation.waited, &mut lines, output)?;
    let mut first = first.map(|first| Line::from(first.to_owned()));
    if !conversation.waited.is_empty() {
        // It comes behind what was said before it.
        first
            .take()
            .into_iter()
            .for_each(|first| lines.later(first));
    }
    loop {
        let line = match first.take() {
            Some(line) => Some(line),
            None => match typed(conversation, context, &mut lines, output).await? {
                Turn::Line(line) => line,
                Turn::Heard => continue,
                Turn::Over => return Ok(fared),
            },
        };
        let Some(line) = line else {
            output.line("")?;
            return Ok(fared);
        };
        let text = match line {
            Line::Text(text) => text.trim().to_owned(),
            Line::Kept(text, row) => {
                output.line(cleaned(&text))?;
                settings.look(output).await?;
                if conversation.take_up(vec![row]) {
                    let went = follow(conversation, context, &mut lines, output).await?;
                    fared = fared.and(went, &lines);
                }
                continue;
            }
            Line::TooLong => {
                complain(line_too_long(), output)?;
                fared = fared.and(Fared::Badly, &lines);
                continue;
            }
        };
        let mut room = Room {
            conversation,
            context,
            lines: &mut lines,
            settings: &settings,
        };
        match room.heed(text, fared, output).await? {
            ControlFlow::Continue(so_far) => fared = so_far,
            ControlFlow::Break(fared) => return Ok(fared),
        }
    }
}

/// Shows what waited in a conversation that was taken up, and has it said.
fn waits(waited: &[Waited], lines: &mut Typed, output: &mut Output) -> Outcome {
    for one in waited {
        let text = one_line(&one.text);
        output.line(output.paint(Style::Faint, &format!("⋯ {text}")))?;
        lines.later(Line::Kept(one.text.clone(), one.row));
    }
    Ok(())
}

/// What came of waiting for a line.
enum Turn {
    /// A line, or the end of them.
    Line(Option<Line>),
    /// Something else happened.
    Heard,
    /// The conversation is over.
    Over,
}

/// Waits for a line, and tells what happens meanwhile.
async fn typed(
    conversation: &Conversation,
    context: &Context,
    lines: &mut Typed,
    output: &mut Output,
) -> Outcome<Turn> {
    importing(conversation, output)?;
    if lines.is_by_hand() {
        let name = profile(context).map_or_else(String::new, |name| format!("{name} "));
        write!(output, "\n{name}> ")?;
    }
    output.flush()?;
    let heard = tokio::select! {
        line = lines.next() => return Ok(Turn::Line(line)),
        _ = tokio::signal::ctrl_c() => return Ok(Turn::Line(None)),
        heard = conversation.next() => heard,
    };
    match heard {
        // A process in the background had something to tell.
        Some(Heard::Front(Event::TurnStarted { .. })) => {
            follow(conversation, context, lines, output).await?;
        }
        Some(Heard::Front(Event::Notice { text })) => {
            output.line(format!("\n{}", cleaned(&text)))?;
        }
        Some(Heard::Front(_)) => {}
        Some(Heard::Aside(news)) => aside(news, conversation, lines, output).await?,
        None => return Ok(Turn::Over),
    }
    Ok(Turn::Heard)
}

/// Carries a command out. What it complains about is said, and the conversation goes on.
async fn command(
    line: &str,
    conversation: &Conversation,
    context: &Context,
    output: &mut Output,
) -> Outcome<Next> {
    let done = commands::carry_out(line, Place::Prompt, conversation, context, output).await;
    conversation.release();
    match done {
        Err(complaint) => complain(complaint, output).map(|()| Next::Nothing),
        Ok(next) => Ok(next),
    }
}

/// Says what went wrong; what is no failure but an end ends the conversation.
fn complain(complaint: Complaint, output: &mut Output) -> Outcome {
    let failure = match complaint {
        Complaint::Failed(failure) => failure,
        other => return Err(other),
    };
    let message = cleaned(&failure.to_string());
    output.line(output.paint(Style::Bad, &format!("error: {message}")))?;
    if let Some(hint) = &failure.hint {
        output.line(format!("hint: {}", cleaned(hint)))?;
    }
    Ok(())
}

struct Room<'a> {
    conversation: &'a Conversation,
    context: &'a Context,
    lines: &'a mut Typed,
    settings: &'a servers::Watch,
}

impl Room<'_> {
    /// Does what a line says, and what was chosen then; breaks off when the user leaves. Says how it all fared.
    async fn heed(
        &mut self,
        mut text: String,
        mut fared: Fared,
        output: &mut Output,
    ) -> Outcome<ControlFlow<Fared, Fared>> {
        // What was chosen from a list is the next command.
        while !text.is_empty() {
            let next = match text.starts_with('/') {
                true => command(&text, self.conversation, self.context, output).await?,
                false => Next::Message,
            };
            match next {
                Next::Ask(asked) => {
                    let chosen = ask::at_prompt(asked, self.lines, output).await?;
                    text = chosen.unwrap_or_default();
                }
                Next::Leave => return Ok(ControlFlow::Break(fared)),
                next => {
                    let said = std::mem::take(&mut text);
                    let went = self.go_on(next, &said, output).await?;
                    fared = fared.and(went, self.lines);
                }
            }
        }
        Ok(ControlFlow::Continue(fared))
    }

    /// Does what is left after a line.
    async fn go_on(&mut self, next: Next, said: &str, output: &mut Output) -> Outcome<Fared> {
        let conversation = self.conversation;
        match next {
            // What only the screen can do was refused before.
            Next::Nothing | Next::OnScreen(..) | Next::Ask(_) | Next::Leave => {}
            Next::Opened(opening) => opened(&opening, conversation, self.lines, output)?,
            Next::Copy(text) => write!(output, "{}", super::screen::to_clipboard(&text))?,
            Next::Send(op @ Op::SetModel { .. }, _) => {
                conversation.send(op);
                switched(conversation, output).await?;
            }
            Next::Send(Op::UserMessage { text, .. }, _) => return self.say(text, output).await,
            Next::Send(op, draft) => {
                conversation.send(op);
                let went = follow(conversation, self.context, self.lines, output).await?;
                if let Some(draft) = draft {
                    output.line(cleaned(&draft))?;
                }
                return Ok(went);
            }
            Next::Message => return self.say(said.to_owned(), output).await,
        }
        Ok(Fared::Well)
    }

    async fn say(&mut self, text: String, output: &mut Output) -> Outcome<Fared> {
        let conversation = self.conversation;
        self.settings.look(output).await?;
        match message(text, conversation, self.context) {
            Ok(message) => {
                tell_pictures(&message, output)?;
                conversation.send(message);
            }
            Err(complaint) => return complain(complaint, output).map(|()| Fared::Badly),
        }
        follow(conversation, self.context, self.lines, output).await
    }
}

/// What a line says that is no command, with the picture it begins with.
fn message(text: String, conversation: &Conversation, context: &Context) -> Outcome<Op> {
    let directory = conversation.front().directory.clone();
    let named = |path: String| picture(&path, &directory, &context.environment).ok();
    let path = leading_path(&text).and_then(|(path, _)| named(path));
    let paths: Vec<_> = path.into_iter().collect();
    let media = pictures(&paths, conversation.house.store.blobs())?;
    Ok(Op::UserMessage { text, media })
}

fn tell_pictures(message: &Op, output: &mut Output) -> Outcome {
    if let Op::UserMessage { media, .. } = message {
        for name in media.iter().filter_map(|one| one.name.as_deref()) {
            output.line(format!("[with the picture {}]", one_line(name)))?;
        }
    }
    Ok(())
}

fn opened(
    opening: &Opening,
    conversation: &Conversation,
    lines: &mut Typed,
    output: &mut Output,
) -> Outcome {
    let id = conversation.front().id();
    match opening {
        Opening::Fresh { .. } => output.line(format!("This is a new conversation: {id}"))?,
        Opening::Branch => output.line(format!("This is the copy: {id}"))?,
        Opening::Earlier(arrived) => {
            arrived.recap.print(output)?;
            if let Some(note) = &arrived.note {
                output.line(output.paint(Style::Faint, note))?;
            }
            if let Some(note) = still_waiting(arrived.waited.len()) {
                output.line(output.paint(Style::Faint, &note))?;
            }
            waits(&arrived.waited, lines, output)?;
        }
    }
    Ok(())
}
