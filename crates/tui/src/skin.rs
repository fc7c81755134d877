//! Skins: colours and words a user can choose, in the format of the reference.
//!
//! A skin says only what differs from `default`. It is resolved into a [`crate::Theme`] for a terminal.

mod builtin;
mod colour;
mod data;
mod markup;
mod resolve;

pub use colour::{Background, Depth};
pub use data::{Skin, Spinner};
pub use markup::markup;
