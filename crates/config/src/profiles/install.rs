//! Installing a distribution as a new profile.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::copy::{copy_file, open_plain};
use super::create::furnish;
use super::distribution::{ENV_EXAMPLE, MANIFEST, recorded};
use super::error::ProfileError;
use super::{Made, Note, Payload, Profiles};
use crate::files;
use crate::home::ProfileName;

/// What was installed, so that an update can tell the user's changes from the author's.
pub(super) const LEDGER: &str = ".distribution.json";

/// Relative path to the hash of the file as it was installed.
pub(super) type Ledger = BTreeMap<PathBuf, String>;

impl Profiles {
    /// Installs a distribution as a new profile. `source` is where an update will look.
    pub fn install(
        &self,
        payload: &Payload,
        name: &ProfileName,
        source: &str,
    ) -> Result<Made, ProfileError> {
        let home = self.free_home(name)?;
        let staging = self.staging()?;
        let staged = staging.path().join("profile");
        files::create_directory(&staged)?;
        let ledger = stage(payload, source, &staged)?;
        write_ledger(&staged, &ledger)?;
        furnish(&staged)?;
        self.settle(&staged, &home)?;
        Ok(Made {
            home,
            notes: left_out(payload),
        })
    }
}

/// Copies the files of a distribution to an empty directory, with the manifest and the sample of `.env`.
pub(super) fn stage(
    payload: &Payload,
    source: &str,
    target: &Path,
) -> Result<Ledger, ProfileError> {
    let mut ledger = Ledger::new();
    for relative in &payload.files {
        let place = target.join(relative);
        if let Some(directory) = place.parent() {
            files::create_directory(directory)?;
        }
        copy_file(&payload.directory.join(relative), &place)?;
        ledger.insert(relative.clone(), hash(&place)?);
    }
    let manifest = recorded(&payload.directory, source)?;
    files::replace(&target.join(MANIFEST), manifest.as_bytes())?;
    if let Some(example) = payload.manifest.env_example() {
        files::replace(&target.join(ENV_EXAMPLE), example.as_bytes())?;
    }
    Ok(ledger)
}

pub(super) fn left_out(payload: &Payload) -> Vec<Note> {
    payload
        .ignored
        .iter()
        .map(|path| Note::PrivateLeftOut { path: path.clone() })
        .collect()
}

pub(super) fn write_ledger(profile: &Path, ledger: &Ledger) -> Result<(), ProfileError> {
    let entries: serde_json::Map<_, _> = ledger
        .iter()
        .map(|(path, hash)| (path.to_string_lossy().into_owned(), hash.clone().into()))
        .collect();
    let text = format!("{:#}\n", serde_json::Value::Object(entries));
    Ok(files::replace(&profile.join(LEDGER), text.as_bytes())?)
}

/// What was installed; nothing when that is not known, so that every file counts as the user's.
pub(super) fn read_ledger(profile: &Path) -> Result<Ledger, ProfileError> {
    let bytes = files::read(&profile.join(LEDGER))?.unwrap_or_default();
    let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let entries = json.as_object().into_iter().flatten();
    Ok(entries
        .filter_map(|(path, hash)| Some((PathBuf::from(path), hash.as_str()?.to_owned())))
        .collect())
}

pub(super) fn hash(path: &Path) -> Result<String, ProfileError> {
    let (mut file, _) = open_plain(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = file.read(&mut buffer).map_err(ProfileError::disk(path))?;
        let bytes = buffer.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            let digest = hasher.finalize();
            return Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        hasher.update(bytes);
    }
}
