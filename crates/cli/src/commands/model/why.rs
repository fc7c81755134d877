//! `hermes model --why`: the route, part by part, and what comes after it.

use hermes_llm::keys::{EntryKind, EntryView, Standing};
use hermes_llm::nearby::Reach;
use hermes_llm::resolve;
use hermes_llm::{Auth, Endpoint, Route};
use serde_json::{Value as Json, json};

use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::Output;
use crate::table::Table;

pub(super) fn run(
    chosen: &Chosen,
    as_json: bool,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let models = Models::new(context, context.settings()?)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let measured = runtime.block_on(models.measured_course(chosen, Reach::Look))?;
    let mut route = Route::clone(measured.course.preferred());
    let credential = next_credential(&models, &route)?;
    if let Some(entry) = &credential {
        name_kept_key(&mut route, entry);
    }
    let route = &route;
    let fallbacks = resolve::fallbacks(&models.request(chosen));
    if as_json {
        let fallbacks: Vec<Json> = fallbacks
            .iter()
            .map(|fallback| match fallback {
                Ok(found) => described(&found.route),
                Err(error) => json!({"error": error.to_string(), "hint": error.hint()}),
            })
            .collect();
        let mut document = described(route);
        if let Some(fields) = document.as_object_mut() {
            fields.insert(
                "credential".to_owned(),
                json!(credential.as_ref().map(|entry| {
                    json!({"label": entry.label, "source": entry.source, "masked": entry.masked})
                })),
            );
            fields.insert("fallbacks".to_owned(), Json::Array(fallbacks));
        }
        return Ok(output.json(&document)?);
    }
    let mut table = Table::new(["PART", "VALUE", "FROM"]);
    for why in &route.why {
        table.row([why.part.to_owned(), why.value.clone(), why.from.clone()]);
    }
    if let Some(entry) = credential {
        table.row(["credential".to_owned(), entry.label, entry.source]);
    }
    for (number, fallback) in (1..).zip(&fallbacks) {
        let (value, from) = match fallback {
            Ok(found) => (found.route.label(), address(&found.route)),
            Err(error) => (format!("cannot be used: {error}"), error.hint()),
        };
        table.row([format!("fallback {number}"), value, from]);
    }
    Ok(table.print(output)?)
}

fn described(route: &Route) -> Json {
    let why: Vec<Json> = route
        .why
        .iter()
        .map(|why| json!({"part": why.part, "value": why.value, "from": why.from}))
        .collect();
    json!({
        "provider": route.provider,
        "provider_name": route.provider_name,
        "model": route.model,
        "address": address(route),
        "window": {
            "tokens": route.limits.window,
            "from": route.limits.window_from.to_string(),
        },
        "why": why,
    })
}

/// The address without what may be secret in it.
pub(super) fn address(route: &Route) -> String {
    let part = route.why.iter().find(|why| why.part == "address");
    part.map(|why| why.value.clone()).unwrap_or_default()
}

/// The credential that the next call would be made with, unless chance or turns decide.
pub(super) fn next_credential(models: &Models, route: &Route) -> Outcome<Option<EntryView>> {
    let origin = match &route.endpoint {
        Endpoint::Http(address) if address.auth != Auth::None => address.base.origin().ok(),
        Endpoint::Http(_) | Endpoint::Embedded { .. } => None,
    };
    let Some(origin) = origin else {
        return Ok(None);
    };
    let mut entries = models.keys.entries(&route.provider)?;
    entries.retain(|entry| entry.only.as_ref().is_none_or(|only| *only == origin));
    let ready = entries.iter().position(|entry| match entry.standing {
        Standing::Good => true,
        Standing::Resting { .. } => entry.rest.is_none(),
        Standing::Dead { .. } => false,
    });
    Ok(ready.map(|index| entries.swap_remove(index)))
}

/// A route knows that something is kept for it, but not whether that is a key or a login.
fn name_kept_key(route: &mut Route, entry: &EntryView) {
    let line = route.why.iter_mut().find(|why| why.part == "key");
    if let (Some(line), true, EntryKind::Key) = (line, entry.kept, entry.kind) {
        line.value.clone_from(&entry.masked);
        "a key of `hermes auth`".clone_into(&mut line.from);
    }
}
