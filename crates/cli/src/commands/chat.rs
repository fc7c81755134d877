//! `hermes -z` and `hermes chat`: conversations on the command line.

mod ask;
mod away;
mod commands;
mod conversation;
mod events;
mod farewell;
mod footer;
mod front;
mod hands;
mod house;
mod importing;
mod notes;
mod prompts;
mod question;
mod questions;
mod recap;
mod repl;
mod screen;
mod servers;
mod standing;
mod usage;
mod waiting;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use hermes_config::Loaded;
use hermes_core::{FailureKind, Op, TurnEnd};
use hermes_store::KeptSnapshot;
use tokio::runtime::Runtime;

use crate::args::chat::{ChatArgs, RunArgs};
use crate::args::sessions::BrowseArgs;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::logging;
use crate::models::tell;
use crate::output::{Output, cleaned};
use conversation::Conversation;
use events::{Ending, Shown, Watch};
use house::Company;
use question::Question;

const SILENT: &str = "the model said nothing, even when it was asked again";
const ASK_OTHERWISE: &str = "ask in another way, or choose another model with `hermes model`";

/// `hermes -z PROMPT`: the answer on stdout and nothing else.
pub(crate) fn one_shot(
    prompt: &str,
    run: &RunArgs,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    if run.verbose {
        logging::aside(context);
    }
    let words = Words {
        text: prompt,
        images: &[],
    };
    let ending = ask(&words, run, Shown::Answer, context, output).map_err(no_run)?;
    match &ending.why {
        TurnEnd::Failed { message, hint } => {
            say_failed(message, hint.as_deref())?;
            Err(Complaint::Code(2))
        }
        TurnEnd::Interrupted => Err(Complaint::Code(130)),
        TurnEnd::Empty => {
            say_failed(SILENT, Some(ASK_OTHERWISE))?;
            Err(Complaint::Code(1))
        }
        TurnEnd::Done | TurnEnd::Budget => Ok(output.answer(&ending.answer)?),
    }
}

/// The profile, when it is not the usual one.
fn profile(context: &Context) -> Option<String> {
    let name = context.home().ok()?.profile().to_string();
    (name != "default").then_some(name)
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

/// `hermes` without a command where nobody types: what is piped in is a question. False when there is none.
pub(crate) fn piped(run: RunArgs, context: &Context, output: &mut Output) -> Outcome<bool> {
    let text = question::piped("")?;
    if text.trim().is_empty() {
        return Ok(false);
    }
    let args = ChatArgs {
        query: Some(text),
        ..ChatArgs::of(run)
    };
    self::run(&args, context, output).map(|()| true)
}

/// `hermes chat`
pub(crate) fn run(args: &ChatArgs, context: &Context, output: &mut Output) -> Outcome {
    match args.run.verbose {
        // A screen would be overwritten.
        true if args.query.is_none() && screen::wanted(&args.run, context) => {
            logging::thoroughly(context);
        }
        true => logging::aside(context),
        false => {}
    }
    let asks_once = args.query.is_some() || args.quiet || !args.image.is_empty();
    if !asks_once {
        super::setup::first_run(&args.run, context, output)?;
    }
    // What is piped in is a question, unless it is lines of a conversation.
    let is_piped = !args.run.plain && !std::io::stdin().is_terminal();
    let query = args.query.as_deref().or(is_piped.then_some(""));
    let Some(query) = query else {
        return match asks_once {
            true => Err(question::none()),
            false => talk(&args.run, None, context, output),
        };
    };
    let words = Words {
        text: query,
        images: &args.image,
    };
    let shown = if args.quiet {
        Shown::Answer
    } else {
        Shown::Everything
    };
    let ending = ask(&words, &args.run, shown, context, output)?;
    if args.quiet {
        if !ending.answer.is_empty() {
            output.answer(&ending.answer)?;
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

/// `hermes sessions browse`: a conversation that begins with the list of earlier ones.
pub(crate) fn browse(args: &BrowseArgs, context: &Context, output: &mut Output) -> Outcome {
    if !std::io::stdin().is_terminal() {
        return Err(
            Complaint::bad_request("there is nobody to pick a conversation")
                .hint("hermes sessions list lists them, hermes chat --resume ID goes on with one"),
        );
    }
    let source = args.source.as_ref();
    let source = source.map_or(String::new(), |source| format!(" --source {source}"));
    let line = format!("/sessions --limit {}{source}", args.limit);
    talk(&RunArgs::default(), Some(&line), context, output)
}

/// A conversation at the terminal, which may begin with a line that is already there.
fn talk(run: &RunArgs, first: Option<&str>, context: &Context, output: &mut Output) -> Outcome {
    match screen::wanted(run, context) {
        true => screen::run(run, first, context, output),
        false => repl::run(run, first, context, output),
    }
}

/// Goes back to a snapshot, if that was wished, once nobody of this process has anything open.
fn put_back(
    wished: Option<KeptSnapshot>,
    runtime: Runtime,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    drop(runtime);
    match wished {
        Some(kept) => super::restore::go_back(&kept, context, output),
        None => Ok(()),
    }
}

/// What stands on the command line.
struct Words<'a> {
    text: &'a str,
    images: &'a [PathBuf],
}

/// Asks one question and waits for the end. What was used is written down however it ends, also when there is nothing
/// to ask.
fn ask(
    words: &Words<'_>,
    run: &RunArgs,
    shown: Shown,
    context: &Context,
    output: &mut Output,
) -> Outcome<Ending> {
    if let Some(path) = &run.usage_file {
        usage::begin(path)?;
    }
    let ending = Question::read(words.text, words.images)
        .and_then(|question| converse(&question, run, shown, context, output));
    let Some(path) = &run.usage_file else {
        return ending;
    };
    if let Err(complaint) = usage::write(path, &ending) {
        // The answer is paid for.
        if let (Ok(ending), Shown::Answer) = (&ending, shown) {
            output.answer(&ending.answer)?;
            output.flush()?;
        }
        return Err(complaint);
    }
    ending
}

fn converse(
    question: &Question,
    run: &RunArgs,
    shown: Shown,
    context: &Context,
    output: &mut Output,
) -> Outcome<Ending> {
    let runtime = runtime()?;
    // Opening waits for the store, which a thread that drives tasks must not do.
    let loaded = settings(run, context)?;
    let conversation = Conversation::open(run, Company::Question, loaded, &runtime, context)?;
    tell(&conversation.notes);
    let media = question.media(conversation.house.store.blobs())?;
    let text = question.text.clone();
    runtime.block_on(async {
        // A new conversation has lost nothing that it could be told of.
        if conversation.recap.is_some() {
            conversation.house.hands.recover().await;
        }
        conversation.front().send(Op::UserMessage { text, media });
        let ending = Watch::new(shown, output).until_end(&conversation).await;
        tell(conversation.close().await.as_slice());
        ending
    })
}

/// The settings a conversation has.
fn settings(run: &RunArgs, context: &Context) -> Outcome<Loaded> {
    let mut loaded = context.settings_for(run.ignore_user_config || run.safe_mode)?;
    loaded.config.checkpoints.enabled |= run.checkpoints;
    Ok(loaded)
}

pub(super) fn runtime() -> Outcome<Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?)
}

fn say_failed(message: &str, hint: Option<&str>) -> Outcome {
    let mut errors = std::io::stderr().lock();
    // What a provider said may stand in it.
    writeln!(errors, "error: {}", cleaned(message))?;
    if let Some(hint) = hint {
        writeln!(errors, "hint: {}", cleaned(hint))?;
    }
    Ok(())
}
