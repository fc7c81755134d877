//! `hermes model` on a terminal: pick a provider, pick a model, confirm.

use std::io::{self, BufRead, Write};

use hermes_llm::detect::{LocalServer, USUAL_PORTS, detect};

use super::listing::{self, Keep, Listed, Source};
use super::{current, list, set};
use crate::commands::wish::Wish;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::{Output, Style, one_line};

/// Most models that are shown at once; part of a name finds the others.
const SHOWN: usize = 40;

/// Somebody who can be picked.
struct Choice {
    /// What the settings call it.
    provider: String,
    name: String,
    /// What a server nearby said it has; others are asked when they are picked.
    models: Option<Vec<String>>,
}

/// What was typed at the list of models.
enum Typed {
    Nothing,
    Refresh,
    Model(String),
    /// Several have this in their names.
    Narrower(Vec<String>),
}

pub(super) fn run(context: &Context, output: &mut Output) -> Outcome {
    let models = Models::new(context, context.settings()?)?;
    current::headline(&models, output)?;
    let choices = choices(&models, context)?;
    if choices.is_empty() {
        return current::ways(output);
    }
    output.line("")?;
    for (number, choice) in (1..).zip(&choices) {
        output.line(format!(
            "{number:>4}  {} ({})",
            choice.name, choice.provider
        ))?;
    }
    let Some(choice) = pick(&choices, output)? else {
        return left(output);
    };
    let Some(model) = model(&models, choice, context, output)? else {
        return left(output);
    };
    let question = format!(
        "Let {} from {} answer from now on? [Y/n] ",
        one_line(&model),
        choice.provider
    );
    match ask(&question, output)?.as_deref() {
        Some("" | "y" | "Y" | "yes") => {}
        Some(_) | None => return left(output),
    }
    let wish = Wish {
        model,
        provider: Some(choice.provider.clone()),
        base_url: None,
        key_env: None,
    };
    set::run(&wish, context, output)
}

/// Who has a key, a login or an address, and which servers run on this machine.
fn choices(models: &Models, context: &Context) -> Outcome<Vec<Choice>> {
    let mut choices: Vec<Choice> = list::rows(models, context)?
        .into_iter()
        .filter(|row| row.usable && row.chosen)
        .map(|row| Choice {
            provider: row.id,
            name: row.name,
            models: None,
        })
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    for (server, found) in runtime.block_on(nearby(models)) {
        let provider = match server {
            LocalServer::Ollama => "ollama",
            LocalServer::LmStudio => "lmstudio",
            LocalServer::LlamaCpp => "llamacpp",
            LocalServer::Vllm => "vllm",
        };
        if choices.iter().all(|choice| choice.provider != provider) {
            choices.push(Choice {
                provider: provider.to_owned(),
                name: format!("{}, on this machine", server.name()),
                models: Some(found),
            });
        }
    }
    let now = models.route(&Chosen::default()).ok();
    let now = now.map(|found| found.route.provider);
    choices.sort_by_key(|choice| now.as_ref() != Some(&choice.provider));
    Ok(choices)
}

/// The servers that answer where they usually do.
async fn nearby(models: &Models) -> Vec<(LocalServer, Vec<String>)> {
    let mut servers = Vec::new();
    for (_, port) in USUAL_PORTS {
        // A port where nobody listens says so at once.
        if let Ok(base) = format!("http://127.0.0.1:{port}/v1").parse()
            && let Some(found) = detect(&models.http, &base).await
        {
            servers.push((found.server, found.models));
        }
    }
    servers
}

fn pick<'c>(choices: &'c [Choice], output: &mut Output) -> Outcome<Option<&'c Choice>> {
    let question = format!(
        "Who shall serve the model? (1-{}; Enter leaves everything as it is) ",
        choices.len()
    );
    loop {
        let Some(typed) = ask(&question, output)?.filter(|typed| !typed.is_empty()) else {
            return Ok(None);
        };
        let numbered = numbered(&typed, choices);
        let named = || choices.iter().find(|choice| choice.provider == typed);
        match numbered.or_else(named) {
            Some(choice) => return Ok(Some(choice)),
            None => output.line(format!("There is no {}.", one_line(&typed)))?,
        }
    }
}

fn model(
    models: &Models,
    choice: &Choice,
    context: &Context,
    output: &mut Output,
) -> Outcome<Option<String>> {
    let mut listed = match &choice.models {
        Some(found) => Listed {
            models: found.clone(),
            source: Source::Live,
            note: None,
        },
        None => listing::find(models, &choice.provider, Keep::Any, context)?,
    };
    let mut shown = listed.models.clone();
    loop {
        show(&listed, &shown, output)?;
        let question = "Which model? (number, name or part of it; r asks the provider again) ";
        let typed = match ask(question, output)? {
            Some(typed) => read(&typed, &shown, &listed.models),
            None => Typed::Nothing,
        };
        match typed {
            Typed::Nothing => return Ok(None),
            Typed::Model(model) => return Ok(Some(model)),
            Typed::Narrower(found) => shown = found,
            Typed::Refresh => {
                listed = listing::find(models, &choice.provider, Keep::Nothing, context)?;
                shown.clone_from(&listed.models);
            }
        }
    }
}

fn read(typed: &str, shown: &[String], all: &[String]) -> Typed {
    if let Some(model) = numbered(typed, shown) {
        return Typed::Model(model.clone());
    }
    match typed {
        "" => return Typed::Nothing,
        "r" => return Typed::Refresh,
        _ => {}
    }
    let wanted = typed.to_lowercase();
    let mut found: Vec<String> = all
        .iter()
        .filter(|model| model.to_lowercase().contains(&wanted))
        .cloned()
        .collect();
    match (found.pop(), found.is_empty()) {
        // A name that no list has may still be right.
        (None, _) => Typed::Model(typed.to_owned()),
        (Some(only), true) => Typed::Model(only),
        (Some(last), false) => {
            found.push(last);
            match found.iter().find(|model| *model == typed) {
                Some(exact) => Typed::Model(exact.clone()),
                None => Typed::Narrower(found),
            }
        }
    }
}

fn show(listed: &Listed, shown: &[String], output: &mut Output) -> Outcome {
    output.line("")?;
    for (number, model) in (1..).zip(shown.iter().take(SHOWN)) {
        output.line(format!("{number:>4}  {}", one_line(model)))?;
    }
    if let Some(more) = shown.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        output.line(format!("      and {more} more"))?;
    }
    let mut from = format!("This is {}.", listed.source.words());
    if let Some(note) = &listed.note {
        from = format!("{from} {}", one_line(note));
    }
    output.line(output.paint(Style::Faint, &from))?;
    Ok(())
}

fn numbered<'c, T>(typed: &str, items: &'c [T]) -> Option<&'c T> {
    items.get(typed.parse::<usize>().ok()?.checked_sub(1)?)
}

/// What was typed, without spaces around it; `None` at the end of the input.
fn ask(question: &str, output: &mut Output) -> Outcome<Option<String>> {
    write!(output, "{question}")?;
    output.flush()?;
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim().to_owned()))
}

fn left(output: &mut Output) -> Outcome {
    Ok(output.line("Nothing was changed.")?)
}
