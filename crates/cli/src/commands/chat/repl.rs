//! A conversation at the terminal, a line at a time.

use std::io::Write;
use std::time::Duration;

use hermes_core::{Answer, Event, Op, Question, SessionId, TurnEnd};

use super::commands::{self, Next, Place, Talk};
use super::open::Conversation;
use super::servers;
use crate::args::chat::RunArgs;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::tell;
use crate::output::{Output, Style, printable};
use crate::typed::{self, Typed};

/// How long the end of a conversation waits for its title.
const LAST_MOMENT: Duration = Duration::from_secs(5);

pub(super) fn run(args: &RunArgs, context: &Context, output: &mut Output) -> Outcome {
    let runtime = super::runtime()?;
    let loaded = super::settings(args, context)?;
    let conversation = Conversation::open(args, true, loaded, &runtime, context)?;
    tell(&conversation.notes);
    greet(&conversation, output)?;
    runtime.block_on(async {
        conversation.hands.recover().await;
        let talked = talk(&conversation, context, output).await;
        conversation.settle(LAST_MOMENT).await;
        conversation.close().await;
        if let Some(id) = talked? {
            output.line(format!("Go on with: hermes chat --resume {id}"))?;
        }
        Ok(())
    })
}

fn greet(conversation: &Conversation, output: &mut Output) -> Outcome {
    let line = format!(
        "Hermes, with {} from {}. Ctrl+C stops an answer, Ctrl+D ends.",
        conversation.model, conversation.provider
    );
    output.line(output.paint(Style::Strong, &line))?;
    if conversation.embedded {
        output.line(
            "This is a tiny model that runs inside Hermes, for trying things out. It knows little and uses no \
             tools.\nFor real work choose a model: hermes model",
        )?;
    }
    Ok(output.flush()?)
}

/// How far the import behind the prompt is.
fn importing(conversation: &Conversation, output: &mut Output) -> Outcome {
    if let Some(import) = &conversation.import
        && !import.is_finished()
    {
        let progress = import.progress();
        let line = format!(
            "importing earlier conversations: {} of {} messages",
            progress.messages_done, progress.messages_total
        );
        output.line(output.paint(Style::Faint, &line))?;
    }
    Ok(())
}

/// Reads lines and answers them; gives the session to go on with if anything was said.
async fn talk(
    conversation: &Conversation,
    context: &Context,
    output: &mut Output,
) -> Outcome<Option<SessionId>> {
    let mut talk = Talk::new(conversation);
    let mut lines = Typed::new();
    let mut settings = servers::Watch::new(context)?;
    let mut talked = false;
    loop {
        importing(conversation, output)?;
        write!(output, "\n> ")?;
        output.flush()?;
        let line = tokio::select! {
            line = lines.next() => line,
            _ = tokio::signal::ctrl_c() => None,
            event = conversation.session.next_event() => {
                match event {
                    // A process in the background had something to tell.
                    Some(Event::TurnStarted { .. }) => {
                        talked = true;
                        follow(conversation, &mut talk, &mut lines, output).await?;
                    }
                    Some(Event::Notice { text }) => output.line(format!("\n{}", printable(&text)))?,
                    Some(_) => {}
                    None => return Ok(talked.then_some(talk.session)),
                }
                continue;
            }
        };
        let Some(line) = line else {
            output.line("")?;
            return Ok(talked.then_some(talk.session));
        };
        let text = line.trim();
        if text.is_empty() {
            continue;
        }
        let next = match text.starts_with('/') {
            true => {
                commands::carry_out(text, Place::Prompt, conversation, &mut talk, output).await?
            }
            false => Next::Message,
        };
        let op = match next {
            // What only the screen can do was refused before.
            Next::Nothing | Next::OnScreen(..) => continue,
            Next::Leave => return Ok(talked.then_some(talk.session)),
            Next::Reload(how) => {
                servers::reload(conversation, how.as_deref(), context, &mut lines, output).await?;
                continue;
            }
            Next::Send(op @ Op::SetModel { .. }) => {
                conversation.session.send(op);
                switched(conversation, &mut talk, output).await?;
                continue;
            }
            Next::Send(op) => op,
            Next::Message => {
                talked = true;
                settings.look(conversation, context, output).await?;
                conversation.servers.offering().await;
                Op::UserMessage {
                    text: text.to_owned(),
                    media: Vec::new(),
                }
            }
        };
        conversation.session.send(op);
        follow(conversation, &mut talk, &mut lines, output).await?;
    }
}

/// Waits until another model answers in this conversation, and says so.
async fn switched(conversation: &Conversation, talk: &mut Talk, output: &mut Output) -> Outcome {
    // What a title or another late helper has to say may come first.
    loop {
        let event = tokio::select! {
            event = conversation.session.next_event() => event,
            // It goes on behind the prompt and is told when it is done.
            _ = tokio::signal::ctrl_c() => return Ok(()),
        };
        let Some(event) = event else { return Ok(()) };
        talk.hear(&event);
        match event {
            Event::RouteChanged { .. } => {
                return Ok(output.line(talk.route.line(&conversation.models))?);
            }
            Event::Notice { text } => return Ok(output.line(printable(&text))?),
            _ => {}
        }
    }
}

/// Prints a turn as it goes.
async fn follow(
    conversation: &Conversation,
    talk: &mut Talk,
    lines: &mut Typed,
    output: &mut Output,
) -> Outcome {
    output.line("")?;
    loop {
        let event = tokio::select! {
            event = conversation.session.next_event() => event,
            _ = tokio::signal::ctrl_c() => {
                conversation.session.send(Op::Interrupt);
                continue;
            }
        };
        if let Some(event) = &event {
            talk.hear(event);
        }
        match event {
            None => return Ok(()),
            Some(Event::TextDelta { text }) => write!(output, "{}", printable(&text))?,
            Some(Event::ToolStarted { name, .. }) => {
                let line = output.paint(Style::Faint, &format!("\n┊ {name}"));
                output.line(line)?;
            }
            Some(Event::Notice { text }) => {
                let line = output.paint(Style::Faint, &format!("\n{}", printable(&text)));
                output.line(line)?;
            }
            Some(Event::RouteChanged {
                provider,
                model,
                reason,
            }) => {
                let line = format!("\n{provider}/{model} answers now: {reason}");
                output.line(output.paint(Style::Faint, &printable(&line)))?;
            }
            Some(Event::Compacted { before, after }) => {
                let line = format!("\nthe conversation was shortened: {before} → {after} tokens");
                output.line(output.paint(Style::Faint, &line))?;
            }
            Some(Event::SessionChanged { session }) => {
                let line = format!("\nthe conversation goes on as {session}");
                output.line(output.paint(Style::Faint, &line))?;
            }
            Some(Event::Ask(question)) => {
                output.flush()?;
                match answer(&question, lines, output).await? {
                    Asked::Said(answer) => {
                        conversation.session.send(Op::Answer {
                            question: question.id,
                            answer,
                        });
                    }
                    Asked::Stopped => {
                        conversation.session.send(Op::Interrupt);
                    }
                    Asked::TooLate => output.line("\n[no answer in time: that is a no]")?,
                }
            }
            Some(Event::TurnFinished { why, .. }) => {
                finish(&why, output)?;
                return Ok(());
            }
            Some(_) => {}
        }
        output.flush()?;
    }
}

fn finish(why: &TurnEnd, output: &mut Output) -> Outcome {
    match why {
        TurnEnd::Done => output.line("")?,
        TurnEnd::Interrupted => output.line("\n[stopped]")?,
        TurnEnd::Empty => {
            output.line(format!("\n[{}; {}]", super::SILENT, super::ASK_OTHERWISE))?
        }
        TurnEnd::Budget => output.line("\n[the limit of model calls is reached]")?,
        TurnEnd::Failed { message, hint } => {
            output.line(output.paint(Style::Bad, &format!("\nerror: {}", printable(message))))?;
            if let Some(hint) = hint {
                output.line(format!("hint: {}", printable(hint)))?;
            }
        }
    }
    Ok(output.flush()?)
}

/// What came of a question.
enum Asked {
    Said(Answer),
    /// Ctrl+C.
    Stopped,
    /// Nobody waits for the answer any more.
    TooLate,
}

async fn answer(question: &Question, lines: &mut Typed, output: &mut Output) -> Outcome<Asked> {
    lines.set_aside();
    typed::show(question, output)?;
    let said = tokio::select! {
        line = lines.fresh() => line.unwrap_or_default(),
        _ = tokio::signal::ctrl_c() => return Ok(Asked::Stopped),
        () = tokio::time::sleep(question.deadline) => return Ok(Asked::TooLate),
    };
    Ok(Asked::Said(typed::answer(question, &said)))
}
