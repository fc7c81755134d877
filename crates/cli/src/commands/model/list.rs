//! `hermes model list`: providers with the state of their keys, and the models of one.

use std::io::Write;

use hermes_config::Provider;
use hermes_llm::resolve::{Credential, KeySource, ResolveError, Resolved};
use serde_json::{Value as Json, json};

use super::listing::{self, Keep, Source, Whose};
use super::why;
use crate::commands::endpoints;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::{Output, Style, one_line};
use crate::table::{Table, cut};

/// Room for the models of a provider in the overview.
const SHOWN: usize = 60;

/// A provider in the overview.
pub(super) struct Row {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) usable: bool,
    /// Whether something was set up for it: a key, a login, an address or a file.
    pub(super) chosen: bool,
    /// Where its key comes from, or what it lacks.
    pub(super) state: String,
    pub(super) models: Vec<String>,
}

/// Everybody there is.
pub(super) fn providers(as_json: bool, context: &Context, output: &mut Output) -> Outcome {
    let models = Models::new(context, context.settings()?)?;
    let current = models.route(&Chosen::default()).ok();
    let current = current.map(|resolved| row_of(&models, resolved.route.provider));
    let current = current.as_deref();
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

/// The row that a route's provider is in: places are in that of their profile.
fn row_of(models: &Models, provider: String) -> String {
    let profile = models.profiles.of_route(&provider).ok().flatten();
    profile.map_or(provider, |profile| profile.id.clone())
}

/// Everybody, with the models as they last answered; nobody is asked.
pub(super) fn rows(models: &Models) -> Outcome<Vec<Row>> {
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

fn row(models: &Models, id: &str, name: &str, mut listed: Vec<String>) -> Row {
    // Any name will do: whether there is a key does not depend on the model.
    let model = listed.first().cloned().unwrap_or_else(|| "any".to_owned());
    let chosen = Chosen {
        model: Some(model),
        provider: Some(id.to_owned()),
    };
    let (usable, chosen, state) = match models.route(&chosen) {
        Ok(resolved) => {
            let address = why::address(&resolved.route);
            if let Some(last) = models.lists.get(id, &address) {
                listed.clone_from(&last.models);
            }
            let keyless = matches!(resolved.key, Credential::None);
            let own = id.starts_with("custom:") || resolved.route.is_embedded();
            (true, own || !keyless, state(&resolved))
        }
        Err(error) => (false, false, lack(&error)),
    };
    Row {
        id: id.to_owned(),
        name: name.to_owned(),
        usable,
        chosen,
        state,
        models: listed,
    }
}

pub(super) fn models_of(entry: &Provider) -> Vec<String> {
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
        Credential::Minted(mint) => mint.label().to_owned(),
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

/// The models of one provider: from the provider, else as it last answered, else as we know them.
pub(super) fn models(
    provider: &str,
    refresh: bool,
    as_json: bool,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let models = Models::new(context, context.settings()?)?;
    let keep = if refresh { Keep::Nothing } else { Keep::Fresh };
    let whose = Whose {
        provider,
        ..Whose::default()
    };
    let listed = listing::find(&models, whose, keep, context)?;
    let source = listed.source.words();
    if as_json {
        return Ok(output.json(&json!({
            "provider": provider,
            "source": source,
            "age_seconds": listed.source.age(),
            "note": listed.note,
            "models": listed.models,
        }))?);
    }
    for model in &listed.models {
        output.line(one_line(model))?;
    }
    output.flush()?;
    let mut aside = std::io::stderr();
    match (&listed.note, &listed.source) {
        (Some(note), _) => writeln!(aside, "note: this is {source}: {}", one_line(note))?,
        (None, Source::Kept { .. }) => {
            writeln!(aside, "note: this is {source}; --refresh asks again")?;
        }
        (None, Source::Live | Source::BuiltIn) => {}
    }
    Ok(())
}
