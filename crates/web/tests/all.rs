//! One binary for the tests that need a server.

#[cfg(test)]
mod suite {
    mod pages;
}
