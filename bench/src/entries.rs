//! Everything that is measured. A new entry is a module and a line here.

mod config_load;
mod conversation;
mod embedded;
mod hands;
mod import;
mod insert;
mod mcp;
mod screen;
mod search;
mod skills;
mod startup;

use crate::bench::Bench;

/// In the order they run. Start-up comes first: the memory of a child counts from its parent's.
pub(crate) const ALL: &[Bench] = &[
    startup::BENCH,
    conversation::BENCH,
    screen::BENCH,
    embedded::BENCH,
    hands::BENCH,
    mcp::BENCH,
    config_load::BENCH,
    skills::BENCH,
    insert::BENCH,
    search::BENCH,
    import::BENCH,
];
