//! One binary for all tests of the crate.

#[cfg(test)]
mod suite {
    mod agents;
    mod checkpoints;
    mod documents;
    mod edits;
    mod fixture;
    mod patches;
    mod reading;
    mod searching;
    mod writing;
}
