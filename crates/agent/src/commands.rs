//! The slash commands, as data for every surface: what there is, and what a line means.
//!
//! A surface shows the same names and descriptions, resolves lines by the same rules and runs what comes
//! out in its own way.

mod info;
mod later;
mod registry;
mod resolve;

pub use info::{CommandInfo, Consent, Group, Surface};
pub use later::later;
pub use registry::{all, find, group};
pub use resolve::{Known, MOST_SKILLS, Resolved, resolve};
