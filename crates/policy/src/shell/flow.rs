//! Walks scripts: what runs one after the other, what may run, and what that leaves behind.

use std::collections::HashSet;
use std::rc::Rc;

use super::braces;
use super::choices::State;
use super::field::{Field, HOLE};
use super::invocation::Input;
use super::read::is_name;
use super::resolve::{Given, Resolver};
use super::tree::{Assignment, Body, Branch, Joint, Part, Pipeline, Script, Stage, Word};

/// How many programs before a pipe are remembered.
const MAX_PRODUCERS: usize = 32;

/// What one round of a loop costs, besides what it runs.
const COST_OF_ROUND: usize = 16;

/// How often what repeats is walked to see what it leaves behind.
const MAX_REPEATS: usize = 3;

/// How a list of `&&` and `||` may stand.
struct Ends {
    well: State,
    badly: State,
}

impl Resolver<'_> {
    /// Walks a script. The result is what it would print, where that is known.
    pub(super) fn script(&mut self, script: &Script) -> Option<String> {
        let mut printed = Some(String::new());
        let mut ends: Option<Ends> = None;
        for pipeline in &script.pipelines {
            if pipeline.joint == Joint::Then {
                if let Some(ends) = ends.take() {
                    self.put(ends.well);
                    self.join(&ends.badly);
                }
                let texts = self.pipeline(pipeline);
                printed = self.printed(printed, texts, pipeline.joint);
                continue;
            }
            let before = ends.take().unwrap_or_else(|| Ends {
                well: self.state(),
                badly: self.state(),
            });
            let is_and = pipeline.joint == Joint::And;
            self.put(if is_and {
                before.well.clone()
            } else {
                before.badly.clone()
            });
            let texts = self.pipeline(pipeline);
            printed = self.printed(printed, texts, pipeline.joint);
            let after = self.state();
            self.put(if is_and { before.badly } else { before.well });
            self.join(&after);
            let other = self.state();
            ends = Some(match is_and {
                true => Ends {
                    well: after,
                    badly: other,
                },
                false => Ends {
                    well: other,
                    badly: after,
                },
            });
        }
        if let Some(ends) = ends {
            self.put(ends.well);
            self.join(&ends.badly);
        }
        printed
    }

    /// What is printed with one more pipeline, which may not run.
    fn printed(
        &mut self,
        before: Option<String>,
        mut texts: Vec<Option<String>>,
        joint: Joint,
    ) -> Option<String> {
        if !self.listening {
            return None;
        }
        if joint == Joint::Then && texts.len() == 1 {
            let more = texts.pop().flatten();
            return before.zip(more).map(|(before, more)| before + &more);
        }
        let behind = |more: &Option<String>| {
            let both = before.as_ref().zip(more.as_ref());
            both.map(|(before, more)| before.clone() + more)
        };
        let both: Vec<Option<String>> = texts.iter().map(behind).collect();
        match joint {
            Joint::Then => texts = both,
            Joint::And => {
                texts = both;
                texts.push(before);
            }
            // What fails rarely prints anything, but it may.
            Joint::Or => {
                texts.extend(both);
                texts.push(before);
            }
        }
        self.choose_text(texts)
    }

    /// What a pipeline may print.
    fn pipeline(&mut self, pipeline: &Pipeline) -> Vec<Option<String>> {
        if let [stage] = pipeline.stages.as_slice()
            && let Body::Simple { assignments, words } = &stage.body
            && words.is_empty()
            && stage.redirects.is_empty()
            && !pipeline.background
            && assignments.iter().all(is_literal)
        {
            self.spend(1);
            self.assign(assignments, true);
            return vec![Some(String::new())];
        }
        self.each(|this| this.stages(pipeline))
    }

    fn stages(&mut self, pipeline: &Pipeline) -> Option<String> {
        self.settle_directory();
        let mut input = self.inherited.clone();
        let mut producers: Rc<[String]> = Rc::default();
        let mut printed = None;
        let alone = pipeline.stages.len() == 1 && !pipeline.background;
        for (index, stage) in pipeline.stages.iter().enumerate() {
            let copied = self.scope.take_copied();
            if !self.spend(1 + copied) {
                return None;
            }
            let last = index + 1 == pipeline.stages.len();
            let before = self.resolved.invocations.len();
            let scope = (!alone).then(|| self.scope.clone());
            let listening = self.listening;
            self.listening |= !last;
            printed = self.stage(stage, input);
            self.listening = listening;
            if let Some(scope) = scope {
                let after = self.scope.clone();
                self.restore(scope);
                if last && !pipeline.background {
                    // Some shells run the last one themselves.
                    self.scope.join(&after);
                }
            }
            if last {
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
        match &stage.body {
            Body::Simple { assignments, words } => {
                return self.simple(stage, assignments, words, input);
            }
            Body::Function { name, body } => {
                self.define(name, body, stage.span);
                return Some(String::new());
            }
            Body::Group(_)
            | Body::Subshell(_)
            | Body::Branches { .. }
            | Body::While { .. }
            | Body::Loop { .. } => {}
        }
        let redirected = self.streams(&stage.redirects);
        let listening = self.listening;
        self.listening |= !redirected.written.is_empty();
        let input = redirected.here.unwrap_or(input);
        if !redirected.streams.is_empty() {
            let given = Given {
                streams: redirected.streams,
                input: Input::Nothing,
                span: stage.span,
                wrapped: false,
            };
            self.run(Vec::new(), given);
        }
        let inherited = std::mem::replace(&mut self.inherited, input);
        let printed = self.held(&stage.body);
        self.inherited = inherited;
        self.listening = listening;
        self.write(&redirected.written, printed.as_deref());
        printed
    }

    fn simple(
        &mut self,
        stage: &Stage,
        assignments: &[Assignment],
        words: &[Word],
        input: Input,
    ) -> Option<String> {
        let first = words.first().and_then(literal).unwrap_or_default();
        let whole = |word: &Word| match first {
            "[[" => true,
            "alias" => assigns(word),
            _ => super::builtins::declares(first) && assigns(word),
        };
        let mut argv = Vec::new();
        for word in words {
            match whole(word) {
                true => argv.push(self.flatten(word)),
                false => argv.extend(self.expand(word)),
            }
        }
        let redirected = self.streams(&stage.redirects);
        let declares = argv
            .first()
            .is_some_and(|first| super::builtins::declares(&first.text));
        let lasting = matches!(argv.as_slice(), [only] if only.text == "exec");
        let passing = !assignments.is_empty() && !argv.is_empty() && !declares;
        let before = passing.then(|| self.scope.clone());
        self.assign(assignments, words.is_empty());
        let given = Given {
            streams: redirected.streams,
            input: redirected.here.unwrap_or(input),
            span: stage.span,
            wrapped: false,
        };
        let listening = self.listening;
        self.listening |= !redirected.written.is_empty();
        let printed = self.run(argv, given);
        self.listening = listening;
        // Most shells forget such a variable when the program ends, some do not.
        if let Some(before) = before {
            for assignment in assignments {
                self.scope.mix(&assignment.name, &before);
            }
        }
        // From `exec` on, everything goes there.
        let open = HOLE.to_string();
        let text = match lasting {
            true => Some(open.as_str()),
            false => printed.as_deref(),
        };
        self.write(&redirected.written, text);
        printed
    }

    fn held(&mut self, body: &Body) -> Option<String> {
        match body {
            Body::Group(script) => self.script(script),
            Body::Subshell(script) => {
                let scope = self.scope.clone();
                let printed = self.script(script);
                self.restore(scope);
                printed
            }
            Body::Branches { branches, complete } => self.branches(branches, *complete),
            Body::While { condition, body } => {
                self.script(condition);
                self.repeat(|this| {
                    this.script(body);
                    this.script(condition);
                });
                None
            }
            Body::Loop {
                variable,
                values,
                body,
            } => self.rounds(variable, values, body),
            Body::Simple { .. } | Body::Function { .. } => None,
        }
    }

    fn branches(&mut self, branches: &[Branch], complete: bool) -> Option<String> {
        let mut before = Some(String::new());
        let mut texts = Vec::new();
        let mut ends: Option<State> = None;
        for branch in branches {
            let guard = self.script(&branch.guard);
            before = before.zip(guard).map(|(before, more)| before + &more);
            let start = self.state();
            if let Some(ends) = ends.as_ref().filter(|_| branch.follows) {
                self.join(ends);
            }
            let body = self.script(&branch.body);
            texts.push(
                before
                    .clone()
                    .zip(body)
                    .map(|(before, more)| before + &more),
            );
            if let Some(ends) = &ends {
                self.join(ends);
            }
            ends = Some(self.state());
            self.put(start);
        }
        match ends {
            Some(ends) if complete => self.put(ends),
            Some(ends) => drop(self.join(&ends)),
            None => {}
        }
        if !complete {
            texts.push(before);
        }
        match self.listening {
            true => self.choose_text(texts),
            false => None,
        }
    }

    fn rounds(&mut self, variable: &str, values: &[Word], body: &Script) -> Option<String> {
        let fields: Vec<Field> = values.iter().flat_map(|word| self.expand(word)).collect();
        let mut seen = HashSet::new();
        let unknown = fields.is_empty() || !fields.iter().all(Field::is_known);
        let before = unknown.then(|| self.state());
        let mut printed = Some(String::new());
        for field in fields {
            // Nothing new comes of the same value, unless somebody reads what is printed.
            if !seen.insert(field.text.clone()) && !self.listening {
                continue;
            }
            if !self.spend(COST_OF_ROUND) {
                return None;
            }
            self.store(variable, false, vec![field.text]);
            let more = self.script(body);
            printed = printed.zip(more).map(|(before, more)| before + &more);
            self.join_left();
        }
        if let Some(before) = before {
            self.join(&before);
            self.repeat(|this| {
                this.store(variable, false, vec![HOLE.to_string()]);
                this.script(body);
            });
            return None;
        }
        printed
    }

    /// Walks what runs any number of times, or not at all.
    fn repeat(&mut self, mut work: impl FnMut(&mut Self)) {
        for round in 1..=MAX_REPEATS + 1 {
            if !self.spend(COST_OF_ROUND) {
                return;
            }
            let head = self.state();
            work(self);
            self.join_left();
            let after = self.state();
            self.put(head.clone());
            if !self.join(&after) {
                return;
            }
            // What still changes is different every time.
            if round == MAX_REPEATS {
                for name in self.scope.differing(&head.scope) {
                    self.scope.set(&name, vec![HOLE.to_string()]);
                }
            }
        }
    }
}

fn literal(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [Part::Text { text, .. }] => Some(text),
        _ => None,
    }
}

/// Whether a word is an assignment to a shell, so that its value stays one: the name stands there, without quotes.
/// Where braces make several words of it, none of them is one.
fn assigns(word: &Word) -> bool {
    let Some(Part::Text {
        text,
        quoted: false,
    }) = word.parts.first()
    else {
        return false;
    };
    let name = text.split_once(['=', '[']);
    name.is_some_and(|(name, _)| is_name(name.trim_end_matches('+'))) && !braces::divide(word)
}

/// Whether an assignment reads nothing.
fn is_literal(assignment: &Assignment) -> bool {
    let plain = |word: &Word| {
        let mut parts = word.parts.iter();
        parts.all(|part| matches!(part, Part::Text { .. }))
    };
    assignment.index.is_none() && !assignment.append && assignment.values.iter().all(plain)
}
