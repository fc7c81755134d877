//! One binary for all tests of what is remembered.

#![expect(
    clippy::too_many_lines,
    reason = "a test tells one story or walks through one table"
)]

#[cfg(test)]
mod suite {
    mod changing;
    mod external;
    mod facts;
    mod fixture;
    mod forgetting;
    mod honcho;
    mod honcho_peers;
    mod honcho_settings;
    mod honcho_tools;
    mod outside;
    mod services;
    mod turned_down;
    mod turns;
    mod undoing;
}
