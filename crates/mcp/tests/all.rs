//! Tests of the crate from outside, in one program.

#[cfg(test)]
mod suite {
    mod breaker;
    mod expiry;
    mod fixture;
    mod malware;
    mod memory;
    mod oauth_login;
    mod oauth_support;
    mod oauth_tokens;
    mod results;
    mod schemas;
    mod supervision;
}
