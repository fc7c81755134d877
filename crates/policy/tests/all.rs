//! One binary for all tests of the crate.

#[cfg(test)]
mod suite {
    mod approval;
    mod corpus;
    mod limits;
    mod real_shell;
}
