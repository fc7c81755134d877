//! What the file tools share: which files they may touch, who saw and wrote what, what a change broke.

mod gate;
mod lint;
mod registry;
mod sandbox;
mod seen;
mod services;

pub(crate) use gate::{Notation, check};
pub(crate) use lint::Lint;
pub use registry::FileRegistry;
pub use sandbox::FileSandbox;
pub(crate) use seen::{Again, Asked, Seen, State};
pub use services::{FileLimits, FileServices, FileTools};
pub(crate) use services::{LARGEST, Readable, Shared, failed, refused, refused_with};
