//! One binary for all tests of the crate.

#[cfg(test)]
mod suite {
    mod coding;
    mod compaction;
    mod conversation;
    mod crash;
    mod endings;
    mod fixture;
    mod hidden_tools;
    mod idle;
    mod incomplete;
    mod news;
    mod notices;
    mod odd_answers;
    mod pictures;
    mod questions;
    mod requests;
    mod rules;
    mod stopping;
    mod titles;
}
