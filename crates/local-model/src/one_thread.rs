//! Keeping the arithmetic on one thread.
//!
//! The library spreads every product over one thread per core and lets them wait for each other in a
//! loop. On a machine that has something else to do, one of them is always off the processor, and an
//! answer becomes ten times slower than with one thread. The number of threads can only be set through
//! the environment, which is not ours to change; but a product asked for by one of its own threads is
//! done by that thread alone. So the work is handed to the first of them, and the caller sleeps. It is
//! handed over for a whole answer: at the end the caller waits in a loop too, which costs little once and
//! much for every token.

use std::sync::mpsc;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::sleep;
use std::time::Duration;

use candle_core::utils::barrier_pool;
use rayon::{ThreadPool, ThreadPoolBuilder};

thread_local! {
    /// A pool whose only thread is this one: what asks for rayon here gets no helpers.
    static ALONE: Option<ThreadPool> =
        ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok();
}

/// The library's threads serve one caller at a time, and waiting there cannot be cancelled.
static TURN: Mutex<()> = Mutex::new(());
const POLL: Duration = Duration::from_millis(5);

/// Does `work` on one thread, when no other engine is at work.
///
/// `None` when it is not wanted any more before its turn came, or when it panicked.
pub(crate) fn on_one_thread<R: Send>(
    wanted: impl Fn() -> bool,
    work: impl FnOnce() -> R + Send,
) -> Option<R> {
    let _turn = loop {
        match TURN.try_lock() {
            Ok(turn) => break turn,
            Err(TryLockError::Poisoned(turn)) => break turn.into_inner(),
            Err(TryLockError::WouldBlock) if wanted() => sleep(POLL),
            Err(TryLockError::WouldBlock) => return None,
        }
    };
    let pool = barrier_pool();
    // Without helpers the pool calls with 0 only, on this thread.
    let caller = pool.n_workers();
    let (done, finished) = mpsc::channel();
    let work = Mutex::new(Some((work, done)));
    let finished = Mutex::new(finished);
    let result = Mutex::new(None);
    pool.execute(|thread| {
        if thread == 0 {
            let taken = lock(&work).take();
            if let Some((work, _done)) = taken {
                ALONE.with(|_| ());
                let value = work();
                *lock(&result) = Some(value);
            }
        } else if thread == caller {
            // Ends when the other side drops its end, after the work or in a panic.
            let _: Result<(), _> = lock(&finished).recv();
        }
    });
    result.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
