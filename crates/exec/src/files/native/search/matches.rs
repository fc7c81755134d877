//! The lines of a page.

use std::io;
use std::path::Path;

use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use super::stoppable::look;
use super::{Stop, searcher};
use crate::files::search::shown;
use crate::files::{FoundFile, FoundLine, Search};

/// The matches of one page.
pub(super) fn page(
    search: &Search,
    matcher: &RegexMatcher,
    files: &[FoundFile],
    stop: &Stop<'_>,
) -> Vec<FoundLine> {
    let mut searcher = searcher()
        .line_number(true)
        .before_context(search.context)
        .after_context(search.context)
        .build();
    let mut skip = search.offset;
    let mut matches = Vec::new();
    for file in files {
        if skip >= file.count {
            skip -= file.count;
            continue;
        }
        let room = search.limit - matches.len();
        if room == 0 || stop.now() {
            break;
        }
        let mut collector = Collector {
            path: &file.path,
            skip,
            room,
            matches: &mut matches,
            before: Vec::new(),
            done: false,
        };
        skip = 0;
        // A file that went away since it was counted has nothing to show.
        let _ = look(&mut searcher, matcher, &file.path, stop, &mut collector);
    }
    matches
}

struct Collector<'m> {
    path: &'m Path,
    skip: usize,
    room: usize,
    matches: &'m mut Vec<FoundLine>,
    before: Vec<String>,
    /// Only lines after the last match are still wanted.
    done: bool,
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.skip > 0 {
            self.skip -= 1;
            self.before.clear();
            return Ok(true);
        }
        if self.room == 0 {
            return Ok(false);
        }
        self.room -= 1;
        self.done = self.room == 0;
        self.matches.push(FoundLine {
            path: self.path.to_owned(),
            line: found.line_number().unwrap_or_default(),
            content: shown(found.bytes()),
            before: std::mem::take(&mut self.before),
            after: Vec::new(),
        });
        Ok(!self.done || searcher.after_context() > 0)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, io::Error> {
        match line.kind() {
            SinkContextKind::After => {
                if let Some(last) = self.matches.last_mut().filter(|_| self.skip == 0) {
                    last.after.push(shown(line.bytes()));
                }
            }
            SinkContextKind::Before if self.done => return Ok(false),
            SinkContextKind::Before => self.before.push(shown(line.bytes())),
            SinkContextKind::Other => {}
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.before.clear();
        Ok(!self.done)
    }
}
