//! Files of this machine.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_core::Random;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use super::{
    Content, Expect, FileEntry, FileHash, FileKind, FileReader, FileStat, Files, FilesError,
};

const BUFFER: usize = 256 << 10;
/// Permissions of a new file before the process's mask.
const NEW: u32 = 0o666;

/// The files of this machine.
pub struct NativeFiles {
    random: Arc<dyn Random>,
}

impl NativeFiles {
    /// All of them.
    pub fn new(random: Arc<dyn Random>) -> Self {
        Self { random }
    }

    async fn replace(
        &self,
        path: &Path,
        content: Content,
        expect: Expect,
    ) -> Result<FileHash, FilesError> {
        let given = path.to_owned();
        let (target, old) = blocking(path, move || {
            meets(&given, expect)?;
            target(&given)
        })
        .await?;
        let name = format!(".hermes-{:016x}.tmp", self.random.next_u64());
        let draft = target.with_file_name(name);
        let result = self.fill(path, &draft, content, old).await;
        let result = match result {
            Err(error) => Err(error),
            Ok(hash) => {
                let (draft, target) = (draft.clone(), target);
                blocking(path, move || {
                    // Once more, as close to the change as can be.
                    meets(&target, expect)?;
                    std::fs::rename(&draft, &target).map_err(|error| refusal(&target, error))?;
                    sync_folder(&target);
                    Ok(hash)
                })
                .await
            }
        };
        if result.is_err() {
            // The failure itself says more than that its draft could not be removed.
            let _ = tokio::fs::remove_file(&draft).await;
        }
        result
    }

    async fn fill(
        &self,
        path: &Path,
        draft: &Path,
        content: Content,
        old: Option<Metadata>,
    ) -> Result<FileHash, FilesError> {
        let mode = if old.is_some() { 0o600 } else { NEW };
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(draft)
            .map_err(|error| refusal(path, error))?;
        let mut file = tokio::fs::File::from_std(file);
        let mut bytes = content.bytes.take(content.size);
        let mut digest = Sha256::new();
        let mut buffer = vec![0; BUFFER];
        let mut written = 0;
        let fail = |error| refusal(path, error);
        loop {
            let count = bytes.read(&mut buffer).await.map_err(fail)?;
            if count == 0 {
                break;
            }
            digest.update(&buffer[..count]);
            file.write_all(&buffer[..count]).await.map_err(fail)?;
            written += count as u64;
        }
        if written != content.size {
            return Err(FilesError::Short(path.to_owned()));
        }
        file.flush().await.map_err(fail)?;
        let file = file.into_std().await;
        let named = path.to_owned();
        blocking(path, move || {
            if let Some(old) = old {
                keep(&file, &old).map_err(|error| refusal(&named, error))?;
            }
            file.sync_all().map_err(|error| refusal(&named, error))
        })
        .await?;
        Ok(FileHash(digest.finalize().into()))
    }
}

impl Files for NativeFiles {
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileStat, FilesError>> {
        Box::pin(async move {
            let data = tokio::fs::metadata(path).await;
            data.map(|data| describe(&data))
                .map_err(|error| refusal(path, error))
        })
    }

    fn read<'a>(
        &'a self,
        path: &'a Path,
        offset: u64,
        limit: u64,
    ) -> BoxFuture<'a, Result<FileReader, FilesError>> {
        Box::pin(async move {
            let named = path.to_owned();
            let (file, stat) = blocking(path, move || open(&named)).await?;
            let mut file = tokio::fs::File::from_std(file);
            file.set_max_buf_size(BUFFER);
            if offset > 0 {
                let seek = file.seek(io::SeekFrom::Start(offset)).await;
                seek.map_err(|error| refusal(path, error))?;
            }
            Ok(FileReader {
                stat,
                bytes: Box::new(file.take(limit)),
            })
        })
    }

    fn hash<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileHash, FilesError>> {
        let named = path.to_owned();
        Box::pin(blocking(path, move || digest(&named)))
    }

    fn write<'a>(
        &'a self,
        path: &'a Path,
        content: Content,
        expect: Expect,
    ) -> BoxFuture<'a, Result<FileHash, FilesError>> {
        Box::pin(self.replace(path, content, expect))
    }

    fn list<'a>(
        &'a self,
        path: &'a Path,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<FileEntry>, FilesError>> {
        let named = path.to_owned();
        Box::pin(blocking(path, move || {
            let fail = |error| refusal(&named, error);
            let mut entries = Vec::new();
            for entry in std::fs::read_dir(&named).map_err(fail)? {
                let entry = entry.map_err(fail)?;
                // One that vanished meanwhile is not in the list.
                if let Ok(data) = entry.metadata() {
                    entries.push(FileEntry {
                        name: PathBuf::from(entry.file_name()),
                        stat: describe(&data),
                    });
                }
            }
            entries.sort_by(|one, other| one.name.cmp(&other.name));
            entries.truncate(limit);
            Ok(entries)
        }))
    }

    fn remove<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<(), FilesError>> {
        let named = path.to_owned();
        Box::pin(blocking(path, move || {
            let fail = |error| refusal(&named, error);
            let data = std::fs::symlink_metadata(&named).map_err(fail)?;
            if data.is_dir() {
                std::fs::remove_dir(&named).map_err(fail)
            } else {
                std::fs::remove_file(&named).map_err(fail)
            }
        }))
    }

    fn rename<'a>(&'a self, from: &'a Path, to: &'a Path) -> BoxFuture<'a, Result<(), FilesError>> {
        let (source, target) = (from.to_owned(), to.to_owned());
        Box::pin(blocking(from, move || {
            std::fs::symlink_metadata(&source).map_err(|error| refusal(&source, error))?;
            if let Some(folder) = target.parent() {
                std::fs::create_dir_all(folder).map_err(|error| refusal(&target, error))?;
            }
            // The kernel looks and moves in one step, so nothing can come in between.
            rustix::fs::renameat_with(
                rustix::fs::CWD,
                &source,
                rustix::fs::CWD,
                &target,
                rustix::fs::RenameFlags::NOREPLACE,
            )
            .map_err(|error| refusal(&target, error.into()))
        }))
    }
}

async fn blocking<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> Result<T, FilesError> + Send + 'static,
) -> Result<T, FilesError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(refusal(path, io::Error::other(error))),
    }
}

/// Opens a file that is one. A pipe must not hold us up, so nothing is waited for.
fn open(path: &Path) -> Result<(File, FileStat), FilesError> {
    let fail = |error| refusal(path, error);
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .map_err(fail)?;
    let data = file.metadata().map_err(fail)?;
    if !data.is_file() {
        return Err(FilesError::Kind(path.to_owned()));
    }
    Ok((file, describe(&data)))
}

fn digest(path: &Path) -> Result<FileHash, FilesError> {
    let (mut file, _) = open(path)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        match file
            .read(&mut buffer)
            .map_err(|error| refusal(path, error))?
        {
            0 => return Ok(FileHash(digest.finalize().into())),
            count => digest.update(&buffer[..count]),
        }
    }
}

fn meets(path: &Path, expect: Expect) -> Result<(), FilesError> {
    match expect {
        Expect::Anything => Ok(()),
        Expect::Absent if std::fs::symlink_metadata(path).is_ok() => {
            Err(FilesError::Exists(path.to_owned()))
        }
        Expect::Absent => Ok(()),
        Expect::Content(expected) => match digest(path) {
            Ok(found) if found == expected => Ok(()),
            Ok(_) | Err(FilesError::Missing(_)) => Err(FilesError::Changed(path.to_owned())),
            Err(error) => Err(error),
        },
    }
}

/// What is to be replaced: a link stays one, and what it leads to is written. Makes its directory.
fn target(path: &Path) -> Result<(PathBuf, Option<Metadata>), FilesError> {
    let fail = |error| refusal(path, error);
    match std::fs::symlink_metadata(path) {
        Ok(data) if data.is_symlink() => {
            let target = std::fs::canonicalize(path).map_err(fail)?;
            let data = std::fs::metadata(&target).map_err(fail)?;
            regular(path, target, data)
        }
        Ok(data) => regular(path, path.to_owned(), data),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).map_err(fail)?;
            }
            Ok((path.to_owned(), None))
        }
        Err(error) => Err(fail(error)),
    }
}

fn regular(
    path: &Path,
    target: PathBuf,
    data: Metadata,
) -> Result<(PathBuf, Option<Metadata>), FilesError> {
    if data.is_file() {
        Ok((target, Some(data)))
    } else {
        Err(FilesError::Kind(path.to_owned()))
    }
}

/// Gives the new file the old one's owner and permissions.
fn keep(file: &File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        // Only root can give files away; for others the permissions are what can be kept.
        let _ = std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))
}

/// A rename is safe against power loss once its directory is written.
fn sync_folder(path: &Path) {
    if let Some(folder) = path.parent()
        && let Ok(folder) = File::open(folder)
    {
        // Some file systems cannot; the file itself is written already.
        let _ = folder.sync_all();
    }
}

fn describe(data: &Metadata) -> FileStat {
    let kind = data.file_type();
    FileStat {
        kind: if kind.is_file() {
            FileKind::File
        } else if kind.is_dir() {
            FileKind::Directory
        } else if kind.is_symlink() {
            FileKind::Link
        } else {
            FileKind::Other
        },
        size: data.size(),
        mode: data.mode() & 0o7777,
        modified_at: data.mtime(),
        links: data.nlink(),
    }
}

fn refusal(path: &Path, error: io::Error) -> FilesError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::NotFound => FilesError::Missing(path),
        io::ErrorKind::AlreadyExists => FilesError::Exists(path),
        io::ErrorKind::PermissionDenied | io::ErrorKind::DirectoryNotEmpty => {
            FilesError::Denied(path)
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => FilesError::Kind(path),
        _ => FilesError::Io {
            what: path.display().to_string(),
            source: error,
        },
    }
}
