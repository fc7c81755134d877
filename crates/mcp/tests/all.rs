//! Tests of the crate from outside, in one program.

#![expect(
    clippy::too_many_lines,
    reason = "a test tells one story or walks through one table"
)]

#[cfg(test)]
mod suite {
    mod auth;
    mod breaker;
    mod chaos;
    mod conformance;
    mod ending;
    mod expiry;
    mod fixture;
    mod gatekeeping;
    mod healing;
    mod keepalive;
    mod limits;
    mod lost_sessions;
    mod malware;
    mod memory;
    mod neighbours;
    mod network;
    mod oauth_login;
    mod oauth_return;
    mod oauth_support;
    mod oauth_tokens;
    mod offers;
    mod processes;
    mod questions;
    mod reload;
    mod results;
    mod resuming;
    mod schemas;
    mod serving;
    mod supervision;
    mod tasks;
}
