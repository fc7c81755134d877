//! The warden as a program of its own, for tests of this crate: the product starts itself instead.

use std::process::ExitCode;

fn main() -> ExitCode {
    hermes_exec::warden_main(&[], std::env::args().skip(1))
}
