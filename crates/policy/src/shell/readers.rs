//! Programs that read or pack files and can be told to run something on the way.

use super::carriers::option_values;
use super::field::Field;
use super::invocation::Input;
use super::resolve::{Given, Resolver};

/// Fields before the command of a line that cron runs.
const FIELDS_OF_TIME: usize = 5;

impl Resolver<'_> {
    /// Looks through what a reading program is told to run; whether it is one.
    pub(super) fn reader(&mut self, name: &str, argv: &[Field]) -> bool {
        match name {
            "sed" | "gsed" => self.sed(name, argv),
            "tar" | "bsdtar" | "gtar" => {
                self.texts(&option_values(
                    argv,
                    &["--to-command", "--rsh-command", "-I"],
                ));
                self.texts(&option_values(argv, &["--use-compress-program"]));
                for action in option_values(argv, &["--checkpoint-action"]) {
                    if let Some(text) = action.text.strip_prefix("exec=") {
                        self.text(text, action.span, Input::Nothing);
                    }
                }
            }
            "man" => {
                let options = ["-P", "--pager", "-H", "--html"];
                self.texts(&option_values(argv, &options));
            }
            "rg" => self.texts(&option_values(argv, &["--pre", "--hostname-bin"])),
            "sort" => self.texts(&option_values(argv, &["--compress-program"])),
            "nc" | "ncat" | "netcat" => {
                self.texts(&option_values(argv, &["-c", "-e", "--exec", "--sh-exec"]));
            }
            "socat" => {
                for field in argv.iter().skip(1) {
                    let (kind, text) = field.text.split_once(':').unwrap_or_default();
                    let kind = kind.to_ascii_lowercase();
                    if matches!(kind.as_str(), "exec" | "system" | "shell") {
                        self.text(text, field.span, Input::Nothing);
                    }
                }
            }
            _ => return false,
        }
        true
    }

    /// The command `e` of sed, with or without an address.
    fn sed(&mut self, name: &str, argv: &[Field]) {
        let scripts = self.scripts(name, argv);
        for field in argv.iter().skip(1).chain(&scripts) {
            for command in field.text.split([';', '\n', '{']) {
                let address = |c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | ' ' | '!');
                let command = command.trim_start_matches(address);
                // An address can be a pattern as well.
                let command = match command.strip_prefix('/') {
                    Some(rest) => rest.split_once('/').map_or("", |(_, behind)| behind),
                    None => command,
                };
                if let Some(text) = command.trim_start().strip_prefix("e ") {
                    self.text(text, field.span, Input::Nothing);
                }
            }
        }
    }

    /// What cron is given to run: the times, or a word for them, and the command.
    pub(super) fn timed(&mut self, given: &Given) {
        let Some(table) = given.input.known().map(str::to_owned) else {
            return;
        };
        for line in table.lines() {
            let line = line.trim_start();
            let times = match line.chars().next() {
                None | Some('#') => continue,
                Some('@') => 1,
                Some(_) => FIELDS_OF_TIME,
            };
            let mut command = line;
            for _ in 0..times {
                let behind = command.split_once(char::is_whitespace);
                command = behind.map_or("", |(_, rest)| rest.trim_start());
            }
            self.text(command, given.span, Input::Nothing);
        }
    }
}
