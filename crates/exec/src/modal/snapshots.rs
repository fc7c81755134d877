//! Which picture of a sandbox's files is the last one, in the file that the reference keeps too.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// No such file is longer.
const MAX_FILE: u64 = 4 << 20;

/// The file with the last snapshot of every task.
#[derive(Clone)]
pub(super) struct Snapshots {
    path: PathBuf,
}

impl Snapshots {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// The last snapshot of the task, if its sandbox was made as `making` says. One that does not say how its sandbox
    /// was made comes from the reference and is taken as it is.
    pub(super) fn last(&self, task: &str, making: &str) -> Option<String> {
        let all = self.read().ok()?;
        let known = all.get(&made(task)).and_then(Value::as_str);
        if known.is_some_and(|known| known != making) {
            return None;
        }
        all.get(&key(task))?.as_str().map(str::to_owned)
    }

    /// Writes the last snapshot down.
    pub(super) fn keep(&self, task: &str, making: &str, image: &str) -> io::Result<()> {
        let mut all = self.read()?;
        all.insert(key(task), image.into());
        all.insert(made(task), making.into());
        self.write(&all)
    }

    /// Forgets a snapshot that cannot be used.
    pub(super) fn forget(&self, task: &str) -> io::Result<()> {
        let mut all = self.read()?;
        all.remove(&key(task));
        all.remove(&made(task));
        self.write(&all)
    }

    fn read(&self) -> io::Result<Map<String, Value>> {
        match std::fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
            Err(error) => return Err(error),
            Ok(data) if data.len() > MAX_FILE => return Err(io::ErrorKind::FileTooLarge.into()),
            Ok(_) => {}
        }
        Ok(serde_json::from_slice(&std::fs::read(&self.path)?)?)
    }

    fn write(&self, all: &Map<String, Value>) -> io::Result<()> {
        let draft = self
            .path
            .with_extension(format!("json.{}", std::process::id()));
        std::fs::write(&draft, serde_json::to_vec_pretty(all)?)?;
        std::fs::rename(draft, &self.path)
    }
}

fn key(task: &str) -> String {
    format!("direct:{task}")
}

fn made(task: &str) -> String {
    format!("direct:{task}:config")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_found_again_unless_the_sandbox_would_be_made_differently() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("modal_snapshots.json");
        std::fs::write(&path, r#"{"direct:old": "im-1", "managed:x": "kept"}"#).unwrap();
        let snapshots = Snapshots::new(&path);
        assert_eq!(snapshots.last("old", "a").as_deref(), Some("im-1"));
        snapshots.keep("new", "a", "im-2").unwrap();
        assert_eq!(snapshots.last("new", "a").as_deref(), Some("im-2"));
        assert_eq!(snapshots.last("new", "b"), None);
        snapshots.forget("new").unwrap();
        assert_eq!(snapshots.last("new", "a"), None);
        let left: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(
            left,
            serde_json::json!({"direct:old": "im-1", "managed:x": "kept"})
        );
        // What is not understood is not replaced.
        std::fs::write(&path, "[").unwrap();
        assert!(snapshots.keep("new", "a", "im-3").is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"[");
    }
}
