//! One binary for all tests of short programs.

#[cfg(test)]
mod suite {
    mod running;
}
