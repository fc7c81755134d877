//! The text being written, with its history, completion and pastes.
//!
//! | module | holds |
//! |---|---|
//! | `buffer` | text and cursor, undo, what was cut |
//! | `keys` | what each key does |
//! | `history` | what was sent before, and finding it |
//! | `ghost` | the suggestion behind the cursor |
//! | `complete` | the popup |
//! | `paste` | cleaning, keeping aside and putting back |
//! | `act` | what actions do to all of them |
//! | `view` | how it looks |

mod act;
pub mod buffer;
pub mod complete;
mod ghost;
pub mod history;
pub mod keys;
pub mod paste;
mod view;

#[cfg(test)]
mod tests;

use crossterm::event::KeyEvent;

use buffer::Buffer;
use complete::{Candidate, CommandEntry, Complete, Request};
use history::{History, Search};
use keys::Action;
use paste::{Kept, PasteTexts, Pastes, Thresholds};

pub(crate) use act::apply;
pub use view::View;

/// Pictures and files that go with one message.
pub const MOST_ATTACHMENTS: usize = 20;

/// Something that goes with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// What the badge says.
    pub label: String,
    /// Where it is.
    pub path: String,
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The text, with everything pasted.
    pub text: String,
    /// The text as it was written, for the history and the transcript.
    pub written: String,
    /// What goes with it.
    pub attachments: Vec<Attachment>,
}

/// What a key led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing: the key has no meaning here at the moment.
    Nothing,
    /// It looks different now.
    Changed,
    /// It looks different, and an answer for the popup is wanted.
    WantCompletion(Request),
    /// A message is sent.
    Submit(Message),
    /// Nothing is sent: the text holds the mark of a paste whose file, this one, is not there any more.
    Lost(String),
    /// A line that begins with a slash is sent. Whether it is a command is for others to say: it may
    /// begin with a path.
    Command(Message),
    /// The text is to be written in the user's editor.
    Editor,
    /// The picture on the clipboard is to be attached.
    ClipboardImage,
    /// Recording is to be started or stopped.
    Record,
    /// Ctrl+C was pressed.
    Interrupt,
    /// Ctrl+Q was pressed.
    Cancel,
    /// Esc was pressed with nothing to close.
    Escape,
    /// What there is to know is to be shown.
    Help,
    /// Nothing is written and the user wants to leave.
    Leave,
    /// The terminal is to be handed back to the shell.
    Suspend,
    /// Everything is to be drawn again.
    Repaint,
}

/// What a paste led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pasted {
    /// Nothing was left of it. There may be a picture on the clipboard.
    Empty,
    /// It was written out.
    Written(Outcome),
    /// It was kept aside and is to be saved.
    KeptAside(Kept),
    /// It would be a picture's path. Nothing was written: `attach` when there is one, else `insert`.
    Image {
        /// The path.
        path: String,
        /// What was pasted.
        text: String,
    },
}

/// What the user writes.
#[derive(Debug, Clone)]
pub struct Composer {
    buffer: Buffer,
    history: History,
    search: Option<Search>,
    complete: Complete,
    pastes: Pastes,
    /// Where texts of pastes are that were made in an earlier run.
    texts: PasteTexts,
    thresholds: Thresholds,
    attachments: Vec<Attachment>,
    placeholder: String,
    /// Whether Ctrl+X was pressed just now.
    chord: bool,
    /// Columns the text has, for moving up and down.
    text_width: usize,
    /// The first row shown.
    top: usize,
}

impl Default for Composer {
    fn default() -> Self {
        Self::new(History::default(), Thresholds::default())
    }
}

impl Composer {
    /// An empty composer.
    pub fn new(history: History, thresholds: Thresholds) -> Self {
        Self {
            buffer: Buffer::default(),
            history,
            search: None,
            complete: Complete::default(),
            pastes: Pastes::default(),
            texts: PasteTexts::default(),
            thresholds,
            attachments: Vec::new(),
            placeholder: String::new(),
            chord: false,
            text_width: 78,
            top: 0,
        }
    }

    /// What an empty composer says.
    pub fn set_placeholder(&mut self, text: impl Into<String>) {
        self.placeholder = text.into();
    }

    /// Says where texts of pastes are that were made in an earlier run.
    pub fn set_paste_texts(&mut self, texts: PasteTexts) {
        self.texts = texts;
    }

    /// Says which commands there are.
    pub fn set_commands(&mut self, commands: Vec<CommandEntry>) {
        self.complete.set_commands(commands);
    }

    /// What was sent before, as soon as it was read.
    pub fn set_history(&mut self, history: History) {
        self.history = history;
    }

    /// The text as it is written.
    pub fn text(&self) -> &str {
        self.buffer.text()
    }

    /// The text with everything pasted that is still there, for an editor.
    pub fn expanded(&self) -> String {
        self.pastes.expand(self.buffer.text(), &self.texts).text
    }

    /// Whether there is neither text nor anything attached.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty() && self.attachments.is_empty()
    }

    /// Replaces the text; the cursor goes to its end.
    pub fn set_text(&mut self, text: &str) {
        self.buffer.set_text(text);
        self.forget_offers();
        self.scroll();
    }

    /// Empties it. Undo brings the text back.
    pub fn clear(&mut self) {
        self.attachments.clear();
        self.set_text("");
    }

    /// Adds something that goes with the message; says no when there is too much already.
    pub fn attach(&mut self, attachment: Attachment) -> bool {
        let room = self.attachments.len() < MOST_ATTACHMENTS;
        if room {
            self.attachments.push(attachment);
        }
        room
    }

    /// Takes what goes with the message.
    pub fn take_attachments(&mut self) -> Vec<Attachment> {
        std::mem::take(&mut self.attachments)
    }

    /// Puts a message that was taken already in front of the text. One that is long is kept aside again.
    pub fn bring_back(&mut self, text: &str, path: impl FnOnce(u32) -> String) -> Option<Kept> {
        let kept = self
            .thresholds
            .collapse(text)
            .then(|| self.pastes.keep(text, path));
        let text = kept.as_ref().map_or(text, |kept| kept.chip.as_str());
        let joined = match self.buffer.text() {
            "" => text.to_owned(),
            draft => format!("{text}\n{draft}"),
        };
        self.set_text(&joined);
        kept
    }

    /// Answers a request for the popup; says whether it was still wanted.
    pub fn supply(&mut self, id: u64, candidates: Vec<Candidate>) -> bool {
        self.complete.supply(id, candidates)
    }

    /// Reads a key.
    pub fn key(&mut self, event: KeyEvent) -> Outcome {
        let Some(action) = keys::action(event) else {
            return Outcome::Nothing;
        };
        let action = match (std::mem::take(&mut self.chord), action) {
            (true, Action::LineEnd) => Action::Editor,
            (true, Action::KillToLineStart) => Action::Undo,
            (_, action) => action,
        };
        let outcome = match self.search.take() {
            Some(search) => self.searching(search, action),
            None => self.act(action),
        };
        self.scroll();
        outcome
    }

    /// Reads a key that was meant for the text while something else is in front. It changes the text or the place in
    /// it; it sends nothing, opens nothing and leaves nothing.
    pub fn key_behind(&mut self, event: KeyEvent) -> Outcome {
        self.chord = false;
        match keys::action(event).is_some_and(act::is_writing) {
            true => self.key(event),
            false => Outcome::Nothing,
        }
    }

    /// Takes a paste in. `path` names the file of a paste that is kept aside, by its number.
    pub fn paste(&mut self, text: &str, path: impl FnOnce(u32) -> String) -> Pasted {
        let text = paste::clean(text);
        self.search = None;
        if text.is_empty() {
            return Pasted::Empty;
        }
        if let Some(path) = paste::image_path(&text) {
            return Pasted::Image { path, text };
        }
        let joins_command =
            paste::is_command(self.buffer.text()) && text.len() <= paste::LONGEST_COMMAND;
        if joins_command || !self.thresholds.collapse(&text) {
            return Pasted::Written(self.insert(&text));
        }
        let kept = self.pastes.keep(&text, path);
        self.insert(&kept.chip);
        Pasted::KeptAside(kept)
    }

    /// Writes a text at the cursor.
    pub fn insert(&mut self, text: &str) -> Outcome {
        self.buffer.insert(text);
        self.scroll();
        self.edited()
    }

    fn forget_offers(&mut self) {
        self.search = None;
        self.chord = false;
        self.history.settle();
        self.complete.reset();
    }
}
