//! One binary for all end-to-end tests of the program.

#[cfg(test)]
mod suite {
    mod bad_input;
    mod config;
    mod footprint;
    mod help;
    mod pipes;
    mod profile;
    mod program;
    mod sessions;
}
