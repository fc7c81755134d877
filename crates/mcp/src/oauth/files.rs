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
use url::Url;

use super::error::OAuthError;
use super::metadata::RESOURCE;
use super::tokens::Tokens;
use super::wire::covers;

/// How long a process waits for another one that renews the token; longer than an exchange may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// Most characters of a name.
const LONGEST: usize = 128;
const PRIVATE_FOLDER: u32 = 0o700;

/// The files of one server. Everything here blocks.
///
/// Files are named after servers, and a name may get another address, or share its file with a name that
/// looks alike. What is kept says for which address it was got; anywhere else it counts as not there, and
/// stays until somebody signs in.
#[derive(Debug, Clone)]
pub struct TokenFiles {
    folder: PathBuf,
    stem: String,
    address: Option<Url>,
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
    /// The files of a server below a home, as far as they are for its address.
    pub fn new(home: &Path, server: &str, address: &str) -> Self {
        Self {
            folder: home.join("mcp-tokens"),
            stem: file_stem(server),
            address: Url::parse(address).ok(),
        }
    }

    /// Whether a token is kept that this server may see.
    pub fn has_tokens(&self) -> bool {
        self.path("json").exists() && self.elsewhere().is_ok_and(|other| other.is_none())
    }

    /// Removes everything about the server, when it is removed itself.
    pub fn remove(&self) -> Result<(), OAuthError> {
        if self.elsewhere()?.is_some() {
            return Ok(());
        }
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

    /// The address that what is kept was got for, when that is another one.
    pub(super) fn elsewhere(&self) -> Result<Option<String>, OAuthError> {
        let meta = self.object("meta.json")?;
        let named = meta.as_ref().and_then(resource);
        Ok(match (named, &self.address) {
            (Some(named), Some(address)) if covers(named, address) => None,
            (named, _) => named.map(str::to_owned),
        })
    }

    /// Writes down whose login this is. One of the reference does not say; it is of the server whose name
    /// it has, and from now on of no other.
    pub(super) fn claim(&self, resource_here: &str) -> Result<(), OAuthError> {
        let known = |meta: &Option<Map<String, Json>>| meta.as_ref().and_then(resource).is_some();
        if known(&self.object("meta.json")?) {
            return Ok(());
        }
        let _lock = self.lock()?;
        let meta = self.object("meta.json")?;
        if known(&meta) {
            return Ok(());
        }
        let mut meta = meta.unwrap_or_default();
        meta.insert(RESOURCE.to_owned(), Json::String(resource_here.to_owned()));
        self.save_metadata(&meta)
    }

    /// Why there is nothing to sign in with.
    pub(super) fn nobody(&self) -> String {
        match self.elsewhere() {
            Ok(Some(other)) => {
                format!("the login that is kept is for {other}, not for this address")
            }
            Ok(None) | Err(_) => "nobody has signed in to it yet".to_owned(),
        }
    }

    /// Takes what was got for another address out of the way of a new login.
    pub(super) fn make_way(&self) -> Result<(), OAuthError> {
        if self.elsewhere()?.is_none() {
            return Ok(());
        }
        self.discard_client()
    }

    /// The tokens; a file that cannot be read counts as none and stays.
    pub(super) fn tokens(&self) -> Result<Option<Tokens>, OAuthError> {
        if self.elsewhere()?.is_some() {
            return Ok(None);
        }
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
        self.own("client.json")
    }

    pub(super) fn save_client(&self, client: &Map<String, Json>) -> Result<(), OAuthError> {
        self.save_object("client.json", client)
    }

    pub(super) fn metadata(&self) -> Result<Option<Map<String, Json>>, OAuthError> {
        self.own("meta.json")
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

    fn own(&self, ending: &str) -> Result<Option<Map<String, Json>>, OAuthError> {
        match self.elsewhere()? {
            Some(_) => Ok(None),
            None => self.object(ending),
        }
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

fn resource(meta: &Map<String, Json>) -> Option<&str> {
    let named = meta.get(RESOURCE).and_then(Json::as_str);
    named.filter(|named| !named.is_empty())
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
