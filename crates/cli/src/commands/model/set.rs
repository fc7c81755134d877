//! `hermes model set`: one route in the settings, whole, with nothing left of the one before.

use std::io::Write;

use hermes_config::{Config, Edit, KeyPath, Model};
use hermes_llm::alias;
use hermes_llm::resolve::ResolveError;
use url::Url;

use super::places;
use crate::commands::auth;
use crate::commands::edit::{edit, written};
use crate::commands::endpoints;
use crate::commands::wish::{self, Found, Wish};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::Output;

/// What belongs to one provider and must not reach the next.
const OF_PROVIDER: &[&str] = &[
    "base_url",
    "api_key",
    "api_mode",
    "auth_mode",
    "entra",
    "extra_headers",
    "default_headers",
    "openai_runtime",
    "lmstudio_load_mode",
    "max_tokens",
];

/// What belongs to one model.
const OF_MODEL: &[&str] = &["context_length", "supports_vision", "ollama_num_ctx"];

/// Writes the route, and `more` settings along with it in the same step.
pub(super) fn run(
    wish: &Wish,
    more: &[(String, String)],
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let models = Models::new(context, context.settings()?)?;
    let before = now(&models, context)?;
    let found = wish.find(&models)?;
    wish::check(&before.after(&found, wish, &models.loaded.config), &models)?;
    let Found {
        provider,
        model,
        address,
        lack,
    } = found;
    let stale = before.stale(&provider, &model, wish);
    let mut removed = Vec::new();
    for key in stale {
        let path = KeyPath::of(["model", key]);
        let replaced = key == "base_url" && wish.base_url.is_some()
            || more.iter().any(|(set, _)| *set == path.to_string());
        if !replaced && written(context, &path)?.is_some() {
            removed.push(path.to_string());
        }
    }
    let removals = removed.iter().map(|key| (key.as_str(), Edit::Unset));
    let mut edits: Vec<(&str, Edit<'_>)> = removals.collect();
    edits.push(("model.provider", Edit::Set(&provider)));
    edits.push(("model.default", Edit::Set(&model)));
    if let Some(url) = &wish.base_url {
        edits.push(("model.base_url", Edit::Set(url)));
    }
    let more = more.iter();
    edits.extend(more.map(|(key, value)| (key.as_str(), Edit::Set(value))));
    if let Some(key) = &wish.api_key {
        // First the key: without its route it is of no use to anybody, a route without its key does not work.
        let set = wish.base_url.is_some();
        let address = Url::parse(&address).ok().filter(|_| set);
        let kept = auth::keep_key(&provider, key, address.as_ref(), &models, context)?;
        let place = context.home()?.auth_file();
        output.line(format!(
            "The key {} is kept in {}.",
            kept.masked,
            place.display()
        ))?;
    }
    // Half a switch would send one provider's key to another's address.
    edit(context, |settings| settings.change(&edits))?;
    output.line(format!("{model} from {provider} answers from now on."))?;
    if !removed.is_empty() {
        output.line(format!(
            "Removed, as it belonged to the model before: {}.",
            removed.join(", ")
        ))?;
    }
    output.flush()?;
    if wish.base_url.is_none() && lack.is_none() {
        let models = Models::new(context, context.settings()?)?;
        places::look(&provider, &model, &models, context, output)?;
    }
    say_what_is_left(&provider, &model, lack, context)
}

/// The settings of the route that `config.yaml` itself has.
pub(super) fn written_route(context: &Context) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    for key in ["provider", "default"]
        .iter()
        .chain(OF_PROVIDER)
        .chain(OF_MODEL)
    {
        let path = KeyPath::of(["model", *key]);
        if written(context, &path)?.is_some() {
            found.push(path.to_string());
        }
    }
    Ok(found)
}

/// Whom the settings let answer.
pub(super) fn chosen_provider(models: &Models, context: &Context) -> Outcome<Option<String>> {
    Ok(now(models, context)?.provider)
}

/// What the settings say before the change.
struct Before {
    provider: Option<String>,
    model: Option<String>,
}

impl Before {
    /// Whether somebody else serves from now on, or at another address.
    fn leaves(&self, provider: &str, wish: &Wish) -> bool {
        self.provider.as_deref() != Some(provider) || wish.base_url.is_some()
    }

    /// What the settings would say after the change.
    fn after(&self, found: &Found, wish: &Wish, config: &Config) -> Config {
        let kept = match self.leaves(&found.provider, wish) {
            true => Model {
                aliases: config.model.aliases.clone(),
                ..Model::default()
            },
            false => config.model.clone(),
        };
        Config {
            model: Model {
                provider: found.provider.clone(),
                default: found.model.clone(),
                base_url: wish.base_url.clone().unwrap_or(kept.base_url),
                ..kept
            },
            ..config.clone()
        }
    }

    /// The settings that fit neither the provider nor the model of now.
    fn stale(&self, provider: &str, model: &str, wish: &Wish) -> Vec<&'static str> {
        let mut stale = Vec::new();
        if self.leaves(provider, wish) {
            stale.extend(OF_PROVIDER);
        }
        if !stale.is_empty() || self.model.as_deref() != Some(model) {
            stale.extend(OF_MODEL);
        }
        stale
    }
}

fn now(models: &Models, context: &Context) -> Outcome<Before> {
    let text = |key| -> Outcome<Option<String>> {
        let node = written(context, &KeyPath::of(["model", key]))?;
        Ok(node
            .and_then(|node| node.text())
            .filter(|text| !text.is_empty()))
    };
    let provider = match text("provider")?.filter(|name| name != "auto") {
        Some(name) => Some(canonical(models, &name)?),
        None => models
            .route(&Chosen::default())
            .ok()
            .map(|found| found.route.provider),
    };
    Ok(Before {
        provider,
        model: text("default")?,
    })
}

/// The name of a provider in the settings, however it is called.
fn canonical(models: &Models, name: &str) -> Outcome<String> {
    let name = alias::normal(name);
    let known = models.profiles.find(&name).map_err(ResolveError::from)?;
    let own = || endpoints::find(&models.loaded.config, &name);
    Ok(match known {
        Some(profile) => profile.id_of(&name).to_owned(),
        None => own().map_or(name.clone(), |endpoint| endpoint.id()),
    })
}

/// A key that is missing, or something above the file that wins.
fn say_what_is_left(
    provider: &str,
    model: &str,
    lack: Option<ResolveError>,
    context: &Context,
) -> Outcome {
    let mut aside = std::io::stderr().lock();
    if let Some(lack) = lack {
        writeln!(aside, "note: {lack}: {}", lack.hint())?;
        return Ok(());
    }
    let models = Models::new(context, context.settings()?)?;
    match models.route(&Chosen::default()) {
        Ok(now) if now.route.provider == provider && now.route.model == model => Ok(()),
        Ok(now) => {
            let from: Vec<String> = now
                .route
                .why
                .iter()
                .filter(|why| matches!(why.part, "provider" | "model"))
                .map(|why| why.from.clone())
                .collect();
            writeln!(
                aside,
                "note: {} answers here all the same, because of {}",
                now.route.label(),
                from.join(" and ")
            )?;
            Ok(())
        }
        Err(error) => Err(Complaint::from(error)),
    }
}
