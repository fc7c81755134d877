//! Integration tests of hermes-secrets.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod suite;
