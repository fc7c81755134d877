//! `context_length_cache.yaml`: windows that refusals taught us, by model and address.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use hermes_config::{
    FileError, Layer, Map, Node, Value, lock_file, parse, read_file, replace_file, to_yaml,
};
use url::Url;

/// The key everything stands under.
const SECTION: &str = "context_lengths";

/// Smaller numbers are mistakes.
const LEAST: u32 = 1_024;

/// How long a change waits for another one.
const PATIENCE: Duration = Duration::from_secs(2);

/// Learned windows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Learned {
    windows: BTreeMap<String, u32>,
}

impl Learned {
    /// Reads the file; a missing one, or one that is not YAML, teaches nothing.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let bytes = read_file(path)?.unwrap_or_default();
        Ok(Self::from_yaml(&String::from_utf8_lossy(&bytes)))
    }

    /// Reads the text. It is a cache: what cannot be used is left out.
    pub fn from_yaml(text: &str) -> Self {
        let node = parse(text, Layer::File).unwrap_or_default();
        let inner = node.child(SECTION).unwrap_or(&node);
        let entries = inner.value.as_map().into_iter().flat_map(Map::iter);
        let windows = entries.filter_map(|(key, node)| {
            let window = match node.value {
                Value::Int(number) => u32::try_from(number).ok(),
                _ => None,
            };
            let window = window.filter(|window| *window >= LEAST)?;
            Some((key.to_owned(), window))
        });
        Self {
            windows: windows.collect(),
        }
    }

    /// The window of a model at an address.
    pub fn window(&self, model: &str, base: &Url) -> Option<u32> {
        self.windows.get(&key(model, base)).copied()
    }

    /// Remembers one.
    pub fn learn(&mut self, model: &str, base: &Url, window: u32) {
        self.windows.insert(key(model, base), window);
    }

    /// Adds one to what the file holds by now: other processes learn too, and nothing of theirs is lost. Says
    /// whether it was kept; whoever holds the file for long is not waited for.
    pub fn keep(path: &Path, model: &str, base: &Url, window: u32) -> Result<bool, FileError> {
        let Some(_lock) = lock_file(&path.with_extension("lock"), PATIENCE)? else {
            return Ok(false);
        };
        let mut now = Self::read(path)?;
        now.learn(model, base, window);
        replace_file(path, now.to_yaml().as_bytes())?;
        Ok(true)
    }

    /// The text of the file.
    fn to_yaml(&self) -> String {
        let windows: Map = self
            .windows
            .iter()
            .map(|(key, window)| (key.clone(), Node::from(Value::Int(i64::from(*window)))))
            .collect();
        let mut root = Map::new();
        root.insert(SECTION, Node::from(Value::Map(windows)));
        to_yaml(&Value::Map(root))
    }
}

fn key(model: &str, base: &Url) -> String {
    let mut base = base.clone();
    base.set_query(None);
    format!("{model}@{}", base.as_str().trim_end_matches('/'))
}
