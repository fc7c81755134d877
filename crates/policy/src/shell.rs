//! Reading shell text and laying open what would really run.
//!
//! `read` makes a tree, `expand` works words out as far as they are known beforehand, `resolve` walks the
//! tree and takes wrappers off. The result is a list of programs with their arguments, redirections
//! and input, whatever the way they were written. Every step has limits; what lies beyond them is a sign of
//! its own and leads to a question.

mod ansi;
mod assign;
mod braces;
mod builtins;
mod carriers;
mod choices;
mod code;
mod compound;
mod consoles;
mod definitions;
mod evaluated;
mod expand;
mod fed;
mod field;
mod find;
mod flow;
mod functions;
mod given;
mod handed;
mod interpreters;
mod invocation;
mod makefile;
mod parameter;
mod perhaps;
mod prints;
mod programs;
mod read;
mod readers;
mod redirect;
mod repository;
mod resolve;
mod scope;
mod tree;
mod unwrap;
mod word;
mod wrappers;
mod written;

pub(crate) use carriers::ssh_command;
pub use definitions::Definitions;
pub(crate) use field::{Field, HOLE};
pub(crate) use find::search;
pub(crate) use interpreters::FETCHERS;
pub(crate) use invocation::{Input, Invocation, Place, Sign, Signal, Stream};
pub(crate) use perhaps::Suspects;
pub(crate) use read::comments;
pub(crate) use repository::attached_pager;
pub(crate) use resolve::{Resolved, resolve};
pub use tree::Span;
pub use wrappers::layers;
