//! What people see at a terminal.
//!
//! Everything here is a function from state to lines, but for the edge. The modules, from the inside out:
//!
//! - `text`: makes text from models and tools harmless, measures and wraps it. Nothing reaches the screen
//!   around it.
//! - `theme`: the colours and words of a skin, resolved for the terminal at hand. `skin` reads skins.
//! - `markdown`, `highlight`, `diff`: text to lines.
//! - `cells`: what a transcript is made of; a cell turns into lines for a width. `banner` stands above them,
//!   `spinner` and `status` below.
//! - `transcript`: cells that are laid out where they are looked at, for the full screen.
//! - `composer`: the text being written, with its history, completion and pastes.
//! - `panels`: what asks for an answer or a choice while the draft waits.
//! - `fuzzy`: finding what was meant.
//! - `app`: one state, and `update(Input) -> Vec<Effect>`; no IO, so every key can be tested.
//! - `screen`: raw mode and its end, the inline and the full screen, at most thirty frames a second.
//!
//! The front end speaks `Op` and `Event` to a session and asks everything else of its host, behind a trait: there are
//! no settings, sessions or commands here, and a line at a time is not its business.

mod amount;
pub mod app;
mod banner;
mod cells;
pub mod composer;
mod diff;
mod fuzzy;
mod highlight;
mod host;
mod markdown;
pub mod panels;
pub mod screen;
mod skin;
mod spinner;
mod status;
mod text;
mod theme;
mod transcript;

pub use banner::{Banner, Form, Heading, Server};
pub use cells::{
    Answer, Cell, Exchange, Failure, Fold, Level, Marks, Notice, Output, Reasoning, Recap, Tool,
    ToolState, TurnEnd, User, tool_verb,
};
pub use diff::Diff;
pub use host::{Host, News, SessionRow};
pub use markdown::{Stream, markdown};
pub use skin::{Background, Depth, Skin, Spinner, markup};
pub use spinner::Activity;
pub use status::{Context, Cost, Mcp, Standing, StatusLine, Turn, model_label};
pub use text::{Cleaner, clean, clean_line, cut, fit, width, wrap};
pub use theme::{BannerStyles, BarStyles, MenuStyles, SyntaxStyles, Theme, Words};
