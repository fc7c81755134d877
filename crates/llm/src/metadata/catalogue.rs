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

impl Provider {
    fn window(&self, model: &str) -> Option<u32> {
        let window = self.models.get(model)?.limit.context;
        (window > 0).then_some(window)
    }
}

impl Catalogue {
    /// The list in a file, which need not be there.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            providers: OnceLock::new(),
        }
    }

    /// The window of a model as its provider lists it, with the vendor in its name or without.
    pub fn window(&self, provider: &str, model: &str) -> Option<u32> {
        let provider = self.providers().get(provider)?;
        let bare = model.split_once('/').map(|(_, bare)| bare);
        let names = [Some(model), bare].into_iter().flatten();
        names.filter_map(|name| provider.window(name)).next()
    }

    /// The window that most providers give a model of that name, the smaller of two that as many give. Resellers
    /// often give a model less than its maker does, so one of them alone says little.
    pub(super) fn usual_window(&self, model: &str) -> Option<u32> {
        let mut said: BTreeMap<u32, u32> = BTreeMap::new();
        let providers = self.providers().values();
        for window in providers.filter_map(|provider| provider.window(model)) {
            *said.entry(window).or_default() += 1;
        }
        let most = said.into_iter().rev().max_by_key(|(_, often)| *often);
        most.map(|(window, _)| window)
    }

    fn providers(&self) -> &BTreeMap<String, Provider> {
        self.providers.get_or_init(|| self.read())
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
