//! Walks a tree and lays open what would really run.

use std::rc::Rc;

use super::builtins;
use super::choices::{Choices, State};
use super::definitions::Definitions;
use super::field::{Carried, Field};
use super::handed::Seen;
use super::invocation::{Argv, Input, Invocation, Place, Sign, Signal, Stream, program_name};
use super::parameter::ARGUMENTS;
use super::perhaps::Suspects;
use super::prints;
use super::read::{Trouble, read};
use super::scope::Scope;
use super::tree::{Body, Parsed, Part, Script, Span, Word};
use crate::Surroundings;

/// How deep commands inside commands are followed.
const MAX_DEPTH: usize = 24;

/// How much work a command may cause, in bytes read again: this much, and some for each byte of it.
const FUEL: usize = 1024 * 1024;
const FUEL_PER_BYTE: usize = 9;

/// What looking at one program costs.
const COST_OF_PROGRAM: usize = 16;

/// What a command comes down to.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    pub(crate) invocations: Vec<Invocation>,
    pub(crate) signals: Vec<Signal>,
    /// What programs we do not know may start.
    pub(crate) suspects: Suspects,
    /// Whether it is one program without operators, redirections or substitutions.
    pub(crate) single: bool,
    /// Whether functions, aliases or what programs get as variables may be other ones after it.
    pub(crate) defines: bool,
}

/// Lays a command open.
pub(crate) fn resolve(command: &str, around: &Surroundings, definitions: &Definitions) -> Resolved {
    let mut resolver = Resolver::new(around, definitions);
    resolver.fuel += command.len().saturating_mul(FUEL_PER_BYTE);
    let whole = Span {
        start: 0,
        end: command.len(),
    };
    let (parsed, trouble) = read(command, None);
    if let Some(trouble) = trouble {
        resolver.trouble(trouble, whole);
    }
    if definitions.is_unreadable() {
        resolver.sign(Sign::Unreadable, whole);
    }
    resolver.resolved.single = trouble.is_none() && is_single(&parsed.script);
    let start = resolver.scope.clone();
    resolver.parsed(&parsed);
    let changed = resolver.scope.differing(&start);
    let mut changed = changed.iter();
    resolver.resolved.defines |= changed.any(|name| definitions.is_exported(name));
    if resolver.exhausted {
        resolver.sign(Sign::TooComplex, whole);
    }
    resolver.resolved
}

/// What the walk knows at a point of the script.
pub(super) struct Resolver<'a> {
    pub(super) around: &'a Surroundings,
    /// What the shell knows already.
    pub(super) definitions: &'a Definitions,
    /// Variables, and functions and aliases that the command itself makes.
    pub(super) scope: Scope,
    /// Files whose text the command itself writes, and programs it gives other names.
    pub(super) disk: Scope,
    pub(super) cwd: Rc<str>,
    pub(super) place: Place,
    /// Set when a limit was reached: something was not looked at.
    pub(super) exhausted: bool,
    pub(super) resolved: Resolved,
    pub(super) bodies: Rc<Vec<Word>>,
    /// Functions by the number their name stands for.
    pub(super) functions: Vec<(Rc<Script>, Rc<Vec<Word>>)>,
    pub(super) choices: Choices,
    /// Whether somebody reads what is printed.
    pub(super) listening: bool,
    /// What may be so behind a loop or function because it was left early.
    pub(super) left: Option<State>,
    /// Variables that are forgotten when the function ends.
    pub(super) locals: Vec<String>,
    /// Functions that are being walked; one that calls itself has shown what it does.
    pub(super) calling: Vec<String>,
    /// Set while every end of an argument list is looked at: no part of it needs the same again.
    pub(super) suspecting: bool,
    pub(super) inherited: Input,
    /// Texts in files that were looked through.
    pub(super) seen: Seen,
    fuel: usize,
    depth: usize,
}

/// What a program gets besides its arguments.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) streams: Rc<[Stream]>,
    pub(super) input: Input,
    pub(super) span: Span,
    /// Programs that were taken off around it.
    pub(super) wrapped: bool,
}

impl<'a> Resolver<'a> {
    fn new(around: &'a Surroundings, definitions: &'a Definitions) -> Self {
        let mut scope = Scope::default();
        for (name, value) in [
            ("HOME", around.home.as_str()),
            ("HERMES_HOME", around.product_home.as_str()),
            ("PWD", around.cwd.as_str()),
            ("PATH", "/usr/bin:/bin"),
            ("SHELL", "/bin/sh"),
            ("BASH", "/bin/bash"),
            ("IFS", " "),
            ("$", "$$"),
            ("0", "bash"),
        ] {
            scope.set(name, vec![value.to_owned()]);
        }
        let parent = around
            .own_pid
            .map_or("$PPID".to_owned(), |pid| pid.to_string());
        scope.set("PPID", vec![parent]);
        scope.set(ARGUMENTS, Vec::new());
        definitions.fill(&mut scope);
        scope.enter(Rc::from(around.cwd.as_str()));
        Self {
            around,
            definitions,
            scope,
            disk: Scope::default(),
            cwd: Rc::from(around.cwd.as_str()),
            place: Place::Here,
            exhausted: false,
            resolved: Resolved::default(),
            bodies: Rc::default(),
            functions: Vec::new(),
            choices: Choices::default(),
            listening: false,
            left: None,
            locals: Vec::new(),
            calling: Vec::new(),
            suspecting: false,
            inherited: Input::Nothing,
            seen: Seen::default(),
            fuel: FUEL,
            depth: 0,
        }
    }

    pub(super) fn sign(&mut self, sign: Sign, span: Span) {
        let place = self.place;
        self.resolved.signals.push(Signal { sign, span, place });
    }

    fn trouble(&mut self, trouble: Trouble, span: Span) {
        match trouble {
            Trouble::Malformed => self.sign(Sign::Unreadable, span),
            Trouble::TooDeep => self.exhausted = true,
        }
    }

    /// Takes from the work that is left; false when there is none.
    pub(super) fn spend(&mut self, cost: usize) -> bool {
        match self.fuel.checked_sub(cost) {
            Some(rest) => self.fuel = rest,
            None => {
                self.fuel = 0;
                self.exhausted = true;
            }
        }
        !self.exhausted
    }

    /// Does some work whose limits are no reason for a question, apart from that of all work together.
    pub(super) fn leniently(&mut self, work: impl FnOnce(&mut Self)) {
        let exhausted = std::mem::take(&mut self.exhausted);
        work(self);
        self.exhausted = exhausted || self.fuel == 0;
    }

    pub(super) fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            self.exhausted = true;
            return None;
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }

    /// Walks a text that a shell is handed. The result is what it would print, where that is known.
    pub(super) fn text(&mut self, text: &str, span: Span, input: Input) -> Option<String> {
        if !self.spend(text.len() + 64) {
            return None;
        }
        let (parsed, trouble) = read(text, Some(span));
        if let Some(trouble) = trouble {
            self.trouble(trouble, span);
        }
        let inherited = std::mem::replace(&mut self.inherited, input);
        // Its words were not looked at one by one.
        let suspecting = std::mem::replace(&mut self.suspecting, false);
        let printed = self.deeper(|this| this.parsed(&parsed));
        self.suspecting = suspecting;
        self.inherited = inherited;
        printed
    }

    fn parsed(&mut self, parsed: &Parsed) -> Option<String> {
        let bodies = std::mem::replace(&mut self.bodies, Rc::clone(&parsed.bodies));
        let printed = self.script(&parsed.script);
        self.bodies = bodies;
        printed
    }

    /// What a substitution runs and prints.
    pub(super) fn output_of(&mut self, parsed: &Parsed) -> Carried {
        let before = self.resolved.invocations.len();
        let scope = self.scope.clone();
        let listening = std::mem::replace(&mut self.listening, true);
        let text = self.deeper(|this| this.parsed(parsed));
        self.listening = listening;
        self.restore(scope);
        Carried {
            programs: self.names_since(before),
            text,
            in_file: false,
        }
    }

    pub(super) fn names_since(&self, before: usize) -> Vec<String> {
        let found = self.resolved.invocations.iter().skip(before);
        found.map(|invocation| invocation.name.clone()).collect()
    }

    /// Notes a program and looks through it. The result is what it would print, where that is known.
    pub(super) fn run(&mut self, argv: Vec<Field>, given: Given) -> Option<String> {
        self.start(Argv::new(argv), given)
    }

    pub(super) fn start(&mut self, argv: Argv, given: Given) -> Option<String> {
        if !self.spend(COST_OF_PROGRAM) {
            return None;
        }
        let name = program_name(argv.first());
        self.note_definitions(&name, argv.first());
        let own = builtins::change_the_shell(&name) || self.is_defined(&name, &argv);
        let scope = (!own).then(|| self.scope.clone());
        self.resolved.invocations.push(Invocation {
            name: name.clone(),
            argv: argv.clone(),
            streams: Rc::clone(&given.streams),
            input: given.input.clone(),
            cwd: Rc::clone(&self.cwd),
            place: self.place,
            span: given.span,
            wrapped: given.wrapped,
        });
        self.builtin(&name, &argv, &given);
        self.handed(&name, &argv, &given);
        let printed = self.deeper(|this| {
            this.run_written(&argv, &given);
            this.unwrap(&name, &argv, &given)
        });
        // What another process does to its variables stays there.
        if let Some(scope) = scope {
            self.restore(scope);
        }
        self.copy_text(&name, &argv, &given);
        let arguments = argv.get(1..).unwrap_or_default();
        printed
            .or_else(|| self.text_of_files(&name, arguments))
            .or_else(|| prints::output(&name, arguments, given.input.known()))
    }
}

fn is_single(script: &Script) -> bool {
    let [pipeline] = script.pipelines.as_slice() else {
        return false;
    };
    let [stage] = pipeline.stages.as_slice() else {
        return false;
    };
    let plain = |word: &Word| {
        let mut parts = word.parts.iter();
        parts.all(|part| matches!(part, Part::Text { .. }))
    };
    let Body::Simple { assignments, words } = &stage.body else {
        return false;
    };
    !pipeline.background
        && stage.redirects.is_empty()
        && assignments.is_empty()
        && words.iter().all(plain)
}
