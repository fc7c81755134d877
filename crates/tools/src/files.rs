//! What the file tools share: where paths lead, reading and replacing files, who saw and wrote what.

mod batch;
mod fault;
mod gate;
mod lint;
mod local;
mod registry;
mod resolve;
mod seen;
mod services;

pub(crate) use batch::{Batch, Target};
pub(crate) use fault::FileFault;
pub(crate) use gate::{Notation, check};
pub(crate) use lint::Lint;
pub(crate) use local::{Loaded, Stamp, holds, load, stamp};
pub use registry::FileRegistry;
pub(crate) use seen::{Again, Asked, Seen, State};
pub use services::{FileLimits, FileServices, FileTools};
pub(crate) use services::{Shared, failed, refused, refused_with};
