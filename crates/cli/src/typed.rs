//! What somebody types.

use std::io::BufRead;

use tokio::sync::mpsc;

/// Lines that may wait to be read.
const QUEUE: usize = 16;

/// Lines from the terminal, read on a thread of their own: reading cannot be interrupted.
pub(crate) fn lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
