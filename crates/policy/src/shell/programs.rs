//! Programs that run commands in ways of their own.

use std::rc::Rc;

use super::field::{Field, HOLE};
use super::invocation::{Input, Place};
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

    pub(super) fn find(&mut self, argv: &[Field], given: &Given) {
        let mut starts: Vec<&Field> = Vec::new();
        let mut filtered = false;
        let mut at = 1;
        while let Some(field) = argv.get(at) {
            let text = field.text.as_str();
            if text.starts_with('-') || matches!(text, "(" | "!" | ")") {
                break;
            }
            starts.push(field);
            at += 1;
        }
        while let Some(field) = argv.get(at) {
            at += 1;
            match field.text.as_str() {
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let rest = argv.get(at..).unwrap_or_default();
                    let end = |field: &Field| matches!(field.text.as_str(), ";" | "+");
                    let length = rest.iter().position(end).unwrap_or(rest.len());
                    let inner = rest.get(..length).unwrap_or_default();
                    let argv = filled(inner, &starts, filtered, &self.cwd);
                    self.run(argv, wrapped(given));
                    at += length + 1;
                }
                "-name" | "-iname" | "-path" | "-ipath" | "-regex" | "-mtime" | "-mmin"
                | "-size" | "-newer" | "-user" | "-perm" | "-empty" | "-atime" | "-ctime"
                | "-wholename" | "-group" | "-inum" | "-links" | "-iregex" | "-nouser"
                | "-nogroup" => {
                    filtered = true;
                }
                _ => {}
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
        match known {
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

    /// `vim -c '!text'`.
    pub(super) fn editor_commands(&mut self, argv: &[Field], given: &Given) {
        for field in argv.iter().skip(1) {
            let text = field.text.trim_start_matches(['-', '+', ':']);
            if let Some(text) = text.strip_prefix('!') {
                self.text(text, field.span, Input::Nothing);
            } else if let Some((_, text)) = text.split_once("system(") {
                self.code(&format!("system({text}"), field.span, given);
            }
        }
    }

    /// `npx -c 'text'`, and programs of a project run by its own tool.
    pub(super) fn project_tool(&mut self, argv: &[Field], given: &Given) {
        if let Some(text) = value(argv, &["-c", "--call", "--run", "--command"]) {
            self.text(&text.text, text.span, Input::Nothing);
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

    /// `make --eval '$(shell …)'`.
    pub(super) fn make(&mut self, argv: &[Field]) {
        for field in argv.iter().skip(1) {
            let mut rest = field.text.as_str();
            while let Some((_, behind)) = rest.split_once("$(shell ") {
                let text = behind.split(')').next().unwrap_or_default();
                self.text(text, field.span, Input::Nothing);
                rest = behind;
            }
        }
    }
}

/// The command of `find -exec` with the places it is run on.
fn filled(inner: &[Field], starts: &[&Field], filtered: bool, cwd: &str) -> Vec<Field> {
    let mut argv = Vec::new();
    for field in inner {
        if !field.text.contains("{}") {
            argv.push(field.clone());
            continue;
        }
        let own = Field::literal(cwd, field.span);
        let places: Vec<&Field> = if starts.is_empty() {
            vec![&own]
        } else {
            starts.to_vec()
        };
        for start in places {
            let place = if filtered {
                format!("{}/{HOLE}", start.text.trim_end_matches('/'))
            } else {
                start.text.clone()
            };
            argv.push(Field {
                text: field.text.replace("{}", &place),
                ..field.clone()
            });
        }
    }
    argv
}
