//! How the screen behaves. Whoever reads the configuration turns it into these.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use super::busy::WhileBusy;
use crate::cells::{Cell, Fold, Marks};
pub use crate::composer::paste::PasteTexts;
use crate::spinner::Indicator;
use crate::text::clean_line;

/// How much of the terminal is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// A live area below the terminal's own history.
    #[default]
    Inline,
    /// All of it, with a transcript that scrolls and a list of sessions.
    Full,
}

/// What the mouse is used for, in full screen. Selecting with Shift is the terminal's own in each of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mouse {
    /// Nothing: the terminal keeps it.
    Off,
    /// The wheel scrolls.
    Wheel,
    /// Clicks fold, pick and place the cursor, too.
    #[default]
    Buttons,
    /// The list of sessions also follows the pointer.
    All,
}

impl FromStr for Mouse {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "off" => Ok(Self::Off),
            "wheel" => Ok(Self::Wheel),
            "buttons" => Ok(Self::Buttons),
            "all" | "on" => Ok(Self::All),
            _ => Err(()),
        }
    }
}

/// What is shown of calls of tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolLines {
    /// Nothing but what the moving line says.
    Off,
    /// A call of another tool than the one before.
    New,
    /// Every call.
    #[default]
    All,
    /// Every call with all arguments and what it printed.
    Verbose,
}

impl ToolLines {
    /// The one after it, round and round.
    pub fn next(self) -> Self {
        match self {
            Self::Off => Self::New,
            Self::New => Self::All,
            Self::All => Self::Verbose,
            Self::Verbose => Self::Off,
        }
    }

    /// What is shown, for people.
    pub fn told(self) -> &'static str {
        match self {
            Self::Off => "shown: no calls",
            Self::New => "shown: calls of another tool than before",
            Self::All => "shown: every call",
            Self::Verbose => "shown: every call with arguments and output, and what a turn used",
        }
    }
}

/// What a call is called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Labels {
    /// By what it does.
    #[default]
    Friendly,
    /// By the tool's name.
    Names,
}

/// How much is shown of what the model thinks. In full screen `Sections` says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Thoughts {
    /// Whether nothing is.
    pub hidden: bool,
    /// Whether everything is, where something is.
    pub whole: bool,
}

impl Thoughts {
    /// How a thought is shown; nothing when it is not.
    pub fn fold(self) -> Option<Fold> {
        match (self.hidden, self.whole) {
            (true, _) => None,
            (false, false) => Some(Fold::Clamped),
            (false, true) => Some(Fold::Open),
        }
    }

    /// The same, for a screen where thoughts can be unfolded.
    pub fn details(self) -> Details {
        match self.fold() {
            None => Details::Hidden,
            Some(Fold::Folded | Fold::Clamped) => Details::Collapsed,
            Some(Fold::Open) => Details::Expanded,
        }
    }

    /// As a word of `/reasoning` has it.
    pub(super) fn after(self, word: &str) -> Option<Self> {
        let (hidden, whole) = match word {
            "show" => (false, self.whole),
            "hide" => (true, self.whole),
            "full" => (false, true),
            "clamp" => (false, false),
            _ => return None,
        };
        Some(Self { hidden, whole })
    }

    /// What that means.
    pub(super) fn told(self) -> &'static str {
        match (self.hidden, self.whole) {
            (true, _) => "thoughts are hidden",
            (false, false) => "thoughts are shown, the first lines of each",
            (false, true) => "thoughts are shown whole",
        }
    }
}

/// What is shown of a long message of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preview {
    /// How many of its first lines.
    pub first: usize,
    /// How many of its last lines.
    pub last: usize,
}

/// Where the status bar is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StatusBar {
    /// Above what is written.
    Top,
    /// Below it.
    #[default]
    Bottom,
    /// Nowhere.
    Off,
}

/// How the user is called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Call {
    /// With the terminal's bell.
    Bell,
    /// With a notification of the desktop, by the terminal.
    Notification,
    /// With both.
    #[default]
    Both,
}

/// What the user is called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// A long turn is over.
    Done,
    /// Something is asked.
    Asks,
}

impl Call {
    /// What the terminal is told; `agent` is what the skin calls the agent.
    pub(crate) fn bytes(self, agent: &str, occasion: Occasion) -> String {
        let agent = clean_line(agent);
        let said = match occasion {
            Occasion::Done => format!("{agent} is done"),
            Occasion::Asks => format!("{agent} has a question"),
        };
        match self {
            Self::Bell => "\x07".to_owned(),
            Self::Notification => format!("\x1b]9;{said}\x1b\\"),
            Self::Both => format!("\x07\x1b]9;{said}\x1b\\"),
        }
    }
}

/// How far details are unfolded, in full screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Details {
    /// They are not shown.
    Hidden,
    /// One line is shown.
    #[default]
    Collapsed,
    /// They are shown.
    Expanded,
}

impl Details {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::Collapsed => "collapsed",
            Self::Expanded => "expanded",
        }
    }

    /// How a cell is shown; nothing when it is not.
    pub(crate) fn fold(self) -> Option<Fold> {
        match self {
            Self::Hidden => None,
            Self::Collapsed => Some(Fold::Folded),
            Self::Expanded => Some(Fold::Open),
        }
    }
}

impl FromStr for Details {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "hidden" | "off" => Ok(Self::Hidden),
            "collapsed" => Ok(Self::Collapsed),
            "expanded" | "on" => Ok(Self::Expanded),
            _ => Err(()),
        }
    }
}

/// How far each kind of details is unfolded, in full screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sections {
    /// Thoughts of the model.
    pub thinking: Details,
    /// Calls of tools.
    pub tools: Details,
    /// Work that was handed to other agents.
    pub subagents: Details,
    /// What happens besides.
    pub activity: Details,
}

impl Sections {
    /// All alike.
    pub fn all(details: Details) -> Self {
        Self {
            thinking: details,
            tools: details,
            subagents: details,
            activity: details,
        }
    }

    /// The one with this name.
    pub fn named(&mut self, name: &str) -> Option<&mut Details> {
        match name {
            "thinking" => Some(&mut self.thinking),
            "tools" => Some(&mut self.tools),
            "subagents" => Some(&mut self.subagents),
            "activity" => Some(&mut self.activity),
            _ => None,
        }
    }

    /// How far a cell is unfolded; what is no detail is shown.
    pub(crate) fn of(&self, cell: &Cell) -> Details {
        match cell {
            Cell::Reasoning(_) => self.thinking,
            Cell::Tool(tool) if tool.name == "delegate_task" => self.subagents,
            Cell::Tool(_) => self.tools,
            Cell::Notice(notice) if notice.level == crate::cells::Level::Info => self.activity,
            Cell::User(_)
            | Cell::Answer(_)
            | Cell::Diff(_)
            | Cell::Notice(_)
            | Cell::Failure(_)
            | Cell::TurnEnd(_)
            | Cell::Recap(_) => Details::Expanded,
        }
    }
}

impl Default for Sections {
    fn default() -> Self {
        Self {
            activity: Details::Expanded,
            ..Self::all(Details::Collapsed)
        }
    }
}

/// Says what time it was, by the time since the start: the screen has no clock of its own.
#[derive(Clone)]
pub struct Stamps(Arc<dyn Fn(Duration) -> String + Send + Sync>);

impl Stamps {
    /// Times written this way.
    pub fn new(write: impl Fn(Duration) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    /// The time.
    pub fn at(&self, since_start: Duration) -> String {
        (self.0)(since_start)
    }
}

impl fmt::Debug for Stamps {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Stamps")
    }
}

/// Names the files of pastes that are kept aside, by their numbers: the screen has neither clock nor disk.
#[derive(Clone)]
pub struct PasteNames(Arc<dyn Fn(u32) -> String + Send + Sync>);

impl PasteNames {
    /// Files named this way.
    pub fn new(name: impl Fn(u32) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(name))
    }

    /// The path of a paste.
    pub fn of(&self, number: u32) -> String {
        (self.0)(number)
    }
}

impl Default for PasteNames {
    fn default() -> Self {
        Self::new(|number| format!("pastes/paste_{number}.txt"))
    }
}

impl fmt::Debug for PasteNames {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PasteNames")
    }
}

/// How the screen behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What a message does that is sent while the agent works.
    pub busy: WhileBusy,
    /// How much of the thoughts of the model is shown.
    pub thoughts: Thoughts,
    /// How long a window that is being resized must rest before it is drawn: longer than the terminal takes to tell of
    /// another size, because a picture for a size that is gone already would be broken.
    pub rest: Duration,
    /// Whether the end of a turn is told with tokens and time.
    pub show_usage: bool,
    /// Whether the end of a turn is told with what it cost.
    pub show_cost: bool,
    /// Whether the end of a long turn rings.
    pub ring: bool,
    /// Whether it has yet to be said what a message does while the agent works.
    pub explain_busy: bool,
    /// How the user is called.
    pub call: Call,
    /// Where the status bar is.
    pub status: StatusBar,
    /// How much of the terminal is used.
    pub mode: Mode,
    /// What the mouse is used for.
    pub mouse: Mouse,
    /// What becomes of the marks in answers.
    pub marks: Marks,
    /// What is shown of calls of tools.
    pub tools: ToolLines,
    /// What calls are called.
    pub labels: Labels,
    /// Characters of what a call is about; none is no limit.
    pub tool_preview: Option<usize>,
    /// What is shown of long messages of the user.
    pub preview: Preview,
    /// Whether answers to questions leave a line.
    pub keep_prompts: bool,
    /// Whether changes of files are shown.
    pub diffs: bool,
    /// How far details are unfolded in full screen.
    pub sections: Sections,
    /// Whether messages carry their time, where `stamps` can tell it.
    pub timestamps: bool,
    /// What tells the time.
    pub stamps: Option<Stamps>,
    /// Whether the terminal's title says how things stand.
    pub title: bool,
    /// What the files of pastes are called.
    pub paste_names: PasteNames,
    /// Where texts of pastes are that were made in an earlier run.
    pub paste_texts: PasteTexts,
    /// From this many lines on, keys that come at once are a paste; nothing means never.
    pub burst: usize,
    /// Whether answers are shown while they are written.
    pub streaming: bool,
    /// Whether it is shown what the model says before it calls tools.
    pub commentary: bool,
    /// Whether a turn without an answer is explained.
    pub explain: bool,
    /// What moves while the agent works.
    pub indicator: Indicator,
    /// How often the picture follows the time while nothing happens; never when there is none.
    pub refresh: Option<Duration>,
    /// Lines of the history that are written again when everything is drawn anew.
    pub kept_lines: usize,
    /// Whether the terminal is asked what its text stands on.
    pub ask_ground: bool,
}

impl Settings {
    /// Whether text waits until it is known what it is.
    pub(crate) fn holds_text(&self) -> bool {
        !self.streaming || !self.commentary
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            busy: WhileBusy::Interrupt,
            thoughts: Thoughts::default(),
            rest: Duration::from_millis(40),
            show_usage: false,
            show_cost: false,
            ring: false,
            explain_busy: false,
            call: Call::default(),
            status: StatusBar::default(),
            mode: Mode::default(),
            mouse: Mouse::default(),
            marks: Marks::default(),
            tools: ToolLines::default(),
            labels: Labels::default(),
            tool_preview: None,
            preview: Preview { first: 2, last: 2 },
            keep_prompts: true,
            diffs: true,
            sections: Sections::default(),
            timestamps: false,
            stamps: None,
            title: false,
            paste_names: PasteNames::default(),
            paste_texts: PasteTexts::default(),
            burst: 5,
            streaming: true,
            commentary: true,
            explain: true,
            indicator: Indicator::default(),
            refresh: Some(Duration::from_secs(1)),
            kept_lines: 200,
            ask_ground: false,
        }
    }
}
