//! Functions: what defining one shows, and what calling one runs.

use std::rc::Rc;

use super::builtins::{alias_of, function_of};
use super::definitions::stages;
use super::field::{Field, HOLE};
use super::invocation::Sign;
use super::parameter::ARGUMENTS;
use super::read::read;
use super::resolve::{Given, Resolver};
use super::tree::{Body, Part, Script, Span, Stage};

impl Resolver<'_> {
    pub(super) fn define(&mut self, name: &str, body: &Rc<Script>, span: Span) {
        self.resolved.defines = true;
        if multiplies(body, name) {
            self.sign(Sign::ForkBomb, span);
        }
        let bodies = Rc::clone(&self.bodies);
        // What is inside may run with arguments we do not see, later or never.
        let (state, left) = (self.state(), self.left.take());
        let locals = std::mem::take(&mut self.locals);
        self.scope.set(ARGUMENTS, vec![HOLE.to_string()]);
        self.calling.push(name.to_owned());
        self.deeper(|this| this.script(body));
        self.calling.pop();
        (self.left, self.locals) = (left, locals);
        self.put(state);
        let function = function_of(name);
        // Walking a definition again makes no other function.
        let number = match self.number_of(&function, body) {
            Some(number) => number,
            None => {
                self.functions.push((Rc::clone(body), bodies));
                (self.functions.len() - 1).to_string()
            }
        };
        self.scope.set(&function, vec![number]);
    }

    fn number_of(&self, function: &str, body: &Rc<Script>) -> Option<String> {
        let mut known = self.scope.every(function).flatten();
        let same = known.find(|number| {
            let known = number.parse::<usize>().ok();
            let known = known.and_then(|number| self.functions.get(number));
            known.is_some_and(|(known, _)| Rc::ptr_eq(known, body))
        });
        same.cloned()
    }

    /// Whether a word is a function or an alias.
    pub(super) fn is_defined(&self, name: &str, argv: &[Field]) -> bool {
        let program = argv.first().map_or("", |field| field.text.as_str());
        self.scope.count(&function_of(name)) > 0
            || self.scope.count(&alias_of(program)) > 0
            || self.definitions.function(name).is_some()
            || self.definitions.alias(program).is_some()
    }

    /// Walks the body of a function with the arguments of a call.
    pub(super) fn call(&mut self, name: &str, argv: &[Field]) -> bool {
        let function = function_of(name);
        self.settle(&function);
        if self.scope.get(&function).is_none() {
            self.load(name, argv);
        }
        let number = self.scope.get(&function).and_then(<[String]>::first);
        let number = number.and_then(|number| number.parse::<usize>().ok());
        let function = number.and_then(|number| self.functions.get(number));
        let Some((body, bodies)) = function.cloned() else {
            // While it is being defined it is no program either.
            return self.calling.iter().any(|other| other == name);
        };
        let calling = format!("{name}() {}", number.unwrap_or_default());
        if self.calling.contains(&calling) {
            return true;
        }
        self.calling.push(calling);
        let arguments = argv.iter().skip(1);
        let arguments = arguments.map(|field| field.text.clone()).collect();
        let before = self.scope.clone();
        let (left, locals) = (self.left.take(), std::mem::take(&mut self.locals));
        self.scope.set(ARGUMENTS, arguments);
        let bodies = std::mem::replace(&mut self.bodies, bodies);
        self.deeper(|this| this.script(&body));
        self.calling.pop();
        self.bodies = bodies;
        self.join_left();
        let own = std::mem::replace(&mut self.locals, locals);
        for name in own.iter().map(String::as_str).chain([ARGUMENTS]) {
            self.scope.put_back(name, &before);
        }
        self.left = left;
        true
    }
}

impl Resolver<'_> {
    /// Notes whether a program may leave other functions or aliases behind.
    pub(super) fn note_definitions(&mut self, name: &str, program: Option<&Field>) {
        const DEFINE: [&str; 6] = ["alias", "unalias", "unset", "source", ".", "eval"];
        self.resolved.defines |= DEFINE.contains(&name)
            || self.definitions.is_own(name)
            || program.is_some_and(|field| !field.is_known());
    }

    /// Takes a function over that an earlier command made.
    fn load(&mut self, name: &str, argv: &[Field]) {
        let Some(text) = self.definitions.function(name) else {
            return;
        };
        if !self.spend(text.map_or(0, str::len) + 64) {
            return;
        }
        let span = argv
            .first()
            .map_or(Span { start: 0, end: 0 }, |field| field.span);
        let read = text.map(|text| read(text, Some(span)));
        let body = read.as_ref().and_then(|(parsed, trouble)| {
            let body = stages(parsed).find_map(|stage| match &stage.body {
                Body::Function { body, .. } => Some(Rc::clone(body)),
                _ => None,
            });
            Some((body?, Rc::clone(&parsed.bodies))).filter(|_| trouble.is_none())
        });
        match body {
            Some(body) => {
                let number = self.functions.len().to_string();
                self.functions.push(body);
                self.scope.set(&function_of(name), vec![number]);
            }
            None => self.sign(Sign::UnknownProgram, span),
        }
    }

    /// Walks the text an alias stands for, with the arguments behind it. `None` when it is none.
    pub(super) fn alias(&mut self, argv: &[Field], given: &Given) -> Option<Option<String>> {
        let (program, arguments) = argv.split_first()?;
        let alias = alias_of(&program.text);
        self.settle(&alias);
        let text = match self.scope.get(&alias) {
            Some(own) => own.first().map(String::as_str),
            None => self.definitions.alias(&program.text),
        };
        let mut line = text?.to_owned();
        // As in a shell, a word is not expanded again inside its own text.
        if self.calling.contains(&alias) {
            return None;
        }
        for field in arguments {
            line.push_str(" '");
            line.push_str(&field.text.replace('\'', "'\\''"));
            line.push('\'');
        }
        self.calling.push(alias);
        let printed = self.text(&line, given.span, given.input.clone());
        self.calling.pop();
        Some(printed)
    }
}

/// Whether a function starts itself more than once at a time.
fn multiplies(body: &Script, name: &str) -> bool {
    let calls = |stage: &Stage| match &stage.body {
        Body::Simple { words, .. } => words.first().is_some_and(
            |word| matches!(word.parts.as_slice(), [Part::Text { text, .. }] if text == name),
        ),
        _ => false,
    };
    body.pipelines.iter().any(|pipeline| {
        let own = pipeline.stages.iter().filter(|stage| calls(stage)).count();
        let starts = own > 1 || own == 1 && (pipeline.background || pipeline.stages.len() > 1);
        let inner = pipeline.stages.iter().any(|stage| match &stage.body {
            Body::Group(script) | Body::Subshell(script) => multiplies(script, name),
            Body::Branches { branches, .. } => branches
                .iter()
                .any(|branch| multiplies(&branch.guard, name) || multiplies(&branch.body, name)),
            Body::While { condition, body } => {
                multiplies(condition, name) || multiplies(body, name)
            }
            Body::Loop { body, .. } => multiplies(body, name),
            Body::Function { .. } | Body::Simple { .. } => false,
        });
        starts || inner
    })
}
