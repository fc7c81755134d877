//! Every integration test of the crate, in one binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod suite {
    mod defaults;
    mod generated;
    mod reading;
    mod samples;
    mod yaml_edit;
}
