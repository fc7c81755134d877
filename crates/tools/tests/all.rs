//! One binary for all tests of the crate.

#![expect(
    clippy::too_many_lines,
    reason = "a test tells one story or walks through one table"
)]

#[cfg(test)]
mod suite {
    mod agents;
    mod away;
    mod background;
    mod checkpoints;
    mod checkpoints_busy;
    mod documents;
    mod edits;
    mod fixture;
    mod patches;
    mod reading;
    mod remote;
    mod searching;
    mod sudo;
    mod surroundings;
    mod unasked;
    mod writing;
}
