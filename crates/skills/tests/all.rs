//! One binary for the tests of the crate.

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
