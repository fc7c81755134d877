//! Waiting for a condition that nothing announces.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;

const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Polls `probe` until it yields a value or `timeout` passes.
///
/// `what` names the condition in the error. Use it only where no notification exists (another
/// process, the file system); the terminal and the command runner wait on events instead.
pub fn eventually<T>(
    timeout: Duration,
    what: &str,
    mut probe: impl FnMut() -> Option<T>,
) -> anyhow::Result<T> {
    let deadline = Instant::now() + timeout;
    loop {
        if let Some(value) = probe() {
            return Ok(value);
        }
        if Instant::now() >= deadline {
            bail!("{what}: not so within {timeout:?}");
        }
        thread::sleep(POLL_INTERVAL);
    }
}
