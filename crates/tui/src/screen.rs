//! The terminal: taken and given back, and pictures on it.

mod frames;
mod guard;
mod inline;
mod paint;
mod run;

pub use frames::{Cause, Frames};
pub use guard::Guard;
pub use inline::{Inline, Live};
pub use run::{Ended, Screen};
