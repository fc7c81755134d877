//! Media by content hash, in files beside the database.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::StoreError;

/// A folder of files named by the SHA-256 of their content.
#[derive(Debug, Clone)]
pub struct Blobs {
    folder: PathBuf,
}

impl Blobs {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Keeps the bytes and returns their hash; the same bytes are kept once.
    pub fn put(&self, bytes: &[u8]) -> Result<String, StoreError> {
        let hash = hex(&Sha256::digest(bytes));
        let path = self.path(&hash);
        if path.exists() {
            return Ok(hash);
        }
        let failed = |source| StoreError::File {
            path: path.clone(),
            source,
        };
        let folder = path.parent().unwrap_or(&self.folder);
        private_folder(folder).map_err(failed)?;
        let scratch = folder.join(format!("{hash}.{}.tmp", std::process::id()));
        let mut file = private_file(&scratch).map_err(failed)?;
        file.write_all(bytes)
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&scratch, &path))
            .map_err(failed)?;
        sync_folder(folder);
        Ok(hash)
    }

    /// The bytes behind a hash, checked against it.
    pub fn get(&self, hash: &str) -> Result<Vec<u8>, StoreError> {
        let path = self.path(hash);
        let bytes = fs::read(&path).map_err(|source| StoreError::File {
            path: path.clone(),
            source,
        })?;
        if hex(&Sha256::digest(&bytes)) == hash {
            Ok(bytes)
        } else {
            Err(StoreError::Damaged {
                path,
                detail: "the content does not match its name".to_owned(),
            })
        }
    }

    pub fn contains(&self, hash: &str) -> bool {
        self.path(hash).exists()
    }

    /// Where a hash is kept: `ab/abcdef…`.
    pub fn path(&self, hash: &str) -> PathBuf {
        // Only hex digits may reach the file system, whatever a row says.
        let safe: String = hash.chars().filter(char::is_ascii_hexdigit).collect();
        self.folder.join(safe.get(..2).unwrap_or("")).join(safe)
    }

    pub(crate) fn remove(&self, hash: &str) -> Result<(), StoreError> {
        let path = self.path(hash);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::File { path, source })
            }
            _ => Ok(()),
        }
    }

    /// Every hash in the folder.
    pub(crate) fn all(&self) -> Vec<String> {
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
        entries(&self.folder)
            .flat_map(|shelf| entries(&shelf.path()).collect::<Vec<_>>())
            .filter_map(|file| file.file_name().into_string().ok())
            .filter(|name| name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit()))
            .collect()
    }
}

/// What people send is for the owner of the home only.
#[cfg(unix)]
fn private_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(unix)]
fn private_file(path: &Path) -> std::io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}

#[cfg(not(unix))]
fn private_folder(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(not(unix))]
fn private_file(path: &Path) -> std::io::Result<fs::File> {
    fs::File::create(path)
}

/// Makes a rename durable; not every file system can, and the content is safe either way.
fn sync_folder(folder: &Path) {
    if let Ok(handle) = fs::File::open(folder) {
        drop(handle.sync_all());
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
            // Writing to a string cannot fail.
            let _ = write!(out, "{byte:02x}");
            out
        })
}

impl hermes_core::MediaReader for Blobs {
    fn read(&self, hash: &str) -> Option<Vec<u8>> {
        self.get(hash).ok()
    }
}
