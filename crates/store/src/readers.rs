//! Threads that read.
//!
//! A thread is started when there is more to read than there are threads at rest, and opens its connection
//! then: whoever asks one thing after the other has one connection, and reads its schema once.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::open::Location;
use crate::worker::{Pending, QUEUE, join, spawn};

/// Threads that read at once.
const MOST_THREADS: usize = 2;

type Job = Box<dyn FnOnce(Result<&mut Connection, StoreError>) + Send>;

/// How much of the file a request looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// A few pages, through the page cache.
    Rows,
    /// Pages all over the file, which is mapped for as long as the request runs.
    File,
}

impl Reach {
    fn mapped_bytes(self) -> i64 {
        match self {
            Self::Rows => 0,
            Self::File => 1 << 40,
        }
    }
}

/// The threads. Dropping them waits until everything asked for is answered.
pub(crate) struct Readers {
    shared: Arc<Shared>,
}

struct Shared {
    location: Location,
    state: Mutex<State>,
    /// There is work, or it is over.
    work: Condvar,
    /// There is room in the queue.
    room: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: Vec<JoinHandle<()>>,
    /// Threads that wait for work.
    resting: usize,
    closed: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Readers {
    /// None yet.
    pub(crate) fn new(location: Location) -> Self {
        Self {
            shared: Arc::new(Shared {
                location,
                state: Mutex::default(),
                work: Condvar::new(),
                room: Condvar::new(),
            }),
        }
    }

    pub(crate) fn run<T, F>(&self, reach: Reach, work: F) -> Pending<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let path = self.shared.location.path.clone();
        let job: Job = Box::new(move |connection| {
            let outcome = connection.and_then(|connection| {
                connection.pragma_update(None, "mmap_size", reach.mapped_bytes())?;
                let outcome = {
                    // One snapshot for the whole request, however many statements it runs.
                    let transaction = connection.transaction()?;
                    work(&transaction)
                };
                // Mapped pages count as ours until they are given back.
                connection.pragma_update(None, "mmap_size", 0)?;
                outcome
            });
            drop(reply.send(outcome.map_err(|error| error.at(&path))));
        });
        match self.queue(job) {
            Ok(()) => Pending::of(answer),
            Err(error) => Pending::failed(error),
        }
    }

    fn queue(&self, job: Job) -> Result<(), StoreError> {
        let shared = &self.shared;
        let mut state = shared.state();
        while state.jobs.len() >= QUEUE {
            let woken = shared.room.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.jobs.push_back(job);
        let number = state.threads.len();
        if state.jobs.len() > state.resting && number < MOST_THREADS {
            let theirs = shared.clone();
            let path: &Path = &shared.location.path;
            match spawn(&format!("store-reader-{number}"), path, move || {
                read(&theirs)
            }) {
                Ok(thread) => state.threads.push(thread),
                Err(error) if number == 0 => {
                    state.jobs.clear();
                    return Err(error);
                }
                // The others get to it.
                Err(_) => {}
            }
        }
        drop(state);
        shared.work.notify_one();
        Ok(())
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.closed = true;
        let threads = std::mem::take(&mut state.threads);
        drop(state);
        self.shared.work.notify_all();
        for thread in threads {
            join(Some(thread));
        }
    }
}

fn read(shared: &Shared) {
    let mut connection: Option<Connection> = None;
    while let Some(job) = next(shared) {
        match &mut connection {
            Some(connection) => job(Ok(connection)),
            None => match shared.location.open_reader() {
                Ok(opened) => job(Ok(connection.insert(opened))),
                Err(error) => job(Err(error)),
            },
        }
    }
}

/// What is asked for next; nothing when it is over.
fn next(shared: &Shared) -> Option<Job> {
    let mut state = shared.state();
    loop {
        if let Some(job) = state.jobs.pop_front() {
            drop(state);
            shared.room.notify_one();
            return Some(job);
        }
        if state.closed {
            return None;
        }
        state.resting += 1;
        let woken = shared.work.wait(state);
        state = woken.unwrap_or_else(PoisonError::into_inner);
        state.resting -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn threads(readers: &Readers) -> usize {
        readers.shared.state().threads.len()
    }

    #[test]
    fn one_thread_reads_for_whoever_asks_one_thing_after_the_other_and_two_for_two() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (7);")
            .unwrap();
        let readers = Readers::new(Location::new(path, None));
        assert_eq!(threads(&readers), 0);
        let read = |connection: &Connection| {
            Ok(connection.query_row("SELECT x FROM t", (), |row| row.get::<_, i64>(0))?)
        };
        for _ in 0..20 {
            assert_eq!(readers.run(Reach::Rows, read).wait().unwrap(), 7);
            // The thread rests a moment after its answer is there.
            while readers.shared.state().resting == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        assert_eq!(threads(&readers), 1);
        // Each waits for the other, which one thread alone could not do.
        let both = Arc::new(std::sync::Barrier::new(2));
        let meet = |barrier: Arc<std::sync::Barrier>| {
            move |_: &Connection| {
                barrier.wait();
                Ok(())
            }
        };
        let first = readers.run(Reach::Rows, meet(both.clone()));
        let second = readers.run(Reach::Rows, meet(both));
        first.wait().unwrap();
        second.wait().unwrap();
        assert_eq!(threads(&readers), 2);
        // What was asked for is answered although nobody asks for more.
        let late: Vec<_> = (0..50).map(|_| readers.run(Reach::File, read)).collect();
        drop(readers);
        assert!(late.into_iter().all(|one| one.wait().unwrap() == 7));
    }
}
