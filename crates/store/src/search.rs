//! Full-text search over every script, one index for all.
//!
//! Text is folded (case, width, accents) and cut into terms: words where a script has spaces,
//! overlapping pairs of characters where it has none. The index knows which message holds which
//! term and nothing else; phrases, identifiers, snippets and ranking are worked out on the text of
//! the newest candidates. That keeps the index at a fraction of the text.

mod arabic;
mod filter;
mod fold;
mod letter;
mod query;
mod rank;
mod run;
mod snippet;
mod terms;

pub use filter::SearchFilter;
pub use run::{Hit, SearchOrder};
pub(crate) use terms::{index_terms, search_text};
