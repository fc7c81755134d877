//! Calls to Modal's control plane, made again where that may help.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use prost::Message;

use super::grpc::{Code, Failure, Service};
use super::unavailable;
use crate::ExecError;

const ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
pub(super) const ANSWER: Duration = Duration::from_secs(60);
const IDEMPOTENCY: HeaderName = HeaderName::from_static("x-idempotency-key");
const ATTEMPT: HeaderName = HeaderName::from_static("x-retry-attempt");

/// The control plane, seen with a token.
pub(super) struct Control {
    pub(super) service: Service,
    /// Begins every id that we give.
    pub(super) stem: u64,
    pub(super) calls: AtomicU64,
}

impl Control {
    /// An id nobody else uses, in the form that is usual there.
    pub(super) fn next_id(&self) -> String {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let (high, low) = (self.stem >> 32, self.stem & 0xffff_ffff);
        format!("{high:08x}-{:04x}-4000-8000-{number:012x}", low & 0xffff)
    }

    /// Calls a method, several times if that may help.
    pub(super) async fn call<A: Message + Default>(
        &self,
        method: &str,
        request: &impl Message,
        what: &str,
    ) -> Result<A, ExecError> {
        let id = self.next_id();
        let mut pause = FIRST_PAUSE;
        let mut attempt = 0_u32;
        loop {
            let mut headers = vec![(ATTEMPT, HeaderValue::from(attempt))];
            // Letters and digits always make a header.
            headers.extend(HeaderValue::from_str(&id).ok().map(|id| (IDEMPOTENCY, id)));
            let called = self.service.unary(method, request, ANSWER, &headers).await;
            let failure = match called {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            attempt += 1;
            if attempt == ATTEMPTS || !failure.is_transient() {
                return Err(explain(&failure, what));
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
    }
}

/// A failure in the words of the program.
pub(super) fn explain(failure: &Failure, what: &str) -> ExecError {
    let mut cause = format!("{what} failed: {failure}");
    let next = match failure {
        Failure::Status { code, message } => match code {
            Code::NotFound => return ExecError::Gone(message.clone()),
            Code::Unauthenticated | Code::PermissionDenied => {
                "Check MODAL_TOKEN_ID and MODAL_TOKEN_SECRET."
            }
            Code::ResourceExhausted => {
                "Remove sandboxes with hermes sandbox rm, raise the limit of the account or lower \
                 terminal.container_cpu and container_memory."
            }
            Code::InvalidArgument | Code::FailedPrecondition => {
                "Check the settings terminal.modal_image and terminal.container_*."
            }
            Code::Cancelled
            | Code::Unknown
            | Code::DeadlineExceeded
            | Code::Aborted
            | Code::Internal
            | Code::Unavailable
            | Code::Other(_) => "Modal has trouble; try again later.",
        },
        Failure::Http(error) => {
            let mut source = std::error::Error::source(error);
            while let Some(inner) = source {
                cause.push_str(&format!(": {inner}"));
                source = inner.source();
            }
            "Check MODAL_SERVER_URL and the network."
        }
        Failure::Garbled => "Check MODAL_SERVER_URL.",
    };
    unavailable(cause, next.to_owned())
}
