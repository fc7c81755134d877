//! One binary for all end-to-end tests of the program.

#[cfg(test)]
mod suite {
    mod auth;
    mod backup;
    mod bad_input;
    mod chat;
    mod completion;
    mod compress;
    mod config;
    mod fallback;
    mod footprint;
    mod hands;
    mod hands_answers;
    mod hands_away;
    mod hands_kept;
    mod hands_left;
    mod hands_scripts;
    mod help;
    mod helpers;
    mod judged;
    mod killed;
    mod limits;
    mod logs;
    mod mcp;
    mod mcp_commands;
    mod mcp_entries;
    mod mcp_lab;
    mod mcp_serve;
    mod mcp_strangers;
    mod model_set;
    mod model_wizard;
    mod models;
    mod nearby;
    mod pages;
    mod pipes;
    mod profile;
    mod program;
    mod providers;
    mod questions;
    mod raw_zip;
    mod read_only;
    mod recognised;
    mod reports;
    mod screen;
    mod sessions;
    mod takeover;
    mod tls;
    mod tools;
    mod undoing;
    mod unreachable;
    mod windows;
}
