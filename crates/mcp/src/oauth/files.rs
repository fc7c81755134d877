//! The files of a login, in the places and forms the reference keeps them.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hermes_config::{
    FileError, FileLock, create_directory, lock_file, read_file, replace_secret_file,
};
use serde_json::{Map, Value as Json};

use super::error::OAuthError;
use super::tokens::Tokens;

/// How long a process waits for another one that renews the token; longer than an exchange may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// Most characters of a name.
const LONGEST: usize = 128;
const PRIVATE_FOLDER: u32 = 0o700;

/// The files of one server. Everything here blocks.
#[derive(Debug, Clone)]
pub struct TokenFiles {
    folder: PathBuf,
    stem: String,
}

/// Which version of the token file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: SystemTime,
    length: u64,
    inode: u64,
    /// Also moves when the file becomes readable.
    touched: (i64, i64),
}

/// What the names of a server's files begin with.
pub fn file_stem(server: &str) -> String {
    let legal = |c: char| {
        if c.is_alphanumeric() || c == '_' || c == '-' {
            c
        } else {
            '_'
        }
    };
    let name: String = server.chars().map(legal).collect();
    let name: String = name.trim_matches('_').chars().take(LONGEST).collect();
    if name.is_empty() {
        "default".to_owned()
    } else {
        name
    }
}

impl TokenFiles {
    /// The files of a server below a home.
    pub fn new(home: &Path, server: &str) -> Self {
        Self {
            folder: home.join("mcp-tokens"),
            stem: file_stem(server),
        }
    }

    /// Whether a token is kept.
    pub fn has_tokens(&self) -> bool {
        self.path("json").exists()
    }

    /// Removes everything about the server, when it is removed itself.
    pub fn remove(&self) -> Result<(), OAuthError> {
        for ending in [
            "json",
            "client.json",
            "meta.json",
            "client.json.bak",
            "lock",
        ] {
            remove(&self.path(ending))?;
        }
        Ok(())
    }

    /// The token file.
    pub fn token_file(&self) -> PathBuf {
        self.path("json")
    }

    /// Waits for other processes and keeps them out.
    pub(super) fn lock(&self) -> Result<FileLock, OAuthError> {
        self.folder()?;
        lock_file(&self.path("lock"), PATIENCE)?.ok_or(OAuthError::Busy)
    }

    pub(super) fn stamp(&self) -> Option<Stamp> {
        let found = fs::metadata(self.path("json")).ok()?;
        Some(Stamp {
            modified: found.modified().ok()?,
            length: found.len(),
            inode: found.ino(),
            touched: (found.ctime(), found.ctime_nsec()),
        })
    }

    /// The tokens; a file that cannot be read counts as none and stays.
    pub(super) fn tokens(&self) -> Result<Option<Tokens>, OAuthError> {
        let path = self.path("json");
        let written = self.stamp().and_then(|stamp| {
            let since = stamp.modified.duration_since(SystemTime::UNIX_EPOCH);
            since.ok()
        });
        let Some(bytes) = read_file(&path)? else {
            return Ok(None);
        };
        let tokens = Tokens::kept(&bytes, written);
        if tokens.is_none() {
            tracing::warn!("{} holds no token; it was left as it is", path.display());
        }
        Ok(tokens)
    }

    pub(super) fn save_tokens(&self, tokens: &Tokens) -> Result<(), OAuthError> {
        self.save("json", &tokens.to_bytes())
    }

    pub(super) fn client(&self) -> Result<Option<Map<String, Json>>, OAuthError> {
        self.object("client.json")
    }

    pub(super) fn save_client(&self, client: &Map<String, Json>) -> Result<(), OAuthError> {
        self.save_object("client.json", client)
    }

    pub(super) fn metadata(&self) -> Result<Option<Map<String, Json>>, OAuthError> {
        self.object("meta.json")
    }

    pub(super) fn save_metadata(&self, metadata: &Map<String, Json>) -> Result<(), OAuthError> {
        self.save_object("meta.json", metadata)
    }

    /// Takes a registration the server no longer knows out of use. A copy stays, and so do the tokens.
    pub(super) fn discard_client(&self) -> Result<(), OAuthError> {
        if let Some(bytes) = read_file(&self.path("client.json"))? {
            self.save("client.json.bak", &bytes)?;
        }
        remove(&self.path("client.json"))?;
        remove(&self.path("meta.json"))
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.stem))
    }

    fn folder(&self) -> Result<(), OAuthError> {
        create_directory(&self.folder)?;
        // One that was made by hand may be open to others.
        let mode = fs::metadata(&self.folder).map(|found| found.permissions().mode() & 0o777);
        if mode.is_ok_and(|mode| mode & 0o077 != 0) {
            fs::set_permissions(&self.folder, fs::Permissions::from_mode(PRIVATE_FOLDER))
                .map_err(|source| denied(&self.folder, source))?;
        }
        Ok(())
    }

    fn save(&self, ending: &str, bytes: &[u8]) -> Result<(), OAuthError> {
        self.folder()?;
        Ok(replace_secret_file(&self.path(ending), bytes)?)
    }

    fn object(&self, ending: &str) -> Result<Option<Map<String, Json>>, OAuthError> {
        let bytes = read_file(&self.path(ending))?;
        // What cannot be read is asked for again.
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    fn save_object(&self, ending: &str, object: &Map<String, Json>) -> Result<(), OAuthError> {
        let text = format!("{:#}\n", Json::Object(object.clone()));
        self.save(ending, text.as_bytes())
    }
}

fn remove(path: &Path) -> Result<(), OAuthError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(denied(path, source)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn denied(path: &Path, source: io::Error) -> OAuthError {
    FileError::Denied {
        path: path.to_owned(),
        source,
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_harmless() {
        assert_eq!(file_stem("my-server_1"), "my-server_1");
        assert_eq!(file_stem("../a b/c"), "a_b_c");
        assert_eq!(file_stem("///"), "default");
        assert_eq!(file_stem(&"x".repeat(300)).len(), 128);
    }
}
