//! Makes text from models and tools harmless, measures it and wraps it.

mod escape;
pub(crate) mod rows;
mod safe;
mod spoof;
mod width;
mod wrap;

pub use safe::{Cleaner, clean, clean_line};
pub(crate) use width::cut_path;
pub use width::{cut, fit, width};
pub use wrap::wrap;
pub(crate) use wrap::{Prefix, wrap_with};

pub(crate) use width::spans_width;
pub(crate) use wrap::{clip, indentation, trim_end};
