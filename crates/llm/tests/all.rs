//! One binary for all tests of the crate.

#![expect(
    clippy::too_many_lines,
    reason = "a test tells one story or walks through one table"
)]

#[cfg(test)]
mod suite {
    mod anthropic_wire;
    mod auth_file;
    mod calls;
    mod chat_wire;
    mod classify;
    mod cloud;
    mod converse_wire;
    mod cross_protocol;
    mod detect;
    #[cfg(feature = "local-model")]
    mod embedded;
    mod failover;
    mod gemini_wire;
    mod keys;
    mod lab;
    mod legal_wire;
    mod metadata;
    mod oauth;
    mod profiles;
    mod resolve;
    mod responses_wire;
    mod schema;
    mod sse;
    mod transport;
    mod vendors;
}
