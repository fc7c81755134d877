//! A file of this machine as a document of OpenViking.

use std::path::{Path, PathBuf};

use hermes_policy::{FileRules, Names, may_read};
use http::Method;
use serde_json::{Value as Json, json};

use super::super::api::{Repeat, text_of};
use super::super::error::ProviderError;
use super::super::form::form;
use super::super::provider::Scene;
use super::super::tool::refused;
use super::OpenViking;

/// Most bytes of a file.
const LARGEST: u64 = 16 * 1024 * 1024;

impl OpenViking {
    /// Takes a file in: it is handed over first, and named then.
    pub(super) async fn add_file(
        &self,
        scene: &Scene,
        path: &str,
        reason: &str,
    ) -> Result<Json, ProviderError> {
        let (directory, asked) = (scene.directory.clone(), scene.directory.join(path));
        let rules = self.rules.clone();
        let read = tokio::task::spawn_blocking(move || read(&directory, &asked, &rules));
        let (name, bytes) = read
            .await
            .map_err(|_| refused("the file could not be read"))??;
        let body = form(&[], &name, "application/octet-stream", &bytes);
        let path = "api/v1/resources/temp_upload";
        let handed = self
            .api
            .send(Method::POST, path, &[], body, Repeat::Safe)
            .await?;
        let handed = handed.get("result").unwrap_or(&handed);
        // Older servers say where they put it instead.
        let mut keys = ["temp_file_id", "temp_path"].into_iter();
        let found = keys.find_map(|key| Some((key, text_of(handed, &[key])?)));
        let (key, id) =
            found.ok_or_else(|| refused("the server does not say where it put the file"))?;
        let named = json!({key: id, "source_name": name, "reason": reason});
        self.api.add("api/v1/resources", named).await
    }
}

/// The name and the bytes of a file that lies below the folder of the conversation and holds no secrets.
fn read(
    directory: &Path,
    asked: &Path,
    rules: &FileRules,
) -> Result<(String, Vec<u8>), ProviderError> {
    let shown = asked.display();
    let missing = || refused(format!("{shown} is not there"));
    let real = asked.canonicalize().map_err(|_| missing())?;
    let folder = directory.canonicalize().map_err(|_| missing())?;
    if !real.starts_with(&folder) {
        let folder = folder.display();
        return Err(refused(format!(
            "{shown} does not lie below {folder}; only files of the folder you work in are taken"
        )));
    }
    let hops: [PathBuf; 1] = [asked.to_owned()];
    let names = Names {
        real: &real,
        hops: &hops,
    };
    may_read(names, rules).map_err(|refusal| refused(refusal.to_string()))?;
    let about = std::fs::metadata(&real).map_err(|_| missing())?;
    if !about.is_file() {
        return Err(refused(format!(
            "{shown} is no file; name the files of a folder one by one"
        )));
    }
    if about.len() > LARGEST {
        return Err(refused(format!(
            "{shown} is larger than {} MiB",
            LARGEST >> 20
        )));
    }
    let bytes = std::fs::read(&real).map_err(|error| refused(format!("{shown}: {error}")))?;
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    Ok((name.into_owned(), bytes))
}
