//! What the screen asks of the program around it.

use futures_core::future::LocalBoxFuture;
use hermes_core::{Event, Op};

use crate::app::Reply;
use crate::composer::Attachment;
use crate::composer::complete::{Candidate, Request};
use crate::composer::paste::Kept;

/// A conversation and what belongs to it.
///
/// The screen calls it from its one loop, and never two of the same at once but for `complete`: an answer that comes
/// too late is dropped. Every future may be dropped before it ends.
pub trait Host {
    /// Says something to the session.
    fn send(&self, op: Op);

    /// Sends a message, with pictures by path.
    fn message(&self, text: String, attachments: Vec<Attachment>) -> LocalBoxFuture<'_, Reply>;

    /// What the session says next; nothing when it is over.
    fn next_event(&self) -> LocalBoxFuture<'_, Option<Event>>;

    /// Carries out a command.
    fn command(&self, line: String) -> LocalBoxFuture<'_, Reply>;

    /// What could be meant.
    fn complete(&self, request: Request) -> LocalBoxFuture<'_, Vec<Candidate>>;

    /// Saves a paste that was kept aside.
    fn keep(&self, paste: &Kept);

    /// Puts a line into the history.
    fn remember(&self, line: &str);

    /// What goes with the message when this path is a picture.
    fn look(&self, path: &str) -> Option<Attachment>;

    /// Lets the user edit a text in an editor, with the terminal all to itself. Nothing when it was not saved.
    fn edit(&self, text: String) -> LocalBoxFuture<'_, Option<String>>;
}
