//! What the tests over recorded data share.

use std::fs;
use std::path::{Path, PathBuf};

use hermes_config::{Config, Environment, Home, Loaded, Map, Node, Request, Setting, Value, load};
use serde_json::Value as Json;
use tempfile::TempDir;

/// A folder of the data recorded from the reference.
pub(crate) fn recorded(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/reference")
        .join(folder)
}

/// The sub-folders of a folder with their names, in order.
pub(crate) fn cases(folder: &str) -> Vec<(String, PathBuf)> {
    let mut found: Vec<_> = fs::read_dir(recorded(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "no cases in {folder}");
    found
}

pub(crate) fn json(path: &Path) -> Json {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// A home in a temporary directory.
pub(crate) struct TempHome {
    pub(crate) home: Home,
    directory: TempDir,
}

impl TempHome {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let root = directory.path().join("home");
        fs::create_dir(&root).unwrap();
        Self {
            home: Home::of_root(root),
            directory,
        }
    }

    pub(crate) fn with_config(text: impl AsRef<[u8]>) -> Self {
        let home = Self::new();
        fs::write(home.home.config_file(), text).unwrap();
        home
    }

    pub(crate) fn env(self, text: impl AsRef<[u8]>) -> Self {
        fs::write(self.home.env_file(), text).unwrap();
        self
    }

    pub(crate) fn outside(&self) -> &Path {
        self.directory.path()
    }

    /// An environment in which nothing of this machine counts.
    pub(crate) fn environment(&self, more: &[(&str, &str)]) -> Environment {
        let nowhere = self.outside().join("managed");
        let mut pairs = vec![("HERMES_MANAGED_DIR", nowhere.to_str().unwrap())];
        pairs.extend(more);
        pairs.into_iter().collect()
    }

    pub(crate) fn load(&self) -> Loaded {
        self.load_with(&[])
    }

    pub(crate) fn load_with(&self, variables: &[(&str, &str)]) -> Loaded {
        let environment = self.environment(variables);
        load(&Request {
            home: &self.home,
            environment: &environment,
            project: None,
            flags: &[],
            ignore_file: false,
        })
        .unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn config_text(&self) -> String {
        fs::read_to_string(self.home.config_file()).unwrap_or_default()
    }

    pub(crate) fn env_text(&self) -> String {
        fs::read_to_string(self.home.env_file()).unwrap_or_default()
    }
}

/// What a recorded effective configuration says besides the reference's own defaults.
pub(crate) fn said(expected: &Json) -> Node {
    let defaults = json(&recorded("config/defaults.json"));
    let mut tree = Node::default();
    for (key, value) in expected.as_object().unwrap() {
        let node = match defaults.get(key) {
            Some(default) => difference(default, value),
            None => Some(node_of(value)),
        };
        if let Some(node) = node {
            tree.map_mut().insert(plain_key(key), node);
        }
    }
    tree
}

fn difference(default: &Json, value: &Json) -> Option<Node> {
    match (default, value) {
        (Json::Object(defaults), Json::Object(values)) => {
            let map: Map = values
                .iter()
                .filter_map(|(key, value)| {
                    let node = match defaults.get(key) {
                        Some(default) => difference(default, value),
                        None => Some(node_of(value)),
                    };
                    node.map(|node| (plain_key(key), node))
                })
                .collect();
            (!map.is_empty()).then(|| Value::Map(map).into())
        }
        (default, value) => (default != value).then(|| node_of(value)),
    }
}

/// JSON with the markers for what JSON cannot hold.
fn node_of(json: &Json) -> Node {
    match json {
        Json::Object(entries) if entries.contains_key("$yaml") => {
            let text = entries["value"].as_str().unwrap_or_default();
            match text {
                ".inf" => Value::Float(f64::INFINITY),
                "-.inf" => Value::Float(f64::NEG_INFINITY),
                ".nan" => Value::Float(f64::NAN),
                text => Value::Text(text.to_owned()),
            }
            .into()
        }
        Json::Object(entries) => Value::Map(
            entries
                .iter()
                .map(|(key, value)| (plain_key(key), node_of(value)))
                .collect(),
        )
        .into(),
        Json::Array(items) => Value::List(items.iter().map(node_of).collect()).into(),
        other => Value::from_json(other.clone()).into(),
    }
}

fn plain_key(key: &str) -> String {
    match key.strip_prefix("$key:") {
        Some("null") => "null".to_owned(),
        Some(typed) => typed
            .split_once(':')
            .map_or(typed, |(_, key)| key)
            .to_owned(),
        None => key.to_owned(),
    }
}

/// The typed settings of a tree, read as if it were `config.yaml` of the current version.
pub(crate) fn typed(tree: &Node) -> Config {
    let mut tree = tree.clone();
    let map = tree.map_mut();
    map.insert("_config_version", Value::Int(33).into());
    let home = TempHome::with_config(hermes_config::to_yaml(&tree.value));
    home.load().config
}

/// Compares two configurations and names the keys that differ.
#[track_caller]
pub(crate) fn check_same(case: &str, got: &Config, wanted: &Config) {
    let mut differences = Vec::new();
    let [got, wanted] = [got, wanted].map(|config| config.to_value().to_json());
    compare("", &got, &wanted, &mut differences);
    // Our default differs from the reference's, so its files cannot tell "unset" from "off".
    differences.retain(|line: &String| !line.starts_with("display.streaming:"));
    assert!(
        differences.is_empty(),
        "{case}:\n{}",
        differences.join("\n")
    );
}

fn compare(path: &str, got: &Json, wanted: &Json, differences: &mut Vec<String>) {
    if let (Json::Object(a), Json::Object(b)) = (got, wanted) {
        let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
        for key in keys {
            let path = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            };
            let none = Json::Null;
            compare(
                &path,
                a.get(key).unwrap_or(&none),
                b.get(key).unwrap_or(&none),
                differences,
            );
        }
    } else if got != wanted {
        differences.push(format!("{path}: {got} instead of {wanted}"));
    }
}
