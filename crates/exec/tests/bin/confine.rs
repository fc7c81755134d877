//! The helper of the sandbox as a program of its own, for the tests of this crate.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(2).collect();
    match hermes_exec::sandbox::confine_main(&arguments) {
        Ok(code) => code,
        Err(error) => {
            // Without anybody to read it there is nothing left to say.
            drop(writeln!(std::io::stderr(), "hermes: {error}"));
            ExitCode::from(126)
        }
    }
}
