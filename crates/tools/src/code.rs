//! `execute_code`: a Python script that can call the session's tools.
//!
//! A runner of ours (`runner.py`) is started where commands run and speaks frames with us (`frames`) over its
//! standard input and output; so it works the same on every backend. It starts the script with a module
//! (`stub`) whose functions reach us through the runner's socket. `session` follows one script from start to
//! end, `calls` answers what it asks for.

mod calls;
mod environment;
mod frames;
mod session;
mod stub;
mod tool;

pub use tool::{CodeSettings, ExecuteCode};

/// What the runner is.
const RUNNER: &str = include_str!("code/runner.py");

/// The interpreter with the runner as its program.
fn runner_argv(interpreter: &[String]) -> Vec<String> {
    let mut argv = interpreter.to_vec();
    // Isolated: a project's own `socket.py` is the script's business, not the runner's.
    argv.extend(["-I".to_owned(), "-c".to_owned(), RUNNER.to_owned()]);
    argv
}
