//! One binary for all tests of the crate.

#![expect(
    clippy::too_many_lines,
    reason = "a test tells one story or walks through one table"
)]

#[cfg(test)]
mod suite {
    mod away;
    mod cells;
    mod cloud;
    mod crash;
    mod daytona;
    mod docker;
    mod docker_idle;
    mod endings;
    mod files;
    mod local;
    mod modal;
    mod modal_managed;
    mod processes;
    mod sandbox;
    mod sandbox_attacks;
    mod sandbox_network;
    mod sandbox_steps;
    mod shell;
    mod shell_places;
    mod singularity;
    mod ssh;
    mod sync;
}
