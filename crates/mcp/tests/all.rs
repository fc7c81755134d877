//! Tests of the crate from outside, in one program.

#[cfg(test)]
mod suite {
    mod auth;
    mod breaker;
    mod chaos;
    mod ending;
    mod expiry;
    mod fixture;
    mod gatekeeping;
    mod healing;
    mod keepalive;
    mod limits;
    mod malware;
    mod memory;
    mod network;
    mod oauth_login;
    mod oauth_support;
    mod oauth_tokens;
    mod offers;
    mod processes;
    mod questions;
    mod reload;
    mod results;
    mod schemas;
    mod serving;
    mod supervision;
}
