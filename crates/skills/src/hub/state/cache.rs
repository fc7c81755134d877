//! `index-cache/`: lists that were fetched a short while ago.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::State;
use crate::hub::name::slug;

/// Most files that are kept.
const MOST_FILES: usize = 100;

#[derive(Serialize, Deserialize)]
struct Kept<T> {
    /// In seconds since 1970.
    fetched_at: i64,
    /// What it is the answer to: names of files are shortened.
    about: String,
    body: T,
}

/// Something from the cache.
pub(crate) struct Cached<T> {
    pub(crate) body: T,
    /// Whether it is young enough to be used without asking again.
    pub(crate) fresh: bool,
}

impl State {
    /// What is kept about a question, however old.
    pub(crate) fn cached<T: DeserializeOwned>(
        &self,
        about: &str,
        life: Duration,
    ) -> Option<Cached<T>> {
        let bytes = hermes_config::read_file(&self.cache_path(about)).ok()??;
        let kept: Kept<T> = serde_json::from_slice(&bytes).ok()?;
        if kept.about != about {
            return None;
        }
        let age = self.clock().now().as_second().checked_sub(kept.fetched_at);
        // A time to come is a clock that was set back, not something young.
        let age = age.and_then(|age| u64::try_from(age).ok());
        let fresh = age.is_some_and(|age| age < life.as_secs());
        Some(Cached {
            body: kept.body,
            fresh,
        })
    }

    /// Keeps an answer. It is only a convenience, so a failure is logged and no more.
    pub(crate) fn keep<T: Serialize>(&self, about: &str, body: &T) {
        let kept = Kept {
            fetched_at: self.clock().now().as_second(),
            about: about.to_owned(),
            body,
        };
        let path = self.cache_path(about);
        let written = self.create().and_then(|()| {
            let directory = self.cache();
            hermes_config::create_directory(&directory)?;
            make_room(&directory);
            let bytes = serde_json::to_vec(&kept).unwrap_or_default();
            Ok(hermes_config::replace_file(&path, &bytes)?)
        });
        if let Err(error) = written {
            tracing::debug!("a list of skills was not kept: {error}");
        }
    }

    fn cache(&self) -> PathBuf {
        self.hub().join("index-cache")
    }

    fn cache_path(&self, about: &str) -> PathBuf {
        // Two questions may share a name; the one asked last is kept.
        self.cache().join(format!("{}.json", slug(about)))
    }
}

/// Removes the oldest files when there are too many.
fn make_room(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    let mut files: Vec<_> = entries
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    if files.len() < MOST_FILES {
        return;
    }
    files.sort();
    for (_, path) in files.iter().take(files.len() + 1 - MOST_FILES) {
        // What cannot be removed now is removed by the next one.
        let _ = fs::remove_file(path);
    }
}
