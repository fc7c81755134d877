//! Waiting with a limit, an overall deadline and a way to be told to stop.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::{DisplayUrl, HttpError, Stage, Timeouts};

/// Stands for "no deadline" when a limit is too large to add to now.
const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// The limits of one exchange, shared by all its hops and its body.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    cancel: CancellationToken,
    deadline: Instant,
    timeouts: Timeouts,
}

impl Wait {
    pub(crate) fn start(timeouts: Timeouts, cancel: CancellationToken) -> Self {
        Self {
            cancel,
            deadline: after(timeouts.total),
            timeouts,
        }
    }

    /// Waits for one step; the first limit that passes names the error.
    pub(crate) async fn step<F: Future>(
        &self,
        stage: Stage,
        url: &DisplayUrl,
        future: F,
    ) -> Result<F::Output, HttpError> {
        let limit = match stage {
            Stage::Connect => self.timeouts.connect,
            Stage::FirstByte => self.timeouts.first_byte,
            Stage::Idle => self.timeouts.idle,
            Stage::Total => self.timeouts.total,
        };
        let until = after(limit);
        let (until, stage, limit) = if until < self.deadline {
            (until, stage, limit)
        } else {
            (self.deadline, Stage::Total, self.timeouts.total)
        };
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(HttpError::Cancelled),
            output = timeout_at(until, future) => {
                output.map_err(|_| HttpError::Timeout { url: url.clone(), stage, after: limit })
            }
        }
    }

    /// Resolves when the caller wants no more.
    pub(crate) async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    pub(crate) fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }
}

fn after(limit: Duration) -> Instant {
    Instant::now() + limit.min(FAR)
}
