//! What a change would make of each file, worked out before any of them is touched.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use hermes_core::ToolError;
use hermes_exec::{Edit, FileState, FilesError};

use super::Contents;
use super::answer::{self, Sight};
use crate::edit::{Edited, LineRange, Operation, Strategy, Text, apply, unified};
use crate::files::{failed, refused};

/// What the first line of a key in PEM's notation says.
const KEY_BLOCK: &[u8] = b"PRIVATE KEY";

/// Files as they are and as they will be.
#[derive(Default)]
pub(super) struct Plan {
    files: Vec<Planned>,
}

#[derive(Default)]
struct Planned {
    path: PathBuf,
    /// The state of the file on disk; none when there is no file.
    state: Option<FileState>,
    before: Option<Content>,
    now: Option<Content>,
    /// The file whose mode a new one gets.
    like: Option<PathBuf>,
    places: Vec<(Strategy, LineRange)>,
    warnings: Vec<String>,
}

#[derive(Clone, PartialEq, Eq)]
enum Content {
    Text(Text),
    Other(Vec<u8>),
}

/// What happened to a file.
pub(super) struct Change {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) diff: String,
    /// Whether the file holds a key of several lines, or held one.
    pub(super) keyed: bool,
    pub(super) places: Vec<(Strategy, LineRange)>,
    pub(super) warnings: Vec<String>,
}

/// In which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Created,
    Modified,
    Deleted,
    /// It was so already.
    Unchanged,
}

impl Change {
    pub(super) fn is_real(&self) -> bool {
        self.kind != Kind::Unchanged
    }
}

/// The files an operation names.
pub(super) fn names(operation: &Operation) -> impl Iterator<Item = &str> {
    let (first, second) = match operation {
        Operation::Update { path, move_to, .. } => (path, move_to.as_ref()),
        Operation::Add { path, .. } | Operation::Delete { path } => (path, None),
        Operation::Move { path, to } => (path, Some(to)),
    };
    std::iter::once(first.as_str()).chain(second.map(String::as_str))
}

impl Plan {
    /// These files as they are.
    pub(super) fn of(contents: Contents) -> Self {
        let files = contents.into_iter().map(|(path, loaded)| {
            let state = loaded.as_ref().map(|loaded| loaded.state);
            let content = loaded.map(|loaded| Content::new(loaded.bytes));
            Planned {
                path,
                state,
                before: content.clone(),
                now: content,
                ..Planned::default()
            }
        });
        Self {
            files: files.collect(),
        }
    }

    /// A change that had been made before.
    pub(super) fn already(path: &Path, line: usize) -> Self {
        let file = Planned {
            path: path.to_owned(),
            warnings: vec![format!(
                "the new text was already there, in line {line}; nothing was changed"
            )],
            ..Planned::default()
        };
        Self { files: vec![file] }
    }

    /// One file that was read and edited.
    pub(super) fn edited(&mut self, path: &Path, text: Text, state: FileState, edited: Edited) {
        self.files.push(Planned {
            path: path.to_owned(),
            state: Some(state),
            now: Some(Content::Text(text.with_body(edited.body))),
            before: Some(Content::Text(text)),
            places: edited
                .lines
                .into_iter()
                .map(|lines| (edited.strategy, lines))
                .collect(),
            ..Planned::default()
        });
    }

    /// Works one operation out.
    pub(super) fn take<'p>(
        &mut self,
        sight: &Sight,
        operation: &Operation,
        path_of: &impl Fn(&str) -> Result<&'p Path, ToolError>,
    ) -> Result<(), ToolError> {
        let shared = &sight.shared;
        match operation {
            Operation::Update {
                path,
                move_to,
                hunks,
            } => {
                let from = path_of(path)?;
                let file = self.present(from)?;
                if !hunks.is_empty() {
                    let Some(Content::Text(text)) = &file.now else {
                        return Err(refused(format!("{path} is a binary file")));
                    };
                    let applied = apply(text, hunks)
                        .map_err(|fault| answer::hunk_fault(&fault, path, sight.of(from, text)))?;
                    shared.check_markers(&applied.body, Some(&text.body))?;
                    let text = text.with_body(applied.body);
                    file.places.extend(applied.places);
                    file.warnings.extend(applied.warnings);
                    file.now = Some(Content::Text(text));
                }
                match move_to {
                    Some(to) => self.rename(sight, from, path_of(to)?),
                    None => Ok(()),
                }
            }
            Operation::Add { path, content } => {
                shared.check_markers(content, None)?;
                let file = self.absent(path_of(path)?)?;
                file.now = Some(Content::Text(Text::new(content.clone())));
                Ok(())
            }
            Operation::Delete { path } => {
                self.present(path_of(path)?)?.now = None;
                Ok(())
            }
            Operation::Move { path, to } => self.rename(sight, path_of(path)?, path_of(to)?),
        }
    }

    fn rename(&mut self, sight: &Sight, from: &Path, to: &Path) -> Result<(), ToolError> {
        if !sight.is_open(from) {
            return Err(refused(format!(
                "{} holds secrets and would be read under another name; the user has to move it",
                from.display()
            )));
        }
        self.absent(to)?;
        let file = self.present(from)?;
        let content = file.now.take();
        let like = file.state.map(|_| from.to_owned());
        let target = self.absent(to)?;
        target.now = content;
        target.like = like;
        Ok(())
    }

    fn present(&mut self, path: &Path) -> Result<&mut Planned, ToolError> {
        let file = self.open(path)?;
        if file.now.is_none() {
            return Err(failed(FilesError::Missing(path.to_owned())));
        }
        Ok(file)
    }

    fn absent(&mut self, path: &Path) -> Result<&mut Planned, ToolError> {
        let file = self.open(path)?;
        if file.now.is_some() {
            return Err(failed(FilesError::Exists(path.to_owned())));
        }
        Ok(file)
    }

    fn open(&mut self, path: &Path) -> Result<&mut Planned, ToolError> {
        let known = self.files.iter_mut().find(|file| file.path == path);
        known.ok_or_else(|| failed(FilesError::Missing(path.to_owned())))
    }

    /// What makes it true, one edit for each file that changes.
    pub(super) fn edits(&self) -> Vec<Edit> {
        self.files.iter().filter_map(Planned::edit).collect()
    }

    /// What happens to each file.
    pub(super) fn into_changes(self) -> Vec<Change> {
        self.files.into_iter().map(Planned::into_change).collect()
    }
}

impl Planned {
    fn kind(&self) -> Kind {
        match (&self.before, &self.now) {
            (Some(before), Some(now)) if before == now => Kind::Unchanged,
            (Some(_), Some(_)) => Kind::Modified,
            (None, Some(_)) => Kind::Created,
            (Some(_), None) => Kind::Deleted,
            (None, None) => Kind::Unchanged,
        }
    }

    fn edit(&self) -> Option<Edit> {
        let path = self.path.clone();
        match (self.kind(), &self.now, self.state) {
            (Kind::Created, Some(content), _) => Some(Edit::Create {
                path,
                bytes: content.bytes().into_owned(),
                like: self.like.clone(),
            }),
            (Kind::Modified, Some(content), Some(state)) => Some(Edit::Replace {
                path,
                bytes: content.bytes().into_owned(),
                state,
            }),
            (Kind::Deleted, _, Some(state)) => Some(Edit::Remove { path, state }),
            _ => None,
        }
    }

    fn into_change(self) -> Change {
        let kind = self.kind();
        let before = self.before.and_then(Content::into_body);
        let after = self.now.and_then(Content::into_body);
        let diff = match kind {
            Kind::Unchanged => String::new(),
            _ => unified(
                self.path.to_string_lossy().trim_start_matches('/'),
                before.as_deref().unwrap_or_default(),
                after.as_deref().unwrap_or_default(),
            ),
        };
        let is_key = |body: &String| memchr::memmem::find(body.as_bytes(), KEY_BLOCK).is_some();
        Change {
            path: self.path,
            kind,
            keyed: !diff.is_empty() && [&before, &after].into_iter().flatten().any(is_key),
            before,
            after,
            diff,
            places: self.places,
            warnings: self.warnings,
        }
    }
}

impl Content {
    fn new(bytes: Vec<u8>) -> Self {
        // The bytes of something that is no text are needed again to move it.
        match Text::decode(bytes.clone()) {
            Ok(text) => Self::Text(text),
            Err(_) => Self::Other(bytes),
        }
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Text(text) => text.encode(&text.body),
            Self::Other(bytes) => Cow::Borrowed(bytes),
        }
    }

    fn into_body(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.body),
            Self::Other(_) => None,
        }
    }
}
