//! Faults of the program that are caught: the work they happened in is over, the program goes on.

use std::any::Any;
use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// Most characters of what a fault says about itself.
const MOST: usize = 300;

thread_local! {
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Whether a fault on this thread would be caught now. Whoever gives something back when the program breaks down, such
/// as the terminal, keeps it then.
pub fn faults_are_caught() -> bool {
    CAUGHT.get()
}

/// Waits for work. A fault in it is an error with what the fault says about itself.
pub async fn caught<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let mut work = pin!(work);
    poll_fn(|context| {
        let before = CAUGHT.replace(true);
        let step = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        CAUGHT.set(before);
        match step {
            Ok(step) => step.map(Ok),
            Err(fault) => Poll::Ready(Err(words(&*fault))),
        }
    })
    .await
}

fn words(fault: &(dyn Any + Send)) -> String {
    let said = fault
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| fault.downcast_ref::<String>().map(String::as_str));
    let said = said.unwrap_or("it did not say why");
    said.chars().take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    fn now<T>(work: impl Future<Output = T>) -> Poll<T> {
        pin!(work).poll(&mut Context::from_waker(Waker::noop()))
    }

    async fn fall(what: &str) {
        assert!(what.is_empty(), "{what} fell");
    }

    #[test]
    fn a_fault_ends_its_own_work_and_nothing_else() {
        assert_eq!(now(caught(async { 7 })), Poll::Ready(Ok(7)));
        let broken = now(caught(async {
            assert_eq!(caught(fall("it")).await, Err("it fell".to_owned()));
            assert!(faults_are_caught(), "the outer one is still there");
            fall("all of it").await;
        }));
        assert_eq!(broken, Poll::Ready(Err("all of it fell".to_owned())));
        assert!(!faults_are_caught());
    }

    #[test]
    fn nothing_is_caught_between_the_steps_of_work() {
        let mut waiting = pin!(caught(std::future::pending::<()>()));
        let context = &mut Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(context).is_pending());
        assert!(!faults_are_caught());
    }
}
