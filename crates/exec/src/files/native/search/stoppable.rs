//! A file that stops being read when the search is over, however long it is.

use std::io::{self, Read};
use std::path::Path;

use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink};
use rustix::fs::OFlags;

use super::Stop;
use crate::files::native::pinned::open;

/// Reads until the search is to end, which then is an error.
struct Stoppable<'s, R> {
    inner: R,
    stop: &'s Stop<'s>,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.stop.now() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => self.inner.read(into),
        }
    }
}

/// Looks through one file.
pub(super) fn look<S: Sink<Error = io::Error>>(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    path: &Path,
    stop: &Stop<'_>,
    sink: S,
) -> io::Result<()> {
    let inner = open(path, OFlags::RDONLY)?;
    searcher.search_reader(matcher, Stoppable { inner, stop }, sink)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use grep_searcher::SinkMatch;
    use tokio_util::sync::CancellationToken;

    use super::*;

    struct Nothing;

    impl Sink for Nothing {
        type Error = io::Error;

        fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> Result<bool, io::Error> {
            Ok(true)
        }
    }

    /// Lines without end.
    struct Endless;

    impl Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            for (place, byte) in into.iter_mut().enumerate() {
                *byte = if place % 40 == 39 { b'\n' } else { b'a' };
            }
            Ok(into.len())
        }
    }

    // EX-46
    #[test]
    fn a_file_without_end_ends_with_its_search() {
        let cancel = CancellationToken::new();
        let stop = Stop {
            deadline: Instant::now() + Duration::from_millis(200),
            cancel: &cancel,
        };
        let endless = Stoppable {
            inner: Endless,
            stop: &stop,
        };
        let matcher = RegexMatcher::new("absent").unwrap();
        let ended = Searcher::new().search_reader(&matcher, endless, Nothing);
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
