//! The wire protocols, each an encoder and a decoder without IO.
//!
//! `encode` makes the body of a request, `decoder` reads what comes back frame by frame. Both must be
//! deterministic: the same request gives the same bytes, so that a provider's prefix cache holds.

pub mod anthropic;
pub mod chat;
pub mod converse;
mod dispatch;
mod framing;
pub mod gemini;
pub mod legal;
mod naming;
mod patch;
pub mod responses;
pub mod sse;
mod whole;
mod wordy;

use hermes_core::{MediaReader, ModelEvent};

pub(crate) use dispatch::usual_output;
pub use dispatch::{accepts, decoder, encode, headers, path};
pub(crate) use framing::{Framing, Rest};
pub use patch::patch_calls;

use crate::error::VendorError;
use crate::quirks::Quirks;
use crate::schema::Schemas;

/// What an encoder knows beside the request.
pub struct Dialect<'a> {
    /// The provider's id; raw turns of other issuers are not replayed to it.
    pub provider: &'a str,
    /// How it differs from its protocol.
    pub quirks: &'a Quirks,
    /// Where pictures and files are.
    pub media: &'a dyn MediaReader,
    /// The schemas of tools.
    pub schemas: &'a Schemas,
}

/// One frame of a streamed answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// The event's name, where the protocol names events.
    pub event: Option<String>,
    /// Its JSON text.
    pub data: String,
}

/// Reads one answer. Events are appended to `out` in the order they happened.
///
/// The caller feeds `frame`s and then calls `end` once, or calls `document` once when the server
/// answered a stream request with one JSON document. After an error nothing more is fed. The last event
/// of a good answer is always `Finished`, pushed by `end` or `document`, never earlier: usage may
/// follow the reason for stopping.
pub trait Decoder: Send {
    /// Takes the next frame.
    fn frame(&mut self, frame: &Frame, out: &mut Vec<ModelEvent>) -> Result<(), WireError>;

    /// The connection ended.
    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), WireError>;

    /// The whole answer at once.
    fn document(
        &mut self,
        body: &serde_json::Value,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), WireError>;
}

/// Why an answer could not be read to its end.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WireError {
    /// The provider reported a failure inside the answer.
    #[error(transparent)]
    Vendor(#[from] VendorError),
    /// The answer broke off before it said why it ends.
    #[error("the answer broke off")]
    Cut {
        /// Tool calls that had begun, by name; none of them is complete.
        open_calls: Vec<String>,
    },
    /// Nothing came at all.
    #[error("the answer was empty")]
    Empty,
    /// A frame is not what the protocol says.
    #[error("the answer cannot be read: {0}")]
    Malformed(String),
}
