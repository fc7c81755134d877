//! Programs that run commands in ways of their own.

use std::rc::Rc;

use super::builtins::alias_of;
use super::carriers::option_values;
use super::field::Field;
use super::invocation::{Input, Place, Sign};
use super::resolve::{Given, Resolver};
use super::tree::Span;
use super::unwrap::{joined, wrapped};
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
        self.enter_directory(Rc::from(path.as_str()));
        self.store("PWD", false, vec![path]);
    }

    /// Remembers what a program is called from now on.
    pub(super) fn renamed(&mut self, argv: &[Field]) {
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
        if program || from.carried.is_some() {
            let to = places::absolute(&to.text, &self.cwd);
            let name = from.text.rsplit('/').next().unwrap_or_default();
            for path in [format!("{to}/{name}"), to] {
                self.disk.set(&copy_of(&path), vec![from.text.clone()]);
            }
        }
    }

    /// The program a path was copied from.
    pub(super) fn original(&mut self, program: &Field) -> Option<Field> {
        if self.disk.len() == 0 || !program.text.contains('/') {
            return None;
        }
        let copy = copy_of(&places::absolute(&program.text, &self.cwd));
        self.settle_on_disk(&copy);
        let text = self.disk.get(&copy)?.first()?.clone();
        Some(Field {
            text,
            ..program.clone()
        })
    }

    /// `trap 'text' EXIT` and `alias name='text'`: the text may run later.
    pub(super) fn defined_text(&mut self, name: &str, argv: &[Field]) {
        for field in argv.iter().skip(1) {
            let text = match name {
                "alias" => field.text.split_once('=').map(|(_, text)| text),
                _ if field.text == "--" => None,
                _ => Some(field.text.as_str()),
            };
            match text {
                Some(text) if name == "trap" => self.perhaps_later(|this| {
                    this.text(text, field.span, Input::Nothing);
                }),
                // What it changes, it changes when it is used.
                Some(text) => {
                    let state = self.state();
                    self.text(text, field.span, Input::Nothing);
                    self.put(state);
                }
                None => {}
            }
            if let Some((alias, text)) = field.text.split_once('=').filter(|_| name == "alias") {
                self.scope.set(&alias_of(alias), vec![text.to_owned()]);
            }
            if name == "trap" && field.text != "--" {
                break;
            }
        }
    }

    /// `history -s text` makes a text one that was typed, and `fc` runs such texts again.
    pub(super) fn typed_before(&mut self, name: &str, argv: &[Field], given: &Given) {
        let with = |letter: char| {
            let is_option = |field: &Field| field.text.starts_with('-') && field.text != "--";
            let options = argv.iter().skip(1).take_while(|field| is_option(field));
            let mut numbered = options.enumerate();
            numbered.find_map(|(at, field)| field.text.contains(letter).then_some(at + 2))
        };
        match (name, with('s'), with('l')) {
            ("history", Some(behind), _) => {
                let state = self.state();
                self.text(&joined(argv, behind), given.span, Input::Nothing);
                self.put(state);
            }
            // What it only lists does not run.
            ("fc", _, None) => {
                self.sign(Sign::UnknownText, given.span);
                self.texts(&option_values(argv, &["-e"]));
            }
            _ => {}
        }
    }

    /// `flock FILE command` and `flock FILE -c text`.
    pub(super) fn flock(&mut self, argv: &[Field], given: &Given) {
        let behind_file = wrappers::operands("wE", argv).get(1..);
        match behind_file.unwrap_or_default() {
            [] => {}
            [option, text, ..] if matches!(option.text.as_str(), "-c" | "--command") => {
                self.text(&text.text, text.span, Input::Nothing);
            }
            inner => drop(self.run(inner.to_vec(), wrapped(given))),
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
        for file in option_values(argv, &["-f", "--file"]) {
            self.run_program_text(&file);
        }
    }

    /// Commands a project names, where the command itself writes down which.
    fn project_scripts(&mut self, span: Span) {
        let Some(text) = self.text_in(&places::absolute("package.json", &self.cwd)) else {
            return;
        };
        self.mentioned(|this| {
            for command in text.split('"') {
                this.text(command, span, Input::Nothing);
            }
        });
    }

    /// `npm pkg set scripts.x='text'` and `npm config set script-shell program`.
    fn project_settings(&mut self, argv: &[Field]) {
        let words: Vec<&Field> = argv
            .iter()
            .skip(1)
            .filter(|field| !field.text.starts_with('-'))
            .collect();
        let Some(set) = words.iter().position(|field| field.text == "set") else {
            return;
        };
        let rest = words.get(set + 1..).unwrap_or_default();
        let pairs = rest.windows(2).filter_map(|pair| match pair {
            [key, value] => Some((key.text.as_str(), value.text.as_str(), value.span)),
            _ => None,
        });
        let written = rest.iter().filter_map(|field| {
            let (key, value) = field.text.split_once('=')?;
            Some((key, value, field.span))
        });
        let is_run = |key: &str| key.starts_with("scripts") || key == "script-shell";
        for (_, value, span) in written.chain(pairs).filter(|(key, _, _)| is_run(key)) {
            self.later(value, span);
        }
    }

    /// `npx -c 'text'`, and programs of a project run by its own tool.
    pub(super) fn project_tool(&mut self, argv: &[Field], given: &Given) {
        self.project_scripts(given.span);
        self.project_settings(argv);
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
}

/// The name under which it is known which program a path is a copy of; no file can have it.
fn copy_of(path: &str) -> String {
    format!("{COPY}{path}")
}

/// Whether this is such a name.
pub(super) fn is_copy(name: &str) -> bool {
    name.starts_with(COPY)
}

const COPY: &str = "copy ";
