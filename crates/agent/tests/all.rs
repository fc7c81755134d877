//! One binary for all tests of the crate.

#[cfg(test)]
mod suite {
    mod compaction;
    mod conversation;
    mod crash;
    mod fixture;
    mod idle;
    mod odd_answers;
    mod stopping;
}
