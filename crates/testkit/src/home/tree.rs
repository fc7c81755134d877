//! Listing a directory tree with hashes, to prove that a command left it alone.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use sha2::{Digest as _, Sha256};

const MAX_ENTRIES: usize = 100_000;

/// Relative path to kind, mode and content hash, for everything below `root`.
pub(super) fn list(root: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut entries = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        let listing = fs::read_dir(&directory)
            .with_context(|| format!("could not list {}", directory.display()))?;
        for entry in listing {
            let path = entry?.path();
            let metadata = fs::symlink_metadata(&path)?;
            let mode = metadata.permissions().mode() & 0o7777;
            let description = if metadata.is_dir() {
                open.push(path.clone());
                format!("dir {mode:04o}")
            } else if metadata.is_symlink() {
                format!("link {}", fs::read_link(&path)?.display())
            } else if metadata.is_file() {
                format!("file {mode:04o} {}", file_hash(&path)?)
            } else {
                format!("special {mode:04o}")
            };
            let relative = path.strip_prefix(root)?.to_string_lossy().into_owned();
            entries.insert(relative, description);
            ensure!(
                entries.len() <= MAX_ENTRIES,
                "{} has more than {MAX_ENTRIES} entries",
                root.display()
            );
        }
    }
    Ok(entries)
}

/// One hash over a listing.
pub(super) fn hash(entries: &BTreeMap<String, String>) -> anyhow::Result<String> {
    Ok(hex(&Sha256::digest(serde_json::to_vec(entries)?)))
}

fn file_hash(path: &Path) -> anyhow::Result<String> {
    let context = || format!("could not read {}", path.display());
    let mut file = File::open(path).with_context(context)?;
    let mut hasher = Sha256::new();
    let mut buffer = [0_u8; 16 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hex(&hasher.finalize())),
            Ok(length) => hasher.update(buffer.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).with_context(context),
        }
    }
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
