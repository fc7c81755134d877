//! What changed from version to version, as far as the tree alone can tell.

use crate::legacy::providers_from_list;
use crate::value::{KeyPath, Layer, Map, Node, Value};

/// One step to a version.
pub(super) struct Step {
    /// Files below this version need it.
    pub(super) version: u32,
    pub(super) kind: Kind,
    /// Does it and says what was done; `None` when there was nothing to do.
    pub(super) run: fn(&mut Node) -> Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The same meaning in another place.
    Moves,
    /// Another value, once.
    Changes,
}

const fn moves(version: u32, run: fn(&mut Node) -> Option<&'static str>) -> Step {
    let kind = Kind::Moves;
    Step { version, kind, run }
}

const fn changes(version: u32, run: fn(&mut Node) -> Option<&'static str>) -> Step {
    let kind = Kind::Changes;
    Step { version, kind, run }
}

/// Every step, in order.
pub(super) const ALL: &[Step] = &[
    moves(12, providers),
    moves(14, speech_model),
    moves(16, progress_overrides),
    moves(17, summary_model),
    changes(25, catalog_age),
    moves(29, write_mode),
    changes(32, verify_on_stop),
    moves(33, async_children),
];

/// The map at a key of a map.
fn section<'m>(map: &'m mut Map, key: &str) -> Option<&'m mut Map> {
    match &mut map.get_mut(key)?.value {
        Value::Map(inner) => Some(inner),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::List(_) => None,
    }
}

fn word(node: &Node) -> String {
    node.text().unwrap_or_default().trim().to_lowercase()
}

fn new(value: Value) -> Node {
    Node::new(value, Layer::File)
}

fn providers(tree: &mut Node) -> Option<&'static str> {
    let none = Map::new();
    let existing = tree
        .child("providers")
        .and_then(|node| node.value.as_map())
        .unwrap_or(&none);
    let Some(Value::List(items)) = tree.child("custom_providers").map(|node| &node.value) else {
        return None;
    };
    let found = providers_from_list(items, existing);
    if found.entries.is_empty() {
        return None;
    }
    let root = tree.map_mut();
    let list = root.remove("custom_providers")?;
    if root.get("providers").is_none() {
        let section = Node {
            origin: list.origin,
            ..new(Value::Map(Map::new()))
        };
        root.insert("providers", section);
    }
    if let Some(providers) = root.get_mut("providers") {
        let providers = providers.map_mut();
        for (key, entry) in found.entries {
            providers.insert(key, entry);
        }
    }
    Some("custom_providers became providers")
}

fn speech_model(tree: &mut Node) -> Option<&'static str> {
    let stt = section(tree.map_mut(), "stt")?;
    let model = stt.remove("model")?;
    let provider = match stt.get("provider").map(word) {
        Some(provider) if !provider.is_empty() => provider,
        Some(_) | None => "local".to_owned(),
    };
    // The old default named a model of the cloud, which the local one cannot load.
    let is_cloud = ["whisper-", "gpt-", "voxtral", "scribe"]
        .iter()
        .any(|start| word(&model).starts_with(start));
    if word(&model).is_empty() {
        return Some("stt.model, which was empty, was removed");
    }
    if provider == "local" && is_cloud {
        return Some("stt.model, which named a model that does not run locally, was removed");
    }
    if stt
        .get(&provider)
        .is_none_or(|node| node.value.as_map().is_none())
    {
        stt.insert(provider.as_str(), new(Value::Map(Map::new())));
    }
    match section(stt, &provider) {
        Some(own) if own.get("model").is_none() => {
            own.insert("model", model);
            Some("stt.model moved to the section of its provider")
        }
        Some(_) | None => {
            Some("stt.model was removed; the section of its provider names a model already")
        }
    }
}

fn progress_overrides(tree: &mut Node) -> Option<&'static str> {
    let display = section(tree.map_mut(), "display")?;
    let overrides = section(display, "tool_progress_overrides")?.clone();
    let mut copied = false;
    for (platform, mode) in overrides {
        let path = KeyPath::of(["platforms", platform.as_str(), "tool_progress"]);
        let mut place = Node::new(Value::Map(std::mem::take(display)), Layer::File);
        if place.at(&path).is_none() {
            // Only maps are on the way, or a plain value that the types refuse anyway.
            copied |= place.set(&path, mode).is_ok();
        }
        *display = std::mem::take(place.map_mut());
    }
    // The old key stays, because programs of that age still read it.
    copied
        .then_some("display.tool_progress_overrides was copied to display.platforms; it stays too")
}

fn summary_model(tree: &mut Node) -> Option<&'static str> {
    let root = tree.map_mut();
    let compression = section(root, "compression")?;
    let moved: Vec<_> = ["model", "provider", "base_url"]
        .into_iter()
        .filter_map(|key| Some((key, compression.remove(&format!("summary_{key}"))?)))
        .collect();
    if moved.is_empty() {
        return None;
    }
    let mut arrived = false;
    for (key, node) in moved {
        let text = node.text().unwrap_or_default().trim().to_owned();
        if text.is_empty() || (key == "provider" && text == "auto") {
            continue;
        }
        let path = KeyPath::of(["auxiliary", "compression", key]);
        let now = tree.at(&path).map(word).unwrap_or_default();
        if now.is_empty() || now == "auto" {
            let node = Node {
                value: Value::Text(text),
                ..node
            };
            arrived |= tree.set(&path, node).is_ok();
        }
    }
    Some(if arrived {
        "compression.summary_* moved to auxiliary.compression"
    } else {
        "compression.summary_*, which said nothing auxiliary.compression does not, was removed"
    })
}

fn catalog_age(tree: &mut Node) -> Option<&'static str> {
    let catalog = section(tree.map_mut(), "model_catalog")?;
    let age = catalog.get_mut("ttl_hours")?;
    if age.value != Value::Int(24) {
        return None;
    }
    age.value = Value::Int(1);
    age.written = None;
    Some("the model catalog is fetched every hour")
}

fn write_mode(tree: &mut Node) -> Option<&'static str> {
    let mut done = None;
    for name in ["memory", "skills"] {
        if let Some(section) = section(tree.map_mut(), name)
            && let Some(mode) = section.remove("write_mode")
        {
            done = Some("write_mode became write_approval");
            let asks = word(&mode) == "approve";
            section.insert(
                "write_approval",
                Node {
                    value: Value::Bool(asks),
                    written: None,
                    origin: mode.origin,
                },
            );
        }
    }
    done
}

fn verify_on_stop(tree: &mut Node) -> Option<&'static str> {
    let path = KeyPath::of(["agent", "verify_on_stop"]);
    let switch_off = match tree.at(&path).map(|node| &node.value) {
        None | Some(Value::Null | Value::Bool(true)) => true,
        Some(Value::Text(text)) => text.trim().eq_ignore_ascii_case("auto"),
        Some(
            Value::Bool(false) | Value::Int(_) | Value::Float(_) | Value::List(_) | Value::Map(_),
        ) => false,
    };
    let plain = tree
        .child("agent")
        .is_none_or(|agent| matches!(agent.value, Value::Map(_) | Value::Null));
    let done = switch_off && plain && tree.set(&path, new(Value::Bool(false))).is_ok();
    done.then_some("agent.verify_on_stop was switched off")
}

fn async_children(tree: &mut Node) -> Option<&'static str> {
    /// The default of the key that is gone; a value at or below it was never a wish for more.
    const DEFAULT: i64 = 3;
    let delegation = section(tree.map_mut(), "delegation")?;
    let gone = delegation.remove("max_async_children")?;
    let number = |node: &Node| word(node).parse::<i64>().ok();
    let now = delegation.get("max_concurrent_children").and_then(number);
    let wish = number(&gone).filter(|wish| *wish > DEFAULT && now.is_none_or(|now| now < *wish));
    let Some(wish) = wish else {
        return Some("delegation.max_async_children, which no longer counts, was removed");
    };
    let node = Node {
        value: Value::Int(wish),
        written: None,
        origin: gone.origin,
    };
    delegation.insert("max_concurrent_children", node);
    Some("delegation.max_async_children joined max_concurrent_children")
}
