//! How long a server may be silent within an answer. The time stands still while a person is asked: the answer
//! comes after theirs.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream, Stream};
use hermes_http::HttpError;
use tokio::sync::watch;

use crate::session::Patience;
use crate::transport::WireError;

/// The limit of one kind of answers.
#[derive(Clone)]
pub(super) struct Silence(Patience);

impl Silence {
    /// `asking` counts the open questions to people.
    pub(super) fn new(limit: Duration, asking: watch::Receiver<usize>) -> Self {
        Self(Patience {
            asking: Some(asking),
            ..Patience::of(limit)
        })
    }

    /// Waits for one thing.
    pub(super) async fn bound<T>(&self, work: impl Future<Output = T>) -> Result<T, WireError> {
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = self.0.over() => Err(WireError::Silent { after: self.0.limit }),
        }
    }

    /// Waits for one piece of a body after the other.
    pub(super) fn within(
        self,
        body: impl Stream<Item = Result<Bytes, HttpError>> + Send + 'static,
    ) -> BoxStream<'static, io::Result<Bytes>> {
        let pieces = stream::unfold(Some((self, body.boxed())), |left| async {
            let (silence, mut body) = left?;
            match silence.bound(body.next()).await {
                Ok(Some(Ok(piece))) => Some((Ok(piece), Some((silence, body)))),
                Ok(Some(Err(error))) => Some((Err(io::Error::other(error)), None)),
                Ok(None) => None,
                Err(error) => Some((Err(io::Error::other(error)), None)),
            }
        });
        pieces.boxed()
    }
}
