//! What programs write to standard error: into one log file for all of them, and the last lines in memory
//! for the error when they do not come up.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hermes_core::Clock;
use hermes_secrets::{RedactorHandle, Scope};
use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

/// The log file below the home.
const FILE: &str = "logs/mcp-stderr.log";
/// Size at which the file is set aside.
const ROTATE_AT: u64 = 5 << 20;
/// Older files that are kept.
const KEPT_FILES: usize = 2;
/// Lines that may wait to be written; more are dropped.
const QUEUE: usize = 1024;
/// Longest line.
const MOST_LINE: u64 = 8 << 10;
/// Lines kept for an error.
const LAST_LINES: usize = 12;

/// The way to the log file; one task owns the file.
#[derive(Clone)]
pub(crate) struct StderrLog {
    lines: mpsc::Sender<String>,
    redactor: RedactorHandle,
    clock: Arc<dyn Clock>,
}

impl StderrLog {
    /// A log below `home`, written by a task that ends with the last clone.
    pub(crate) fn new(
        home: &Path,
        redactor: RedactorHandle,
        clock: Arc<dyn Clock>,
        tasks: &TaskTracker,
    ) -> Self {
        let (lines, queue) = mpsc::channel(QUEUE);
        tasks.spawn(write(home.join(FILE), queue));
        Self {
            lines,
            redactor,
            clock,
        }
    }

    /// Notes that a server's program is started.
    pub(crate) fn header(&self, server: &str) {
        let now = self.clock.now();
        self.put(format!(
            "===== [{now:.0}] starting MCP server '{server}' ====="
        ));
    }

    fn line(&self, server: &str, line: &str) -> String {
        let line = self
            .redactor
            .snapshot()
            .redact_in(Scope::Log, line)
            .into_owned();
        self.put(format!("[{server}] {line}"));
        line
    }

    fn put(&self, line: String) {
        // A server that writes faster than the disk takes loses lines, not us.
        let _ = self.lines.try_send(line);
    }
}

/// The last lines of one program.
#[derive(Clone, Default)]
pub(crate) struct LastWords(Arc<Mutex<VecDeque<String>>>);

impl LastWords {
    fn add(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// What to add to an error: nothing when nothing was said.
    pub(crate) fn quote(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let said: Vec<&str> = lines
            .iter()
            .map(|line| line.trim())
            .filter(|line| !line.is_empty())
            .collect();
        match said.is_empty() {
            true => String::new(),
            false => format!("; it said: {}", said.join(" | ")),
        }
    }
}

/// Reads what a program says until it closes its end.
pub(crate) async fn listen(
    errors: impl AsyncRead + Unpin,
    server: String,
    log: StderrLog,
    words: LastWords,
) {
    let mut reader = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut reader)
            .take(MOST_LINE)
            .read_until(b'\n', &mut line)
            .await;
        match read {
            Ok(1..) => {
                let text = String::from_utf8_lossy(&line);
                words.add(log.line(&server, text.trim_end()));
            }
            Ok(0) | Err(_) => return,
        }
    }
}

/// Owns the file. A disk that does not take it costs the lines, nothing else.
async fn write(path: PathBuf, mut queue: mpsc::Receiver<String>) {
    let mut open: Option<(File, u64)> = None;
    while let Some(mut line) = queue.recv().await {
        line.push('\n');
        if open.as_ref().is_some_and(|(_, size)| *size >= ROTATE_AT) {
            open = None;
            rotate(&path).await;
        }
        if open.is_none() {
            open = open_log(&path).await;
        }
        let Some((file, size)) = &mut open else {
            continue;
        };
        match file.write_all(line.as_bytes()).await {
            Ok(()) => *size += line.len() as u64,
            Err(error) => {
                tracing::debug!(%error, "the log of MCP servers cannot be written");
                open = None;
            }
        }
        if queue.is_empty()
            && let Some((file, _)) = &mut open
            && let Err(error) = file.flush().await
        {
            tracing::debug!(%error, "the log of MCP servers cannot be written");
        }
    }
}

async fn open_log(path: &Path) -> Option<(File, u64)> {
    let folder = path.parent()?;
    tokio::fs::create_dir_all(folder).await.ok()?;
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .await
        .ok()?;
    let size = file.metadata().await.ok()?.len();
    Some((file, size))
}

async fn rotate(path: &Path) {
    let numbered = |number: usize| match number {
        0 => path.to_owned(),
        _ => path.with_extension(format!("log.{number}")),
    };
    for number in (0..KEPT_FILES).rev() {
        // A missing file is the usual case at first.
        let _ = tokio::fs::rename(numbered(number), numbered(number + 1)).await;
    }
}
