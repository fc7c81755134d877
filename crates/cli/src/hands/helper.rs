//! This program as one of its own helpers.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use hermes_exec::sandbox::confine_main;
use hermes_exec::{tether_main, warden_main};

use super::Helpers;
use crate::context::Context;
use crate::network;

/// Does what a helper of ours does, when this process was started as one. Comes before everything else: a
/// helper has no home, no settings and no time.
pub(crate) fn become_helper(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let role = arguments.nth(1)?;
    if role == Helpers::WARDEN {
        let ours = [Helpers::WARDEN.to_owned()];
        let rest = arguments.filter_map(|argument| argument.into_string().ok());
        return Some(warden_main(&ours, rest));
    }
    if role == Helpers::CONFINE {
        let rest: Vec<OsString> = arguments.collect();
        return Some(confine_main(&rest).unwrap_or_else(|error| {
            // Without anybody to read it there is nothing left to say.
            drop(writeln!(std::io::stderr(), "hermes: {error}"));
            ExitCode::from(126)
        }));
    }
    None
}

/// Clears up in a cloud when the process that started this one is gone. Unlike other helpers it needs the home: that is
/// where the network is described.
pub(crate) fn become_tether(context: &Context, arguments: &[OsString]) -> Option<ExitCode> {
    if arguments.get(1).is_none_or(|role| role != Helpers::TETHER) {
        return None;
    }
    let client = context
        .load()
        .and_then(|loaded| network::client(&loaded, context));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let (Ok(client), Ok(runtime)) = (client, runtime) else {
        return Some(ExitCode::FAILURE);
    };
    runtime.block_on(tether_main(&client));
    Some(ExitCode::SUCCESS)
}
