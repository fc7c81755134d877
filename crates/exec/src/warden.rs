//! The warden: one small process beside ours that starts every command and outlives us by seconds.
//!
//! It adopts whatever loses its parent, so nothing a command started can get away: neither by `setsid`
//! nor by a double fork. Ending a run means everything found below it; and when our end of the socket
//! closes, however we ended, the warden ends everything it ever started and then itself.
//!
//! Each run has a warden of its own, which the first one starts and ends. So whatever a run starts stays below
//! that, and what two runs start is never mixed up. Such a warden keeps a cell, when it is itself confined:
//! nothing is left of a run when the next one comes. Or it keeps a nest, with all our rights: what a run leaves
//! behind goes on below the first warden, and the nest with it.
//!
//! `client` is our end with its `connection`, `serve` the other, `wire` what goes between them and `tree`
//! finds the members of a run. `descriptors` are what a run starts with.

mod client;
mod connection;
mod descriptors;
mod serve;
mod tree;
mod wire;

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) use client::{Handle, Order, Within};
pub(crate) use connection::lost;
pub(crate) use descriptors::let_go;
pub(crate) use tree::{MARKER, Scope, Seen, signal_all};
pub(crate) use wire::{RunKey, Stdio};

use crate::singularity::watch;
use serve::Kind;

/// Longer would break the promise that nothing outlives us by more than five seconds.
const LONGEST_GRACE: Duration = Duration::from_secs(2);

const SERVE: &str = "serve";
const KEEP: &str = "keep";
const NEST: &str = "nest";
const WATCH: &str = "watch";
const ON_TERMINAL: &str = "on-terminal";

/// How the warden's process is started.
#[derive(Debug, Clone)]
pub struct WardenProgram {
    /// Our own program.
    pub program: PathBuf,
    /// The arguments with which that program calls [`warden_main`].
    pub arguments: Vec<String>,
    /// How long background processes may take to end by themselves when we end; two seconds at most.
    pub grace: Duration,
}

impl WardenProgram {
    /// The command line of one that starts anything.
    fn serving(&self) -> Vec<String> {
        self.line(SERVE)
    }

    /// The command line of one that keeps a cell.
    pub(crate) fn keeping(&self) -> Vec<String> {
        self.line(KEEP)
    }

    /// The command line of one that keeps a nest.
    pub(crate) fn nesting(&self) -> Vec<String> {
        self.line(NEST)
    }

    /// The arguments of what stops an instance of Apptainer behind us.
    pub(crate) fn watching(&self) -> Vec<String> {
        let mut arguments = self.arguments.clone();
        arguments.push(WATCH.to_owned());
        arguments
    }

    fn line(&self, role: &str) -> Vec<String> {
        let grace = self.grace.min(LONGEST_GRACE).as_millis();
        let mut line = vec![self.program.to_string_lossy().into_owned()];
        line.extend(self.arguments.iter().cloned());
        line.extend([role.to_owned(), grace.to_string()]);
        line
    }
}

/// What the warden's process does; `arguments` are those after `WardenProgram::arguments`, which are given
/// as `ours`.
pub fn warden_main(ours: &[String], arguments: impl IntoIterator<Item = String>) -> ExitCode {
    let arguments: Vec<String> = arguments.into_iter().collect();
    let outcome = match arguments.split_first() {
        Some((role, rest)) if [SERVE, KEEP, NEST].contains(&role.as_str()) => {
            let kind = match role.as_str() {
                KEEP => Kind::Cell,
                NEST => Kind::Nest,
                _ => Kind::First,
            };
            let grace = rest.first().and_then(|text| text.parse().ok()).unwrap_or(0);
            let mut launcher = ours.to_vec();
            launcher.push(ON_TERMINAL.to_owned());
            let_go()
                .and_then(|()| std::io::stdin().as_fd().try_clone_to_owned())
                .and_then(|socket| {
                    serve::serve(kind, socket, Duration::from_millis(grace), &launcher)
                })
        }
        Some((role, rest)) if role == WATCH => watch(rest),
        Some((role, rest)) if role == ON_TERMINAL => Err(descriptors::become_program(rest)),
        _ => Err(std::io::ErrorKind::InvalidInput.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // What a shell answers when a program cannot be started.
        Err(_) => ExitCode::from(127),
    }
}
