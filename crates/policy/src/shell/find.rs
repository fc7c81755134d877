//! `find`: where it looks, what it does with what it finds, and how much of it that is.

use super::field::{Field, HOLE};
use super::resolve::{Given, Resolver};
use super::unwrap::wrapped;
use crate::places;

/// One thing a search does with what it finds.
pub(crate) struct Action<'f> {
    /// `-delete`, `-exec` and the like.
    pub(crate) name: &'f str,
    /// The program of `-exec` with its arguments.
    pub(crate) inner: &'f [Field],
    /// What must hold for a file to get there.
    tests: &'f [Field],
}

/// Where a search begins, as far as it is said, and what it does.
pub(crate) fn search(argv: &[Field]) -> (&[Field], Vec<Action<'_>>) {
    let text = |at: usize| argv.get(at).map(|field| field.text.as_str());
    let mut at = 1;
    while let Some(option) = text(at) {
        match option {
            "-D" => at += 2,
            "-H" | "-L" | "-P" => at += 1,
            _ if option.starts_with("-O") => at += 1,
            _ => break,
        }
    }
    let first = at;
    while text(at).is_some_and(|text| !text.starts_with('-') && !matches!(text, "(" | "!")) {
        at += 1;
    }
    let starts = argv.get(first..at).unwrap_or_default();
    let mut actions = Vec::new();
    let mut tested = at;
    while let Some(name) = text(at) {
        at += 1;
        let tests = argv.get(tested..at - 1).unwrap_or_default();
        match name {
            // What stands before it need not hold for what stands behind.
            "-o" | "-or" | "," => tested = at,
            "-delete" => actions.push(Action {
                name,
                inner: &[],
                tests,
            }),
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let rest = argv.get(at..).unwrap_or_default();
                let end = |field: &Field| matches!(field.text.as_str(), ";" | "+");
                let length = rest.iter().position(end).unwrap_or(rest.len());
                let inner = rest.get(..length).unwrap_or_default();
                actions.push(Action { name, inner, tests });
                at += length + 1;
            }
            _ => {}
        }
    }
    (starts, actions)
}

impl Action<'_> {
    /// Whether only some of the files below a place get there. Nearly all files of a system have some size,
    /// some owner and some age, so at the root only a name is enough.
    pub(crate) fn is_narrowed(&self, place: &str) -> bool {
        let mut negated = false;
        let mut group_negated = false;
        let mut tests = self.tests.iter().map(|field| field.text.as_str());
        while let Some(test) = tests.next() {
            let narrows = match test {
                "!" | "-not" => {
                    negated = !negated;
                    continue;
                }
                "(" => {
                    group_negated = std::mem::take(&mut negated);
                    continue;
                }
                ")" => {
                    group_negated = false;
                    continue;
                }
                "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename"
                | "-regex" | "-iregex" | "-lname" => {
                    tests.next().is_some_and(|pattern| !takes_all(pattern))
                }
                "-empty" | "-inum" | "-samefile" => true,
                "-mtime" | "-mmin" | "-atime" | "-amin" | "-ctime" | "-cmin" | "-newer" => {
                    place != "/"
                }
                _ => false,
            };
            if narrows && !negated && !group_negated {
                return true;
            }
            negated = false;
        }
        false
    }
}

/// Whether a pattern holds for nearly every name.
fn takes_all(pattern: &str) -> bool {
    pattern.chars().all(|c| "*?./[]!^$+".contains(c))
}

impl Resolver<'_> {
    pub(super) fn find(&mut self, argv: &[Field], given: &Given) {
        let (starts, actions) = search(argv);
        for action in actions.iter().filter(|action| !action.inner.is_empty()) {
            let argv = filled(action, starts, &self.cwd);
            self.run(argv, wrapped(given));
        }
    }
}

/// The command of `find -exec` with the places it is run on.
fn filled(action: &Action<'_>, starts: &[Field], cwd: &str) -> Vec<Field> {
    let mut argv = Vec::new();
    for field in action.inner {
        if !field.text.contains("{}") {
            argv.push(field.clone());
            continue;
        }
        let own = [Field::literal(cwd, field.span)];
        let places = if starts.is_empty() { &own } else { starts };
        for start in places {
            let path = places::absolute(&start.text, cwd);
            let place = if action.is_narrowed(&path) {
                format!("{}/{HOLE}", start.text.trim_end_matches('/'))
            } else {
                start.text.clone()
            };
            argv.push(Field {
                text: field.text.replace("{}", &place),
                ..field.clone()
            });
        }
    }
    argv
}
