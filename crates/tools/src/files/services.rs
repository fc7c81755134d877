//! What the file tools of one session are made from.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_core::{Tool, ToolContext, ToolError};
use hermes_policy::{CrossProfile, FileRules, may_read, may_write};
use hermes_secrets::{RedactorHandle, Scope, markers};
use serde_json::{Value as Json, json};

use super::resolve::{named, resolve};
use super::seen::State;
use super::{FileFault, FileRegistry, Lint, Seen, stamp};
use crate::checkpoints::Checkpoints;
use crate::patch::Patch;
use crate::read_file::ReadFile;
use crate::search_files::SearchFiles;
use crate::write_file::WriteFile;

/// How much of a file one call shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// Most lines of one read.
    pub lines: usize,
    /// Most characters of one line.
    pub line_length: usize,
    /// Most characters of one read.
    pub characters: usize,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self {
            lines: 2_000,
            line_length: 2_000,
            characters: 100_000,
        }
    }
}

/// What the file tools of one session are made from.
#[derive(Clone)]
pub struct FileServices {
    /// What may be touched.
    pub rules: Arc<FileRules>,
    /// Who wrote what; one for the whole process.
    pub registry: Arc<FileRegistry>,
    /// Masks secrets in what is read.
    pub redactor: RedactorHandle,
    /// How much is masked besides known values.
    pub masking: Scope,
    /// Snapshots before changes, when they are switched on.
    pub checkpoints: Option<Arc<Checkpoints>>,
    /// How much is shown.
    pub limits: FileLimits,
    /// What `~` stands for.
    pub user_home: Option<PathBuf>,
    /// The Python interpreter that checks changed programs, when there is one.
    pub python: Option<PathBuf>,
}

impl Default for FileServices {
    /// Only the rules that hold everywhere, no snapshots, usual limits.
    fn default() -> Self {
        Self {
            rules: Arc::default(),
            registry: FileRegistry::new(),
            redactor: RedactorHandle::default(),
            masking: Scope::Code,
            checkpoints: None,
            limits: FileLimits::default(),
            user_home: None,
            python: None,
        }
    }
}

/// The file tools of one session and what they remember together.
#[derive(Clone)]
pub struct FileTools {
    shared: Arc<Shared>,
}

impl FileTools {
    /// Tools that have seen nothing yet.
    pub fn new(services: FileServices) -> Self {
        let shared = Arc::new(Shared {
            services,
            seen: Mutex::default(),
        });
        Self { shared }
    }

    /// `read_file` alone.
    pub fn read_file(&self) -> Arc<dyn Tool> {
        Arc::new(ReadFile::new(self.shared.clone()))
    }

    /// All four.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        vec![
            Arc::new(Patch::new(self.shared.clone())),
            self.read_file(),
            Arc::new(SearchFiles::new(self.shared.clone())),
            Arc::new(WriteFile::new(self.shared.clone())),
        ]
    }

    /// The conversation was made shorter: what was read before may be read again.
    pub fn forget_texts(&self) {
        self.shared.seen().forget_texts();
    }

    /// Another tool was called: repeating a read after it is not going in circles.
    pub fn other_call(&self) {
        self.shared.seen().other_call();
    }
}

/// What the file tools share.
pub(crate) struct Shared {
    pub(crate) services: FileServices,
    seen: Mutex<Seen>,
}

impl Shared {
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn lint(&self) -> Lint {
        Lint {
            python: self.services.python.clone(),
        }
    }

    /// The path a call names, before links are followed.
    pub(crate) fn named(&self, text: &str, context: &ToolContext) -> PathBuf {
        named(text, &context.directory, self.services.user_home.as_deref())
    }

    /// The file a call may read.
    pub(crate) fn readable(&self, text: &str, context: &ToolContext) -> Result<PathBuf, ToolError> {
        let place = resolve(&self.named(text, context)).map_err(failed)?;
        may_read(place.names(), &self.services.rules)
            .map_err(|refusal| refused(refusal.to_string()))?;
        Ok(place.real)
    }

    /// The file a call may write.
    pub(crate) fn writable(
        &self,
        text: &str,
        context: &ToolContext,
        cross_profile: bool,
    ) -> Result<PathBuf, ToolError> {
        let place = resolve(&self.named(text, context)).map_err(failed)?;
        let cross = if cross_profile {
            CrossProfile::Allow
        } else {
            CrossProfile::Refuse
        };
        may_write(place.names(), &self.services.rules, cross)
            .map_err(|refusal| refused(refusal.to_string()))?;
        Ok(place.real)
    }

    /// Refuses text with a marker in place of a secret, unless the file has that very marker: writing it
    /// would put the marker where the secret is.
    pub(crate) fn check_markers(&self, new: &str, old: Option<&str>) -> Result<(), ToolError> {
        let unknown = markers(new).find(|label| {
            let marker = format!("[redacted:{label}]");
            !old.is_some_and(|old| old.contains(&marker))
        });
        match unknown {
            None => Ok(()),
            Some(label) => Err(refused(format!(
                "the text contains [redacted:{label}], which stands for a secret you were not shown; writing it would \
                 destroy the secret. Leave that part of the file alone and change the rest with patch."
            ))),
        }
    }

    /// What is worth knowing about a file before it is changed, most important first.
    pub(crate) fn warning(
        &self,
        path: &Path,
        asked: &str,
        context: &ToolContext,
    ) -> Option<String> {
        let state = self.seen().state(path);
        let name = path.display();
        if let Some(state) = state {
            let other = self.services.registry.last_write(path);
            if other.is_some_and(|write| write.at > state.moment && write.by != context.session) {
                return Some(format!(
                    "another agent changed {name} after you read it; read it again before you go on"
                ));
            }
            if stamp(path).is_ok_and(|now| now != state.stamp) {
                return Some(format!(
                    "{name} was changed outside after you read it; read it again before you go on"
                ));
            }
            if state.partial {
                return Some(format!("you have seen only a part of {name}"));
            }
        }
        let workspace = resolve(&context.directory).ok()?.real;
        (Path::new(asked.trim()).is_relative()
            && !asked.trim().starts_with('~')
            && !path.starts_with(&workspace))
        .then(|| format!("{asked} leads outside the working directory, to {name}"))
    }

    /// Takes down that this session wrote a file.
    pub(crate) fn wrote(&self, path: &Path, context: &ToolContext) {
        self.services.registry.wrote(path, &context.session);
        let moment = self.services.registry.moment();
        let mut seen = self.seen();
        seen.hit(path);
        if let Ok(stamp) = stamp(path) {
            let state = State {
                stamp,
                moment,
                partial: false,
            };
            seen.saw(path, state);
        }
    }

    /// Takes a snapshot, if they are switched on. Never fails the change.
    pub(crate) async fn before_change(&self, paths: &[PathBuf], context: &ToolContext) {
        if let Some(checkpoints) = &self.services.checkpoints {
            for path in paths {
                let directory = path.parent().unwrap_or(Path::new("/"));
                checkpoints
                    .before_change(directory, &context.session, context.turn, &context.cancel)
                    .await;
            }
        }
    }
}

/// A failure the model is told about.
pub(crate) fn failed(fault: FileFault) -> ToolError {
    match fault {
        FileFault::Stopped => ToolError::Cancelled,
        fault => refused(fault.to_string()),
    }
}

/// A refusal in the form all file tools answer in.
pub(crate) fn refused(reason: impl Into<String>) -> ToolError {
    refused_with(json!({ "error": reason.into() }))
}

/// A refusal with more fields.
pub(crate) fn refused_with(answer: Json) -> ToolError {
    ToolError::ForModel {
        message: answer.to_string(),
    }
}
