//! Files anywhere, one command for each request.

use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::Random;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

use super::{
    Content, Expect, FileEntry, FileHash, FileKind, FileReader, FileStat, Files, FilesError,
};
use crate::{Backend, ExecError, Input, Launch, Process, RunId};

const REQUEST: &str = include_str!("request.sh");
/// How long a request may take without its content.
const ANSWER: Duration = Duration::from_secs(60);
/// The slowest transfer that is still waited for, in bytes per second.
const SLOWEST: u64 = 32 << 10;
/// The answer's first line is shorter.
const MAX_LINE: u64 = 4 << 10;
/// The longest list that is read.
const MAX_LIST: u64 = 64 << 20;
const BUFFER: usize = 64 << 10;

/// The files where a backend runs its commands.
pub struct FramedFiles {
    backend: Arc<dyn Backend>,
    random: Arc<dyn Random>,
}

type Answer = BufReader<Box<dyn AsyncRead + Send + Unpin>>;

impl FramedFiles {
    /// The files of this backend.
    pub fn new(backend: Arc<dyn Backend>, random: Arc<dyn Random>) -> Self {
        Self { backend, random }
    }

    /// Sends a request and reads the first line of its answer.
    async fn ask(
        &self,
        path: &Path,
        words: &[&str],
        content: Option<Content>,
    ) -> Result<(String, Answer), FilesError> {
        let [order, rest @ ..] = words else {
            return Err(FilesError::Path(path.to_owned()));
        };
        let mut argv = vec!["sh", "-c", REQUEST, "files", order, text(path)?];
        argv.extend(rest);
        let launch = Launch {
            id: RunId::new(format!("f{:016x}", self.random.next_u64())),
            argv: argv.into_iter().map(str::to_owned).collect(),
            directory: None,
            environment: Vec::new(),
            input: if content.is_some() {
                Input::Pipe
            } else {
                Input::None
            },
            confinement: None,
        };
        let Process { output, input, .. } = self.backend.spawn(launch).await?;
        let size = content.as_ref().map_or(0, |content| content.size);
        let limit = ANSWER + Duration::from_secs(size / SLOWEST);
        let mut answer = BufReader::with_capacity(BUFFER, output);
        let mut line = Vec::new();
        let exchange = async {
            if let (Some(content), Some(mut input)) = (content, input) {
                let mut bytes = content.bytes.take(content.size);
                // One that breaks off is noticed over there, and by the answer.
                let _ = tokio::io::copy(&mut bytes, &mut input).await;
                let _ = input.shutdown().await;
            }
            (&mut answer)
                .take(MAX_LINE)
                .read_until(b'\n', &mut line)
                .await
        };
        timeout(limit, exchange)
            .await
            .map_err(|_| ExecError::TimedOut {
                what: format!("a request about {}", path.display()),
                limit,
            })?
            .map_err(|source| broken(path, source))?;
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("ok", rest) => Ok((rest.to_owned(), answer)),
            ("no", reason) => Err(refusal(path, reason)),
            _ => Err(broken(path, std::io::Error::other(line))),
        }
    }
}

impl Files for FramedFiles {
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileStat, FilesError>> {
        Box::pin(async move {
            let (line, _) = self.ask(path, &["stat"], None).await?;
            parse_stat(&line).ok_or_else(|| odd(path))
        })
    }

    fn read<'a>(
        &'a self,
        path: &'a Path,
        offset: u64,
        limit: u64,
    ) -> BoxFuture<'a, Result<FileReader, FilesError>> {
        Box::pin(async move {
            let words = ["read", &offset.to_string(), &limit.to_string()];
            let (line, answer) = self.ask(path, &words, None).await?;
            Ok(FileReader {
                stat: parse_stat(&line).ok_or_else(|| odd(path))?,
                bytes: Box::new(answer.take(limit)),
            })
        })
    }

    fn hash<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileHash, FilesError>> {
        Box::pin(async move {
            let (line, _) = self.ask(path, &["digest"], None).await?;
            FileHash::parse(&line).ok_or_else(|| odd(path))
        })
    }

    fn write<'a>(
        &'a self,
        path: &'a Path,
        content: Content,
        expect: Expect,
    ) -> BoxFuture<'a, Result<FileHash, FilesError>> {
        Box::pin(async move {
            let size = content.size.to_string();
            let expect = match expect {
                Expect::Anything => "any".to_owned(),
                Expect::Absent => "none".to_owned(),
                Expect::Content(hash) => hash.to_string(),
            };
            let draft = format!(".hermes-{:016x}.tmp", self.random.next_u64());
            let words = ["write", &size, &expect, &draft];
            let (line, _) = self.ask(path, &words, Some(content)).await?;
            FileHash::parse(&line).ok_or_else(|| odd(path))
        })
    }

    fn list<'a>(
        &'a self,
        path: &'a Path,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<FileEntry>, FilesError>> {
        Box::pin(async move {
            let (_, answer) = self.ask(path, &["list"], None).await?;
            let mut bytes = Vec::new();
            timeout(ANSWER, answer.take(MAX_LIST).read_to_end(&mut bytes))
                .await
                .map_err(|_| ExecError::TimedOut {
                    what: format!("listing {}", path.display()),
                    limit: ANSWER,
                })?
                .map_err(|source| broken(path, source))?;
            let mut entries = parse_list(&bytes);
            entries.sort_by(|one, other| one.name.cmp(&other.name));
            entries.truncate(limit);
            Ok(entries)
        })
    }

    fn remove<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<(), FilesError>> {
        Box::pin(async move { self.ask(path, &["remove"], None).await.map(|_| ()) })
    }

    fn rename<'a>(&'a self, from: &'a Path, to: &'a Path) -> BoxFuture<'a, Result<(), FilesError>> {
        Box::pin(async move {
            let words = ["rename", text(to)?];
            match self.ask(from, &words, None).await {
                Err(FilesError::Exists(_)) => Err(FilesError::Exists(to.to_owned())),
                answer => answer.map(|_| ()),
            }
        })
    }
}

fn text(path: &Path) -> Result<&str, FilesError> {
    path.to_str()
        .filter(|text| text.starts_with('/'))
        .ok_or_else(|| FilesError::Path(path.to_owned()))
}

fn refusal(path: &Path, reason: &str) -> FilesError {
    let path = path.to_owned();
    match reason {
        "missing" => FilesError::Missing(path),
        "exists" => FilesError::Exists(path),
        "kind" => FilesError::Kind(path),
        "denied" => FilesError::Denied(path),
        "changed" => FilesError::Changed(path),
        "short" => FilesError::Short(path),
        _ => odd(&path),
    }
}

fn odd(path: &Path) -> FilesError {
    broken(path, std::io::ErrorKind::InvalidData.into())
}

fn broken(path: &Path, source: std::io::Error) -> FilesError {
    FilesError::Io {
        what: format!("no answer about {}", path.display()),
        source,
    }
}

fn parse_stat(line: &str) -> Option<FileStat> {
    let mut words = line.split(' ');
    let mode = u32::from_str_radix(words.next()?, 16).ok()?;
    Some(FileStat {
        kind: match mode & 0o170_000 {
            0o100_000 => FileKind::File,
            0o040_000 => FileKind::Directory,
            0o120_000 => FileKind::Link,
            _ => FileKind::Other,
        },
        mode: mode & 0o7777,
        size: words.next()?.parse().ok()?,
        modified_at: words.next()?.parse().ok()?,
        links: words.next()?.parse().ok()?,
    })
}

fn parse_list(bytes: &[u8]) -> Vec<FileEntry> {
    let mut entries = Vec::new();
    for entry in bytes.split(|byte| *byte == 1).skip(1) {
        let entry = entry.strip_suffix(b"\n").unwrap_or(entry);
        let mut parts = entry.splitn(5, |byte| *byte == b' ');
        let words: Vec<_> = parts.by_ref().take(4).collect();
        let stat = parse_stat(&String::from_utf8_lossy(&words.join(&b' ')));
        if let (Some(stat), Some(name)) = (stat, parts.next()) {
            let name = name.strip_prefix(b"./").unwrap_or(name);
            entries.push(FileEntry {
                name: PathBuf::from(std::ffi::OsString::from_vec(name.to_vec())),
                stat,
            });
        }
    }
    entries
}
