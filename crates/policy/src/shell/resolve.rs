//! Walks a tree and lays open what would really run.

use std::collections::HashMap;
use std::rc::Rc;

use super::definitions::Definitions;
use super::field::{Carried, Field, HOLE};
use super::invocation::{Argv, Input, Invocation, Place, Sign, Signal, Stream, program_name};
use super::parameter::Scope;
use super::perhaps::Suspects;
use super::prints;
use super::read::{Trouble, read};
use super::tree::{Body, Parsed, Part, Pipeline, Script, Span, Stage, Word};
use crate::Surroundings;

/// How deep commands inside commands are followed.
const MAX_DEPTH: usize = 24;

/// How much work a command may cause, in bytes read again: this much, and some for each byte of it.
const FUEL: usize = 1024 * 1024;
const FUEL_PER_BYTE: usize = 9;

/// What looking at one program costs.
const COST_OF_PROGRAM: usize = 16;

/// How many programs before a pipe are remembered.
const MAX_PRODUCERS: usize = 32;

/// How many rounds of a loop are looked at.
const MAX_ROUNDS: usize = 16;

/// What a command comes down to.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    pub(crate) invocations: Vec<Invocation>,
    pub(crate) signals: Vec<Signal>,
    /// What programs we do not know may start.
    pub(crate) suspects: Suspects,
    /// Whether it is one program without operators, redirections or substitutions.
    pub(crate) single: bool,
    /// Whether functions or aliases may be other ones after it.
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
    resolver.parsed(&parsed);
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
    /// Aliases made by the command itself.
    pub(super) aliases: HashMap<String, String>,
    pub(super) scope: Scope,
    pub(super) cwd: Rc<str>,
    pub(super) place: Place,
    /// Set when a limit was reached: something was not looked at.
    pub(super) exhausted: bool,
    pub(super) resolved: Resolved,
    pub(super) bodies: Rc<Vec<Word>>,
    pub(super) functions: HashMap<String, (Rc<Script>, Rc<Vec<Word>>)>,
    /// Programs that were copied or linked, by their new path.
    pub(super) copies: HashMap<String, String>,
    /// Functions that are being walked; one that calls itself has shown what it does.
    pub(super) calling: Vec<String>,
    /// Set while every end of an argument list is looked at: no part of it needs the same again.
    pub(super) suspecting: bool,
    inherited: Input,
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
        for name in ["@", "*", "1", "2", "3", "4", "5", "6", "7", "8", "9"] {
            scope.set(name, Vec::new());
        }
        Self {
            around,
            definitions,
            aliases: HashMap::new(),
            scope,
            cwd: Rc::from(around.cwd.as_str()),
            place: Place::Here,
            exhausted: false,
            resolved: Resolved::default(),
            bodies: Rc::default(),
            functions: HashMap::new(),
            copies: HashMap::new(),
            calling: Vec::new(),
            suspecting: false,
            inherited: Input::Nothing,
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
        let cwd = Rc::clone(&self.cwd);
        let scope = self.scope.clone();
        let text = self.deeper(|this| this.parsed(parsed));
        self.cwd = cwd;
        self.scope = scope;
        Carried {
            programs: self.names_since(before),
            text,
        }
    }

    fn names_since(&self, before: usize) -> Vec<String> {
        let found = self.resolved.invocations.iter().skip(before);
        found.map(|invocation| invocation.name.clone()).collect()
    }

    pub(super) fn script(&mut self, script: &Script) -> Option<String> {
        let mut printed = Some(String::new());
        for pipeline in &script.pipelines {
            let more = self.pipeline(pipeline);
            printed = printed.zip(more).map(|(before, more)| before + &more);
        }
        printed
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Option<String> {
        let mut input = self.inherited.clone();
        let mut producers: Rc<[String]> = Rc::default();
        let mut printed = None;
        for (index, stage) in pipeline.stages.iter().enumerate() {
            if !self.spend(1) {
                return None;
            }
            let before = self.resolved.invocations.len();
            printed = self.stage(stage, input);
            if index + 1 == pipeline.stages.len() {
                break;
            }
            if producers.len() < MAX_PRODUCERS {
                let more = self.names_since(before);
                let all = producers.iter().cloned().chain(more);
                producers = all.take(MAX_PRODUCERS).collect();
            }
            input = Input::Piped {
                programs: Rc::clone(&producers),
                text: printed.clone().map(Rc::from),
            };
        }
        printed
    }

    fn stage(&mut self, stage: &Stage, input: Input) -> Option<String> {
        let (streams, here) = self.streams(&stage.redirects);
        let input = here.unwrap_or(input);
        match &stage.body {
            Body::Simple { assignments, words } => {
                self.assign(assignments, words.is_empty());
                let argv: Vec<Field> = words.iter().flat_map(|word| self.expand(word)).collect();
                let given = Given {
                    streams,
                    input,
                    span: stage.span,
                    wrapped: false,
                };
                return self.run(argv, given);
            }
            Body::Function { name, body } => {
                self.define(name, body, stage.span);
                return Some(String::new());
            }
            Body::Group(_) | Body::Subshell(_) | Body::Loop { .. } => {}
        }
        if !streams.is_empty() {
            let given = Given {
                streams,
                input: Input::Nothing,
                span: stage.span,
                wrapped: false,
            };
            self.run(Vec::new(), given);
        }
        let inherited = std::mem::replace(&mut self.inherited, input);
        let printed = self.held(&stage.body);
        self.inherited = inherited;
        printed
    }

    fn held(&mut self, body: &Body) -> Option<String> {
        match body {
            Body::Group(script) => self.script(script),
            Body::Subshell(script) => {
                let (cwd, scope) = (Rc::clone(&self.cwd), self.scope.clone());
                let printed = self.script(script);
                (self.cwd, self.scope) = (cwd, scope);
                printed
            }
            Body::Loop {
                variable,
                values,
                body,
            } => {
                let fields: Vec<Field> = values.iter().flat_map(|word| self.expand(word)).collect();
                let mut rounds: Vec<String> = fields
                    .into_iter()
                    .take(MAX_ROUNDS)
                    .map(|field| field.text)
                    .collect();
                if rounds.is_empty() {
                    rounds.push(HOLE.to_string());
                }
                for value in rounds {
                    self.scope.set(variable, vec![value]);
                    self.script(body);
                }
                None
            }
            Body::Simple { .. } | Body::Function { .. } => None,
        }
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
        let printed = self.deeper(|this| this.unwrap(&name, &argv, &given));
        printed.or_else(|| {
            let known = given.input.known();
            prints::output(&name, argv.get(1..).unwrap_or_default(), known)
        })
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
