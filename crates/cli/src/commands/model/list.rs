//! `hermes model list`: providers with the state of their keys, and the models of one.

use hermes_config::Provider;
use hermes_llm::resolve::{Credential, KeySource, ResolveError, Resolved};
use serde_json::{Value as Json, json};

use super::{cache, live};
use crate::commands::endpoints;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::{Output, Style};
use crate::table::{Table, cut};

/// Room for the models of a provider in the overview.
const SHOWN: usize = 60;

/// A provider in the overview.
struct Row {
    id: String,
    name: String,
    usable: bool,
    state: String,
    models: Vec<String>,
}

/// Everybody there is.
pub(super) fn providers(as_json: bool, context: &Context, output: &mut Output) -> Outcome {
    let models = Models::new(context, context.settings()?)?;
    let current = models.route(&Chosen::default()).ok();
    let current = current
        .as_ref()
        .map(|resolved| resolved.route.provider.as_str());
    let rows = rows(&models)?;
    if as_json {
        let all: Vec<Json> = rows
            .iter()
            .map(|row| {
                json!({
                    "provider": row.id,
                    "name": row.name,
                    "usable": row.usable,
                    "state": row.state,
                    "current": current == Some(row.id.as_str()),
                    "models": row.models,
                })
            })
            .collect();
        return Ok(output.json(&all)?);
    }
    let mut table = Table::new(["", "PROVIDER", "NAME", "KEY", "MODELS"]);
    for row in &rows {
        let mark = match (current == Some(row.id.as_str()), row.usable) {
            (true, _) => "*",
            (false, true) => "+",
            (false, false) => "",
        };
        table.row([
            mark.to_owned(),
            row.id.clone(),
            row.name.clone(),
            row.state.clone(),
            cut(&row.models.join(", "), SHOWN),
        ]);
    }
    table.print(output)?;
    let legend =
        "* answers now, + can be used. hermes model list --provider ID lists all models of one.";
    let legend = output.paint(Style::Faint, legend);
    Ok(output.line(legend)?)
}

fn rows(models: &Models) -> Outcome<Vec<Row>> {
    let mut rows = Vec::new();
    for profile in models.profiles.all().map_err(ResolveError::from)? {
        let listed = profile.models.clone();
        rows.push(row(models, &profile.id, &profile.name, listed));
    }
    for endpoint in endpoints::all(&models.loaded.config) {
        if rows.iter().any(|row| row.id == endpoint.key) {
            continue;
        }
        let entry = endpoint.entry;
        let name = match entry.name.as_str() {
            "" => &endpoint.key,
            name => name,
        };
        rows.push(row(models, &endpoint.id(), name, models_of(entry)));
    }
    Ok(rows)
}

fn row(models: &Models, id: &str, name: &str, listed: Vec<String>) -> Row {
    // Any name will do: whether there is a key does not depend on the model.
    let model = listed.first().cloned().unwrap_or_else(|| "any".to_owned());
    let chosen = Chosen {
        model: Some(model),
        provider: Some(id.to_owned()),
    };
    let (usable, state) = match models.route(&chosen) {
        Ok(resolved) => (true, state(&resolved)),
        Err(error) => (false, lack(&error)),
    };
    Row {
        id: id.to_owned(),
        name: name.to_owned(),
        usable,
        state,
        models: listed,
    }
}

fn models_of(entry: &Provider) -> Vec<String> {
    use hermes_config::Either;
    let mut names: Vec<String> = match &entry.models {
        Either::First(map) => map.keys().cloned().collect(),
        Either::Second(list) => list
            .iter()
            .filter_map(|name| name.as_text().map(ToOwned::to_owned))
            .collect(),
    };
    for name in [&entry.default_model, &entry.model] {
        if !name.is_empty() && !names.contains(name) {
            names.insert(0, name.clone());
        }
    }
    names
}

fn state(resolved: &Resolved) -> String {
    match &resolved.key {
        Credential::None => "needs none".to_owned(),
        Credential::Key { from, .. } => match from {
            KeySource::Flag => "the command line".to_owned(),
            KeySource::Variable(name) | KeySource::Setting(name) => name.clone(),
        },
        Credential::Login { .. } => "hermes auth".to_owned(),
    }
}

fn lack(error: &ResolveError) -> String {
    match error {
        ResolveError::MissingKey { variables, .. } => match variables.first() {
            Some(variable) => format!("missing: {variable}"),
            None => "missing".to_owned(),
        },
        ResolveError::MissingLogin { .. } => "not signed in".to_owned(),
        ResolveError::MissingAddress { .. } => "no address".to_owned(),
        ResolveError::NoModelFile => "not downloaded".to_owned(),
        ResolveError::Disabled { .. } => "switched off".to_owned(),
        other => other.to_string(),
    }
}

/// Where a list comes from.
enum Source {
    Live,
    Kept,
    BuiltIn,
}

/// The models of one provider: from the provider, else as it last answered, else as we know them.
pub(super) fn models(
    provider: &str,
    refresh: bool,
    as_json: bool,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let models = Models::new(context, context.settings()?)?;
    let known = known_models(&models, provider)?;
    let chosen = Chosen {
        model: Some(known.first().cloned().unwrap_or_else(|| "any".to_owned())),
        provider: Some(provider.to_owned()),
    };
    let (listed, source, note) = match models.course(&chosen) {
        Ok(course) => {
            let route = course.preferred();
            let file = cache::file(&context.home()?.cache_dir(), &route.provider);
            let address = super::why::address(route);
            let (now, kept) = (context.clock.now(), cache::read(&file, &address));
            match kept {
                Some(kept) if !refresh && kept.is_fresh(now) => (kept.models, Source::Kept, None),
                kept => {
                    let runtime = tokio::runtime::Builder::new_current_thread()
                        .enable_all()
                        .build()?;
                    match (runtime.block_on(live::ask(&models, route)), kept) {
                        (Ok(names), _) => {
                            let listing = cache::Listing {
                                address,
                                fetched_at: now.as_second(),
                                models: names,
                            };
                            cache::write(&file, &listing);
                            (listing.models, Source::Live, None)
                        }
                        (Err(why), Some(kept)) => (kept.models, Source::Kept, Some(why)),
                        (Err(why), None) => (known, Source::BuiltIn, Some(why)),
                    }
                }
            }
        }
        Err(error @ (ResolveError::MissingKey { .. } | ResolveError::MissingLogin { .. })) => (
            known,
            Source::BuiltIn,
            Some(format!("{error}; {}", error.hint())),
        ),
        Err(error) => return Err(error.into()),
    };
    let source = match source {
        Source::Live => "the provider",
        Source::Kept => "its last answer",
        Source::BuiltIn => "the built-in list",
    };
    if as_json {
        return Ok(output.json(&json!({
            "provider": provider,
            "source": source,
            "note": note,
            "models": listed,
        }))?);
    }
    for model in &listed {
        output.line(crate::output::one_line(model))?;
    }
    output.flush()?;
    if let Some(note) = note {
        use std::io::Write;
        writeln!(
            std::io::stderr(),
            "note: this is {source}: {}",
            crate::output::one_line(&note)
        )?;
    }
    Ok(())
}

fn known_models(models: &Models, provider: &str) -> Outcome<Vec<String>> {
    if let Some(profile) = models.profiles.find(provider).map_err(ResolveError::from)? {
        return Ok(profile.models.clone());
    }
    let found = endpoints::find(&models.loaded.config, provider);
    Ok(found
        .map(|endpoint| models_of(endpoint.entry))
        .unwrap_or_default())
}
