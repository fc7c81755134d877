//! What goes on beside the loop.

use std::task::Poll;

use futures_core::future::LocalBoxFuture;

use crate::app::{Input, Outgoing};
use crate::composer::complete::Request;
use crate::host::Host;

/// What goes on beside the loop.
#[derive(Default)]
pub(super) struct Jobs<'a>(Vec<Job<'a>>);

struct Job<'a> {
    work: LocalBoxFuture<'a, Input>,
    /// Whether it carries out a command, which may be given up.
    command: bool,
}

impl<'a> Jobs<'a> {
    fn add(&mut self, work: impl Future<Output = Input> + 'a) {
        self.0.push(Job {
            work: Box::pin(work),
            command: false,
        });
    }

    fn add_command(&mut self, work: impl Future<Output = Input> + 'a) {
        self.0.push(Job {
            work: Box::pin(work),
            command: true,
        });
    }

    pub(super) fn drop_commands(&mut self) {
        self.0.retain(|job| !job.command);
    }

    pub(super) fn message(&mut self, host: &'a dyn Host, message: Outgoing) {
        let sent = host.message(message);
        self.add(async move { Input::Replied(sent.await) });
    }

    pub(super) fn line_up(&mut self, host: &'a dyn Host, message: Outgoing) {
        let kept = host.line_up(message.clone());
        let message = Box::new(message);
        self.add(async move {
            let row = kept.await;
            Input::LinedUp { message, row }
        });
    }

    pub(super) fn remark(&mut self, host: &'a dyn Host, text: String) {
        let kept = host.remark(text.clone());
        self.add(async move {
            let failed = kept.await;
            Input::Remarked { text, failed }
        });
    }

    pub(super) fn command(&mut self, host: &'a dyn Host, line: String) {
        let command = host.command(line);
        self.add_command(async move { Input::Replied(command.await) });
    }

    pub(super) fn complete(&mut self, host: &'a dyn Host, request: Request) {
        let id = request.id;
        let found = host.complete(request);
        self.add(async move {
            let candidates = found.await;
            Input::Completed { id, candidates }
        });
    }

    pub(super) fn clipboard(&mut self, host: &'a dyn Host) {
        let found = host.clipboard();
        self.add(async move { Input::Clipped(found.await) });
    }

    pub(super) fn sessions(&mut self, host: &'a dyn Host) {
        let found = host.sessions();
        self.add(async move { Input::Sessions(found.await) });
    }

    /// The first that ends; never, while there is none.
    pub(super) async fn next(&mut self) -> Input {
        std::future::poll_fn(|context| {
            for place in 0..self.0.len() {
                let Some(job) = self.0.get_mut(place) else {
                    break;
                };
                if let Poll::Ready(input) = job.work.as_mut().poll(context) {
                    // In the order they were given: what was written behind a command is for the session it leads to.
                    drop(self.0.remove(place));
                    return Poll::Ready(input);
                }
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::pin::pin;
    use std::rc::Rc;
    use std::task::{Context, Waker};

    use super::*;

    // CL-22: what is typed behind a command goes to the session it leads to, so the command is asked first.
    #[test]
    fn jobs_go_on_in_the_order_they_were_given() {
        let asked = Rc::new(RefCell::new(Vec::new()));
        let waits = |name: &'static str| {
            let asked = Rc::clone(&asked);
            std::future::poll_fn(move |_| {
                asked.borrow_mut().push(name);
                Poll::Pending
            })
        };
        let mut jobs = Jobs::default();
        jobs.add(async { Input::Tick });
        jobs.add_command(waits("command"));
        jobs.add(waits("message"));
        let mut context = Context::from_waker(Waker::noop());
        assert!(pin!(jobs.next()).poll(&mut context).is_ready());
        assert!(pin!(jobs.next()).poll(&mut context).is_pending());
        assert_eq!(*asked.borrow(), ["command", "message"]);
    }
}
