//! Every integration test of the crate, in one binary.

#![expect(
    clippy::too_many_lines,
    reason = "a test tells one story or walks through one table"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod suite {
    mod defaults;
    mod env;
    mod generated;
    mod home;
    mod legacy;
    mod load;
    mod managed;
    mod migrate;
    mod profiles;
    mod reading;
    mod samples;
    mod set;
    mod support;
    mod yaml_comments;
    mod yaml_edit;
}
