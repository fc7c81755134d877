//! What the file tools of one session are made from.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_core::{Notice, Tool, ToolContext, ToolError};
use hermes_exec::{FileStamp, Files, FilesError, Located, NativeFiles};
use hermes_policy::{CrossProfile, FileRules, Names, PathRefusal, may_read, may_write};
use hermes_secrets::{RedactorHandle, Scope, markers};
use serde_json::{Value as Json, json};

use super::seen::State;
use super::{FileRegistry, FileSandbox, Lint, Seen};
use crate::checkpoints::Checkpoints;
use crate::lsp::{Changed, Diagnostics};
use crate::patch::Patch;
use crate::read_file::ReadFile;
use crate::search_files::SearchFiles;
use crate::workplace::{Workplace, no_checkpoint};
use crate::write_file::WriteFile;

/// The largest file that is edited.
pub(crate) const LARGEST: u64 = 256 << 20;
/// Where our own home is on another machine, below the user's.
const HOME_THERE: &str = ".hermes";

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
    /// Where the files are.
    pub files: Arc<dyn Files>,
    /// Where relative paths start when that is not the directory of the call, such as where the session's
    /// shell is now.
    pub directory: Option<Arc<dyn Fn() -> PathBuf + Send + Sync>>,
    /// Directories of this machine with results that were too long for the conversation. What is in them can
    /// be read also when all other files are elsewhere.
    pub kept_results: Vec<PathBuf>,
    /// What may be touched. Rules about the homes are moved to where the files are.
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
    /// The sandbox of commands, which these tools keep to as well. Only on this machine.
    pub sandbox: Option<FileSandbox>,
    /// Where programs run that check changed files, as confined as commands; without it only settings and data
    /// are checked.
    pub place: Option<Arc<Workplace>>,
    /// Language servers that look at changed files. Only on this machine.
    pub diagnostics: Option<Diagnostics>,
}

impl Default for FileServices {
    /// This machine's files, only the rules that hold everywhere, no snapshots, usual limits.
    fn default() -> Self {
        Self {
            files: Arc::new(NativeFiles::default()),
            directory: None,
            kept_results: Vec::new(),
            rules: Arc::default(),
            registry: FileRegistry::new(),
            redactor: RedactorHandle::default(),
            masking: Scope::Code,
            checkpoints: None,
            limits: FileLimits::default(),
            place: None,
            sandbox: None,
            diagnostics: None,
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
}

/// What the file tools share.
pub(crate) struct Shared {
    pub(crate) services: FileServices,
    seen: Mutex<Seen>,
}

/// A file that may be read.
pub(crate) struct Readable {
    pub(crate) place: Located,
    /// The files it is among.
    pub(crate) files: Arc<dyn Files>,
    /// Whether it is a result that was too long for the conversation.
    pub(crate) is_kept_result: bool,
}

impl Shared {
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn lint(&self) -> Lint {
        Lint {
            place: self.services.place.clone(),
        }
    }

    /// What language servers find wrong with changed files that was not wrong before.
    pub(crate) async fn diagnostics(
        &self,
        changes: &[Changed<'_>],
        context: &ToolContext,
    ) -> Option<String> {
        let diagnostics = self.services.diagnostics.as_ref()?;
        diagnostics.report(changes, context).await
    }

    /// Hears of what may make a repeated look worth while.
    pub(crate) fn noticed(&self, notice: Notice<'_>) {
        match notice {
            Notice::Compacted => self.seen().forget_texts(),
            // The file tools count their own calls.
            Notice::Called("read_file" | "search_files") => {}
            Notice::Called(_) => self.seen().other_call(),
        }
    }

    /// Where relative paths of a call start.
    pub(crate) fn directory(&self, context: &ToolContext) -> PathBuf {
        match &self.services.directory {
            Some(directory) => directory(),
            None => context.directory.clone(),
        }
    }

    /// The files a call names, as far as its words tell where relative paths start in `directory` or where the session
    /// is by now. What `~` means is known where the files are.
    pub(crate) fn touches<'t>(
        &self,
        named: impl IntoIterator<Item = &'t str>,
        directory: &Path,
    ) -> Option<Vec<PathBuf>> {
        let here = self.services.directory.as_ref();
        let start = here.map_or_else(|| directory.to_owned(), |here| here());
        let whole = |text: &str| {
            let whole = start.join(text.trim());
            let known = whole.is_absolute() && !text.trim().starts_with('~');
            known.then_some(whole)
        };
        named.into_iter().map(whole).collect()
    }

    /// The place of a path that is named in a call.
    async fn located(
        &self,
        files: &Arc<dyn Files>,
        text: &str,
        context: &ToolContext,
    ) -> Result<Located, ToolError> {
        let directory = self.directory(context);
        let locating = files.locate(&directory, text);
        match context.cancel.run_until_cancelled(locating).await {
            Some(found) => found.map_err(failed),
            None => Err(ToolError::Cancelled),
        }
    }

    /// The rules as they hold where a file is.
    pub(crate) fn rules(&self, place: &Located) -> Arc<FileRules> {
        let Some(home) = &place.home else {
            return self.services.rules.clone();
        };
        let product_home = home.join(HOME_THERE);
        Arc::new(FileRules {
            home: home.clone(),
            profiles: vec![product_home.clone()],
            product_home,
            mirrors: Vec::new(),
            safe_roots: self.services.rules.safe_roots.clone(),
            linked: None,
        })
    }

    /// A path among the results that are kept on this machine. One that only begins like it is none.
    async fn kept_result(
        &self,
        text: &str,
        context: &ToolContext,
    ) -> Option<(Located, Arc<dyn Files>)> {
        let named = Path::new(text.trim());
        let mut folders = self.services.kept_results.iter();
        let kept = folders.find(|folder| named.starts_with(folder))?;
        let files: Arc<dyn Files> = Arc::new(NativeFiles::default());
        let place = self.located(&files, text, context).await.ok()?;
        let root = files.locate(kept, ".").await.ok()?.real;
        place.real.starts_with(root).then_some((place, files))
    }

    /// The file a call may read.
    pub(crate) async fn readable(
        &self,
        text: &str,
        context: &ToolContext,
    ) -> Result<Readable, ToolError> {
        let readable = match self.kept_result(text, context).await {
            Some((place, files)) => Readable {
                place,
                files,
                is_kept_result: true,
            },
            None => {
                let files = self.services.files.clone();
                Readable {
                    place: self.located(&files, text, context).await?,
                    files,
                    is_kept_result: false,
                }
            }
        };
        let place = &readable.place;
        self.may_see(names(place), &self.rules(place))
            .map_err(|refusal| refused(refusal.to_string()))?;
        Ok(readable)
    }

    /// Whether a file may be shown.
    pub(crate) fn may_see(&self, names: Names<'_>, rules: &FileRules) -> Result<(), PathRefusal> {
        may_read(names, rules)?;
        match &self.services.sandbox {
            Some(sandbox) => sandbox.confinement.may_read(names),
            None => Ok(()),
        }
    }

    /// Whether what is in a file may be told. Some files may be changed and not be read.
    pub(crate) fn may_show(&self, place: &Located) -> bool {
        self.may_see(names(place), &self.rules(place)).is_ok()
    }

    /// A piece of a file as it may be told: secrets are masked.
    pub(crate) fn masked(&self, text: &str) -> String {
        let redactor = self.services.redactor.snapshot();
        redactor.redact_in(self.services.masking, text).into_owned()
    }

    /// The file a call of this tool may write.
    pub(crate) async fn writable(
        &self,
        tool: &'static str,
        text: &str,
        context: &ToolContext,
        cross_profile: bool,
    ) -> Result<Located, ToolError> {
        let place = self.located(&self.services.files, text, context).await?;
        let cross = if cross_profile {
            CrossProfile::Allow
        } else {
            CrossProfile::Refuse
        };
        let rules = self.rules(&place);
        may_write(names(&place), &rules, cross).map_err(|refusal| refused(refusal.to_string()))?;
        if let Some(sandbox) = &self.services.sandbox {
            let leaving = sandbox.confinement.may_write(names(&place), &rules);
            if let Some(leaving) = leaving.map_err(|refusal| refused(refusal.to_string()))? {
                sandbox.ask(tool, &place, &leaving, context).await?;
            }
        }
        Ok(place)
    }

    /// Refuses text with a marker in place of a secret, unless the file has that very marker: writing it
    /// would put the marker where the secret is.
    pub(crate) fn check_markers(&self, new: &str, old: Option<&str>) -> Result<(), ToolError> {
        let unknown = markers(new).find(|marker| !old.is_some_and(|old| old.contains(marker)));
        match unknown {
            None => Ok(()),
            Some(marker) => Err(refused(format!(
                "the text contains {marker}, which stands for a secret you were not shown; writing it would \
                 destroy the secret. Leave that part of the file alone and change the rest with patch."
            ))),
        }
    }

    /// What is worth knowing about a file before it is changed, most important first.
    pub(crate) async fn warning(
        &self,
        place: &Located,
        asked: &str,
        context: &ToolContext,
    ) -> Option<String> {
        let path = place.real.as_path();
        let state = self.seen().state(path);
        let name = path.display();
        if let Some(state) = state {
            let other = self.services.registry.last_write(path);
            if other.is_some_and(|write| write.at > state.moment && write.by != context.session) {
                return Some(format!(
                    "another agent changed {name} after you read it; read it again before you go on"
                ));
            }
            if place.stat.is_some_and(|now| now.stamp != state.stamp) {
                return Some(format!(
                    "{name} was changed outside after you read it; read it again before you go on"
                ));
            }
            if state.partial {
                return Some(format!("you have seen only a part of {name}"));
            }
        }
        let asked = asked.trim();
        if !Path::new(asked).is_relative() || asked.starts_with('~') {
            return None;
        }
        let climbs = asked.split('/').any(|part| part == "..") || place.hops.len() > 1;
        // Only a path that climbs or goes over links can lead out.
        if !climbs && place.hops.first().is_some_and(|hop| hop == path) {
            return None;
        }
        let here = self.directory(context);
        let workspace = self.services.files.locate(&here, ".").await.ok()?;
        (!path.starts_with(&workspace.real))
            .then(|| format!("{asked} leads outside the working directory, to {name}"))
    }

    /// Takes down that this session wrote a file, and what it looks like now.
    pub(crate) fn wrote(&self, path: &Path, stamp: Option<FileStamp>, context: &ToolContext) {
        self.services.registry.wrote(path, &context.session);
        let moment = self.services.registry.moment();
        let mut seen = self.seen();
        seen.hit(path);
        if let Some(stamp) = stamp {
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
                let missing = checkpoints
                    .before_change(directory, &context.session, context.turn, &context.cancel)
                    .await;
                if let Some(error) = missing {
                    context.host.show(context, no_checkpoint(&error)).await;
                }
            }
        }
    }
}

fn names(place: &Located) -> Names<'_> {
    Names {
        real: &place.real,
        hops: &place.hops,
    }
}

/// A failure the model is told about.
pub(crate) fn failed(error: FilesError) -> ToolError {
    match error {
        FilesError::Stopped => ToolError::Cancelled,
        FilesError::Differs(_) | FilesError::Unknown { .. } => ToolError::OutcomeUnknown {
            message: error.to_string(),
        },
        error => refused(error.to_string()),
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
