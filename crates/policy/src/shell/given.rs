//! What a program gets besides its arguments: variables and redirections.

use std::rc::Rc;

use super::invocation::{Input, Sign, Stream};
use super::resolve::Resolver;
use super::tree::{Assignment, Flow, Redirect, Span, Target};

impl Resolver<'_> {
    pub(super) fn assign(&mut self, assignments: &[Assignment], alone: bool) {
        for assignment in assignments {
            let values: Vec<String> = match assignment.values.as_slice() {
                [word] => vec![self.flatten(word).text],
                words => {
                    let fields = words.iter().flat_map(|word| self.expand(word));
                    fields.map(|field| field.text).collect()
                }
            };
            if let (Some(value), Some(word)) = (values.first(), assignment.values.first()) {
                self.environment(&assignment.name, value, word.span, alone);
            }
            self.store(&assignment.name, assignment.append, values);
        }
    }

    pub(super) fn store(&mut self, name: &str, append: bool, values: Vec<String>) {
        if !append {
            return self.scope.set(name, values);
        }
        let many = values.len() > 1;
        for value in values {
            self.scope.append(name, &value, many);
        }
    }

    /// Looks at a variable whose value is run, by the next program or by the shell itself.
    pub(super) fn environment(&mut self, name: &str, value: &str, span: Span, alone: bool) {
        const COMMANDS: [&str; 9] = [
            "PAGER",
            "GIT_PAGER",
            "MANPAGER",
            "EDITOR",
            "VISUAL",
            "GIT_EDITOR",
            "GIT_SSH_COMMAND",
            "GIT_EXTERNAL_DIFF",
            "LESSOPEN",
        ];
        if name == "PROMPT_COMMAND" || COMMANDS.contains(&name) && !alone {
            self.text(value, span, Input::Nothing);
        } else if matches!(
            name,
            "LD_PRELOAD" | "LD_AUDIT" | "BASH_ENV" | "DYLD_INSERT_LIBRARIES"
        ) {
            self.sign(Sign::InjectedCode, span);
        }
    }

    pub(super) fn streams(&mut self, redirects: &[Redirect]) -> (Rc<[Stream]>, Option<Input>) {
        let mut streams = Vec::new();
        let mut here = None;
        for redirect in redirects {
            let field = match &redirect.target {
                Target::Word(word) => self.flatten(word),
                Target::Body(number) => {
                    let bodies = Rc::clone(&self.bodies);
                    match bodies.get(*number) {
                        Some(word) => self.flatten(word),
                        None => continue,
                    }
                }
            };
            match redirect.flow {
                Flow::Here => here = Some(Input::Here(field.text.into())),
                Flow::In if field.carried.is_some() => {
                    here = field.carried.as_ref().map(|carried| Input::Piped {
                        programs: carried.programs.clone().into(),
                        text: carried.text.clone().map(Rc::from),
                    });
                }
                Flow::In => streams.push(Stream::In(field)),
                Flow::Out => streams.push(Stream::Out(field)),
            }
        }
        (streams.into(), here)
    }
}
