//! One binary for all tests of the crate.

#![expect(
    clippy::too_many_lines,
    reason = "a test tells one story or walks through one table"
)]

#[cfg(test)]
mod suite {
    mod alone;
    mod answers;
    mod board;
    mod coding;
    mod compaction;
    mod conversation;
    mod crash;
    mod endings;
    mod fallback;
    mod faults;
    mod fixture;
    mod hidden_tools;
    mod idle;
    mod incomplete;
    mod memory;
    mod news;
    mod notices;
    mod odd_answers;
    mod permission;
    mod pictures;
    mod prefix;
    mod questions;
    mod random_stops;
    mod refusals;
    mod requests;
    mod rules;
    mod skills;
    mod stopping;
    mod titles;
    mod waiting;
}
