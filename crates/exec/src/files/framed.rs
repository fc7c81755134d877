//! Files anywhere, one command for each request.

mod changes;
mod parse;
mod search;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::Random;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{
    Applied, Edit, FileEntry, FileHash, FileStat, FileState, Files, FilesError, HEAD, LineWindow,
    Lines, Loaded, Located, Search, SearchFound,
};
use crate::{Backend, Control, Ending, Input, Launch, Process, RunId};

const REQUEST: &str = include_str!("request.sh");
/// How long a request may take without its content.
const ANSWER: Duration = Duration::from_secs(60);
/// How long counting the lines of a file may take.
const COUNTING: Duration = Duration::from_secs(300);
/// The slowest transfer that is still waited for, in bytes per second.
const SLOWEST: u64 = 32 << 10;
/// The answer's first line is shorter.
const MAX_LINE: u64 = 4 << 10;
/// The longest list that is read.
const MAX_LIST: u64 = 64 << 20;
const BUFFER: usize = 64 << 10;

/// The files where a backend runs its commands. Needs `sh`, `stat`, `find`, `head`, `tail`, `awk` and a program
/// for SHA-256 there.
pub struct FramedFiles {
    backend: Arc<dyn Backend>,
    random: Arc<dyn Random>,
}

/// A request under way.
struct Asked {
    answer: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    control: Arc<dyn Control>,
    /// Ends the reading of a long answer.
    cancel: CancellationToken,
}

impl Asked {
    /// Everything that is left of the answer, at most `most` bytes.
    async fn rest(
        &mut self,
        path: &Path,
        most: u64,
        limit: Duration,
    ) -> Result<Vec<u8>, FilesError> {
        let mut bytes = Vec::new();
        let mut answer = (&mut self.answer).take(most);
        let read = tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(FilesError::Stopped),
            read = timeout(limit, answer.read_to_end(&mut bytes)) => match read {
                Ok(read) => return read.map(|_| bytes).map_err(|source| broken(path, source)),
                Err(_) => Err(late(path, limit)),
            },
        };
        self.end().await;
        read
    }

    /// Nobody waits for the rest of it.
    async fn end(&mut self) {
        let control = Arc::clone(&self.control);
        if let Err(error) = control.end(Ending::Kill).await {
            tracing::debug!(%error, "a request about files was not ended");
        }
    }
}

impl FramedFiles {
    /// The files of this backend.
    pub fn new(backend: Arc<dyn Backend>, random: Arc<dyn Random>) -> Self {
        Self { backend, random }
    }

    async fn start(
        &self,
        script: &str,
        words: &[&str],
        input: Input,
    ) -> Result<(Asked, Option<Box<dyn tokio::io::AsyncWrite + Send + Unpin>>), FilesError> {
        let mut argv = vec!["sh", "-c", script, "files"];
        argv.extend(words);
        let launch = Launch {
            id: RunId::new(format!("f{:016x}", self.random.next_u64())),
            argv: argv.into_iter().map(str::to_owned).collect(),
            directory: None,
            environment: Vec::new(),
            input,
            confinement: None,
        };
        let Process {
            output,
            input,
            control,
            ..
        } = self.backend.spawn(launch).await?;
        let answer = BufReader::with_capacity(BUFFER, output);
        let asked = Asked {
            answer,
            control,
            cancel: CancellationToken::new(),
        };
        Ok((asked, input))
    }

    /// Sends a request and reads the first line of its answer.
    async fn ask(
        &self,
        about: &[&Path],
        words: &[&str],
        content: Option<&[&[u8]]>,
    ) -> Result<(String, Asked), FilesError> {
        let path = about.first().copied().unwrap_or(Path::new("/"));
        let input = match content {
            Some(_) => Input::Pipe,
            None => Input::None,
        };
        let (mut asked, input) = self.start(REQUEST, words, input).await?;
        let size: u64 = content
            .iter()
            .flat_map(|parts| parts.iter())
            .map(|part| part.len() as u64)
            .sum();
        let limit = ANSWER + Duration::from_secs(size / SLOWEST);
        let exchange = async {
            if let (Some(parts), Some(mut input)) = (content, input) {
                for part in parts {
                    // One that breaks off is noticed over there, and by the answer.
                    let _ = input.write_all(part).await;
                }
                let _ = input.shutdown().await;
            }
            first_line(&mut asked).await
        };
        let line = match timeout(limit, exchange).await {
            Ok(line) => line.map_err(|source| broken(path, source))?,
            Err(_) => {
                asked.end().await;
                return Err(late(path, limit));
            }
        };
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("ok", rest) => Ok((rest.to_owned(), asked)),
            ("no", reason) => Err(refusal(about, reason)),
            ("", _) => Err(broken(path, std::io::ErrorKind::UnexpectedEof.into())),
            _ => Err(broken(path, std::io::Error::other(line))),
        }
    }

    async fn window(
        &self,
        path: &Path,
        window: LineWindow,
        cancel: &CancellationToken,
    ) -> Result<Lines, FilesError> {
        let last = window.first.saturating_add(window.count) - 1;
        let numbers = [window.first, last, window.keep, HEAD].map(|number| number.to_string());
        let [first, last, keep, head] = &numbers;
        let words = ["lines", text(path)?, first, last, keep, head];
        let (line, mut asked) = self.ask(&[path], &words, None).await?;
        asked.cancel = cancel.clone();
        let stat = parse::stat(&line).ok_or_else(|| odd(path))?;
        let begins = stat.stamp.size.min(HEAD as u64);
        let head = asked.rest(path, begins, ANSWER).await?;
        if head.len() as u64 != begins {
            return Err(odd(path));
        }
        let mut found = Lines {
            stat,
            head,
            lines: Vec::new(),
            total: 0,
        };
        if !(window.is_text)(&found.head) {
            asked.end().await;
            return Ok(found);
        }
        let most = (window.keep as u64 + 32).saturating_mul(window.count as u64 + 1);
        let rest = asked.rest(path, most, COUNTING).await?;
        (found.lines, found.total) = parse::lines(&rest).ok_or_else(|| odd(path))?;
        Ok(found)
    }

    async fn whole(&self, path: &Path, limit: u64) -> Result<Loaded, FilesError> {
        let words = ["load", text(path)?, &limit.to_string()];
        let large = || FilesError::TooLarge {
            path: path.to_owned(),
            limit,
        };
        let (line, mut asked) = match self.ask(&[path], &words, None).await {
            Err(FilesError::TooLarge { .. }) => return Err(large()),
            asked => asked?,
        };
        let stat = parse::stat(&line).ok_or_else(|| odd(path))?;
        let time = ANSWER + Duration::from_secs(stat.stamp.size / SLOWEST);
        let bytes = asked.rest(path, limit + 1, time).await?;
        let size = bytes.len() as u64;
        if size > limit {
            return Err(large());
        }
        // Files of the kernel have no size and content all the same.
        if stat.stamp.size != size && stat.stamp.size > 0 {
            return Err(FilesError::Short(path.to_owned()));
        }
        let state = FileState {
            stamp: stat.stamp,
            hash: Some(FileHash(Sha256::digest(&bytes).into())),
        };
        Ok(Loaded { bytes, state })
    }
}

impl Files for FramedFiles {
    fn locate<'a>(
        &'a self,
        directory: &'a Path,
        path: &'a str,
    ) -> BoxFuture<'a, Result<Located, FilesError>> {
        Box::pin(async move {
            let asked = Path::new(path);
            let path = tidy(path.trim());
            let directory = directory
                .to_str()
                .ok_or_else(|| FilesError::Path(directory.to_owned()))?;
            let words = ["locate", directory, &path];
            let (_, mut answer) = self.ask(&[asked], &words, None).await?;
            let rest = answer.rest(asked, MAX_LIST, ANSWER).await?;
            parse::located(asked, &rest)
        })
    }

    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileStat, FilesError>> {
        Box::pin(async move {
            let (line, _) = self.ask(&[path], &["stat", text(path)?], None).await?;
            parse::stat(&line).ok_or_else(|| odd(path))
        })
    }

    fn lines<'a>(
        &'a self,
        path: &'a Path,
        window: LineWindow,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Lines, FilesError>> {
        Box::pin(self.window(path, window, cancel))
    }

    fn load<'a>(&'a self, path: &'a Path, limit: u64) -> BoxFuture<'a, Result<Loaded, FilesError>> {
        Box::pin(self.whole(path, limit))
    }

    fn list<'a>(
        &'a self,
        path: &'a Path,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<FileEntry>, FilesError>> {
        Box::pin(async move {
            let (_, mut asked) = self.ask(&[path], &["list", text(path)?], None).await?;
            let bytes = asked.rest(path, MAX_LIST, ANSWER).await?;
            let mut entries = parse::list(&bytes);
            entries.sort_by(|one, other| one.name.cmp(&other.name));
            entries.truncate(limit);
            Ok(entries)
        })
    }

    fn apply(&self, edits: Vec<Edit>) -> BoxFuture<'_, Result<Applied, FilesError>> {
        Box::pin(async move { changes::apply(self, &edits).await })
    }

    fn search(&self, search: Search) -> BoxFuture<'_, Result<SearchFound, FilesError>> {
        Box::pin(async move { search::run(self, &search).await })
    }
}

async fn first_line(asked: &mut Asked) -> std::io::Result<String> {
    let mut line = Vec::new();
    (&mut asked.answer)
        .take(MAX_LINE)
        .read_until(b'\n', &mut line)
        .await?;
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

fn text(path: &Path) -> Result<&str, FilesError> {
    path.to_str()
        .filter(|text| text.starts_with('/'))
        .ok_or_else(|| FilesError::Path(path.to_owned()))
}

/// A path without what means nothing.
fn tidy(path: &str) -> String {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Why a request was refused, and about which of its paths.
fn refusal(about: &[&Path], reason: &str) -> FilesError {
    let (reason, number) = reason.split_once(' ').unwrap_or((reason, "0"));
    let named = number
        .parse()
        .ok()
        .and_then(|number: usize| about.get(number));
    let path = named.copied().unwrap_or(Path::new("/")).to_owned();
    match reason {
        "missing" => FilesError::Missing(path),
        "exists" => FilesError::Exists(path),
        "directory" => FilesError::Directory(path),
        "plain" => FilesError::NotPlain(path),
        "below" => FilesError::BelowFile(path),
        "denied" => FilesError::Denied(path),
        "changed" => FilesError::Changed(path),
        "linked" => FilesError::HardLinked(path),
        "owner" => FilesError::ForeignOwner(path),
        "full" => FilesError::Full(path),
        "short" => FilesError::Short(path),
        "path" => FilesError::Path(path),
        "stopped" => FilesError::Stopped,
        "large" => FilesError::TooLarge { path, limit: 0 },
        "digest" => broken(
            &path,
            std::io::Error::other("there is no program for SHA-256 there"),
        ),
        _ => odd(&path),
    }
}

/// An answer that cannot be understood.
fn odd(path: &Path) -> FilesError {
    broken(path, std::io::ErrorKind::InvalidData.into())
}

fn broken(path: &Path, source: std::io::Error) -> FilesError {
    FilesError::NoAnswer {
        path: path.to_owned(),
        cause: source.to_string(),
    }
}

fn late(path: &Path, limit: Duration) -> FilesError {
    FilesError::NoAnswer {
        path: path.to_owned(),
        cause: format!("it took more than {} s", limit.as_secs()),
    }
}
