//! Which credentials other processes have in hand. Whoever borrows one of several marks it by a lock on a file, which
//! belongs to the borrower alone: it ends with the process, however that ends.

use std::collections::HashSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use hermes_config::create_directory;

use super::file::AuthFile;
use super::hold::Hold;
use super::pool::{Credential, Kept};
use super::ring::{Keyring, Shared};
use super::row;

const PRIVATE: u32 = 0o600;
/// Characters of a name: enough to tell the credentials of one person apart.
const NAME: usize = 16;

/// Where the marks are.
#[derive(Debug, Clone)]
pub(super) struct Marks(PathBuf);

/// What others see for as long as it exists.
pub(super) struct Mark(#[expect(dead_code, reason = "closing the file gives the lock back")] File);

impl Marks {
    /// The marks of everybody who uses these files.
    pub(super) fn of(file: &AuthFile) -> Self {
        let home = file.shared_path().parent().unwrap_or(file.path());
        Self(home.join("cache").join("leases"))
    }

    /// Sets a mark. Where that cannot be done, others do not know, and may share the credential. Blocks.
    fn set(&self, name: &str) -> Option<Mark> {
        create_directory(&self.0).ok()?;
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(PRIVATE)
            .open(self.0.join(name))
            .ok()?;
        // Nobody but those who look locks it for themselves, and a look is over at once.
        file.lock_shared().ok()?;
        Some(Mark(file))
    }

    /// Whether somebody has set this mark. Blocks.
    fn is_set(&self, name: &str) -> bool {
        // Without a file nobody ever did.
        File::open(self.0.join(name))
            .is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }
}

/// What all processes call a credential. One that is kept elsewhere is known by its value: the same variable may
/// have another one there.
fn name(provider: &str, credential: &Credential) -> String {
    let own = match credential.kept {
        Kept::Outside => &credential.fingerprint,
        Kept::In(_) => &credential.id,
    };
    let hash = row::sha256(&format!("{provider}\n{own}"));
    let name: String = hash.chars().take(NAME).collect();
    format!("{name}.lock")
}

impl Keyring {
    /// The credentials of a provider that nobody here has in hand, but somebody elsewhere.
    pub(super) async fn elsewhere(&self, provider: &str) -> HashSet<String> {
        let free = self.shared.unheld(provider);
        if free.is_empty() {
            return HashSet::new();
        }
        let marks = self.shared.marks.clone();
        let look = move || {
            let set = free.into_iter().filter(|(_, name)| marks.is_set(name));
            set.map(|(id, _)| id).collect()
        };
        // A look is neither cancelled nor panics; if the runtime is going down, so are we.
        tokio::task::spawn_blocking(look).await.unwrap_or_default()
    }

    /// Lets other processes see that a credential is in hand, where they could take another one.
    pub(super) async fn tell_others(&self, provider: &str, id: &str, hold: &Hold) {
        let Some(name) = self.shared.name_among_several(provider, id) else {
            return;
        };
        let marks = self.shared.marks.clone();
        let set = tokio::task::spawn_blocking(move || marks.set(&name)).await;
        if let Ok(Some(mark)) = set {
            hold.show(mark);
        }
    }
}

impl Shared {
    /// The ids and names of those that nobody here has in hand, unless there is only one credential at all.
    fn unheld(&self, provider: &str) -> Vec<(String, String)> {
        let state = self.state();
        let pool = state.pools.get(provider);
        let all = pool.map_or(&[][..], |pool| pool.credentials.as_slice());
        if all.len() < 2 {
            return Vec::new();
        }
        all.iter()
            .filter(|credential| !state.held.has(provider, &credential.id))
            .map(|credential| (credential.id.clone(), name(provider, credential)))
            .collect()
    }

    fn name_among_several(&self, provider: &str, id: &str) -> Option<String> {
        let state = self.state();
        let pool = state.pools.get(provider)?;
        let several = pool.credentials.len() > 1;
        let credential = pool.find(id).filter(|_| several)?;
        Some(name(provider, credential))
    }
}
