//! One binary for all tests of the crate.

#![expect(
    clippy::too_many_lines,
    reason = "a test tells one story or walks through one table"
)]

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
    mod short;
    mod storm;
}
