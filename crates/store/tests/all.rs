//! One binary for all tests of the store.

#![expect(
    clippy::too_many_lines,
    reason = "a test tells one story or walks through one table"
)]

#[cfg(test)]
mod suite {
    mod archive;
    mod compact;
    mod embeddings;
    mod export;
    mod fixture;
    mod follow;
    mod import;
    mod inbox;
    mod insights;
    mod journal;
    mod learning;
    mod lineage;
    mod masking;
    mod opening;
    mod permissions;
    mod processes;
    mod remembering;
    mod search;
    mod transfer;
    mod turns;
    mod views;
    mod visits;
}
