//! Full-text search over every script, one index for all.
//!
//! Text is folded (case, width, accents) and cut into terms: words where a script has spaces,
//! overlapping pairs of characters where it has none. Behind them come the buckets of its neighbours
//! (`neighbours`), so that a phrase or an identifier leaves few candidates however common its words
//! are. The index knows which message holds which term and nothing else; whether a phrase is really
//! there, snippets and ranking are worked out on the text of the newest candidates. That keeps the
//! index at about half of the text. A search that gave up before it had seen every candidate says so.
//!
//! Beside the words there may be vectors of what messages mean (`alike`), and `fuse` makes one list of both.
//!
//! A message must have the same terms whenever they are made: a change of folding, of terms or of the
//! hash of neighbours needs a schema step that builds the index anew.

mod alike;
mod arabic;
mod filter;
mod fold;
mod fuse;
mod hit;
mod letter;
mod neighbours;
mod query;
mod rank;
mod run;
mod snippet;
mod terms;
mod titles;
mod vector;

pub use filter::SearchFilter;
pub(crate) use filter::UNSEEN;
pub use fuse::fuse;
pub use hit::{Hit, Hits, SearchOrder};
pub(crate) use terms::{index_terms, search_text};
pub use terms::{terms, visit_terms};
pub(crate) use vector::packed;
