//! `hermes model` on a terminal: pick who serves, give what is missing, pick a model, confirm. Nothing is
//! written before the last question. `hermes setup` asks the same questions, or one in place of them.

mod choices;
mod missing;
mod pick_model;
mod reached;
mod suggest;

use hermes_llm::resolve::{self, Flags, Request, ResolveError};

use super::listing::Listed;
use super::remove::{self, Saved};
use super::{current, pull, set};
use crate::commands::ask;
use crate::commands::wish::Wish;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::{Output, one_line};
use choices::{Choice, Picked};
pub(in crate::commands) use suggest::{Asks, run as suggest};

/// The provider of the model inside the program, and the one model it has.
const EMBEDDED: (&str, &str) = ("local", "smollm2");

/// The route as far as the answers go.
struct Draft {
    /// What the settings call who serves it.
    provider: String,
    base_url: Option<String>,
    /// A key that was typed and is kept nowhere yet.
    api_key: Option<String>,
    /// The models of who was asked already.
    listed: Option<Listed>,
    /// Whether its model has to be fetched first.
    pull: bool,
}

/// Whether the questions go on.
pub(in crate::commands) enum Answered<T> {
    With(T),
    /// Somebody wants everything to stay as it is.
    Left,
}

/// Which model shall answer. It is written nowhere until it is carried out.
pub(in crate::commands) struct Decision {
    wish: Wish,
    /// Further settings that belong to the route.
    settings: Vec<(String, String)>,
    pull: bool,
}

pub(super) fn run(context: &Context, output: &mut Output) -> Outcome {
    let asked = asked(context, output);
    ask::unchanged_when_stopped(asked, output)
}

fn asked(context: &Context, output: &mut Output) -> Outcome {
    let models = Models::new(context, context.settings()?)?;
    current::headline(&models, output)?;
    let Answered::With(decision) = decide_or_remove(context, output)? else {
        output.line("Nothing was changed.")?;
        return match models.route(&Chosen::default()) {
            Ok(_) => Ok(()),
            Err(_) => current::ways(output),
        };
    };
    let question = format!("Let {} answer from now on?", decision.words());
    if !ask::agreed(&question, output)? {
        return Ok(output.line("Nothing was changed.")?);
    }
    decision.carry_out(&[], context, output)
}

/// As [`decide`], where endpoints that are not wanted any more can be removed on the way.
fn decide_or_remove(context: &Context, output: &mut Output) -> Outcome<Answered<Decision>> {
    loop {
        let mut models = Models::new(context, context.settings()?)?;
        let saved = remove::saved(context)?;
        match choices::pick(&models, &saved, output)? {
            Picked::Choice(choice) => {
                return finish(choice, Asks::Everything, &mut models, context, output);
            }
            Picked::Nothing => return Ok(Answered::Left),
            Picked::Removal => take_away(&saved, context, output)?,
        }
    }
}

/// Removes one of the endpoints, at once: it has nothing to do with what is chosen afterwards.
fn take_away(saved: &[Saved], context: &Context, output: &mut Output) -> Outcome {
    output.line("")?;
    for (number, endpoint) in (1..).zip(saved) {
        let text = format!("{} at {}", endpoint.key, endpoint.address);
        output.item(&format!("{number:>4}  "), &one_line(&text))?;
    }
    let last = saved.len();
    let question =
        format!("Which one shall be removed? (1-{last} or a name; Enter leaves all of them) ");
    loop {
        let Some(typed) = ask::line(&question, output)?.filter(|typed| !typed.is_empty()) else {
            return Ok(());
        };
        let named = || saved.iter().find(|endpoint| endpoint.key == typed);
        let Some(endpoint) = ask::numbered(&typed, saved).or_else(named) else {
            output.line(format!("There is no {}.", one_line(&typed)))?;
            continue;
        };
        let question = format!(
            "Remove {} and the keys kept for it?",
            one_line(&endpoint.key)
        );
        if ask::wished(&question, output)? {
            remove::run(&endpoint.key, true, context, output)?;
        }
        return Ok(());
    }
}

/// Asks who serves and which model, one after the other. Somebody who was named already is not asked for.
pub(in crate::commands) fn decide(
    provider: Option<&str>,
    context: &Context,
    output: &mut Output,
) -> Outcome<Answered<Decision>> {
    let mut models = Models::new(context, context.settings()?)?;
    let choice = match provider {
        Some(provider) => Choice::of(provider),
        None => match choices::pick(&models, &[], output)? {
            Picked::Choice(choice) => choice,
            Picked::Nothing | Picked::Removal => return Ok(Answered::Left),
        },
    };
    finish(choice, Asks::Everything, &mut models, context, output)
}

/// Everything after the choice of who serves.
fn finish(
    choice: Choice,
    asks: Asks,
    models: &mut Models,
    context: &Context,
    output: &mut Output,
) -> Outcome<Answered<Decision>> {
    let draft = match complete(choice, models, context, output)? {
        Answered::With(draft) => draft,
        Answered::Left => return Ok(Answered::Left),
    };
    if draft.pull {
        return Ok(Answered::With(Decision::embedded()));
    }
    let model = match usual(&draft, models).filter(|_| asks == Asks::Least) {
        Some(model) => {
            output.line(format!(
                "{} answers; hermes model chooses another one.",
                one_line(&model)
            ))?;
            model
        }
        None => match pick_model::run(models, &draft, asks, context, output)? {
            Answered::With(model) => model,
            Answered::Left => return Ok(Answered::Left),
        },
    };
    let settings = match asks {
        Asks::Least => Vec::new(),
        Asks::Everything => match reached::settings(&draft, &model, models, output)? {
            Answered::With(settings) => settings,
            Answered::Left => return Ok(Answered::Left),
        },
    };
    Ok(Answered::With(Decision {
        settings,
        wish: Wish {
            model,
            provider: Some(draft.provider),
            base_url: draft.base_url,
            api_key: draft.api_key,
            key_env: None,
        },
        pull: false,
    }))
}

/// The model a provider usually answers with. An address of one's own has none.
fn usual(draft: &Draft, models: &Models) -> Option<String> {
    if draft.base_url.is_some() {
        return None;
    }
    let nothing = Chosen::default();
    let request = Request {
        flags: Flags {
            provider: Some(&draft.provider),
            api_key: draft.api_key.as_deref(),
            ..Flags::default()
        },
        ..models.request(&nothing)
    };
    let found = resolve::resolve(&request).ok();
    found
        .map(|found| found.route.model)
        .filter(|model| !model.is_empty())
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
        listed: choice.models.map(Listed::live),
        pull: false,
    };
    if choice.own_endpoint {
        return missing::endpoint(draft, choice.address, models, context, output);
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
            missing::endpoint(draft, None, models, context, output)
        }
        Err(ResolveError::NoModelFile) => missing::download(draft, output),
        Err(error) => {
            output.line(format!("It cannot be used yet: {error}."))?;
            output.line(format!("To change that: {}.", error.hint()))?;
            Ok(Answered::Left)
        }
    }
}

impl Decision {
    fn embedded() -> Self {
        let (provider, model) = EMBEDDED;
        Self {
            wish: Wish {
                model: model.to_owned(),
                provider: Some(provider.to_owned()),
                base_url: None,
                api_key: None,
                key_env: None,
            },
            settings: Vec::new(),
            pull: true,
        }
    }

    /// Which model from whom.
    pub(in crate::commands) fn words(&self) -> String {
        let from = self.wish.base_url.as_ref().or(self.wish.provider.as_ref());
        format!(
            "{} from {}",
            one_line(&self.wish.model),
            one_line(from.map_or("auto", String::as_str))
        )
    }

    /// Fetches what has to be fetched, keeps the key and writes the settings, `more` of them along in one go.
    pub(in crate::commands) fn carry_out(
        &self,
        more: &[(String, String)],
        context: &Context,
        output: &mut Output,
    ) -> Outcome {
        if self.pull {
            output.flush()?;
            pull::run(context, output)?;
        }
        let settings = [&self.settings, more].concat();
        set::run(&self.wish, &settings, context, output)
    }
}
