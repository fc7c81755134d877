//! Doing what was decided about a call that failed.

use tokio_util::sync::CancellationToken;

use super::{CallEvent, CallSink, Caller};
use crate::classify::{Fault, Reason};
use crate::course::Course;
use crate::failover::{Fix, Step};
use crate::keys::KeyError;

/// What came of a step.
pub(super) enum Taken {
    Again,
    Stopped,
    TooLong(Fault),
    Partial(Fault),
    Failed(Fault),
}

impl Caller {
    /// Does what was decided.
    pub(super) async fn take<S: CallSink>(
        &self,
        step: Step,
        course: &mut Course,
        fault: Fault,
        sink: &mut S,
        cancel: &CancellationToken,
    ) -> Taken {
        match step {
            Step::Wait(wait) | Step::Reconnect(wait) => {
                if matches!(step, Step::Reconnect(_)) {
                    // What is kept open may lead to a server that is gone.
                    self.transport.http.forget_connections();
                }
                let why = fault.message;
                sink.event(CallEvent::Waiting { wait, why }).await;
                // It may be answered differently then.
                course.refused = None;
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => Taken::Stopped,
                    () = tokio::time::sleep(wait) => Taken::Again,
                }
            }
            Step::RefreshCredential => self.renewed(course, cancel).await,
            Step::NextCredential => {
                self.set_aside(course, &fault);
                Taken::Again
            }
            Step::NextRoute => {
                self.set_aside(course, &fault);
                let from = course.route().label();
                course.next_route(fault.reason, self.transport.clock.now());
                let why = format!("{from} failed ({}): {}", fault.reason.word(), fault.message);
                sink.event(CallEvent::RouteChanged { why }).await;
                Taken::Again
            }
            Step::Fix(Fix::CutWindow(window)) => {
                course.learn_window(window);
                Taken::TooLong(fault)
            }
            Step::Fix(fix) => self.fixed(fix, course, fault, sink).await,
            Step::Compact { window } => {
                if let Some(window) = window {
                    course.learn_window(window);
                }
                Taken::TooLong(fault)
            }
            Step::KeepPartial => Taken::Partial(fault),
            Step::Fail if fault.reason == Reason::Cancelled => Taken::Stopped,
            Step::Fail => {
                if let Some(lease) = &course.lease {
                    self.keys.set_aside(lease, &fault);
                }
                Taken::Failed(fault)
            }
        }
    }

    /// Renews the credential, if there is one.
    async fn renewed(&self, course: &mut Course, cancel: &CancellationToken) -> Taken {
        let Some(lease) = course.lease.take() else {
            return Taken::Again;
        };
        let renewed = tokio::select! {
            biased;
            () = cancel.cancelled() => return Taken::Stopped,
            renewed = self.keys.renew(&lease) => renewed,
        };
        match renewed {
            Ok(renewed) => course.lease = Some(renewed),
            // The renewal has buried it: the next attempt borrows another, or says that there is none.
            Err(error @ KeyError::Ended { .. }) => tracing::warn!("{error}"),
            Err(error) => {
                tracing::warn!("{error}");
                course.not_renewed(lease, &error);
            }
        }
        Taken::Again
    }

    /// Lets go of a credential that failed.
    fn set_aside(&self, course: &mut Course, fault: &Fault) {
        if let Some(lease) = course.lease.take() {
            self.keys.set_aside(&lease, fault);
        }
    }

    /// Changes the request from here on.
    async fn fixed<S: CallSink>(
        &self,
        fix: Fix,
        course: &Course,
        fault: Fault,
        sink: &mut S,
    ) -> Taken {
        // A body that is too large says nothing about the model.
        if fault.reason != Reason::PayloadTooLarge {
            self.learned.keep(course.route(), fix);
        }
        if fix == Fix::OmitTools {
            let (route, why) = (course.route().label(), fault.message);
            let what = format!("{route} is asked without tools, so it cannot act: {why}");
            sink.event(CallEvent::Reduced { what }).await;
        }
        Taken::Again
    }
}
