//! What follows from commands that a program we do not know may start.

use super::{Hit, Looks, Rule, Severity, all, distinct};
use crate::Surroundings;
use crate::shell::{Invocation, Place, Signal, Span, Suspects};

/// Something dangerous that may run.
pub(super) struct Suspicion {
    pub(super) span: Span,
    pub(super) place: Place,
    /// The rule that holds as if it ran for sure; without one it is only asked about.
    pub(super) strong: Option<Hit>,
}

/// Everything dangerous among what may run.
///
/// Words that make a dangerous command together stand there for no other reason. A name that is dangerous
/// without any argument may be a subcommand, as in `vagrant halt` or `getent passwd`: it is asked about if
/// it must never run, else it is none. A text may be there to be read, so only what must never run counts. In a
/// file such a name is a word of whatever language that is, unless an option or a path follows.
pub(super) fn suspicions(suspects: &Suspects, around: &Surroundings) -> Vec<Suspicion> {
    let likely = distinct(&suspects.likely.invocations);
    let mentioned = distinct(&suspects.mentioned.invocations);
    let written = distinct(&suspects.written.invocations);
    let mut found = Vec::new();
    for rule in all() {
        let hard = rule.severity == Severity::Hard;
        match rule.looks {
            Looks::Program(matches) => {
                for one in likely.iter().filter(|one| matches(one, around)) {
                    if !matches(&one.bare(), around) {
                        found.push(strong(rule, one.span, one.place));
                    } else if hard {
                        found.push(weak(one.span, one.place));
                    }
                }
                if !hard {
                    continue;
                }
                let mut read = mentioned.iter();
                let read = read.find(|one| matches(one, around));
                let mut stored = written.iter();
                let stored = stored.find(|one| {
                    matches(one, around) && (is_told(one) || !matches(&one.bare(), around))
                });
                let both = read.into_iter().chain(stored);
                found.extend(both.map(|one: &&Invocation| weak(one.span, one.place)));
            }
            Looks::Signs(signs) => {
                let signalled = |one: &&Signal| signs.contains(&one.sign);
                let likely = suspects.likely.signals.iter().filter(signalled);
                found.extend(likely.map(|one| strong(rule, one.span, one.place)));
                let read = suspects.mentioned.signals.iter();
                let read = read.chain(&suspects.written.signals).filter(signalled);
                found.extend(read.filter(|_| hard).map(|one| weak(one.span, one.place)));
            }
            Looks::Script(_) | Looks::Text(_) | Looks::Suspicion => {}
        }
    }
    found
}

/// Whether something among the arguments is no word of a sentence.
fn is_told(one: &Invocation) -> bool {
    let mut arguments = one.arguments().iter();
    arguments.any(|field| field.text.len() > 1 && field.text.starts_with(['-', '/']))
}

fn strong(rule: &'static Rule, span: Span, place: Place) -> Suspicion {
    let strong = Some(Hit { rule, span, place });
    Suspicion {
        span,
        place,
        strong,
    }
}

fn weak(span: Span, place: Place) -> Suspicion {
    Suspicion {
        span,
        place,
        strong: None,
    }
}
