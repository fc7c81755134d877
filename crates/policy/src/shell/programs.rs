//! Programs that run commands in ways of their own.

use std::rc::Rc;

use super::carriers::option_values;
use super::field::{Field, HOLE};
use super::invocation::{Input, Place, Sign};
use super::resolve::{Given, Resolver};
use super::unwrap::{joined, value, wrapped};
use super::wrappers;
use crate::places;

impl Resolver<'_> {
    pub(super) fn change_directory(&mut self, argv: &[Field]) {
        let target = argv
            .iter()
            .skip(1)
            .find(|field| !field.text.starts_with('-'));
        let path = match target {
            None => self.around.home.clone(),
            Some(field) => places::absolute(&field.text, &self.cwd),
        };
        self.cwd = Rc::from(path.as_str());
        self.store("PWD", false, vec![path]);
    }

    /// Remembers what a program is called from now on.
    pub(super) fn renamed(&mut self, argv: &[Field]) {
        const MAX_COPIES: usize = 64;
        let mut operands = argv
            .iter()
            .skip(1)
            .filter(|field| !field.text.starts_with('-'));
        let (Some(from), Some(to)) = (operands.next(), operands.next()) else {
            return;
        };
        let program = from
            .text
            .split('/')
            .any(|part| matches!(part, "bin" | "sbin"));
        if (program || from.carried.is_some()) && self.copies.len() < MAX_COPIES {
            let to = places::absolute(&to.text, &self.cwd);
            let name = from.text.rsplit('/').next().unwrap_or_default();
            self.copies
                .insert(format!("{to}/{name}"), from.text.clone());
            self.copies.insert(to, from.text.clone());
        }
    }

    /// The program a path was copied from.
    pub(super) fn original(&self, program: &Field) -> Option<Field> {
        if self.copies.is_empty() || !program.text.contains('/') {
            return None;
        }
        let path = places::absolute(&program.text, &self.cwd);
        let text = self.copies.get(&path)?.clone();
        Some(Field {
            text,
            ..program.clone()
        })
    }

    pub(super) fn positional(&mut self, argv: &[Field]) {
        let after = argv.iter().position(|field| field.text == "--");
        let Some(values) = after.and_then(|at| argv.get(at + 1..)) else {
            return;
        };
        for (index, field) in values.iter().take(9).enumerate() {
            self.store(&(index + 1).to_string(), false, vec![field.text.clone()]);
        }
        let all: Vec<String> = values.iter().map(|field| field.text.clone()).collect();
        self.store("@", false, all.clone());
        self.store("*", false, all);
    }

    pub(super) fn declare(&mut self, argv: &[Field]) {
        for field in argv.iter().skip(1) {
            if let Some((name, value)) = field.text.split_once('=') {
                self.environment(name, value, field.span, false);
                self.store(name, false, vec![value.to_owned()]);
            }
        }
    }

    /// `trap 'text' EXIT` and `alias name='text'`: the text may run later.
    pub(super) fn defined_text(&mut self, name: &str, argv: &[Field]) {
        for field in argv.iter().skip(1) {
            let text = match name {
                "alias" => field.text.split_once('=').map(|(_, text)| text),
                _ if field.text == "--" => None,
                _ => Some(field.text.as_str()),
            };
            if let Some(text) = text {
                self.text(text, field.span, Input::Nothing);
            }
            if let Some((alias, text)) = field.text.split_once('=').filter(|_| name == "alias") {
                self.aliases.insert(alias.to_owned(), text.to_owned());
            }
            if name == "trap" && field.text != "--" {
                break;
            }
        }
    }

    /// `xargs` and `parallel`: arguments come from the input too.
    pub(super) fn fed_arguments(
        &mut self,
        name: &str,
        argv: &[Field],
        given: &Given,
    ) -> Option<String> {
        let mut inner = if name == "parallel" {
            let all = wrappers::operands("jSNnaId", argv);
            let cut = all.iter().position(|field| field.text.starts_with(":::"));
            let (command, values) = all.split_at(cut.unwrap_or(all.len()));
            let mut command = command.to_vec();
            command.extend(values.iter().skip(1).cloned());
            command
        } else {
            wrappers::inner("xargs", argv)?.0.to_vec()
        };
        let known = given.input.known().map(str::to_owned);
        let own = argv.get(..argv.len().saturating_sub(inner.len()));
        let marks = option_values(own.unwrap_or_default(), &["-I", "--replace"]);
        let mark = marks.first().filter(|_| name != "parallel");
        match known {
            Some(text) if mark.is_some_and(|mark| !mark.text.is_empty()) => {
                let line = text.lines().next().unwrap_or_default();
                for field in &mut inner {
                    let mark = mark.map_or("", |mark| mark.text.as_str());
                    field.text = field.text.replace(mark, line);
                }
            }
            Some(text) => {
                let words = text.split_whitespace().take(1_024);
                inner.extend(words.map(|word| Field::literal(word, given.span)));
            }
            None => inner.push(Field::literal(HOLE.to_string(), given.span)),
        }
        let quiet = Given {
            input: Input::Nothing,
            ..wrapped(given)
        };
        if name == "parallel" {
            return self.text(&joined(&inner, 0), given.span, Input::Nothing);
        }
        self.run(inner, quiet)
    }

    pub(super) fn flock(&mut self, argv: &[Field], given: &Given) {
        if let Some(text) = value(argv, &["-c", "--command"]) {
            self.text(&text.text, text.span, Input::Nothing);
            return;
        }
        let operands = wrappers::operands("wE", argv);
        if operands.len() > 1 {
            self.run(
                operands.get(1..).unwrap_or_default().to_vec(),
                wrapped(given),
            );
        }
    }

    /// `docker exec name command`, `kubectl exec pod -- command` and the like.
    pub(super) fn container(&mut self, argv: &[Field], given: &Given) {
        let words: Vec<&str> = argv.iter().map(|field| field.text.as_str()).collect();
        if let [_, "unshare", ..] = words.as_slice() {
            let inner = wrappers::operands("", argv.get(1..).unwrap_or_default());
            self.run(inner.to_vec(), wrapped(given));
            return;
        }
        let runs = |word: &&str| matches!(*word, "exec" | "run");
        let Some(at) = words.iter().take(4).position(runs) else {
            return;
        };
        let rest = argv.get(at..).unwrap_or_default();
        let behind = rest.iter().position(|field| field.text == "--");
        let inner = match behind {
            Some(dashes) => rest.get(dashes + 1..),
            None => {
                let operands = wrappers::operands("eutvwpnhlcm", rest);
                operands.get(1..)
            }
        };
        let inner = inner.unwrap_or_default().to_vec();
        if !inner.is_empty() {
            self.inside(Place::Container, |this| {
                this.run(inner, wrapped(given));
            });
        }
    }

    /// `tmux new -d 'text'` and `screen -dm program`.
    pub(super) fn terminal(&mut self, argv: &[Field], given: &Given) {
        let words = argv
            .iter()
            .skip(1)
            .filter(|field| !field.text.starts_with('-'));
        for field in words.filter(|field| field.text.contains(' ')) {
            self.text(&field.text, field.span, Input::Nothing);
        }
        let program = argv
            .iter()
            .position(|field| matches!(field.text.as_str(), "-dm" | "-dmS" | "-DmS" | "send-keys"));
        let skip = program
            .map(|at| at + 1 + usize::from(argv.get(at).is_some_and(|f| f.text.ends_with('S'))));
        if let Some(inner) = skip
            .and_then(|at| argv.get(at..))
            .filter(|inner| !inner.is_empty())
        {
            self.run(inner.to_vec(), wrapped(given));
        }
    }

    /// `awk` runs commands through `system` and pipes.
    pub(super) fn awk(&mut self, argv: &[Field], given: &Given) {
        let texts = argv.iter().skip(1).filter(|field| {
            field.text.contains("getline")
                || field.text.contains("system(")
                || field.text.contains("| \"")
                || field.text.contains("|\"")
        });
        for field in texts.cloned().collect::<Vec<_>>() {
            self.code(&field.text.replace("|", " system("), field.span, given);
        }
    }

    /// `npx -c 'text'`, and programs of a project run by its own tool.
    pub(super) fn project_tool(&mut self, argv: &[Field], given: &Given) {
        let told =
            |field: &Field| matches!(field.text.as_str(), "-c" | "--call" | "--run" | "--command");
        if let Some(at) = argv.iter().position(told) {
            match argv.get(at + 1..).unwrap_or_default() {
                [text] => drop(self.text(&text.text, text.span, Input::Nothing)),
                words => drop(self.run(words.to_vec(), wrapped(given))),
            }
            return;
        }
        let mut inner = wrappers::operands("p", argv);
        while let Some((first, rest)) = inner.split_first() {
            if !matches!(first.text.as_str(), "exec" | "run" | "dlx" | "x" | "--") {
                break;
            }
            inner = rest;
        }
        let has_verb = inner.len() + 1 < argv.len();
        let direct = matches!(
            argv.first().map(|field| field.text.as_str()),
            Some("npx" | "bunx" | "uvx" | "pipx")
        );
        if !inner.is_empty() && (has_verb || direct) {
            self.run(inner.to_vec(), wrapped(given));
        }
    }

    /// `make --eval '$(shell …)'`, `make SHELL=program`, and rules that come with the command.
    pub(super) fn make(&mut self, argv: &[Field], given: &Given) {
        let files = option_values(argv, &["-f", "--file", "--makefile"]);
        let is_input =
            |file: &Field| matches!(file.text.as_str(), "-" | "/dev/stdin" | "/dev/fd/0");
        if files.iter().any(is_input) {
            self.fed(given);
        }
        for rules in option_values(argv, &["--eval", "-E"]) {
            self.sign(Sign::ShellText, rules.span);
            self.text(&rules.text, rules.span, Input::Nothing);
        }
        for field in argv.iter().skip(1) {
            if let Some(shell) = field.text.strip_prefix("SHELL=") {
                self.text(shell, field.span, Input::Nothing);
            }
            let mut rest = field.text.as_str();
            while let Some((_, behind)) = rest.split_once("$(shell ") {
                let text = behind.split(')').next().unwrap_or_default();
                self.text(text, field.span, Input::Nothing);
                rest = behind;
            }
        }
    }
}
