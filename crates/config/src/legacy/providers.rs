//! Endpoints of the user's own: a list or a map, with many spellings of the same keys.

use crate::value::{Map, Node, Value};

/// Other names of the keys of an endpoint. Where several mean the same, the earlier row counts.
const ALIASES: [(&str, &str); 14] = [
    ("baseUrl", "base_url"),
    ("url", "base_url"),
    ("api", "base_url"),
    ("apiKey", "api_key"),
    ("keyEnv", "key_env"),
    ("api_key_env", "key_env"),
    ("apiKeyEnv", "key_env"),
    ("apiMode", "api_mode"),
    ("transport", "api_mode"),
    ("default_model", "model"),
    ("defaultModel", "model"),
    ("contextLength", "context_length"),
    ("rateLimitDelay", "rate_limit_delay"),
    ("maxOutputTokens", "max_output_tokens"),
];

/// Keys that stand for having none.
const NO_KEY: [&str; 2] = ["no-key", "no-key-required"];

/// Entries taken from a list, and the ones that could not be used.
pub(crate) struct FromList {
    pub(crate) entries: Vec<(String, Node)>,
    pub(crate) unusable: Vec<Node>,
}

/// Puts `custom_providers` into `providers` and the keys of every entry into today's spelling.
pub(super) fn understand(root: &mut Map) {
    if let Some(Value::Map(providers)) = root.get_mut("providers").map(|node| &mut node.value) {
        let empty: Vec<_> = providers
            .iter()
            .filter(|(_, node)| node.value == Value::Null)
            .map(|(name, _)| name.to_owned())
            .collect();
        for name in empty {
            providers.remove(&name);
        }
        for (_, entry) in providers.iter_mut() {
            tidy(entry);
        }
    }
    let Some(Value::List(items)) = root.get("custom_providers").map(|node| &node.value) else {
        return;
    };
    let none = Map::new();
    let existing = root
        .get("providers")
        .and_then(|node| node.value.as_map())
        .unwrap_or(&none);
    let found = from_list(items, existing);
    let Some(list) = root.remove("custom_providers") else {
        return;
    };
    if root.get("providers").is_none() {
        let mut section = Node {
            origin: list.origin,
            ..Node::default()
        };
        section.map_mut();
        root.insert("providers", section);
    }
    let Some(providers) = root.get_mut("providers") else {
        return;
    };
    if matches!(providers.value, Value::Map(_) | Value::Null) {
        for (key, entry) in found.entries {
            providers.map_mut().insert(key, entry);
        }
    }
}

/// Makes map entries of list entries, under keys that `existing` does not have.
pub(crate) fn from_list(items: &[Node], existing: &Map) -> FromList {
    let mut found = FromList {
        entries: Vec::new(),
        unusable: Vec::new(),
    };
    let mut seen = Vec::new();
    for item in items {
        let mut entry = item.clone();
        tidy(&mut entry);
        let Some(url) = url_of(&entry) else {
            found.unusable.push(item.clone());
            continue;
        };
        let name = text_at(&entry, "name").unwrap_or_default();
        let model = text_at(&entry, "model").unwrap_or_default().to_lowercase();
        let identity = (name.clone(), url.trim_end_matches('/').to_owned(), model);
        let known = existing
            .iter()
            .any(|(key, other)| is_same(key, other, &entry));
        if known || seen.contains(&identity) {
            continue;
        }
        seen.push(identity);
        let base = match kebab(&name) {
            key if key.is_empty() => kebab(host_of(&url)),
            key => key,
        };
        let taken = |key: &str| {
            existing.get(key).is_some() || found.entries.iter().any(|(used, _)| used == key)
        };
        let numbered = (1_u32..).map(|number| format!("{base}-{number}"));
        let key = [base.clone()]
            .into_iter()
            .chain(numbered)
            .find(|key| !taken(key));
        found.entries.extend(key.map(|key| (key, entry)));
    }
    found
}

/// Whether a list entry says what the map says already.
fn is_same(key: &str, entry: &Node, item: &Node) -> bool {
    let mut entry = entry.clone();
    tidy(&mut entry);
    let name = text_at(&entry, "name").unwrap_or_else(|| key.to_owned());
    let same_name = text_at(item, "name").is_some_and(|other| kebab(&other) == kebab(&name));
    let slashless = |url: Option<String>| url.map(|url| url.trim_end_matches('/').to_owned());
    same_name && slashless(url_of(&entry)) == slashless(url_of(item))
}

/// Today's spelling of one entry.
fn tidy(entry: &mut Node) {
    let Value::Map(map) = &mut entry.value else {
        return;
    };
    for (old, now) in ALIASES {
        if let Some(node) = map.remove(old)
            && map.get(now).is_none_or(super::is_blank)
        {
            map.insert(now, node);
        }
    }
    let placeholder = map
        .get("api_key")
        .and_then(|node| node.value.as_text())
        .is_some_and(|key| NO_KEY.contains(&key.trim()));
    if placeholder {
        map.remove("api_key");
    }
    if let Some(models) = map.get_mut("models") {
        models_as_map(models);
    }
}

/// Today's spelling of the variable that holds the key.
pub(super) fn tidy_key(entry: &mut Map) {
    for (old, now) in ALIASES.into_iter().filter(|(_, now)| *now == "key_env") {
        if let Some(node) = entry.remove(old)
            && entry.get(now).is_none_or(super::is_blank)
        {
            entry.insert(now, node);
        }
    }
}

/// `models` as a list of names, or of maps with an `id` or `name`.
fn models_as_map(models: &mut Node) {
    let Value::List(items) = &models.value else {
        return;
    };
    let mut map = Map::new();
    for item in items {
        match &item.value {
            Value::Map(about) => {
                let mut about = about.clone();
                let id = about.remove("id").or_else(|| about.remove("name"));
                if let Some(id) = id.and_then(|node| node.text()) {
                    let value = Value::Map(about);
                    map.insert(
                        id,
                        Node {
                            value,
                            ..item.clone()
                        },
                    );
                }
            }
            _ => {
                if let Some(id) = item.text() {
                    let value = Value::Map(Map::new());
                    map.insert(
                        id,
                        Node {
                            value,
                            written: None,
                            origin: item.origin,
                        },
                    );
                }
            }
        }
    }
    models.value = Value::Map(map);
}

fn text_at(entry: &Node, key: &str) -> Option<String> {
    entry.child(key)?.text().map(|text| text.trim().to_owned())
}

/// The address of an entry, if it is one or will be when its variables are put in.
fn url_of(entry: &Node) -> Option<String> {
    text_at(entry, "base_url").filter(|url| url.contains("://") || url.contains("${"))
}

fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', ':', '?']).next().unwrap_or(rest)
}

/// Lower case, with one dash in place of everything that is not a letter or digit.
fn kebab(name: &str) -> String {
    let lower = name.to_lowercase();
    let words: Vec<_> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    words.join("-")
}
