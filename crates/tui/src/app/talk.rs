//! What the app is told, and what it wants done.

use std::time::Duration;

use crossterm::event::{KeyEvent, MouseEvent};
use hermes_core::{Event, InboxId, Op, SessionId};

use super::settings::Occasion;
use crate::banner::Heading;
use crate::cells::{Cell, Failure};
use crate::composer::Attachment;
use crate::composer::complete::{Candidate, Request};
use crate::composer::paste::Kept;
use crate::host::SessionRow;
use crate::panels::Panel;
use crate::status::Standing;
use crate::theme::Theme;

/// What happened.
#[derive(Debug, Clone)]
pub enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// Something was done with the mouse.
    Mouse(MouseEvent),
    /// Something was pasted.
    Paste(String),
    /// The terminal has this many columns and rows now.
    Resize(u16, u16),
    /// The session is there; how it stands.
    Opened(Box<Opened>),
    /// The session says something.
    Event(Event),
    /// The session is over.
    Ended,
    /// Candidates for a completion.
    Completed {
        /// The request they answer.
        id: u64,
        /// What could be meant.
        candidates: Vec<Candidate>,
    },
    /// A message has its row and waits, or could not be kept.
    LinedUp {
        /// The message.
        message: Box<Outgoing>,
        /// Its row.
        row: Result<InboxId, Failure>,
    },
    /// A remark is on its way to the agent, or could not be kept.
    Remarked {
        /// The remark.
        text: String,
        /// Why it is not.
        failed: Option<Failure>,
    },
    /// A command was carried out.
    Replied(Reply),
    /// How things stand, as the program sees it.
    Standing(Standing),
    /// Sessions that can be taken up.
    Sessions(Vec<SessionRow>),
    /// The picture that was on the clipboard, or why there is none.
    Clipped(Result<Attachment, Failure>),
    /// The user's editor was closed; with the text, if it was saved.
    Edited(Result<Option<String>, Failure>),
    /// A path is a picture, or is none.
    Looked {
        /// What was pasted; nothing when the picture was asked for.
        text: Option<String>,
        /// What goes with the message, or why it does not.
        picture: Result<Attachment, Failure>,
    },
    /// Time has passed.
    Tick,
}

/// A message on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The text, with everything pasted.
    pub text: String,
    /// What goes with it, by path.
    pub attachments: Vec<Attachment>,
    /// Whether it stopped the turn before it.
    pub instead: bool,
    /// The skills it calls for; `text` is the whole line then, as it was written.
    pub skills: Option<Box<Called>>,
    /// The rows it waits in; none when it goes at once, or is not kept yet.
    pub rows: Vec<InboxId>,
}

/// Skills that a message calls for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// Their names.
    pub names: Vec<String>,
    /// What is to be done with all of them, when they are a bundle; may be empty.
    pub instruction: String,
    /// What was typed behind them; may be empty.
    pub text: String,
}

/// How a session stands when it is opened.
#[derive(Debug, Clone, Default)]
pub struct Opened {
    /// What is shown above the conversation.
    pub greeting: Vec<Cell>,
    /// The banner.
    pub heading: Option<Box<Heading>>,
    /// How things stand.
    pub standing: Standing,
    /// Tokens of the conversation so far.
    pub used: u64,
    /// What was said before. Only a full screen shows it.
    pub before: Vec<Cell>,
    /// The session itself: whose questions go with its turns.
    pub session: Option<SessionId>,
    /// Where it works: files there are named by what stands behind this.
    pub directory: String,
    /// The turn that is under way in it.
    pub running: Option<Box<UnderWay>>,
    /// What waits in it to be said.
    pub waiting: Vec<Outgoing>,
}

/// A turn that began before its session came to the front.
#[derive(Debug, Clone, PartialEq)]
pub struct UnderWay {
    /// What the user said, where that began it.
    pub asked: Option<String>,
    /// What was told so far.
    pub events: Vec<Event>,
    /// How long it has been going on.
    pub since: Duration,
}

/// What came of a command.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// The command, as it was given.
    pub asked: Option<String>,
    /// It is one of the screen's own: its name, and what stands behind it.
    pub own: Option<(&'static str, String)>,
    /// What to show.
    pub cells: Vec<Cell>,
    /// What to put into the composer.
    pub draft: Option<String>,
    /// Another theme.
    pub theme: Option<Box<Theme>>,
    /// It was no command: this is to be said to the session.
    pub message: Option<String>,
    /// It was a message that calls for skills.
    pub skills: Option<Box<Called>>,
    /// A message that could not be sent. Its turn does not begin, and it comes back to be sent again.
    pub unsent: Option<Box<Outgoing>>,
    /// A session beside this one that ended: nobody waits for its questions any more.
    pub over: Option<SessionId>,
    /// Something to choose or to confirm before anything happens.
    pub asks: Option<Box<Asked>>,
    /// The conversation is another one from here on.
    pub opened: Option<Box<Opened>>,
    /// The program is to end.
    pub leave: bool,
}

/// A panel of the program's own.
#[derive(Debug, Clone)]
pub struct Asked {
    /// What is asked.
    pub panel: Panel,
    /// What follows from the answer.
    pub then: Then,
}

/// Which commands an answer stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// One for each entry of a list; for a confirmation the first is yes, the second yes for good.
    Each(Vec<String>),
    /// One, followed by the names of all entries that were picked.
    All {
        /// The command.
        command: String,
        /// The names, in the order of the list.
        names: Vec<String>,
    },
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Say this to the session.
    Send(Op),
    /// Send a message.
    Message(Outgoing),
    /// Keep a message that waits for its turn.
    LineUp(Outgoing),
    /// Forget messages that wait: they are taken back.
    Withdraw(Vec<InboxId>),
    /// Make a remark to the agent.
    Remark(String),
    /// Carry out a command of the conversation.
    Command(String),
    /// Give up what is being carried out.
    DropCommands,
    /// Find candidates.
    Complete(Request),
    /// Save a paste.
    Keep(Kept),
    /// Put a line into the history.
    Remember(String),
    /// Keep in mind that it was said what a message does while the agent works.
    Explained,
    /// Let the user edit this text in an editor.
    Edit(String),
    /// Find out whether a path is a picture.
    Look {
        /// The path.
        path: String,
        /// What was pasted; nothing when the picture was asked for.
        text: Option<String>,
    },
    /// Get the picture on the clipboard.
    Clipboard,
    /// Find the sessions that can be taken up.
    Sessions,
    /// Call the user.
    Ring(Occasion),
    /// Hand the terminal to the shell for a while.
    Suspend,
    /// Draw everything again.
    Repaint,
    /// Take the terminal as the settings have it now.
    Retake,
    /// End.
    Leave,
}
