//! Going through a tree on all processors, with ripgrep's libraries.
//!
//! At first only numbers are kept: which file has how many matches. The lines that are shown are read again
//! by `matches`, so that memory stays small however much is found and the totals are right.

mod matches;
mod stoppable;

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use ignore::{DirEntry, WalkBuilder, WalkState};
use tokio_util::sync::CancellationToken;

use stoppable::look;

use crate::files::search::{NamePattern, matcher, sort};
use crate::files::{FilesError, FoundFile, Search, SearchFor, SearchFound};

/// Most threads of one search.
const MOST_THREADS: usize = 8;
/// Most files with matches that are remembered.
const MOST_FILES: usize = 500_000;
/// A file with a longer line is left out.
const LONGEST_LINE: usize = 64 << 20;
/// Matches between two looks at the clock.
const OFTEN: usize = 4_096;

/// Searches this machine.
pub(super) fn run(search: &Search) -> Result<SearchFound, FilesError> {
    let stop = Stop {
        deadline: Instant::now() + search.time,
        cancel: &search.cancel,
    };
    let (what, doubt) = match search.what {
        SearchFor::Names => (What::Names(NamePattern::new(&search.pattern)?), None),
        SearchFor::Lines | SearchFor::Counts | SearchFor::Files => {
            let (matcher, doubt) = matcher(&search.pattern)?;
            (What::Content(matcher), doubt)
        }
    };
    let mut found = walk(search, &what, &stop)?;
    found.doubt = doubt;
    if let (SearchFor::Lines, What::Content(matcher)) = (search.what, &what) {
        found.lines = matches::page(search, matcher, &found.files, &stop);
    }
    if search.cancel.is_cancelled() {
        return Err(FilesError::Stopped);
    }
    Ok(found)
}

/// When a search ends before it is done.
struct Stop<'s> {
    deadline: Instant,
    cancel: &'s CancellationToken,
}

impl Stop<'_> {
    fn now(&self) -> bool {
        self.cancel.is_cancelled() || Instant::now() >= self.deadline
    }
}

enum What {
    Content(RegexMatcher),
    Names(NamePattern),
}

fn searcher() -> SearcherBuilder {
    let mut builder = SearcherBuilder::new();
    builder
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(LONGEST_LINE))
        .line_number(false);
    builder
}

fn walk(search: &Search, what: &What, stop: &Stop<'_>) -> Result<SearchFound, FilesError> {
    let tally = Tally {
        search,
        stop,
        hits: Mutex::default(),
        total: AtomicUsize::new(0),
        omitted: AtomicUsize::new(0),
        incomplete: AtomicBool::new(false),
    };
    walker(search)?.build_parallel().run(|| {
        let mut worker = Worker {
            what,
            tally: &tally,
            searcher: searcher().build(),
        };
        Box::new(move |entry| match entry {
            Ok(entry) => worker.visit(&entry),
            Err(_) => WalkState::Continue,
        })
    });
    let mut files = tally
        .hits
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    sort(&mut files);
    Ok(SearchFound {
        files,
        total: tally.total.into_inner(),
        omitted: tally.omitted.into_inner(),
        incomplete: tally.incomplete.into_inner(),
        ..SearchFound::default()
    })
}

fn walker(search: &Search) -> Result<WalkBuilder, FilesError> {
    let mut builder = WalkBuilder::new(&search.root);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    builder
        .threads(threads.min(MOST_THREADS))
        // What is ignored must not depend on the user's own git settings.
        .git_global(false);
    if let Some(wanted) = search.wanted()? {
        // As overrides they would bring back what is hidden or ignored.
        builder.filter_entry(move |entry| {
            let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.depth() == 0 || !wanted.matched(entry.path(), is_directory).is_ignore()
        });
    }
    Ok(builder)
}

/// What all workers add to.
struct Tally<'q> {
    search: &'q Search,
    stop: &'q Stop<'q>,
    hits: Mutex<Vec<FoundFile>>,
    total: AtomicUsize,
    omitted: AtomicUsize,
    incomplete: AtomicBool,
}

struct Worker<'s> {
    what: &'s What,
    tally: &'s Tally<'s>,
    searcher: Searcher,
}

impl Worker<'_> {
    fn visit(&mut self, entry: &DirEntry) -> WalkState {
        let search = self.tally.search;
        if self.tally.stop.now() {
            self.tally.incomplete.store(true, Ordering::Relaxed);
            return WalkState::Quit;
        }
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            return WalkState::Continue;
        }
        let path = entry.path();
        let count = self.count(path);
        if count == 0 {
            return WalkState::Continue;
        }
        if !(search.may_see)(path) {
            self.tally.omitted.fetch_add(1, Ordering::Relaxed);
            return WalkState::Continue;
        }
        self.tally.total.fetch_add(count, Ordering::Relaxed);
        let data = search.in_time_order().then(|| entry.metadata().ok());
        let modified = data.flatten().map(|data| {
            let nanoseconds = u32::try_from(data.mtime_nsec()).unwrap_or(0);
            (data.mtime(), nanoseconds)
        });
        let mut hits = self
            .tally
            .hits
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if hits.len() >= MOST_FILES {
            self.tally.incomplete.store(true, Ordering::Relaxed);
            return WalkState::Quit;
        }
        hits.push(FoundFile {
            path: path.to_owned(),
            count,
            modified,
        });
        WalkState::Continue
    }

    fn count(&mut self, path: &Path) -> usize {
        match self.what {
            What::Names(names) => usize::from(names.matches(path, &self.tally.search.root)),
            What::Content(matcher) => {
                let mut counter = Counter {
                    count: 0,
                    first_only: self.tally.search.what == SearchFor::Files,
                    stop: self.tally.stop,
                };
                let stop = self.tally.stop;
                let read = look(&mut self.searcher, matcher, path, stop, &mut counter);
                // A file that cannot be read has no matches; one that was not read to its end may have more.
                if read.is_err() && stop.now() {
                    self.tally.incomplete.store(true, Ordering::Relaxed);
                }
                counter.count
            }
        }
    }
}

struct Counter<'q> {
    count: usize,
    first_only: bool,
    stop: &'q Stop<'q>,
}

impl Sink for Counter<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.count += 1;
        Ok(!self.first_only && (!self.count.is_multiple_of(OFTEN) || !self.stop.now()))
    }
}
