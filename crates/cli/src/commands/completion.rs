//! `hermes completion`

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::args::Cli;
use crate::args::completion::{CompletionArgs, ShellChoice};
use crate::complaint::Outcome;
use crate::output::Output;

const NAME: &str = "hermes";
/// Asked for the profile names when the user presses the key, so they are those of the home in use.
const BASH: &str = include_str!("completion/profiles.bash");
const ZSH: &str = include_str!("completion/profiles.zsh");
const FISH: &str = include_str!("completion/profiles.fish");

pub(crate) fn run(args: &CompletionArgs, output: &mut Output) -> Outcome {
    let shell = match args.shell {
        ShellChoice::Bash => Shell::Bash,
        ShellChoice::Zsh => Shell::Zsh,
        ShellChoice::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), NAME, &mut script);
    let script = String::from_utf8_lossy(&script);
    let script = match args.shell {
        ShellChoice::Bash => format!("{script}\n{BASH}"),
        ShellChoice::Zsh => with_zsh_profiles(&script),
        ShellChoice::Fish => format!("{script}\n{FISH}"),
    };
    Ok(output.line(script.trim_end())?)
}

/// Lets `--profile` and `profile use` ask our function in place of listing files. The function has to stand after the
/// first line, which tells zsh what the script is for.
fn with_zsh_profiles(script: &str) -> String {
    let (first, rest) = script.split_once('\n').unwrap_or((script, ""));
    let mut out = format!("{first}\n\n{ZSH}\n");
    for line in rest.lines() {
        let is_profile = line.starts_with("'-p+[")
            || line.starts_with("'--profile=[")
            || line.contains(" -- The profile");
        if is_profile {
            out.push_str(&line.replace(":_default'", ":_hermes_profiles'"));
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}
