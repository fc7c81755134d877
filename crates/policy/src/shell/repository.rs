//! Commands that git runs for its user.

use super::carriers::option_values;
use super::field::Field;
use super::invocation::Input;
use super::resolve::{Given, Resolver};
use super::unwrap::{joined, wrapped};

/// Options of `filter-branch` whose value is run.
const FILTERS: [&str; 8] = [
    "--setup",
    "--tree-filter",
    "--index-filter",
    "--env-filter",
    "--msg-filter",
    "--parent-filter",
    "--commit-filter",
    "--tag-name-filter",
];

impl Resolver<'_> {
    pub(super) fn git(&mut self, argv: &[Field], given: &Given) {
        let mut at = 1;
        while let Some(field) = argv.get(at) {
            let text = field.text.as_str();
            match text {
                "-c" | "--config-env" => {
                    let setting = argv.get(at + 1).map(|field| field.text.clone());
                    self.git_setting(&setting.unwrap_or_default(), given);
                    at += 2;
                }
                "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" => at += 2,
                _ if text.starts_with('-') => at += 1,
                _ => break,
            }
        }
        if at > 1 && at < argv.len() {
            // Rules see the command without the options before it.
            let mut bare = vec![Field::literal("git", given.span)];
            bare.extend_from_slice(argv.get(at..).unwrap_or_default());
            self.run(bare, wrapped(given));
            return;
        }
        self.git_command(argv, given);
    }

    /// What a command of git runs.
    fn git_command(&mut self, argv: &[Field], given: &Given) {
        let own = argv.get(1..).unwrap_or_default();
        let rest = argv.get(2..).unwrap_or_default();
        for field in rest {
            // The address of a helper that is a program; `% ` is a space inside a word of it.
            if let Some(text) = field.text.strip_prefix("ext::") {
                self.text(&text.replace("% ", "\\ "), field.span, Input::Nothing);
            }
        }
        match argv.get(1).map_or("", |field| field.text.as_str()) {
            "config" => {
                let words: Vec<&Field> = rest.iter().filter(|f| !f.text.starts_with('-')).collect();
                if let [key, value, ..] = words.as_slice() {
                    self.git_setting(&format!("{}={}", key.text, value.text), given);
                }
            }
            "clone" => {
                for setting in option_values(own, &["-c", "--config"]) {
                    self.git_setting(&setting.text, given);
                }
            }
            "bisect" if rest.first().is_some_and(|field| field.text == "run") => {
                self.run(rest.get(1..).unwrap_or_default().to_vec(), wrapped(given));
            }
            "submodule" if rest.first().is_some_and(|field| field.text == "foreach") => {
                self.text(&joined(rest, 1), given.span, Input::Nothing);
            }
            "rebase" => self.texts(&option_values(own, &["--exec", "-x"])),
            "difftool" => self.texts(&option_values(own, &["--extcmd", "-x"])),
            "filter-branch" => self.texts(&option_values(own, &FILTERS)),
            _ => {}
        }
    }

    /// A setting of git whose value is run.
    fn git_setting(&mut self, setting: &str, given: &Given) {
        let Some((key, text)) = setting.split_once('=') else {
            return;
        };
        let key = key.to_ascii_lowercase();
        if key.starts_with("alias.") {
            match text.strip_prefix('!') {
                Some(shell) => self.text(shell, given.span, Input::Nothing),
                None => self.text(&format!("git {text}"), given.span, Input::Nothing),
            };
        }
        const RUN: [&str; 8] = [
            "core.pager",
            "core.sshcommand",
            "core.editor",
            "core.fsmonitor",
            "diff.external",
            "sequence.editor",
            "credential.helper",
            "core.hookspath",
        ];
        if RUN.contains(&key.as_str()) {
            self.text(text.trim_start_matches('!'), given.span, Input::Nothing);
        }
    }
}
