//! One binary for all tests of the crate.

#![expect(
    clippy::too_many_lines,
    reason = "a test tells one story or walks through one table"
)]

#[cfg(test)]
mod suite {
    mod extracting;
    mod pages;
    mod searching;
}
