//! Takes wrappers off a program until what it starts lies open.

use std::rc::Rc;

use super::carriers::option_values;
use super::code;
use super::field::{Field, HOLE};
use super::invocation::{Input, Place, Sign};
use super::resolve::{Given, Resolver};
use super::wrappers;
use crate::places;

const SHELLS: [&str; 12] = [
    "sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "rbash", "mksh", "csh", "tcsh", "yash",
];

const USER_LONG: &[&str] = &[
    "--user",
    "--group",
    "--supp-group",
    "--whitelist-environment",
];

impl Resolver<'_> {
    pub(super) fn unwrap(&mut self, name: &str, argv: &[Field], given: &Given) -> Option<String> {
        let program = argv.first()?;
        if !program.is_known() {
            self.unknown_program(program, argv, given);
        }
        if let Some(printed) = self.alias(argv, given) {
            return printed;
        }
        if self.call(name, argv) {
            return None;
        }
        if let Some(original) = self.original(program) {
            let rest = argv.iter().skip(1).cloned();
            let argv = std::iter::once(original).chain(rest).collect();
            return self.run(argv, wrapped(given));
        }
        if SHELLS.contains(&name) {
            return self.shell(argv, given);
        }
        if let Some(language) = code::language(name) {
            self.interpreter(language, argv, given);
            return None;
        }
        match name {
            "cd" | "pushd" => self.change_directory(argv),
            "ln" | "cp" | "mv" | "install" => self.renamed(argv),
            "eval" => return self.eval(argv, given),
            "source" | "." => self.source(argv, given),
            "find" | "gfind" => self.find(argv, given),
            "git" => self.git(argv, given),
            "trap" | "alias" => self.defined_text(name, argv),
            "history" | "fc" => self.typed_before(name, argv, given),
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(argv),
            "xargs" | "gxargs" | "parallel" => return self.fed_arguments(name, argv, given),
            "set" => self.positional(argv),
            "env"
                if argv
                    .get(1)
                    .is_some_and(|field| field.text.starts_with("-S")) =>
            {
                let joined = joined(argv, 1);
                let text = joined.trim_start_matches("-S").trim_start();
                return self.text(text, given.span, given.input.clone());
            }
            "command" if argv.get(1).is_some_and(|field| field.text == "-v") => {
                return argv.get(2).map(|field| field.text.clone());
            }
            _ => return self.elsewhere(name, argv, given),
        }
        None
    }

    /// Runs the inner program of a wrapper, or what a program takes somewhere else.
    fn elsewhere(&mut self, name: &str, argv: &[Field], given: &Given) -> Option<String> {
        let known = self.told(name, argv, given);
        if let Some((inner, assignments)) = wrappers::inner(name, argv) {
            self.assigned(assignments);
            let place = self.place;
            if name == "chroot" && !self.is_own_root(argv, inner) {
                self.place = Place::Container;
            }
            let printed = self.run(inner.to_vec(), wrapped(given));
            self.place = place;
            return printed;
        }
        let input = given.input.clone();
        match name {
            "ssh" | "mosh" | "rsh" => {
                let operands = wrappers::operands("BbcDEeFIiJLlmOopQRSWw", argv);
                let text = operands.get(1..).map(|words| joined(words, 0));
                self.there(Place::Away, &text.unwrap_or_default(), given);
            }
            "su" | "runuser" | "script" | "sg" => self.session(name, argv, given),
            "sudo" | "doas" | "pkexec" | "unshare" | "nsenter" | "fakeroot" => self.fed(given),
            "chroot" => {
                let place = match self.is_own_root(argv, &[]) {
                    true => self.place,
                    false => Place::Container,
                };
                self.inside(place, |this| this.fed(given));
            }
            "watch" => {
                let text = joined(wrappers::operands("ndn", argv), 0);
                self.text(&text, given.span, input);
            }
            "flock" => self.flock(argv, given),
            "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "lxc" => {
                self.container(argv, given);
            }
            "tmux" | "screen" => self.terminal(argv, given),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(argv, given),
            "at" | "batch" | "newgrp" => self.fed(given),
            "crontab" => self.timed(given),
            "vim" | "vi" | "nvim" | "ex" | "ed" | "emacs" | "less" | "man" => {
                self.editor_commands(argv, given);
            }
            "make" | "gmake" => self.make(argv, given),
            "npx" | "bunx" | "uvx" | "pnpm" | "yarn" | "npm" | "poetry" | "uv" | "bundle"
            | "pipenv" | "nix-shell" | "nix" | "mise" => self.project_tool(argv, given),
            _ if known => {}
            _ => self.perhaps(argv, given),
        }
        None
    }

    /// Variables that a wrapper sets for what it starts.
    fn assigned(&mut self, assignments: &[Field]) {
        for field in assignments {
            if let Some((variable, value)) = field.text.split_once('=') {
                self.environment(variable, value, field.span, false);
                self.store(variable, false, vec![value.to_owned()]);
            }
        }
    }

    /// `su -c text`, `script -c text` and the like.
    fn session(&mut self, name: &str, argv: &[Field], given: &Given) {
        let texts = option_values(argv, &["-c", "--command", "--session-command"]);
        for text in &texts {
            self.text(&text.text, given.span, given.input.clone());
        }
        // The name of a user can look like a letter with a text.
        if name == "runuser" && names_user(argv) {
            let inner = wrappers::operands_of("ugGw", USER_LONG, argv).to_vec();
            self.run(inner, wrapped(given));
            return;
        }
        match name {
            _ if !texts.is_empty() => {}
            "sg" => drop(self.text(&joined(argv, 2), given.span, given.input.clone())),
            // Without a command they start a shell, which reads what they are given.
            _ => self.fed(given),
        }
    }

    /// Whether `chroot` stays where it is.
    fn is_own_root(&self, argv: &[Field], inner: &[Field]) -> bool {
        let target = argv.len().checked_sub(inner.len() + 1);
        let target = target.and_then(|at| argv.get(at));
        target.is_some_and(|field| places::absolute(&field.text, &self.cwd) == "/")
    }

    fn unknown_program(&mut self, program: &Field, argv: &[Field], given: &Given) {
        let setter = program.comes_from(&["which", "command", "readlink", "realpath", "brew"]);
        let in_directory = program.text.contains('/') && !program.text.ends_with(HOLE);
        if !setter && !in_directory {
            self.sign(Sign::UnknownProgram, program.span);
        }
        // An unknown first word may be empty or a wrapper such as sudo.
        if program.is_hidden() && argv.len() > 1 {
            self.run(argv.get(1..).unwrap_or_default().to_vec(), wrapped(given));
        }
    }

    fn there(&mut self, place: Place, text: &str, given: &Given) {
        if text.is_empty() {
            if place == Place::Away && !matches!(given.input, Input::Nothing) {
                self.inside(place, |this| this.fed(given));
            }
            return;
        }
        self.inside(place, |this| {
            this.text(text, given.span, given.input.clone());
        });
    }

    pub(super) fn inside(&mut self, place: Place, work: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.place, place);
        let cwd = Rc::clone(&self.cwd);
        work(self);
        self.cwd = cwd;
        self.place = before;
    }
}

/// Whether `runuser` is told by an option who runs the program behind it; else it starts a shell.
fn names_user(argv: &[Field]) -> bool {
    let is_user = |text: &str| text.starts_with("-u") || text.starts_with("--user");
    argv.iter().any(|field| is_user(&field.text))
}

pub(super) fn wrapped(given: &Given) -> Given {
    Given {
        wrapped: true,
        ..given.clone()
    }
}

/// Arguments from an index on, as one text.
pub(super) fn joined(argv: &[Field], from: usize) -> String {
    let words: Vec<&str> = argv
        .iter()
        .skip(from)
        .map(|field| field.text.as_str())
        .collect();
    words.join(" ")
}
