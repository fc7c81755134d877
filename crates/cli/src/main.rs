//! The `hermes` binary: reads the command line and the environment, wires the parts, prints.

mod args;
mod commands;
mod complaint;
mod context;
mod external;
mod hands;
mod help;
mod logging;
mod models;
mod network;
mod number;
mod output;
mod recall;
mod servers;
mod size;
mod table;
mod takeover;
mod timing;
mod typed;
mod web;
mod when;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use args::Cli;
use complaint::Complaint;
use context::Context;

fn main() -> ExitCode {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the process environment"
    )]
    let environment = std::env::vars_os().collect();
    let arguments = std::env::args_os().collect();
    if let Some(code) = hands::become_helper(std::env::args_os()) {
        return code;
    }
    let mut output = output::Output::new();
    let (mut context, rest) = Context::new(environment, arguments);
    if let Some(code) = hands::become_tether(&context, &rest) {
        return code;
    }
    let result = if asks_version(&rest) {
        output.line(VERSION).map_err(Complaint::from)
    } else {
        Cli::try_parse_from(rest)
            .map_err(Complaint::Parser)
            .and_then(|cli| {
                if let Some(name) = &cli.profile {
                    context.use_profile(name)?;
                }
                commands::run(cli, &context, &mut output)
            })
    };
    let result = result.and_then(|()| output.flush().map_err(Complaint::from));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => complaint.print(&mut output, &context.redactor.snapshot()),
    }
}

const VERSION: &str = concat!("hermes ", env!("CARGO_PKG_VERSION"));

/// Whether the version is all that is wanted: nothing else has to be known to say it.
fn asks_version(arguments: &[OsString]) -> bool {
    matches!(arguments, [_, flag] if flag == "--version" || flag == "-V")
}
