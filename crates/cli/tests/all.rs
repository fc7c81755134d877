//! One binary for all end-to-end tests of the program.

#[cfg(test)]
mod suite {
    mod backup;
    mod bad_input;
    mod completion;
    mod config;
    mod footprint;
    mod help;
    mod logs;
    mod pipes;
    mod profile;
    mod program;
    mod raw_zip;
    mod read_only;
    mod reports;
    mod sessions;
    mod takeover;
}
