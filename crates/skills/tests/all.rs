//! One binary for the tests of the crate.

#![expect(
    clippy::too_many_lines,
    reason = "a test tells one story or walks through one table"
)]

#[cfg(test)]
mod suite {
    mod bundling;
    mod curating;
    mod discovery;
    mod guard;
    mod listing;
    mod parsing;
    mod reading;
    mod shelf;
    mod syncing;
    mod undoing;
    mod writing;
}
