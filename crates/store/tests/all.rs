//! One binary for all tests of the store.

#[cfg(test)]
mod suite {
    mod archive;
    mod compact;
    mod export;
    mod fixture;
    mod follow;
    mod import;
    mod insights;
    mod lineage;
    mod opening;
    mod processes;
    mod search;
    mod transfer;
}
