//! `make`: what it is told to run, and the recipes of a makefile the command itself writes.

use std::collections::HashMap;
use std::rc::Rc;

use super::carriers::option_values;
use super::field::{Field, HOLE};
use super::invocation::{Input, Sign};
use super::resolve::{Given, Resolver};
use super::tree::Span;
use crate::places;

/// How deep variables of a makefile are followed into each other.
const MAX_DEPTH: usize = 8;

/// Variables that name a program which recipes start.
const PROGRAMS: [&str; 18] = [
    "AR", "AS", "CC", "CPP", "CXX", "FC", "GO", "INSTALL", "LD", "LEX", "MAKE", "NODE", "NPM",
    "PYTHON", "RANLIB", "RM", "SHELL", "YACC",
];

impl Resolver<'_> {
    /// `make --eval '$(shell …)'`, `make CC=program`, and rules that come with the command.
    pub(super) fn make(&mut self, argv: &[Field], given: &Given) {
        let mut files = option_values(argv, &["-f", "--file", "--makefile"]);
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
            match definition(&field.text) {
                Some((name, text)) if PROGRAMS.contains(&name) => self.later(text, field.span),
                // A recipe may hand it to a shell, or only print it.
                Some((_, text)) => self.mentioned(|this| {
                    this.text(text, field.span, Input::Nothing);
                }),
                None => {}
            }
            self.called_in_make(&field.text, field.span);
        }
        if files.is_empty() {
            let usual = ["GNUmakefile", "makefile", "Makefile"];
            files.extend(usual.map(|name| Field::literal(name, given.span)));
        }
        let folders = option_values(argv, &["-C", "--directory"]);
        let cwd = folders.iter().fold(self.cwd.to_string(), |cwd, folder| {
            places::absolute(&folder.text, &cwd)
        });
        for file in files {
            self.makefile_at(&file, &cwd, argv);
        }
    }

    /// A makefile that the command wrote, or that a substitution prints.
    fn makefile_at(&mut self, file: &Field, cwd: &str, argv: &[Field]) {
        if let Some(text) = self.text_of_file(file, Some(cwd)) {
            self.once(&file.text, &text, |this| {
                this.makefile(&text, argv, file.span);
            });
        }
    }

    /// The calls of `$(shell …)` in a text.
    pub(super) fn called_in_make(&mut self, text: &str, span: Span) {
        let mut rest = text;
        while let Some((_, behind)) = rest.split_once("$(shell ") {
            let text = behind.split(')').next().unwrap_or_default();
            self.text(text, span, Input::Nothing);
            rest = behind;
        }
    }

    /// Walks every recipe: which of them run, the rules decide.
    fn makefile(&mut self, text: &str, argv: &[Field], span: Span) {
        if text.contains(".RECIPEPREFIX") {
            self.sign(Sign::UnknownText, span);
        }
        self.called_in_make(text, span);
        let usual = [("CC", "cc"), ("CXX", "c++"), ("AR", "ar"), ("RM", "rm -f")];
        let usual = usual.into_iter().chain([("MAKE", "make"), ("SHELL", "sh")]);
        let mut variables: HashMap<&str, &str> = usual.collect();
        let whole = text.replace("\\\n", " ");
        let mut recipes = Vec::new();
        for line in whole.lines() {
            if let Some(recipe) = line.strip_prefix('\t') {
                recipes.push(recipe);
            } else if let Some(files) = included(line) {
                let cwd = Rc::clone(&self.cwd);
                for file in files.split_whitespace() {
                    self.makefile_at(&Field::literal(file, span), &cwd, argv);
                }
            } else if let Some((name, value)) = definition(line) {
                variables.insert(name, value);
            } else if let Some((_, recipe)) = line.split_once(';') {
                recipes.push(recipe);
            }
        }
        let told = argv.iter().skip(1);
        variables.extend(told.filter_map(|field| definition(&field.text)));
        for recipe in recipes {
            let command = filled(recipe, &variables, 0);
            let command = command.trim_start_matches(['@', '-', '+', ' ']);
            self.text(command, span, Input::Nothing);
        }
    }
}

/// The files that an `include` names.
fn included(line: &str) -> Option<&str> {
    let words = ["include ", "-include ", "sinclude "];
    words
        .iter()
        .find_map(|word| line.trim_start().strip_prefix(word))
}

/// `NAME = value` and its kin.
fn definition(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!', ' ']).trim();
    let name = name
        .trim_start_matches("export ")
        .trim_start_matches("override ");
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!name.is_empty() && name.chars().all(plain)).then(|| (name, value.trim()))
}

/// A recipe as the shell gets it, with what is not known left open.
fn filled(text: &str, variables: &HashMap<&str, &str>, depth: usize) -> String {
    let mut filled_in = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        filled_in.push_str(before);
        let close = match behind.chars().next() {
            Some('(') => behind.find(')'),
            Some('{') => behind.find('}'),
            _ => None,
        };
        let (name, length) = match close {
            Some(close) => (behind.get(1..close).unwrap_or_default(), close + 1),
            None => {
                let length = behind.chars().next().map_or(0, char::len_utf8);
                (behind.get(..length).unwrap_or_default(), length)
            }
        };
        match name {
            "$" => filled_in.push('$'),
            "@" | "<" | "^" | "*" | "?" | "+" | "|" | "%" => filled_in.push_str("target"),
            _ => match variables.get(name).filter(|_| depth < MAX_DEPTH) {
                Some(value) => filled_in.push_str(&filled(value, variables, depth + 1)),
                None => filled_in.push(HOLE),
            },
        }
        rest = behind.get(length..).unwrap_or_default();
    }
    filled_in + rest
}
