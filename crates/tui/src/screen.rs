//! The terminal: taken and given back, and pictures on it.

mod frames;
mod full;
mod ground;
mod guard;
mod inline;
mod kept;
mod keyboard;
mod paint;
mod run;
mod signals;
mod surface;

pub use frames::{Cause, Frames};
pub use full::Full;
pub use guard::{Guard, Hold};
pub use inline::{Inline, Live};
pub use run::{Ended, Screen};
