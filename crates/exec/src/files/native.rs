//! Files of this machine.

mod batch;
mod journal;
mod lines;
mod pinned;
mod place;
mod search;
mod tidy;

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_core::future::BoxFuture;
use rustix::fs::OFlags;
use tokio_util::sync::CancellationToken;

use self::pinned::Folder;
use super::{
    Applied, Edit, FileEntry, FileKind, FileStamp, FileStat, FileState, Files, FilesError,
    LineWindow, Lines, Loaded, Located, Search, SearchFound,
};

/// The files of this machine.
#[derive(Debug, Clone, Default)]
pub struct NativeFiles {
    home: Option<PathBuf>,
    tidy: Arc<tidy::Tidy>,
}

impl NativeFiles {
    /// All of them; `home` is what `~` stands for.
    pub fn new(home: Option<PathBuf>) -> Self {
        Self {
            home,
            tidy: Arc::default(),
        }
    }

    /// The same, where changes of several files are written down in this folder first. What a program that was killed
    /// had begun is taken back before the first file is looked for.
    #[must_use]
    pub fn with_journals(mut self, folder: PathBuf) -> Self {
        self.tidy = Arc::new(tidy::Tidy::with_journals(folder));
        self
    }
}

impl Files for NativeFiles {
    fn locate<'a>(
        &'a self,
        directory: &'a Path,
        path: &'a str,
    ) -> BoxFuture<'a, Result<Located, FilesError>> {
        let named = place::named(path, directory, self.home.as_deref());
        let tidy = self.tidy.clone();
        Box::pin(blocking(move || {
            tidy.recover();
            place::locate(&named)
        }))
    }

    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileStat, FilesError>> {
        let named = path.to_owned();
        Box::pin(blocking(move || {
            let data = fs::metadata(&named).map_err(|error| FilesError::new(&named, error))?;
            Ok(describe(&data))
        }))
    }

    fn lines<'a>(
        &'a self,
        path: &'a Path,
        window: LineWindow,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Lines, FilesError>> {
        let (named, cancel) = (path.to_owned(), cancel.clone());
        Box::pin(blocking(move || lines::of(&named, window, &cancel)))
    }

    fn load<'a>(&'a self, path: &'a Path, limit: u64) -> BoxFuture<'a, Result<Loaded, FilesError>> {
        let named = path.to_owned();
        Box::pin(blocking(move || load(&named, limit)))
    }

    fn list<'a>(
        &'a self,
        path: &'a Path,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<FileEntry>, FilesError>> {
        let named = path.to_owned();
        Box::pin(blocking(move || list(&named, limit)))
    }

    fn apply(&self, edits: Vec<Edit>) -> BoxFuture<'_, Result<Applied, FilesError>> {
        let tidy = self.tidy.clone();
        Box::pin(async move {
            let work = move || {
                tidy.recover();
                batch::apply(&edits, &tidy)
            };
            let (applied, replaced) = blocking(work).await?;
            // Nobody has to wait for their space.
            tokio::task::spawn_blocking(move || drop(replaced));
            Ok(applied)
        })
    }

    fn search(&self, search: Search) -> BoxFuture<'_, Result<SearchFound, FilesError>> {
        Box::pin(blocking(move || search::run(&search)))
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FilesError> + Send + 'static,
) -> Result<T, FilesError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(FilesError::new(Path::new(""), std::io::Error::other(error))),
    }
}

/// Opens a file that is a plain one. A pipe must not hold us up, so nothing is waited for.
fn open(path: &Path) -> Result<(File, Metadata), FilesError> {
    let failed = |error| FilesError::new(path, error);
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = match pinned::open(path, flags) {
        Ok(file) => file,
        // Sockets and some devices cannot be opened at all; what they are says more than that.
        Err(error) => return Err(plain(path).err().unwrap_or_else(|| failed(error))),
    };
    let data = file.metadata().map_err(failed)?;
    check_plain(path, &data)?;
    Ok((file, data))
}

/// The facts of a file, if it is a plain one.
fn plain(path: &Path) -> Result<Metadata, FilesError> {
    let data = fs::metadata(path).map_err(|error| FilesError::new(path, error))?;
    check_plain(path, &data)?;
    Ok(data)
}

fn check_plain(path: &Path, data: &Metadata) -> Result<(), FilesError> {
    if data.is_dir() {
        return Err(FilesError::Directory(path.to_owned()));
    }
    if !data.is_file() {
        return Err(FilesError::NotPlain(path.to_owned()));
    }
    Ok(())
}

fn load(path: &Path, limit: u64) -> Result<Loaded, FilesError> {
    let too_large = || FilesError::TooLarge {
        path: path.to_owned(),
        limit,
    };
    let (file, data) = open(path)?;
    if data.len() > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(data.len()).unwrap_or(0) + 1);
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| FilesError::new(path, error))?;
    if bytes.len() as u64 > limit {
        return Err(too_large());
    }
    let state = FileState {
        stamp: stamp(&data),
        hash: None,
    };
    Ok(Loaded { bytes, state })
}

fn list(path: &Path, limit: usize) -> Result<Vec<FileEntry>, FilesError> {
    let failed = |error| FilesError::new(path, error);
    // Names alone are told here: that no link stands in the way when it begins is enough.
    Folder::open(path)?;
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
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
        mode: data.mode() & 0o7777,
        links: data.nlink(),
        stamp: stamp(data),
    }
}

fn stamp(data: &Metadata) -> FileStamp {
    FileStamp {
        size: data.size(),
        modified_at: data.mtime(),
        nanoseconds: u32::try_from(data.mtime_nsec()).unwrap_or(0),
        inode: data.ino(),
    }
}
