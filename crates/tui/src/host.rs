//! What the screen asks of the program around it.

use futures_core::future::LocalBoxFuture;
use hermes_core::{Event, InboxId, Op};

use crate::app::{Outgoing, Reply};
use crate::cells::Failure;
use crate::composer::Attachment;
use crate::composer::complete::{Candidate, Request};
use crate::composer::paste::Kept;
use crate::skin::Background;
use crate::status::Standing;
use crate::theme::Theme;

/// What comes from the conversation by itself.
#[derive(Debug, Clone)]
pub enum News {
    /// The session in front says something.
    Event(Event),
    /// Something else ended or changed, such as a prompt in the background.
    Reply(Reply),
}

/// A session in the list of all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id, as `/resume` takes it.
    pub id: String,
    /// Its title; empty when it has none.
    pub title: String,
    /// When it was last used, in words.
    pub when: String,
    /// How many messages it has.
    pub messages: u64,
    /// Whether something runs in it.
    pub busy: bool,
}

/// A conversation and what belongs to it.
///
/// The screen calls it from its one loop, and never two of the same at once but for `complete`: an answer that comes
/// too late is dropped. Every future may be dropped before it ends.
pub trait Host {
    /// Says something to the session.
    fn send(&self, op: Op);

    /// Sends a message, or gives it back in the reply.
    fn message(&self, message: Outgoing) -> LocalBoxFuture<'_, Reply>;

    /// Keeps a message that waits for its turn, and answers its row. It is durable then.
    ///
    /// # Errors
    ///
    /// It could not be kept.
    fn line_up(&self, message: Outgoing) -> LocalBoxFuture<'_, Result<InboxId, Failure>>;

    /// Forgets messages that wait.
    fn withdraw(&self, rows: Vec<InboxId>);

    /// Makes a remark to the agent. It is durable when this answers; a failure says why it is not.
    fn remark(&self, text: String) -> LocalBoxFuture<'_, Option<Failure>>;

    /// What is new; nothing when the session in front is over.
    fn next_news(&self) -> LocalBoxFuture<'_, Option<News>>;

    /// How things stand besides what the session says. Asked before each picture, so it must cost next to nothing.
    fn standing(&self) -> Standing;

    /// Carries out a command.
    fn command(&self, line: String) -> LocalBoxFuture<'_, Reply>;

    /// What could be meant.
    fn complete(&self, request: Request) -> LocalBoxFuture<'_, Vec<Candidate>>;

    /// Saves a paste that was kept aside.
    fn keep(&self, paste: &Kept);

    /// Puts a line into the history.
    fn remember(&self, line: &str);

    /// It was said what a message does while the agent works, and is not to be said again.
    fn explained(&self);

    /// What goes with the message when this path is a picture, or why it is none.
    ///
    /// # Errors
    ///
    /// There is no such file, or models do not take it.
    fn look(&self, path: &str) -> Result<Attachment, Failure>;

    /// The picture on the clipboard, kept in a file, or why there is none.
    fn clipboard(&self) -> LocalBoxFuture<'_, Result<Attachment, Failure>>;

    /// Sessions that can be taken up, the latest first. Asked only in full screen, when something may have changed.
    fn sessions(&self) -> LocalBoxFuture<'_, Vec<SessionRow>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// The terminal told what its text stands on: how everything looks there, when that is new.
    fn ground(&self, background: Background) -> Option<Theme>;

    /// Lets the user edit a text in an editor, with the terminal all to itself. Nothing when it was not saved; a
    /// failure when there was no editing.
    fn edit(&self, text: String) -> LocalBoxFuture<'_, Result<Option<String>, Failure>>;
}
