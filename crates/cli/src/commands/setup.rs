//! `hermes setup`: questions whose answers are written together at the very end, so that leaving at any moment
//! leaves everything as it was.

mod agent;
mod blank;
mod by_hand;
mod draft;
mod first_run;
mod missing;
mod question;
mod reset;
mod terminal;

pub(super) use first_run::first_run;

use hermes_config::Config;
use hermes_core::FailureKind;

use super::ask;
use super::model::{self, Answered, Asks};
use super::tools;
use crate::args::setup::{Section, SetupArgs};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::{Output, Style};
use draft::Draft;

/// The surface whose tools are set up.
const HERE: &str = "cli";

/// A way through the questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Path {
    /// What is missing, with as few questions as possible.
    Quick,
    /// Everything.
    Full,
    /// A model and a place for commands, and all other tools off.
    Blank,
    /// A sign-in to Nous.
    Portal,
    One(Section),
}

pub(crate) fn run(args: &SetupArgs, context: &Context, output: &mut Output) -> Outcome {
    if args.reset {
        return reset::run(args.yes, context, output);
    }
    if args.non_interactive {
        return by_hand::print(args.section, context, output);
    }
    if !ask::at_a_terminal() {
        by_hand::print(args.section, context, output)?;
        return Err(
            Complaint::bad_request("hermes setup asks its questions on a terminal only").hint(
                "the commands above do the same; --non-interactive prints them and nothing else",
            ),
        );
    }
    let asked = asked(args, context, output);
    ask::unchanged_when_stopped(asked, output)
}

fn asked(args: &SetupArgs, context: &Context, output: &mut Output) -> Outcome {
    check_owner(context)?;
    let path = match args.section {
        Some(section) => Some(Path::One(section)),
        None if args.quick => Some(Path::Quick),
        None if args.reconfigure => Some(Path::Full),
        None if args.portal => Some(Path::Portal),
        None => which(context, output)?,
    };
    let Some(path) = path else {
        return Ok(output.line("Nothing was changed.")?);
    };
    let mut draft = Draft::new(context)?;
    walk(path, &mut draft, context, output)?;
    draft.finish(context, output).map(drop)
}

/// Nobody is asked for answers that could not be written.
fn check_owner(context: &Context) -> Outcome {
    let owner = context.owner()?;
    if owner.allows_writing() {
        return Ok(());
    }
    let message = format!("the settings are managed by {owner}");
    Err(Complaint::new(FailureKind::Refused, message).hint(owner.hint()))
}

/// Asks for the way.
fn which(context: &Context, output: &mut Output) -> Outcome<Option<Path>> {
    let fresh = !chosen(context)?;
    let mut ways = match fresh {
        true => vec![
            (Path::Quick, "Quick: three questions at most"),
            (
                Path::Full,
                "Full: the model, where commands run, which tools there are",
            ),
        ],
        false => vec![
            (Path::Quick, "Quick: only what is missing"),
            (
                Path::Full,
                "Full: everything, with what is set now as the answers",
            ),
        ],
    };
    ways.push((
        Path::Blank,
        "Blank slate: a model, commands and files, everything else off",
    ));
    if !fresh {
        ways.extend([
            (Path::One(Section::Model), "Only the model"),
            (Path::One(Section::Terminal), "Only where commands run"),
            (Path::One(Section::Agent), "Only limits and habits"),
            (Path::One(Section::Tools), "Only the tools"),
        ]);
    }
    let title = match fresh {
        true => "Nothing is set up yet. How do you want to begin?",
        false => "What shall be set up?",
    };
    output.line(output.paint(Style::Strong, title))?;
    for (number, (_, about)) in (1..).zip(&ways) {
        output.item(&format!("{number:>4}  "), about)?;
    }
    let question = format!(
        "Which way? (1-{}; Enter for 1, s leaves everything as it is) ",
        ways.len()
    );
    loop {
        let Some(typed) = ask::line(&question, output)? else {
            return Ok(None);
        };
        match typed.as_str() {
            "s" | "S" | "skip" => return Ok(None),
            "" => return Ok(Some(Path::Quick)),
            typed => {
                if let Some((path, _)) = ask::numbered(typed, &ways) {
                    return Ok(Some(*path));
                }
            }
        }
    }
}

/// Whether somebody chose a model before, and it answers. One that only a key in the environment speaks for was
/// chosen by nobody.
fn chosen(context: &Context) -> Outcome<bool> {
    let models = Models::new(context, context.settings()?)?;
    let named = is_named(&models.loaded.config);
    Ok(named && models.route(&Chosen::default()).is_ok())
}

/// Whether somebody chose a model.
fn is_named(config: &Config) -> bool {
    let model = &config.model;
    !model.default.is_empty() || model.provider != "auto"
}

fn walk(path: Path, draft: &mut Draft, context: &Context, output: &mut Output) -> Outcome {
    match path {
        Path::Quick => quick(draft, context, output),
        Path::Full => {
            for section in [
                Section::Model,
                Section::Terminal,
                Section::Gateway,
                Section::Tools,
            ] {
                one(section, draft, context, output)?;
            }
            Ok(())
        }
        Path::Blank => {
            one(Section::Model, draft, context, output)?;
            one(Section::Terminal, draft, context, output)?;
            blank::ask(draft, context, output)
        }
        Path::Portal => {
            if let Answered::With(decision) = model::decide(Some("nous"), context, output)? {
                draft.model = Some(decision);
            }
            Ok(())
        }
        Path::One(section) => one(section, draft, context, output),
    }
}

/// The model, if none answers: three questions at most. Else the keys that are missing; everything else has a value that
/// works.
fn quick(draft: &mut Draft, context: &Context, output: &mut Output) -> Outcome {
    if chosen(context)? {
        let lacks = missing::lacks(context)?;
        if lacks.is_empty() {
            return Ok(output.line("A model is chosen and can be called: nothing is missing.")?);
        }
        heading("Missing", output)?;
        return missing::ask(&lacks, draft, output);
    }
    heading("Model", output)?;
    if let Answered::With(decision) = model::suggest(Asks::Least, context, output)? {
        // What was said is the answer; only what somebody set before is asked about once more.
        draft.fills = !is_named(draft.config());
        draft.model = Some(decision);
    }
    Ok(())
}

fn one(section: Section, draft: &mut Draft, context: &Context, output: &mut Output) -> Outcome {
    match section {
        Section::Model => {
            heading("Model", output)?;
            let decided = match chosen(context)? {
                true => model::decide(None, context, output)?,
                false => model::suggest(Asks::Everything, context, output)?,
            };
            if let Answered::With(decision) = decided {
                draft.model = Some(decision);
            }
            Ok(())
        }
        Section::Terminal => {
            heading("Commands", output)?;
            terminal::ask(draft, context, output)
        }
        Section::Agent => {
            heading("Agent", output)?;
            agent::ask(draft, context, output)
        }
        Section::Tools => {
            heading("Tools", output)?;
            let before = tools::listed(draft.config(), HERE);
            let picked = tools::pick(HERE, before, draft.config(), context, output)?;
            draft.set_to(picked);
            Ok(())
        }
        Section::Gateway => absent("Messaging platforms", output),
        Section::Tts => absent("Speech", output),
    }
}

fn absent(what: &str, output: &mut Output) -> Outcome {
    output.line("")?;
    let text = format!("{what}: not part of this version yet, so there is nothing to set up.");
    Ok(output.item("", &text)?)
}

fn heading(text: &str, output: &mut Output) -> Outcome {
    output.line("")?;
    Ok(output.line(output.paint(Style::Strong, text))?)
}
