//! Makes text from models and tools harmless, measures it and wraps it.

mod escape;
pub(crate) mod rows;
mod safe;
mod spoof;
mod width;
mod wrap;

pub use safe::{Cleaner, clean, clean_line};
pub use width::{cut, cut_path, fit, width};
pub use wrap::{Prefix, wrap, wrap_with};

pub(crate) use width::spans_width;
pub(crate) use wrap::{clip, indentation, trim_end};
