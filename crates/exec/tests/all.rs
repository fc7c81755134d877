//! One binary for all tests of the crate.

#[cfg(test)]
mod suite {
    mod away;
    mod crash;
    mod docker;
    mod files;
    mod local;
    mod processes;
    mod sandbox;
    mod sandbox_attacks;
    mod sandbox_network;
    mod shell;
    mod singularity;
    mod ssh;
    mod sync;
}
