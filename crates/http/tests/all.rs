//! Integration tests of hermes-http, against servers of their own on the loopback interface.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod suite;
