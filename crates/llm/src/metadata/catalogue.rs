//! `models_dev_cache.json`: what a public list of models says, as it was last fetched.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::Deserialize;

/// No list is longer; what is, is not one.
const MOST_BYTES: u64 = 32 << 20;

/// A list on disk. It is large, so it is read only when somebody asks for something in it.
#[derive(Debug)]
pub struct Catalogue {
    path: PathBuf,
    providers: OnceLock<BTreeMap<String, Provider>>,
}

#[derive(Debug, Deserialize)]
struct Provider {
    #[serde(default)]
    models: BTreeMap<String, Model>,
}

#[derive(Debug, Deserialize)]
struct Model {
    #[serde(default)]
    limit: Limit,
}

#[derive(Debug, Default, Deserialize)]
struct Limit {
    #[serde(default)]
    context: u32,
}

impl Catalogue {
    /// The list in a file, which need not be there.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            providers: OnceLock::new(),
        }
    }

    /// The window of a model: as its provider lists it, or else as anybody lists a model of that name.
    pub fn window(&self, provider: &str, model: &str) -> Option<u32> {
        let providers = self.providers.get_or_init(|| self.read());
        let listed = |provider: &Provider| {
            let window = provider.models.get(model)?.limit.context;
            (window > 0).then_some(window)
        };
        let own = providers.get(provider).and_then(listed);
        own.or_else(|| providers.values().find_map(listed))
    }

    /// It is a cache: what cannot be used teaches nothing.
    fn read(&self) -> BTreeMap<String, Provider> {
        let fits = std::fs::metadata(&self.path).is_ok_and(|facts| facts.len() <= MOST_BYTES);
        if !fits {
            return BTreeMap::new();
        }
        let text = std::fs::read(&self.path).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }
}
