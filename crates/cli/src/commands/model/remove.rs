//! `hermes model remove`: an endpoint of one's own leaves the settings, with everything that is kept for it.

use hermes_config::{Edit, KeyPath, Node, Value};
use hermes_core::FailureKind;
use hermes_llm::alias;
use hermes_llm::profile::Profiles;

use super::set;
use crate::commands::ask;
use crate::commands::edit::{edit, written};
use crate::commands::endpoints::{self, Endpoint};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::Models;
use crate::output::Output;

/// Where the reference keeps endpoints.
const LIST: &str = "custom_providers";
/// What it calls their addresses.
const ADDRESSES: [&str; 4] = ["base_url", "url", "api", "baseUrl"];

/// An endpoint that can be removed.
pub(in crate::commands) struct Saved {
    /// What it is called.
    pub(in crate::commands) key: String,
    pub(in crate::commands) address: String,
}

/// Those that `config.yaml` itself has, as it is now.
pub(in crate::commands) fn saved(context: &Context) -> Outcome<Vec<Saved>> {
    let loaded = context.settings_again(false)?;
    let mut found = Vec::new();
    for endpoint in endpoints::all(&loaded.config) {
        if is_own(&endpoint) && !places(&endpoint, context)?.is_empty() {
            found.push(Saved {
                key: endpoint.key,
                address: endpoint.entry.base_url.clone(),
            });
        }
    }
    Ok(found)
}

/// Whether it is an endpoint and not the other address of a provider with a profile.
fn is_own(endpoint: &Endpoint<'_>) -> bool {
    Profiles::built_in().all(|id| id != endpoint.key)
}

/// Where `config.yaml` has it: today's map, and the reference's list, which would bring it back. Of the list the last
/// comes first, so that the numbers of the others hold while they are taken out.
fn places(endpoint: &Endpoint<'_>, context: &Context) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    if written(context, &endpoint.path)?.is_some() {
        found.push(endpoint.path.to_string());
    }
    let list = written(context, &KeyPath::of([LIST]))?;
    let items: &[Node] = match list.as_ref().map(|list| &list.value) {
        Some(Value::List(items)) => items,
        Some(_) | None => &[],
    };
    let says = |item: &Node, key: &str| item.child(key).and_then(Node::text);
    let is_it = |item: &Node| match says(item, "name").filter(|name| !name.is_empty()) {
        Some(name) => name == endpoint.entry.name || alias::normal(&name) == endpoint.key,
        None => ADDRESSES
            .iter()
            .any(|key| says(item, key).is_some_and(|url| url == endpoint.entry.base_url)),
    };
    for (index, item) in items.iter().enumerate().rev() {
        let path = KeyPath::of([LIST, index.to_string().as_str()]).to_string();
        if is_it(item) && !found.contains(&path) {
            found.push(path);
        }
    }
    Ok(found)
}

pub(super) fn run(name: &str, yes: bool, context: &Context, output: &mut Output) -> Outcome {
    let models = Models::new(context, context.settings()?)?;
    let config = &models.loaded.config;
    let Some(endpoint) = endpoints::find(config, name).filter(is_own) else {
        return Err(Complaint::new(
            FailureKind::NotFound,
            format!("there is no endpoint of your own called {name}"),
        )
        .hint(
            "hermes model list shows them; hermes auth remove takes the key of a provider away",
        ));
    };
    let places = places(&endpoint, context)?;
    if places.is_empty() {
        return Err(Complaint::new(
            FailureKind::Refused,
            format!("{name} does not stand in config.yaml"),
        )
        .hint("hermes config show says where it comes from"));
    }
    let (key, id) = (endpoint.key.clone(), endpoint.id());
    if !yes {
        ask::confirm(&format!("remove {key} at {}", endpoint.entry.base_url))?;
    }
    // A model of nobody would stop every conversation.
    let orphaned = match set::chosen_provider(&models, context)? {
        Some(chosen) if chosen == id || chosen == key => set::written_route(context)?,
        Some(_) | None => Vec::new(),
    };
    let gone = places.iter().chain(&orphaned);
    let edits: Vec<(&str, Edit<'_>)> = gone.map(|key| (key.as_str(), Edit::Unset)).collect();
    edit(context, |settings| settings.change(&edits))?;
    output.line(format!("{key} is removed."))?;
    // Keys go last: an endpoint without its key works no more, a key without its endpoint harms nobody.
    for entry in models.keys.entries(&id)? {
        if entry.kept {
            models.keys.remove(&id, &entry.id)?;
            output.line(format!("Its key {} is removed.", entry.masked))?;
        }
    }
    if !orphaned.is_empty() {
        output.line("No model is chosen any more. hermes model chooses one.")?;
    }
    let is_it = |provider: &str| {
        let provider = alias::normal(provider);
        provider == key || provider == id
    };
    if config
        .fallback_providers
        .iter()
        .any(|entry| is_it(&entry.provider))
    {
        output.line("A fallback still names it. hermes fallback list shows which one.")?;
    }
    Ok(())
}
