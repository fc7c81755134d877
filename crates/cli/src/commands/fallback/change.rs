//! `hermes fallback add`, `remove` and `clear`: the list in `config.yaml`.

use std::io::Write;

use hermes_config::{Fallback, KeyPath, Map, Node, UnknownKey, Value};
use hermes_core::FailureKind;
use serde_json::Value as Json;

use crate::commands::edit::{edit, written};
use crate::commands::wish::{Found, Wish};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::Models;
use crate::output::Output;

const LIST: &str = "fallback_providers";
/// Where the reference keeps its one fallback.
const OLDER: &str = "fallback_model";
pub(super) fn add(wish: &Wish, models: &Models, context: &Context, output: &mut Output) -> Outcome {
    let Found {
        id: _,
        address: _,
        provider,
        model,
        lack,
    } = wish.find(models)?;
    let base_url = wish
        .base_url
        .as_deref()
        .map(|url| url.trim_end_matches('/'));
    let same = |entry: &Fallback| {
        entry.provider.eq_ignore_ascii_case(&provider)
            && entry.model.eq_ignore_ascii_case(&model)
            && entry.base_url == base_url.unwrap_or_default()
    };
    if let Some(index) = models
        .loaded
        .config
        .fallback_providers
        .iter()
        .position(same)
    {
        return Err(Complaint::new(
            FailureKind::BadInput,
            format!(
                "{provider}/{model} is number {} of the list already",
                index + 1
            ),
        )
        .hint("hermes fallback list shows it"));
    }
    let mut entry = Map::new();
    entry.insert("provider", Value::Text(provider.clone()).into());
    entry.insert("model", Value::Text(model.clone()).into());
    let optional = [("base_url", base_url), ("key_env", wish.key_env.as_deref())];
    for (key, value) in optional {
        if let Some(value) = value {
            entry.insert(key, Value::Text(value.to_owned()).into());
        }
    }
    let mut items = items(context, LIST)?;
    items.push(Value::Map(entry).into());
    write(&items, context)?;
    let number = models.loaded.config.fallback_providers.len() + 1;
    output.line(format!("{provider}/{model} added, number {number}"))?;
    if let Some(lack) = lack {
        output.flush()?;
        writeln!(std::io::stderr(), "note: {lack}: {}", lack.hint())?;
    }
    Ok(())
}

pub(super) fn remove(
    which: &str,
    models: &Models,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let all = &models.loaded.config.fallback_providers;
    let number = which
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_sub(1));
    let named = |entry: &Fallback| {
        which == entry.model
            || which == format!("{}/{}", entry.provider, entry.model)
            || which == format!("{}:{}", entry.provider, entry.model)
    };
    let found = match number {
        Some(index) => all.get(index),
        None => all.iter().find(|entry| named(entry)),
    };
    let Some(entry) = found else {
        return Err(Complaint::new(
            FailureKind::NotFound,
            format!("there is no fallback {which}"),
        )
        .hint("hermes fallback list shows them with their numbers"));
    };
    let mut taken = false;
    for section in [LIST, OLDER] {
        let before = items(context, section)?;
        let mut after = before.clone();
        after.retain(|item| !is(item, entry));
        if after.len() == before.len() {
            continue;
        }
        taken = true;
        if section == LIST && !after.is_empty() {
            write(&after, context)?;
        } else if after.is_empty() {
            edit(context, |settings| settings.unset(section))?;
        } else {
            let json: Vec<Json> = after.iter().map(|item| item.value.to_json()).collect();
            let text = Json::Array(json).to_string();
            edit(context, |settings| {
                settings.set(section, &text, UnknownKey::Refuse)
            })?;
        }
    }
    if !taken {
        return Err(Complaint::new(
            FailureKind::Refused,
            format!(
                "{}/{} does not stand in config.yaml",
                entry.provider, entry.model
            ),
        )
        .hint("hermes config show says where it comes from"));
    }
    Ok(output.line(format!("{}/{} removed", entry.provider, entry.model))?)
}

pub(super) fn clear(models: &Models, context: &Context, output: &mut Output) -> Outcome {
    for section in [LIST, OLDER] {
        if written(context, &KeyPath::of([section]))?.is_some() {
            edit(context, |settings| settings.unset(section))?;
        }
    }
    Ok(
        output.line(match models.loaded.config.fallback_providers.len() {
            0 => "There were no fallbacks.".to_owned(),
            1 => "1 fallback removed".to_owned(),
            many => format!("{many} fallbacks removed"),
        })?,
    )
}

/// The entries of a section as they are written: a list, or the one entry the older key may hold.
fn items(context: &Context, section: &str) -> Outcome<Vec<Node>> {
    let node = written(context, &KeyPath::of([section]))?;
    Ok(match node.map(|node| (node.value.clone(), node)) {
        Some((Value::List(items), _)) => items,
        Some((Value::Map(_), node)) => vec![node],
        Some(_) | None => Vec::new(),
    })
}

/// Whether a written entry is the one that was read.
fn is(item: &Node, entry: &Fallback) -> bool {
    let text = |key: &str| item.child(key).and_then(Node::text).unwrap_or_default();
    let same = |key: &str, value: &str| text(key).trim().eq_ignore_ascii_case(value);
    same("provider", &entry.provider)
        && same("model", &entry.model)
        && text("base_url")
            .trim()
            .trim_end_matches('/')
            .eq_ignore_ascii_case(&entry.base_url)
}

/// Writes the list. A value with a variable in it is put in by itself: in one text with the others it
/// would be taken for a text.
fn write(items: &[Node], context: &Context) -> Outcome {
    let mut list: Vec<Json> = items.iter().map(|item| item.value.to_json()).collect();
    let mut later = Vec::new();
    for (index, item) in list.iter_mut().enumerate() {
        let fields = item.as_object_mut().into_iter().flatten();
        for (key, value) in fields {
            if let Some(text) = value.as_str().filter(|text| text.contains("${")) {
                later.push((format!("{LIST}.{index}.{key}"), text.to_owned()));
                *value = Json::from("");
            }
        }
    }
    let text = Json::Array(list).to_string();
    edit(context, |settings| {
        settings.set(LIST, &text, UnknownKey::Refuse)?;
        for (key, value) in &later {
            settings.set(key, value, UnknownKey::Refuse)?;
        }
        Ok(())
    })
}
