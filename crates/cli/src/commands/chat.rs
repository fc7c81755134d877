//! `hermes -z` and `hermes chat`: conversations on the command line.

mod commands;
mod events;
mod hands;
mod open;
mod question;
mod repl;
mod screen;
mod servers;
mod standing;
mod usage;

use std::io::{IsTerminal, Write};

use hermes_config::Loaded;
use hermes_core::{FailureKind, Op, TurnEnd};

use crate::args::chat::{ChatArgs, RunArgs};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::tell;
use crate::output::Output;
use events::{Ending, Shown, Watch};
use open::Conversation;

const SILENT: &str = "the model said nothing, even when it was asked again";
const ASK_OTHERWISE: &str = "ask in another way, or choose another model with `hermes model`";

/// `hermes -z PROMPT`: the answer on stdout and nothing else.
pub(crate) fn one_shot(
    prompt: &str,
    run: &RunArgs,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let question = question::Question::read(prompt, &[])?;
    let ending = ask(&question, run, Shown::Answer, context, output).map_err(no_run)?;
    match &ending.why {
        TurnEnd::Failed { message, hint } => {
            say_failed(message, hint.as_deref())?;
            Err(Complaint::Code(2))
        }
        TurnEnd::Interrupted => Err(Complaint::Code(130)),
        TurnEnd::Done | TurnEnd::Budget | TurnEnd::Empty if ending.answer.trim().is_empty() => {
            say_failed(SILENT, Some(ASK_OTHERWISE))?;
            Err(Complaint::Code(1))
        }
        TurnEnd::Done | TurnEnd::Budget | TurnEnd::Empty => {
            Ok(output.line(ending.answer.trim_end())?)
        }
    }
}

/// A run that could not even begin has the exit code of one that failed.
fn no_run(complaint: Complaint) -> Complaint {
    match complaint {
        Complaint::Failed(mut failure) => {
            failure.kind = FailureKind::BadRequest;
            Complaint::Failed(failure)
        }
        other => other,
    }
}

/// `hermes chat`
pub(crate) fn run(args: &ChatArgs, context: &Context, output: &mut Output) -> Outcome {
    let Some(query) = &args.query else {
        if !std::io::stdin().is_terminal() {
            return Err(
                Complaint::bad_request("there is no question, and nobody to type one")
                    .hint("hermes -z 'QUESTION', or hermes chat -q 'QUESTION'"),
            );
        }
        if screen::wanted(&args.run, context) {
            return screen::run(&args.run, context, output);
        }
        return repl::run(&args.run, context, output);
    };
    let question = question::Question::read(query, &args.image)?;
    let shown = if args.quiet {
        Shown::Answer
    } else {
        Shown::Everything
    };
    let ending = ask(&question, &args.run, shown, context, output)?;
    if args.quiet {
        if !ending.answer.is_empty() {
            output.line(ending.answer.trim_end())?;
        }
        output.flush()?;
        writeln!(std::io::stderr(), "session_id: {}", ending.session)?;
    } else {
        output.flush()?;
        let again = format!("hermes chat --resume {}", ending.session);
        writeln!(std::io::stderr(), "\nGo on with: {again}")?;
    }
    match ending.why {
        TurnEnd::Done | TurnEnd::Budget => Ok(()),
        TurnEnd::Interrupted => Err(Complaint::Code(130)),
        TurnEnd::Empty => {
            say_failed(SILENT, Some(ASK_OTHERWISE))?;
            Err(Complaint::Code(1))
        }
        TurnEnd::Failed { message, hint } => {
            say_failed(&message, hint.as_deref())?;
            Err(Complaint::Code(1))
        }
    }
}

/// Asks one question and waits for the end. What was used is written down however it ends.
fn ask(
    question: &question::Question,
    run: &RunArgs,
    shown: Shown,
    context: &Context,
    output: &mut Output,
) -> Outcome<Ending> {
    let ending = converse(question, run, shown, context, output);
    if let Some(path) = &run.usage_file {
        usage::write(path, &ending)?;
    }
    ending
}

fn converse(
    question: &question::Question,
    run: &RunArgs,
    shown: Shown,
    context: &Context,
    output: &mut Output,
) -> Outcome<Ending> {
    let runtime = runtime()?;
    // Opening waits for the store, which a thread that drives tasks must not do.
    let loaded = settings(run, context)?;
    let conversation = Conversation::open(run, false, loaded, &runtime, context)?;
    tell(&conversation.notes);
    let media = question.media(conversation.store.blobs())?;
    let text = question.text.clone();
    runtime.block_on(async {
        conversation.servers.offering().await;
        conversation.session.send(Op::UserMessage { text, media });
        let ending = Watch::new(shown, output).until_end(&conversation).await;
        conversation.close().await;
        ending
    })
}

/// The settings a conversation has.
fn settings(run: &RunArgs, context: &Context) -> Outcome<Loaded> {
    context.settings_for(run.ignore_user_config || run.safe_mode)
}

pub(super) fn runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?)
}

fn say_failed(message: &str, hint: Option<&str>) -> Outcome {
    let mut errors = std::io::stderr().lock();
    writeln!(errors, "error: {message}")?;
    if let Some(hint) = hint {
        writeln!(errors, "hint: {hint}")?;
    }
    Ok(())
}
