//! The thread that writes, and the handles that wait for it.
//!
//! The writer takes every request that is waiting, runs each in its own savepoint, commits once, and
//! only then answers: many callers share one fsync, and an answer always means durable.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::task::{Context, Poll};
use std::thread::JoinHandle;

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use crate::error::StoreError;

/// Requests that may wait at once; a caller beyond that is held up.
pub(crate) const QUEUE: usize = 256;
/// Requests that share one commit at most.
const BATCH: usize = 128;

/// An answer on its way. Await it, or `wait` for it on a thread that may block.
#[derive(Debug)]
#[must_use = "the request runs either way, but whether it worked is only known here"]
pub struct Pending<T>(oneshot::Receiver<Result<T, StoreError>>);

impl<T> Pending<T> {
    pub(crate) fn of(answer: oneshot::Receiver<Result<T, StoreError>>) -> Self {
        Self(answer)
    }

    /// An answer that is known before the request is made.
    pub(crate) fn failed(error: StoreError) -> Self {
        let (reply, answer) = oneshot::channel();
        // The receiver is right here.
        drop(reply.send(Err(error)));
        Self(answer)
    }

    /// Blocks until the answer is there. Not for async code.
    pub fn wait(self) -> Result<T, StoreError> {
        self.0.blocking_recv().unwrap_or(Err(StoreError::Closed))
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0)
            .poll(context)
            .map(|answer| answer.unwrap_or(Err(StoreError::Closed)))
    }
}

/// Tells the caller how it went, given whether the commit worked.
type Acknowledge = Box<dyn FnOnce(Option<CommitFault>) + Send>;
/// Runs a request in the open transaction, or answers it with why there is none.
type SharedJob = Box<dyn FnOnce(Result<&Connection, CommitFault>) -> Acknowledge + Send>;

enum Job {
    /// Shares its commit with others.
    Shared(SharedJob),
    /// Needs the connection to itself, outside any transaction.
    Alone(Box<dyn FnOnce(&Connection) + Send>),
}

/// A commit failed for everyone in the batch; errors cannot be cloned, so each gets its own.
#[derive(Debug, Clone)]
struct CommitFault {
    code: rusqlite::ffi::Error,
    detail: Option<String>,
    path: PathBuf,
}

impl CommitFault {
    fn new(error: &rusqlite::Error, path: PathBuf) -> Self {
        let (code, detail) = match error {
            rusqlite::Error::SqliteFailure(code, detail) => (*code, detail.clone()),
            other => (rusqlite::ffi::Error::new(1), Some(other.to_string())),
        };
        Self { code, detail, path }
    }

    fn into_error(self) -> StoreError {
        let error = rusqlite::Error::SqliteFailure(self.code, self.detail);
        StoreError::from_sql(error, &self.path)
    }
}

/// The thread that writes. Dropping it waits until everything asked for is done and the file is closed.
pub(crate) struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(connection: Connection, path: PathBuf) -> Result<Self, StoreError> {
        let (jobs, inbox) = sync_channel(QUEUE);
        let thread = spawn("store-writer", &path.clone(), move || {
            write_loop(connection, &inbox, &path);
        })?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Runs `work` inside a transaction; it is rolled back alone when it fails.
    pub(crate) fn run<T, F>(&self, path: &std::path::Path, work: F) -> Pending<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let path = path.to_owned();
        let job: SharedJob = Box::new(move |connection| {
            let outcome = connection
                .map_err(CommitFault::into_error)
                .and_then(|connection| in_savepoint(connection, work))
                .map_err(|error| error.at(&path));
            Box::new(move |fault: Option<CommitFault>| {
                let outcome = match (outcome, fault) {
                    (Ok(_), Some(fault)) => Err(fault.into_error()),
                    (outcome, _) => outcome,
                };
                // A caller that went away no longer cares.
                drop(reply.send(outcome));
            })
        });
        send(self.jobs.as_ref(), Job::Shared(job));
        Pending(answer)
    }

    /// Runs `work` with the connection to itself, for what cannot run inside a transaction.
    pub(crate) fn run_alone<T, F>(&self, path: &std::path::Path, work: F) -> Pending<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let path = path.to_owned();
        let job = Box::new(move |connection: &Connection| {
            drop(reply.send(work(connection).map_err(|error| error.at(&path))));
        });
        send(self.jobs.as_ref(), Job::Alone(job));
        Pending(answer)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.take());
        join(self.thread.take());
    }
}

/// Hands a job over; when the thread is gone the job is dropped, and its caller sees `Closed`.
fn send<J>(jobs: Option<&SyncSender<J>>, job: J) {
    if let Some(jobs) = jobs {
        drop(jobs.send(job));
    }
}

/// Waits for a thread to end, unless it is the one that asks.
pub(crate) fn join(thread: Option<JoinHandle<()>>) {
    if let Some(thread) = thread
        && thread.thread().id() != std::thread::current().id()
    {
        // A thread that panicked has nothing left to finish.
        drop(thread.join());
    }
}

fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let run = |statement| connection.prepare_cached(statement)?.execute(());
    run("SAVEPOINT request")?;
    let outcome = work(connection);
    // An error such as a full disk may have ended the whole transaction already.
    if !connection.is_autocommit() {
        if outcome.is_err() {
            run("ROLLBACK TO request")?;
        }
        run("RELEASE request")?;
    }
    outcome
}

fn write_loop(mut connection: Connection, inbox: &Receiver<Job>, path: &std::path::Path) {
    let mut next = inbox.recv().ok();
    while let Some(job) = next.take() {
        match job {
            Job::Alone(work) => work(&connection),
            Job::Shared(first) => next = write_batch(&mut connection, first, inbox, path),
        }
        if next.is_none() {
            next = inbox.recv().ok();
        }
    }
    // The last handle is gone: leave a small log behind. Failing is harmless, the next open does it.
    drop(connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"));
}

/// Commits what is waiting in one go; hands back a request that cannot be part of it.
fn write_batch(
    connection: &mut Connection,
    first: SharedJob,
    inbox: &Receiver<Job>,
    path: &std::path::Path,
) -> Option<Job> {
    let mut answers: Vec<Acknowledge> = Vec::new();
    let mut waiting = Some(first);
    let mut left_over = None;
    let result = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .and_then(|transaction| {
            while let Some(job) = waiting.take() {
                answers.push(job(Ok(&transaction)));
                if answers.len() < BATCH {
                    match inbox.try_recv() {
                        Ok(Job::Shared(job)) => waiting = Some(job),
                        Ok(other @ Job::Alone(_)) => left_over = Some(other),
                        Err(_) => {}
                    }
                }
            }
            transaction.commit()
        });
    let fault = result
        .err()
        .map(|error| CommitFault::new(&error, path.to_owned()));
    if let (Some(job), Some(fault)) = (waiting, &fault) {
        // The transaction could not even begin.
        answers.push(job(Err(fault.clone())));
    }
    for answer in answers {
        answer(fault.clone());
    }
    left_over
}

pub(crate) fn spawn(
    name: &str,
    path: &std::path::Path,
    run: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, StoreError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(|source| StoreError::File {
            path: path.to_owned(),
            source,
        })
}
