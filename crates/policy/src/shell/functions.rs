//! Functions: what defining one shows, and what calling one runs.

use std::rc::Rc;

use super::definitions::stages;
use super::field::{Field, HOLE};
use super::invocation::Sign;
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
        // What is inside may run with arguments we do not see.
        let scope = self.scope.clone();
        for parameter in ["@", "*", "1", "2", "3", "4", "5", "6", "7", "8", "9"] {
            self.scope.set(parameter, vec![HOLE.to_string()]);
        }
        self.calling.push(name.to_owned());
        self.deeper(|this| this.script(body));
        self.calling.pop();
        self.scope = scope;
        self.functions
            .insert(name.to_owned(), (Rc::clone(body), bodies));
    }

    /// Walks the body of a function with the arguments of a call.
    pub(super) fn call(&mut self, name: &str, argv: &[Field]) -> bool {
        self.load(name, argv);
        let Some((body, bodies)) = self.functions.get(name).cloned() else {
            return false;
        };
        if self.calling.iter().any(|other| other == name) {
            return true;
        }
        self.calling.push(name.to_owned());
        let values: Vec<String> = argv
            .iter()
            .skip(1)
            .map(|field| field.text.clone())
            .collect();
        let scope = self.scope.clone();
        for (index, value) in values.iter().take(9).enumerate() {
            self.scope
                .set(&(index + 1).to_string(), vec![value.clone()]);
        }
        self.scope.set("@", values.clone());
        self.scope.set("*", values);
        let bodies = std::mem::replace(&mut self.bodies, bodies);
        self.deeper(|this| this.script(&body));
        self.calling.pop();
        self.bodies = bodies;
        self.scope = scope;
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
        if self.functions.contains_key(name) || !self.spend(text.map_or(0, str::len) + 64) {
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
            Some(body) => drop(self.functions.insert(name.to_owned(), body)),
            None => self.sign(Sign::UnknownProgram, span),
        }
    }

    /// Walks the text an alias stands for, with the arguments behind it. `None` when it is none.
    pub(super) fn alias(&mut self, argv: &[Field], given: &Given) -> Option<Option<String>> {
        let (program, arguments) = argv.split_first()?;
        let own = self.aliases.get(&program.text).map(String::as_str);
        let text = own.or_else(|| self.definitions.alias(&program.text))?;
        // As in a shell, a word is not expanded again inside its own text.
        let calling = format!("alias {}", program.text);
        if self.calling.contains(&calling) {
            return None;
        }
        let mut line = text.to_owned();
        for field in arguments {
            line.push_str(" '");
            line.push_str(&field.text.replace('\'', "'\\''"));
            line.push('\'');
        }
        self.calling.push(calling);
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
            Body::Loop { body, .. } => multiplies(body, name),
            Body::Function { .. } | Body::Simple { .. } => false,
        });
        starts || inner
    })
}
