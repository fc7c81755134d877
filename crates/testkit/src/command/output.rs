//! What a finished program left behind, with assertions that show it.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

/// The result of a run that ended by itself.
#[derive(Debug, Clone)]
pub struct Output {
    /// Standard output, invalid UTF-8 replaced.
    pub stdout: String,
    /// Standard error, invalid UTF-8 replaced.
    pub stderr: String,
    /// Exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// Number of the signal that ended it.
    pub signal: Option<i32>,
    /// From before the start until the exit was seen.
    pub wall: Duration,
    /// Peak resident memory in KiB.
    ///
    /// Exact above the test process's own peak. Below that it is the last sample of a 1 ms poll,
    /// because the kernel's count for a child includes the image it was spawned from; a child too
    /// short-lived to be sampled gets the kernel's count, which is then an upper bound.
    pub max_rss_kib: u64,
    /// Processor time it used, its own and the system's for it.
    pub cpu: Duration,
}

impl Output {
    /// Panics unless the exit code is 0.
    #[track_caller]
    pub fn ok(self) -> Self {
        self.code(0)
    }

    /// Panics unless the exit code is `expected`.
    #[track_caller]
    pub fn code(self, expected: i32) -> Self {
        assert!(
            self.code == Some(expected),
            "expected exit code {expected}\n{}",
            self.report()
        );
        self
    }

    /// Parses standard output as one JSON document; panics when it is not.
    #[track_caller]
    pub fn json(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("stdout is not JSON: {error}\n{}", self.report()),
        }
    }

    /// Everything a reader of a failed test needs.
    pub fn report(&self) -> String {
        let mut report = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            report,
            "code {:?}, signal {:?}, {:?}, {} KiB",
            self.code, self.signal, self.wall, self.max_rss_kib
        );
        let _ = writeln!(report, "--- stdout\n{}", self.stdout);
        let _ = writeln!(report, "--- stderr\n{}", self.stderr);
        report
    }
}
