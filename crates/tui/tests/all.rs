//! One binary for all tests of the crate.

#[cfg(test)]
mod suite {
    mod anything;
    mod extremes;
    mod full;
    mod hostile;
    mod inline;
    mod kinds;
    mod look;
    mod looks;
    mod panels;
    mod resized;
    mod screens;
    mod storm;
}
