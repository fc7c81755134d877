//! `hermes memory setup`: choosing an external memory. Everything is asked and tried first and written at the end.

use std::io::IsTerminal;
use std::time::Duration;

use hermes_config::{EnvName, Environment, UnknownKey};
use hermes_core::FailureKind;
use hermes_memory::{Known, PROVIDERS, known};

use crate::args::memory::SetupArgs;
use crate::commands::ask::{line, numbered, unchanged_when_stopped, wished};
use crate::commands::auth::read_key;
use crate::commands::edit::edit;
use crate::commands::status::scene::said;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::external::Ground;
use crate::output::Output;

/// How long the service may take to answer.
const LIMIT: Duration = Duration::from_secs(20);

/// What was chosen.
struct Answers {
    known: &'static Known,
    key: Option<String>,
    address: Option<String>,
}

pub(super) fn run(args: &SetupArgs, context: &Context, output: &mut Output) -> Outcome {
    let answers = unchanged_when_stopped(ask(args, output), output)?;
    let Some(answers) = answers else {
        return Ok(output.line("Nothing was changed.")?);
    };
    let name = answers.known.name;
    if !args.no_test {
        match tried(&answers, context) {
            Ok(there) => output.line(format!("{name} answers: {there}."))?,
            Err(complaint) if !std::io::stdin().is_terminal() => return Err(complaint),
            Err(complaint) => {
                output.line(format!(
                    "{name} cannot be used yet: {}",
                    said(&complaint, context)
                ))?;
                if !wished("Use it all the same?", output)? {
                    return Ok(output.line("Nothing was changed.")?);
                }
            }
        }
    }
    write(&answers, context)?;
    Ok(output.line(format!(
        "{name} is used from the next conversation on. hermes memory off stops that."
    ))?)
}

fn ask(args: &SetupArgs, output: &mut Output) -> Outcome<Option<Answers>> {
    let chosen = match &args.provider {
        Some(name) => known(name).map_err(Complaint::from)?,
        None if !std::io::stdin().is_terminal() => {
            return Err(Complaint::bad_request(
                "nobody can be asked which external memory is meant",
            )
            .hint(format!("name one: {}", names().join(", "))));
        }
        None => match pick(output)? {
            Some(chosen) => chosen,
            None => return Ok(None),
        },
    };
    let at_terminal = std::io::stdin().is_terminal();
    let address = match (&args.address, chosen.address) {
        (Some(address), Some(_)) => Some(address.clone()),
        (None, Some(_)) if at_terminal => line("Its address (empty for the usual one): ", output)?
            .filter(|typed| !typed.is_empty()),
        (Some(_), None) => {
            return Err(Complaint::bad_request(format!(
                "{} is in this program and has no address",
                chosen.name
            ))
            .hint("leave --address out"));
        }
        (None, _) => None,
    };
    let key = match chosen.key {
        None => None,
        Some(_) if chosen.keyless => {
            read_key::line("Its key (not shown; empty when it needs none or has one): ")?
        }
        Some(_) => Some(read_key::read(chosen.name)?),
    };
    Ok(Some(Answers {
        known: chosen,
        key,
        address,
    }))
}

fn pick(output: &mut Output) -> Outcome<Option<&'static Known>> {
    for (number, known) in PROVIDERS.iter().enumerate() {
        output.line(format!(
            "{:>2}  {:<12} {}",
            number + 1,
            known.name,
            known.about
        ))?;
    }
    loop {
        match line("Which one? (empty for none) ", output)? {
            None => return Ok(None),
            Some(typed) if typed.is_empty() => return Ok(None),
            Some(typed) => {
                let named = PROVIDERS.iter().find(|known| known.name == typed);
                if let Some(chosen) = numbered(&typed, PROVIDERS).or(named) {
                    return Ok(Some(chosen));
                }
                output.line(format!("There is no {typed}."))?;
            }
        }
    }
}

fn names() -> Vec<&'static str> {
    PROVIDERS.iter().map(|known| known.name).collect()
}

/// What the service says to these answers.
fn tried(answers: &Answers, context: &Context) -> Outcome<String> {
    let loaded = context.load()?;
    let mut ground = Ground::new(context, &loaded, &context.store()?)?;
    let given = variables(answers);
    let given = given.iter().map(|(name, value)| (*name, value.as_str()));
    let kept: Vec<(String, String)> = ground
        .environment
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let kept = kept
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    ground.environment = kept.chain(given).collect::<Environment>();
    let provider = ground.provider(answers.known.name)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let checked = runtime.block_on(async { tokio::time::timeout(LIMIT, provider.check()).await });
    match checked {
        Ok(there) => Ok(there?),
        Err(_) => Err(Complaint::new(
            FailureKind::Unavailable,
            format!(
                "{} did not answer within {} s",
                answers.known.name,
                LIMIT.as_secs()
            ),
        )
        .hint("check its address; --no-test writes it down all the same")),
    }
}

/// What goes to `.env`.
fn variables(answers: &Answers) -> Vec<(&'static str, String)> {
    let pairs = [
        (answers.known.key, &answers.key),
        (answers.known.address, &answers.address),
    ];
    pairs
        .into_iter()
        .filter_map(|(name, value)| Some((name?, value.clone()?)))
        .collect()
}

fn write(answers: &Answers, context: &Context) -> Outcome {
    for (name, value) in variables(answers) {
        let name = EnvName::new(name).map_err(|error| Complaint::bad_request(error.to_string()))?;
        edit(context, |settings| settings.set_variable(&name, &value))?;
    }
    edit(context, |settings| {
        settings.set("memory.provider", answers.known.name, UnknownKey::Refuse)
    })?;
    Ok(())
}
