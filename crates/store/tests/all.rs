//! One binary for all tests of the store.

#[cfg(test)]
mod suite {
    mod export;
    mod fixture;
    mod import;
    mod lineage;
    mod opening;
    mod processes;
    mod search;
    mod transfer;
}
