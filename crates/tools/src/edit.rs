//! Changing text: pure functions, no files.
//!
//! `text` turns bytes into something comparable and back without losing one, `matching` finds what is to
//! be replaced, `rewrite` puts the new text in its place, `made` sees that it is there already, `nearby` helps when
//! nothing was found, `v4a`
//! reads and applies patches over several files and `diff` shows what changed.

mod diff;
mod lines;
mod made;
mod mapped;
mod matching;
mod nearby;
mod request;
mod rewrite;
mod text;
mod v4a;

pub(crate) use diff::unified;
pub(crate) use matching::Strategy;
pub(crate) use nearby::{regions, suggestion};
pub(crate) use request::{Edited, LineRange, Refusal, Replacement, replace};
pub(crate) use text::{Text, is_binary};
pub(crate) use v4a::{HunkFault, Operation, apply, parse};
