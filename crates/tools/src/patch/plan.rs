//! What a change would make of each file, worked out before any of them is touched.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use hermes_core::ToolError;

use super::answer;
use crate::edit::{Edited, LineRange, Operation, Strategy, Text, apply, unified};
use crate::files::{Batch, FileFault, Shared, Stamp, Target, failed, holds, load, refused};

/// Files as they are and as they will be.
#[derive(Default)]
pub(super) struct Plan {
    files: Vec<Planned>,
}

#[derive(Default)]
struct Planned {
    path: PathBuf,
    /// The state of the file on disk; none when there is no file.
    stamp: Option<Stamp>,
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
    /// A change that had been made before.
    pub(super) fn already(path: &Path, line: usize) -> Self {
        Self {
            path: path.to_owned(),
            kind: Kind::Unchanged,
            before: None,
            after: None,
            diff: String::new(),
            places: Vec::new(),
            warnings: vec![format!(
                "the new text was already there, in line {line}; nothing was changed"
            )],
        }
    }

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
    /// One file that was read and edited.
    pub(super) fn edited(&mut self, path: &Path, text: Text, stamp: Stamp, edited: Edited) {
        self.files.push(Planned {
            path: path.to_owned(),
            stamp: Some(stamp),
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
        shared: &Shared,
        operation: &Operation,
        path_of: &impl Fn(&str) -> Result<&'p Path, ToolError>,
    ) -> Result<(), ToolError> {
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
                        .map_err(|fault| answer::hunk_fault(&fault, path, text))?;
                    shared.check_markers(&applied.body, Some(&text.body))?;
                    let text = text.with_body(applied.body);
                    file.places.extend(applied.places);
                    file.warnings.extend(applied.warnings);
                    file.now = Some(Content::Text(text));
                }
                match move_to {
                    Some(to) => self.rename(from, path_of(to)?),
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
            Operation::Move { path, to } => self.rename(path_of(path)?, path_of(to)?),
        }
    }

    fn rename(&mut self, from: &Path, to: &Path) -> Result<(), ToolError> {
        self.absent(to)?;
        let file = self.present(from)?;
        let content = file.now.take();
        let like = file.stamp.map(|_| from.to_owned());
        let target = self.absent(to)?;
        target.now = content;
        target.like = like;
        Ok(())
    }

    fn present(&mut self, path: &Path) -> Result<&mut Planned, ToolError> {
        let file = self.open(path)?;
        if file.now.is_none() {
            return Err(failed(FileFault::Missing(path.to_owned())));
        }
        Ok(file)
    }

    fn absent(&mut self, path: &Path) -> Result<&mut Planned, ToolError> {
        let file = self.open(path)?;
        if file.now.is_some() {
            return Err(failed(FileFault::Exists(path.to_owned())));
        }
        Ok(file)
    }

    fn open(&mut self, path: &Path) -> Result<&mut Planned, ToolError> {
        let known = self.files.iter().position(|file| file.path == path);
        let index = match known {
            Some(index) => index,
            None => {
                let (stamp, content) = match load(path) {
                    Ok(loaded) => (Some(loaded.stamp), Some(Content::new(loaded.bytes))),
                    Err(FileFault::Missing(_)) => (None, None),
                    Err(fault) => return Err(failed(fault)),
                };
                self.files.push(Planned {
                    path: path.to_owned(),
                    stamp,
                    before: content.clone(),
                    now: content,
                    ..Planned::default()
                });
                self.files.len() - 1
            }
        };
        self.files
            .get_mut(index)
            .ok_or_else(|| failed(FileFault::Missing(path.to_owned())))
    }

    /// Makes it true: all files or none.
    pub(super) fn commit(self) -> Result<Vec<Change>, ToolError> {
        let kinds: Vec<Kind> = self.files.iter().map(Planned::kind).collect();
        let mut batch = Batch::default();
        let mut written: Vec<(&Path, Cow<'_, [u8]>)> = Vec::new();
        for (file, kind) in self.files.iter().zip(&kinds) {
            let target = match (kind, file.stamp) {
                (Kind::Created, _) => Target::New {
                    like: file.like.as_deref(),
                },
                (Kind::Modified, Some(stamp)) => Target::Existing(stamp),
                (Kind::Deleted, Some(stamp)) => {
                    batch.remove(&file.path, stamp);
                    continue;
                }
                _ => continue,
            };
            if let Some(content) = &file.now {
                let bytes = content.bytes();
                batch.write(&file.path, &bytes, target).map_err(failed)?;
                written.push((&file.path, bytes));
            }
        }
        batch.commit().map_err(failed)?;
        for (path, bytes) in written {
            if !holds(path, &bytes).map_err(failed)? {
                let message = format!("{} does not hold what was written to it", path.display());
                return Err(ToolError::OutcomeUnknown { message });
            }
        }
        let changes = self.files.into_iter().zip(kinds);
        Ok(changes.map(|(file, kind)| file.into_change(kind)).collect())
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

    fn into_change(self, kind: Kind) -> Change {
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
        Change {
            path: self.path,
            kind,
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
