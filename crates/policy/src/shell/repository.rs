//! Commands that git runs for its user.

use super::carriers::option_values;
use super::field::Field;
use super::invocation::Input;
use super::resolve::{Given, Resolver};
use super::tree::Span;
use super::unwrap::{joined, wrapped};
use super::wrappers;
use crate::wildcard;

/// Commands and those of their options whose value is run.
const OPTIONS: &[(&[&str], &[&str])] = &[
    (&["clone"], &["-u", "--upload-pack"]),
    (
        &["fetch", "pull", "ls-remote", "fetch-pack"],
        &["--upload-pack", "--exec"],
    ),
    (&["push", "send-pack"], &["--receive-pack", "--exec"]),
    (&["archive"], &["--exec"]),
    (&["rebase"], &["--exec", "-x"]),
    (&["difftool"], &["--extcmd", "-x"]),
    (
        &["send-email"],
        &["--to-cmd", "--cc-cmd", "--header-cmd", "--sendmail-cmd"],
    ),
    (&["svn"], &["--authors-prog"]),
    (&["daemon"], &["--access-hook"]),
    (&["instaweb"], &["-d", "--httpd", "-b", "--browser"]),
    (
        &["filter-branch"],
        &[
            "--setup",
            "--tree-filter",
            "--index-filter",
            "--env-filter",
            "--msg-filter",
            "--parent-filter",
            "--commit-filter",
            "--tag-name-filter",
        ],
    ),
];

/// Settings whose value is run, by their names in small letters.
const SETTINGS: &[&str] = &[
    "browser.*.cmd",
    "browser.*.path",
    "core.alternaterefscommand",
    "core.askpass",
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    "core.hookspath",
    "core.pager",
    "core.sshcommand",
    "credential.*helper",
    "diff.*.command",
    "diff.*.textconv",
    "diff.external",
    "difftool.*.cmd",
    "difftool.*.path",
    "filter.*.clean",
    "filter.*.process",
    "filter.*.smudge",
    "gpg.*program",
    "gpg.ssh.defaultkeycommand",
    "guitool.*.cmd",
    "hook.*.command",
    "imap.tunnel",
    "instaweb.httpd",
    "interactive.difffilter",
    "man.*.cmd",
    "man.*.path",
    "merge.*.driver",
    "mergetool.*.cmd",
    "mergetool.*.path",
    "pager.*",
    "remote.*.receivepack",
    "remote.*.uploadpack",
    "sendemail.*cmd",
    "sequence.editor",
    "tar.*.command",
    "trailer.*.cmd",
    "trailer.*.command",
    "uploadpack.packobjectshook",
];

/// Those that are run where they begin with a mark.
const MARKED: &[&str] = &["alias.*", "submodule.*.update"];

/// The most settings that are looked for in numbered variables.
const MAX_NUMBERED: usize = 256;

impl Resolver<'_> {
    pub(super) fn git(&mut self, argv: &[Field], given: &Given) {
        let mut at = 1;
        while let Some(field) = argv.get(at) {
            let text = field.text.as_str();
            let behind = argv.get(at + 1).map(|field| field.text.clone());
            match text {
                "-c" => {
                    self.git_setting(&behind.unwrap_or_default(), field.span);
                    at += 2;
                }
                "--config-env" => {
                    self.git_setting_from(&behind.unwrap_or_default(), field.span);
                    at += 2;
                }
                "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" => at += 2,
                _ if text.starts_with('-') => {
                    if let Some(setting) = text.strip_prefix("--config-env=") {
                        self.git_setting_from(setting, field.span);
                    }
                    at += 1;
                }
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
        self.git_settings_in_variables(given.span);
        self.git_command(argv, given);
    }

    /// What a command of git runs.
    fn git_command(&mut self, argv: &[Field], given: &Given) {
        let own = argv.get(1..).unwrap_or_default();
        let rest = argv.get(2..).unwrap_or_default();
        for field in rest {
            self.git_helper(&field.text, field.span);
        }
        let command = argv.get(1).map_or("", |field| field.text.as_str());
        for (_, options) in OPTIONS.iter().filter(|(names, _)| names.contains(&command)) {
            self.texts(&option_values(own, options));
        }
        match command {
            "config" => {
                let words: Vec<&Field> = rest.iter().filter(|f| !f.text.starts_with('-')).collect();
                for pair in words.windows(2) {
                    if let [key, value] = pair {
                        self.git_setting(&format!("{}={}", key.text, value.text), value.span);
                    }
                }
            }
            "clone" => {
                for setting in option_values(own, &["-c", "--config"]) {
                    self.git_setting(&setting.text, setting.span);
                }
            }
            "grep" => {
                for field in rest {
                    if let Some(pager) = attached_pager(&field.text) {
                        self.text(pager, field.span, Input::Nothing);
                    }
                }
            }
            "bisect" if rest.first().is_some_and(|field| field.text == "run") => {
                self.run(rest.get(1..).unwrap_or_default().to_vec(), wrapped(given));
            }
            "submodule" | "submodule--helper" => {
                let words = wrappers::operands("", own);
                if words.first().is_some_and(|field| field.text == "foreach") {
                    let command = wrappers::operands("", words);
                    self.text(&joined(command, 0), given.span, Input::Nothing);
                }
            }
            "for-each-repo" => {
                let words = wrappers::operands_of("", &["--config"], own);
                let git = Field::literal("git", given.span);
                let inner = std::iter::once(git).chain(words.iter().cloned());
                self.run(inner.collect(), wrapped(given));
            }
            _ => {}
        }
    }

    /// The address of a helper that is a program; `% ` is a space inside a word of it.
    fn git_helper(&mut self, address: &str, span: Span) {
        if let Some(text) = address.strip_prefix("ext::") {
            self.text(&text.replace("% ", "\\ "), span, Input::Nothing);
        }
    }

    /// A setting whose value stands in a variable.
    fn git_setting_from(&mut self, setting: &str, span: Span) {
        let Some((key, variable)) = setting.split_once('=') else {
            return;
        };
        for value in self.values_of(variable) {
            self.git_setting(&format!("{key}={value}"), span);
        }
    }

    /// Settings in variables: numbered ones, and one that holds them all.
    fn git_settings_in_variables(&mut self, span: Span) {
        for number in 0..MAX_NUMBERED {
            let keys = self.values_of(&format!("GIT_CONFIG_KEY_{number}"));
            if keys.is_empty() {
                break;
            }
            for value in self.values_of(&format!("GIT_CONFIG_VALUE_{number}")) {
                for key in &keys {
                    self.git_setting(&format!("{key}={value}"), span);
                }
            }
        }
        for all in self.values_of("GIT_CONFIG_PARAMETERS") {
            for setting in all.trim().trim_matches('\'').split("' '") {
                self.git_setting(&setting.replacen("'='", "=", 1), span);
            }
        }
    }

    fn values_of(&self, variable: &str) -> Vec<String> {
        self.scope.every(variable).flatten().cloned().collect()
    }

    /// A setting of git whose value is run.
    fn git_setting(&mut self, setting: &str, span: Span) {
        let Some((key, text)) = setting.split_once('=') else {
            return;
        };
        self.git_helper(text, span);
        // An address that takes the place of others.
        let address = key.rsplit_once('.').map_or("", |(address, _)| address);
        self.git_helper(address.get("url.".len()..).unwrap_or_default(), span);
        let key = key.to_ascii_lowercase();
        let is_in = |names: &[&str]| names.iter().any(|name| wildcard::matches(name, &key));
        match text.strip_prefix('!') {
            None if key.starts_with("alias.") => {
                self.text(&format!("git {text}"), span, Input::Nothing);
            }
            Some(shell) if is_in(MARKED) || is_in(SETTINGS) => {
                self.text(shell, span, Input::Nothing);
            }
            None if is_in(SETTINGS) => drop(self.text(text, span, Input::Nothing)),
            None | Some(_) => {}
        }
    }
}

/// The program that `git grep` is told, in the same argument, to show what it finds with.
pub(crate) fn attached_pager(argument: &str) -> Option<&str> {
    let value = match argument.split_once('=') {
        Some((name, value)) if name.starts_with("--") => {
            let long = name.len() > 4 && "--open-files-in-pager".starts_with(name);
            long.then_some(value)
        }
        _ => {
            let letters = argument.strip_prefix('-')?;
            let letters = Some(letters).filter(|rest| !rest.starts_with('-'));
            letters?.split_once('O').map(|(_, value)| value)
        }
    };
    value.filter(|value| !value.is_empty())
}
