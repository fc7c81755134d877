//! Going through a tree on all processors, counting.
//!
//! Only numbers are kept: which file has how many matches. The lines that are shown are read again by
//! `lines`, so that memory stays small however much is found and the totals are right.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use hermes_policy::{Names, may_read};
use ignore::overrides::OverrideBuilder;
use ignore::{DirEntry, WalkBuilder, WalkState};

use super::{Output, Query, Stop};

/// Most threads of one search.
const MOST_THREADS: usize = 8;
/// Most files with matches that are remembered.
const MOST_FILES: usize = 500_000;

/// A file with a longer line is left out.
const LONGEST_LINE: usize = 64 << 20;

/// What is looked for.
pub(super) struct Scan {
    what: What,
    /// Why there may be no matches although there should.
    pub(super) doubt: Option<&'static str>,
}

enum What {
    Content {
        matcher: RegexMatcher,
        first_only: bool,
    },
    Names {
        glob: GlobMatcher,
        whole_path: bool,
    },
}

/// What was found.
pub(super) struct Found {
    /// In the order they are shown.
    pub(super) files: Vec<Hit>,
    /// All matches.
    pub(super) total: usize,
    /// Files left out because they may not be read.
    pub(super) omitted: usize,
    /// The search was ended by its deadline or a limit.
    pub(super) incomplete: bool,
    pub(super) doubt: Option<&'static str>,
}

/// A file with matches.
pub(super) struct Hit {
    pub(super) path: PathBuf,
    pub(super) count: usize,
    modified: Option<SystemTime>,
}

/// The regular expression of a search, and whether it asks for something lines cannot have.
pub(super) fn matcher(pattern: &str) -> Result<(RegexMatcher, bool), String> {
    let by_line = RegexMatcherBuilder::new()
        .line_terminator(Some(b'\n'))
        .build(pattern);
    match by_line {
        Ok(matcher) => Ok((matcher, false)),
        Err(_) => RegexMatcherBuilder::new()
            .build(pattern)
            .map(|matcher| (matcher, true))
            .map_err(|error| format!("the pattern is not a regular expression: {error}")),
    }
}

pub(super) fn searcher() -> SearcherBuilder {
    let mut builder = SearcherBuilder::new();
    builder
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(LONGEST_LINE))
        .line_number(false);
    builder
}

impl Scan {
    pub(super) fn content(query: &Query) -> Result<Self, String> {
        let (matcher, over_lines) = matcher(&query.asked.pattern)?;
        Ok(Self {
            what: What::Content {
                matcher,
                first_only: query.asked.output_mode == Output::FilesOnly,
            },
            doubt: over_lines
                .then_some("the pattern contains a line break, and lines are searched one by one"),
        })
    }

    pub(super) fn names(query: &Query) -> Result<Self, String> {
        let pattern = query.asked.pattern.as_str();
        let is_glob = pattern.contains(['*', '?', '[', '{']);
        let whole_path = pattern.contains('/');
        let glob = match (is_glob, whole_path) {
            (false, false) => format!("*{}*", globset::escape(pattern)),
            (false, true) => format!("**{}*", globset::escape(pattern)),
            (true, true) if !pattern.starts_with("**") => {
                format!("**/{}", pattern.trim_start_matches('/'))
            }
            (true, _) => pattern.to_owned(),
        };
        let glob = GlobBuilder::new(&glob)
            .literal_separator(whole_path && is_glob)
            .build()
            .map_err(|error| format!("the pattern is not a glob: {error}"))?;
        Ok(Self {
            what: What::Names {
                glob: glob.compile_matcher(),
                whole_path,
            },
            doubt: None,
        })
    }

    pub(super) fn run(self, query: &Query) -> Found {
        let tally = Tally {
            query,
            hits: Mutex::default(),
            total: AtomicUsize::new(0),
            omitted: AtomicUsize::new(0),
            incomplete: AtomicBool::new(false),
        };
        match walker(query) {
            Ok(walker) => walker.build_parallel().run(|| {
                let mut worker = Worker {
                    scan: &self,
                    tally: &tally,
                    searcher: searcher().build(),
                };
                Box::new(move |entry| match entry {
                    Ok(entry) => worker.visit(&entry),
                    Err(_) => WalkState::Continue,
                })
            }),
            Err(_) => tally.incomplete.store(true, Ordering::Relaxed),
        }
        let mut files = tally
            .hits
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        // Lists of files begin with what was changed last; lines are shown in the order of their files.
        files.sort_by(|a, b| {
            b.modified
                .cmp(&a.modified)
                .then_with(|| a.path.cmp(&b.path))
        });
        Found {
            files,
            total: tally.total.into_inner(),
            omitted: tally.omitted.into_inner(),
            incomplete: tally.incomplete.into_inner(),
            doubt: self.doubt,
        }
    }
}

fn walker(query: &Query) -> Result<WalkBuilder, ignore::Error> {
    let mut builder = WalkBuilder::new(&query.root);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    builder
        .threads(threads.min(MOST_THREADS))
        // What is ignored must not depend on the user's own git settings.
        .git_global(false);
    if let Some(glob) = &query.asked.file_glob {
        let mut globs = OverrideBuilder::new(&query.root);
        globs.add(glob)?;
        builder.overrides(globs.build()?);
    }
    Ok(builder)
}

/// What all workers add to.
struct Tally<'q> {
    query: &'q Query,
    hits: Mutex<Vec<Hit>>,
    total: AtomicUsize,
    omitted: AtomicUsize,
    incomplete: AtomicBool,
}

struct Worker<'s> {
    scan: &'s Scan,
    tally: &'s Tally<'s>,
    searcher: Searcher,
}

impl Worker<'_> {
    fn visit(&mut self, entry: &DirEntry) -> WalkState {
        let query = self.tally.query;
        if query.stop.now() {
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
        let names = Names {
            real: path,
            hops: &[],
        };
        if may_read(names, &query.shared.services.rules).is_err() {
            self.tally.omitted.fetch_add(1, Ordering::Relaxed);
            return WalkState::Continue;
        }
        self.tally.total.fetch_add(count, Ordering::Relaxed);
        let in_time_order = query.asked.target == super::Target::Files
            || query.asked.output_mode == Output::FilesOnly;
        let modified = if in_time_order {
            entry
                .metadata()
                .ok()
                .and_then(|facts| facts.modified().ok())
        } else {
            None
        };
        let mut hits = self
            .tally
            .hits
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if hits.len() >= MOST_FILES {
            self.tally.incomplete.store(true, Ordering::Relaxed);
            return WalkState::Quit;
        }
        hits.push(Hit {
            path: path.to_owned(),
            count,
            modified,
        });
        WalkState::Continue
    }

    fn count(&mut self, path: &Path) -> usize {
        match &self.scan.what {
            What::Names { glob, whole_path } => {
                let matches = if *whole_path {
                    let root = &self.tally.query.root;
                    glob.is_match(path.strip_prefix(root).unwrap_or(path))
                } else {
                    path.file_name().is_some_and(|name| glob.is_match(name))
                };
                usize::from(matches)
            }
            What::Content {
                matcher,
                first_only,
            } => {
                let mut counter = Counter {
                    count: 0,
                    first_only: *first_only,
                    stop: &self.tally.query.stop,
                };
                // A file that cannot be read has no matches.
                let _ = self.searcher.search_path(matcher, path, &mut counter);
                counter.count
            }
        }
    }
}

struct Counter<'q> {
    count: usize,
    first_only: bool,
    stop: &'q Stop,
}

/// Matches between two looks at the clock.
const OFTEN: usize = 4_096;

impl Sink for Counter<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.count += 1;
        Ok(!self.first_only && (!self.count.is_multiple_of(OFTEN) || !self.stop.now()))
    }
}
