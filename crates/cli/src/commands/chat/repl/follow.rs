//! Following a turn at the prompt, and what happens beside it.

use std::io::Write;

use hermes_agent::commands::find;
use hermes_core::{Answer, Event, Op, Question, QuestionKind, TurnEnd, Usage};
use hermes_tui::Cleaner;
use hermes_tui::app::ToolLines;

use super::calls::Calls;
use super::{command as command_now, complain, message, tell_pictures};
use crate::commands::ask::Unseen;
use crate::commands::chat::conversation::{Conversation, Heard};
use crate::commands::chat::footer;
use crate::commands::chat::prompts::{Aside, Ended};
use crate::commands::chat::{ASK_OTHERWISE, SILENT};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, Style, cleaned, one_line};
use crate::typed::{self, Line, Typed};

/// Waits until another model answers in this conversation, and says so.
pub(super) async fn switched(conversation: &Conversation, output: &mut Output) -> Outcome {
    let front = conversation.front();
    // What a title or another late helper has to say may come first.
    loop {
        let event = tokio::select! {
            event = front.next_event() => event,
            // It goes on behind the prompt and is told when it is done.
            _ = tokio::signal::ctrl_c() => return Ok(()),
        };
        match event {
            Some(Event::RouteChanged { .. }) => {
                return Ok(output.line(front.route().line(&conversation.house.models))?);
            }
            Some(Event::Notice { text }) => return Ok(output.line(cleaned(&text))?),
            Some(_) => {}
            None => return Ok(()),
        }
    }
}

/// A turn as it is printed.
struct Shown {
    /// Makes the answer harmless as it comes.
    cleaner: Cleaner,
    calls: Calls,
    /// Whether a line has begun.
    mid_line: bool,
}

/// How a message fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fared {
    Well,
    /// It was not answered.
    Badly,
}

impl Fared {
    fn of(why: &TurnEnd) -> Self {
        match why {
            TurnEnd::Done | TurnEnd::Budget => Self::Well,
            TurnEnd::Interrupted | TurnEnd::Empty | TurnEnd::Failed { .. } => Self::Badly,
        }
    }

    /// Both together. Whoever sits there has seen it, and may have asked again.
    pub(super) fn and(self, other: Self, lines: &Typed) -> Self {
        match (lines.is_by_hand(), self, other) {
            (true, ..) | (false, Self::Well, Self::Well) => Self::Well,
            (false, ..) => Self::Badly,
        }
    }
}

/// Prints a turn as it goes.
pub(super) async fn follow(
    conversation: &Conversation,
    context: &Context,
    lines: &mut Typed,
    output: &mut Output,
) -> Outcome<Fared> {
    output.line("")?;
    let mut shown = Shown {
        cleaner: Cleaner::prose(),
        calls: Calls::new(
            &conversation.house.models.loaded.config,
            conversation.tools.get(),
        ),
        mid_line: false,
    };
    let mut used = Usage::default();
    loop {
        let heard = tokio::select! {
            heard = conversation.next() => heard,
            line = lines.meanwhile() => {
                shown.begin_line(output)?;
                meanwhile(line, conversation, context, lines, output).await?;
                continue;
            }
            _ = tokio::signal::ctrl_c() => {
                conversation.send(Op::Interrupt);
                continue;
            }
        };
        let event = match heard {
            None => return Ok(Fared::Badly),
            Some(Heard::Aside(news)) => {
                aside(news, conversation, lines, output).await?;
                continue;
            }
            Some(Heard::Front(event)) => event,
        };
        match event {
            Event::Ask(question) => ask(question, conversation, lines, output).await?,
            Event::Usage { turn, .. } => used = turn,
            Event::TurnFinished { why, .. } => {
                finish(&why, output)?;
                if conversation.tools.get() == ToolLines::Verbose && used.total() > 0 {
                    let line = format!(
                        "{} tokens in, {} out",
                        used.total() - used.output_tokens,
                        used.output_tokens
                    );
                    output.line(output.paint(Style::Faint, &line))?;
                }
                if let Some(line) = footer::below(&why, conversation, context) {
                    output.line(output.paint(Style::Faint, &line))?;
                }
                return Ok(Fared::of(&why));
            }
            other => shown.tell(&other, output)?,
        }
        output.flush()?;
    }
}

impl Shown {
    /// Ends the line the answer is on.
    fn begin_line(&mut self, output: &mut Output) -> Outcome {
        if std::mem::take(&mut self.mid_line) {
            output.line("")?;
        }
        Ok(())
    }

    fn tell(&mut self, event: &Event, output: &mut Output) -> Outcome {
        let line = match event {
            Event::TextDelta { text } => {
                let mut shown = String::new();
                self.cleaner.push(text, &mut shown);
                write!(output, "{shown}")?;
                if let Some(last) = shown.chars().next_back() {
                    self.mid_line = last != '\n';
                }
                return Ok(());
            }
            Event::ToolOutput { .. } => return self.calls.tell(event, output),
            Event::ToolStarted { .. } | Event::FileChanged { .. } | Event::ToolFinished { .. } => {
                self.begin_line(output)?;
                return self.calls.tell(event, output);
            }
            Event::Notice { text } => text.clone(),
            Event::RouteChanged {
                provider,
                model,
                reason,
            } => format!("{provider}/{model} answers now: {reason}"),
            Event::Compacted { before, after } => {
                format!("the conversation was shortened: {before} → {after} tokens")
            }
            Event::SessionChanged { session } => format!("the conversation goes on as {session}"),
            _ => return Ok(()),
        };
        self.begin_line(output)?;
        Ok(output.line(output.paint(Style::Faint, &cleaned(&line)))?)
    }
}

/// What a line does that is typed while the agent works: a remark goes to it, a prompt of its own begins beside it, and
/// everything else waits for its turn.
async fn meanwhile(
    line: String,
    conversation: &Conversation,
    context: &Context,
    lines: &mut Typed,
    output: &mut Output,
) -> Outcome {
    let (word, rest) = line
        .trim()
        .split_once(char::is_whitespace)
        .unwrap_or((line.trim(), ""));
    let command = word
        .strip_prefix('/')
        .and_then(|name| find(&name.to_lowercase()));
    match (command.map(|command| command.name), rest.trim()) {
        (Some("steer"), text) if !text.is_empty() => {
            match conversation.remark(text.to_owned()).await {
                Ok(()) => output.line("[the agent hears that before its next step]")?,
                Err(complaint) => complain(complaint, output)?,
            }
        }
        (Some("background"), _) => {
            command_now(&line, conversation, context, output).await?;
        }
        (Some("queue"), text) if !text.is_empty() => {
            let text = text.to_owned();
            if wait(text, conversation, context, lines, output).await? {
                output.line("[that is said once this is answered]")?;
            }
        }
        (None, _) if !word.is_empty() && !word.starts_with('/') => {
            wait(line, conversation, context, lines, output).await?;
        }
        // It is carried out as it stands once this is answered.
        _ => lines.later(line),
    }
    Ok(output.flush()?)
}

/// Has a message wait for its turn. Says whether it does.
async fn wait(
    text: String,
    conversation: &Conversation,
    context: &Context,
    lines: &mut Typed,
    output: &mut Output,
) -> Outcome<bool> {
    let row = match message(text.trim().to_owned(), conversation, context) {
        Ok(message) => {
            tell_pictures(&message, output)?;
            conversation.line_up(message).await
        }
        Err(complaint) => Err(complaint),
    };
    match row {
        Ok(row) => {
            lines.later(Line::Kept(text, row));
            Ok(true)
        }
        Err(complaint) => complain(complaint, output).map(|()| false),
    }
}

/// Tells what came from a prompt that runs beside the conversation.
pub(super) async fn aside(
    news: Aside,
    conversation: &Conversation,
    lines: &mut Typed,
    output: &mut Output,
) -> Outcome {
    match news {
        Aside::Ended(ended) => tell(&ended, output)?,
        Aside::Asks(question) => ask(question, conversation, lines, output).await?,
        Aside::Answered { how, .. } => {
            output.line(output.paint(Style::Faint, &format!("\n{}", cleaned(&how))))?;
        }
        Aside::Left(left) => {
            output.line(format!("\n{}: {}", left.id, one_line(&left.asked)))?;
            finish(&left.why, output)?;
        }
        Aside::Notice(text) => {
            output.line(output.paint(Style::Faint, &format!("\n{}", cleaned(&text))))?;
        }
    }
    Ok(output.flush()?)
}

fn tell(ended: &Ended, output: &mut Output) -> Outcome {
    let head = format!("\n{}: {}", ended.label, cleaned(&ended.text));
    output.line(output.paint(Style::Strong, &head))?;
    if !ended.answer.is_empty() {
        output.line(cleaned(&ended.answer))?;
    }
    finish(&ended.why, output)
}

fn finish(why: &TurnEnd, output: &mut Output) -> Outcome {
    match why {
        TurnEnd::Done => output.line("")?,
        TurnEnd::Interrupted => output.line("\n[stopped]")?,
        TurnEnd::Empty => output.line(format!("\n[{SILENT}; {ASK_OTHERWISE}]"))?,
        TurnEnd::Budget => output.line(
            "\n[the limit of model calls is reached; say `go on`, or raise agent.max_turns]",
        )?,
        TurnEnd::Failed { message, hint } => {
            output.line(output.paint(Style::Bad, &format!("\nerror: {}", cleaned(message))))?;
            if let Some(hint) = hint {
                output.line(format!("hint: {}", cleaned(hint)))?;
            }
        }
    }
    Ok(output.flush()?)
}

async fn ask(
    question: Question,
    conversation: &Conversation,
    lines: &mut Typed,
    output: &mut Output,
) -> Outcome {
    output.flush()?;
    let asked = tokio::select! {
        asked = answer(&question, lines, output) => asked?,
        how = conversation.answered(question.id) => Asked::Elsewhere(how),
    };
    match asked {
        Asked::Said(answer) => conversation.send(Op::Answer {
            question: question.id,
            answer,
        }),
        Asked::Stopped => conversation.send(Op::Interrupt),
        Asked::Elsewhere(how) => output.line(format!("\n[{}]", cleaned(&how)))?,
        Asked::TooLate => output.line("\n[no answer in time: that is a no]")?,
    }
    Ok(())
}

/// What came of a question.
enum Asked {
    Said(Answer),
    /// Ctrl+C.
    Stopped,
    /// Somebody else answered, and how.
    Elsewhere(String),
    /// Nobody waits for the answer any more.
    TooLate,
}

async fn answer(question: &Question, lines: &mut Typed, output: &mut Output) -> Outcome<Asked> {
    let is_secret = matches!(question.kind, QuestionKind::Secret { .. });
    let _unseen = is_secret.then(Unseen::begin);
    let said = tokio::select! {
        said = typed::ask(question, lines, output) => said?,
        _ = tokio::signal::ctrl_c() => return Ok(Asked::Stopped),
        () = tokio::time::sleep(question.deadline) => return Ok(Asked::TooLate),
    };
    Ok(Asked::Said(said.unwrap_or_else(Answer::no)))
}
