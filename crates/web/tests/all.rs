//! One binary for all tests of the crate.

#[cfg(test)]
mod suite {
    mod extracting;
    mod pages;
    mod searching;
}
