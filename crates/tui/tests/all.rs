//! One binary for all tests of the crate.

#[cfg(test)]
mod suite {
    mod hostile;
    mod inline;
    mod look;
    mod looks;
}
