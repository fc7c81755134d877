//! `hermes fallback add`, `remove` and `clear`: the list in `config.yaml`.

use std::io::Write;

use hermes_config::{Edit, Fallback, KeyPath, Map, Node, UnknownKey, Value};
use hermes_core::FailureKind;

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
    append(Value::Map(entry), context)?;
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
    let mut gone = Vec::new();
    for section in [LIST, OLDER] {
        let items = items(context, section)?;
        let found = items.iter().enumerate().filter(|(_, item)| is(item, entry));
        let found: Vec<usize> = found.map(|(index, _)| index).collect();
        if found.len() == items.len() && !items.is_empty() {
            gone.push(section.to_owned());
        } else {
            // From the last on: the numbers behind one that goes move up.
            gone.extend(found.iter().rev().map(|index| format!("{section}.{index}")));
        }
    }
    if gone.is_empty() {
        return Err(Complaint::new(
            FailureKind::Refused,
            format!(
                "{}/{} does not stand in config.yaml",
                entry.provider, entry.model
            ),
        )
        .hint("hermes config show says where it comes from"));
    }
    let edits: Vec<(&str, Edit<'_>)> = gone.iter().map(|key| (key.as_str(), Edit::Unset)).collect();
    edit(context, |settings| settings.change(&edits))?;
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

/// Puts an entry behind the others, which stay as they are written.
fn append(entry: Value, context: &Context) -> Outcome {
    let written = written(context, &KeyPath::of([LIST]))?;
    let (key, value) = match written.map(|node| node.value) {
        Some(Value::List(items)) if !items.is_empty() => (format!("{LIST}.{}", items.len()), entry),
        // One may stand there without a list around it.
        Some(Value::Map(only)) => {
            let both = [Value::Map(only), entry].map(Node::from);
            (LIST.to_owned(), Value::List(both.into()))
        }
        Some(_) | None => (LIST.to_owned(), Value::List(vec![entry.into()])),
    };
    let text = value.to_json().to_string();
    edit(context, |settings| {
        settings.set(&key, &text, UnknownKey::Refuse)
    })
    .map(drop)
}
