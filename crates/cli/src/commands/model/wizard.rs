//! `hermes model` on a terminal: pick who serves, give what is missing, pick a model, confirm. Nothing is
//! written before the last question.

mod choices;
mod missing;
mod pick_model;

use std::io::{self, BufRead, Write};

use hermes_llm::resolve::ResolveError;

use super::{current, set};
use crate::commands::wish::Wish;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::{Output, one_line};
use choices::{Choice, Picked};

/// The route as far as the answers go.
struct Draft {
    /// What the settings call who serves it.
    provider: String,
    base_url: Option<String>,
    /// A key that was typed and is kept nowhere yet.
    api_key: Option<String>,
    /// What a server nearby said it has; others are asked.
    models: Option<Vec<String>>,
}

/// Whether the questions go on.
enum Answered<T> {
    With(T),
    /// Somebody wants everything to stay as it is.
    Left,
}

pub(super) fn run(context: &Context, output: &mut Output) -> Outcome {
    let mut models = Models::new(context, context.settings()?)?;
    current::headline(&models, output)?;
    let answers = models.route(&Chosen::default()).is_ok();
    let choice = match choices::pick(&models, context, output)? {
        Picked::Choice(choice) => choice,
        Picked::Nothing if answers => return left(output),
        Picked::Nothing => {
            left(output)?;
            return current::ways(output);
        }
    };
    let draft = match complete(choice, &mut models, context, output)? {
        Answered::With(draft) => draft,
        Answered::Left => return left(output),
    };
    let Answered::With(model) = pick_model::run(&models, &draft, context, output)? else {
        return left(output);
    };
    let question = format!(
        "Let {} from {} answer from now on? [Y/n] ",
        one_line(&model),
        one_line(draft.base_url.as_deref().unwrap_or(&draft.provider))
    );
    match ask(&question, output)?.as_deref() {
        Some("" | "y" | "Y" | "yes") => {}
        Some(_) | None => return left(output),
    }
    let wish = Wish {
        model,
        provider: Some(draft.provider),
        base_url: draft.base_url,
        api_key: draft.api_key,
        key_env: None,
    };
    set::run(&wish, context, output)
}

/// Asks for whatever stands between a choice and a first call.
fn complete(
    choice: Choice,
    models: &mut Models,
    context: &Context,
    output: &mut Output,
) -> Outcome<Answered<Draft>> {
    let draft = Draft {
        provider: choice.provider,
        base_url: None,
        api_key: None,
        models: choice.models,
    };
    if choice.own_endpoint {
        return missing::endpoint(draft, models, context, output);
    }
    let route = models.route(&Chosen {
        // Any name will do: what is missing does not depend on the model.
        model: Some("any".to_owned()),
        provider: Some(draft.provider.clone()),
    });
    match route {
        Ok(_) => Ok(Answered::With(draft)),
        Err(ResolveError::MissingKey {
            name,
            variables,
            signup,
        }) => {
            let lack = missing::Lack {
                name,
                variables,
                signup,
            };
            missing::key(draft, &lack, models, context, output)
        }
        Err(ResolveError::MissingLogin { name, .. }) => {
            missing::login(draft, &name, models, context, output)
        }
        Err(ResolveError::MissingAddress { .. }) => {
            missing::endpoint(draft, models, context, output)
        }
        Err(error) => {
            output.line(format!("It cannot be used yet: {error}."))?;
            output.line(format!("To change that: {}.", error.hint()))?;
            Ok(Answered::Left)
        }
    }
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
