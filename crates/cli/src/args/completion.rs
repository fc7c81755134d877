//! `hermes completion`

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct CompletionArgs {
    /// The shell to write for
    #[arg(value_enum, default_value_t = ShellChoice::Bash)]
    pub(crate) shell: ShellChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellChoice {
    Bash,
    Zsh,
    Fish,
}
