//! Functions: what defining one shows, and what calling one runs.

use std::rc::Rc;

use super::field::{Field, HOLE};
use super::invocation::Sign;
use super::resolve::Resolver;
use super::tree::{Body, Part, Script, Span, Stage};

impl Resolver<'_> {
    pub(super) fn define(&mut self, name: &str, body: &Rc<Script>, span: Span) {
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
