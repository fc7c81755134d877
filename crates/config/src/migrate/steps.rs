//! What changed from version to version, as far as the tree alone can tell.

use crate::legacy::providers_from_list;
use crate::value::{KeyPath, Layer, Map, Node, Value};

/// One step to a version.
pub(super) struct Step {
    /// Files below this version need it.
    pub(super) version: u32,
    pub(super) about: &'static str,
    pub(super) kind: Kind,
    pub(super) run: fn(&mut Node),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The same meaning in another place.
    Moves,
    /// Another value, once.
    Changes,
}

const fn moves(version: u32, about: &'static str, run: fn(&mut Node)) -> Step {
    Step {
        version,
        about,
        kind: Kind::Moves,
        run,
    }
}

const fn changes(version: u32, about: &'static str, run: fn(&mut Node)) -> Step {
    Step {
        version,
        about,
        kind: Kind::Changes,
        run,
    }
}

/// Every step, in order.
pub(super) const ALL: &[Step] = &[
    moves(12, "custom_providers became providers", providers),
    moves(
        14,
        "stt.model moved to the section of its provider",
        speech_model,
    ),
    moves(
        16,
        "tool_progress_overrides moved to display.platforms",
        progress_overrides,
    ),
    moves(
        17,
        "compression.summary_* moved to auxiliary.compression",
        summary_model,
    ),
    changes(25, "the model catalog is fetched every hour", catalog_age),
    moves(29, "write_mode became write_approval", write_mode),
    changes(32, "agent.verify_on_stop was switched off", verify_on_stop),
    moves(
        33,
        "delegation.max_async_children joined max_concurrent_children",
        async_children,
    ),
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

fn providers(tree: &mut Node) {
    let none = Map::new();
    let existing = tree
        .child("providers")
        .and_then(|node| node.value.as_map())
        .unwrap_or(&none);
    let Some(Value::List(items)) = tree.child("custom_providers").map(|node| &node.value) else {
        return;
    };
    let found = providers_from_list(items, existing);
    if found.entries.is_empty() {
        return;
    }
    let root = tree.map_mut();
    root.remove("custom_providers");
    if root.get("providers").is_none() {
        root.insert("providers", new(Value::Map(Map::new())));
    }
    if let Some(providers) = root.get_mut("providers") {
        let providers = providers.map_mut();
        for (key, entry) in found.entries {
            providers.insert(key, entry);
        }
    }
}

fn speech_model(tree: &mut Node) {
    let Some(stt) = section(tree.map_mut(), "stt") else {
        return;
    };
    let Some(model) = stt.remove("model") else {
        return;
    };
    let provider = match stt.get("provider").map(word) {
        Some(provider) if !provider.is_empty() => provider,
        Some(_) | None => "local".to_owned(),
    };
    // The old default named a model of the cloud, which the local one cannot load.
    let is_cloud = ["whisper-", "gpt-", "voxtral", "scribe"]
        .iter()
        .any(|start| word(&model).starts_with(start));
    if word(&model).is_empty() || (provider == "local" && is_cloud) {
        return;
    }
    if stt
        .get(&provider)
        .is_none_or(|node| node.value.as_map().is_none())
    {
        stt.insert(provider.as_str(), new(Value::Map(Map::new())));
    }
    if let Some(own) = section(stt, &provider)
        && own.get("model").is_none()
    {
        own.insert("model", model);
    }
}

fn progress_overrides(tree: &mut Node) {
    let Some(display) = section(tree.map_mut(), "display") else {
        return;
    };
    let Some(overrides) = section(display, "tool_progress_overrides").map(|map| map.clone()) else {
        return;
    };
    for (platform, mode) in overrides {
        let path = KeyPath::of(["platforms", platform.as_str(), "tool_progress"]);
        let mut place = Node::new(Value::Map(std::mem::take(display)), Layer::File);
        if place.at(&path).is_none() {
            // Only maps are on the way, or a plain value that the types refuse anyway.
            let _ = place.set(&path, mode);
        }
        *display = std::mem::take(place.map_mut());
    }
}

fn summary_model(tree: &mut Node) {
    let root = tree.map_mut();
    let Some(compression) = section(root, "compression") else {
        return;
    };
    let moved: Vec<_> = ["model", "provider", "base_url"]
        .into_iter()
        .filter_map(|key| Some((key, compression.remove(&format!("summary_{key}"))?)))
        .collect();
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
            let _ = tree.set(&path, node);
        }
    }
}

fn catalog_age(tree: &mut Node) {
    if let Some(catalog) = section(tree.map_mut(), "model_catalog")
        && let Some(age) = catalog.get_mut("ttl_hours")
        && age.value == Value::Int(24)
    {
        age.value = Value::Int(1);
        age.written = None;
    }
}

fn write_mode(tree: &mut Node) {
    for name in ["memory", "skills"] {
        if let Some(section) = section(tree.map_mut(), name)
            && let Some(mode) = section.remove("write_mode")
        {
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
}

fn verify_on_stop(tree: &mut Node) {
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
    if switch_off && plain {
        let _ = tree.set(&path, new(Value::Bool(false)));
    }
}

fn async_children(tree: &mut Node) {
    /// The default of the key that is gone; a value at or below it was never a wish for more.
    const DEFAULT: i64 = 3;
    let Some(delegation) = section(tree.map_mut(), "delegation") else {
        return;
    };
    let Some(gone) = delegation.remove("max_async_children") else {
        return;
    };
    let number = |node: &Node| word(node).parse::<i64>().ok();
    let now = delegation.get("max_concurrent_children").and_then(number);
    if let Some(wish) =
        number(&gone).filter(|wish| *wish > DEFAULT && now.is_none_or(|now| now < *wish))
    {
        let node = Node {
            value: Value::Int(wish),
            written: None,
            origin: gone.origin,
        };
        delegation.insert("max_concurrent_children", node);
    }
}
