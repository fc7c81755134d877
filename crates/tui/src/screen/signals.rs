//! What the system tells a process.

use std::io;
use std::pin::pin;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use super::guard;

/// How much later than another process a signal to both may be heard here.
const ECHO: Duration = Duration::from_millis(50);

/// What was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The process is to end, by this signal.
    End(SignalKind),
    /// It is to stop until it is told to go on.
    Stop,
    /// It was stopped, and goes on now: whatever it set on the terminal may be gone.
    GoOn,
}

/// What asks a process to end or to go on.
pub(super) struct Signals {
    interrupt: Signal,
    quit: Signal,
    terminate: Signal,
    hang_up: Signal,
    stop: Signal,
    go_on: Signal,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            stop: signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?,
            go_on: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    /// Waits for something that has the terminal meanwhile. What is typed there to interrupt it is for it alone, though
    /// everybody hears of that; what stops it stops us. The work is dropped when the process is to end.
    pub(super) async fn while_away<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> io::Result<Result<T, SignalKind>> {
        let mut work = pin!(work);
        let done = loop {
            tokio::select! {
                done = &mut work => break done,
                told = self.next() => match told {
                    Told::End(signal) if is_typed(signal) => {}
                    Told::End(signal) => return Ok(Err(signal)),
                    Told::Stop => stop()?,
                    Told::GoOn => {}
                }
            }
        };
        // It may have ended of what is heard here only now.
        while tokio::time::timeout(ECHO, self.typed()).await.is_ok() {}
        Ok(Ok(done))
    }

    /// What a terminal sends for keys.
    async fn typed(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.quit.recv() => {}
        }
    }

    pub(super) async fn next(&mut self) -> Told {
        tokio::select! {
            _ = self.interrupt.recv() => Told::End(SignalKind::interrupt()),
            _ = self.quit.recv() => Told::End(SignalKind::quit()),
            _ = self.terminate.recv() => Told::End(SignalKind::terminate()),
            _ = self.hang_up.recv() => Told::End(SignalKind::hangup()),
            _ = self.stop.recv() => Told::Stop,
            _ = self.go_on.recv() => Told::GoOn,
        }
    }
}

/// Whether a terminal sends it for a key.
fn is_typed(signal: SignalKind) -> bool {
    [SignalKind::interrupt(), SignalKind::quit()].contains(&signal)
}

/// Stops until somebody says to go on. As the terminal does it: whoever started us is stopped along with us. By the
/// signal that nobody hears, because the one for keys is listened to.
pub(super) fn stop() -> io::Result<()> {
    rustix::process::kill_current_process_group(rustix::process::Signal::STOP)?;
    Ok(())
}

/// What a shell says of a process that a signal ended.
pub(super) fn code(signal: SignalKind) -> u8 {
    u8::try_from(128 + signal.as_raw_value()).unwrap_or(u8::MAX)
}

/// Listens on a thread of its own while nobody else does: what is done before the loop begins may take its time.
pub(super) struct Watch {
    over: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Gives the terminal back when the process is to end, and calls `end` with its exit code.
    pub(super) fn begin(end: impl FnOnce(u8) + Send + 'static) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let mut signals = {
            let _entered = runtime.enter();
            Signals::new()?
        };
        let (over, mut is_over) = oneshot::channel();
        let thread = std::thread::Builder::new().spawn(move || {
            let told = runtime.block_on(async {
                loop {
                    tokio::select! {
                        told = signals.next() => match told {
                            Told::End(signal) => return Some(signal),
                            // Nothing is stopped half way through being opened.
                            Told::Stop | Told::GoOn => {}
                        },
                        _ = &mut is_over => return None,
                    }
                }
            });
            if let Some(signal) = told {
                guard::restore();
                end(code(signal));
            }
        })?;
        Ok(Self {
            over: Some(over),
            thread: Some(thread),
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to do.
            let _ = thread.join();
        }
    }
}
