//! What a program gets besides its arguments: variables and redirections.

use std::rc::Rc;

use super::field::{Field, HOLE};
use super::invocation::{Input, Sign, Stream};
use super::resolve::Resolver;
use super::scope::Kind;
use super::tree::{Assignment, Flow, Redirect, Span, Target};
use super::written::Written;
use crate::rules::lifts;
use crate::{places, wildcard};

impl Resolver<'_> {
    pub(super) fn assign(&mut self, assignments: &[Assignment], alone: bool) {
        for assignment in assignments {
            let name = assignment.name.as_str();
            let span = assignment.values.first().map(|word| word.span);
            let index = assignment.index.as_ref().zip(span);
            let index = index.map(|(parts, span)| self.index_of(parts, span, &mut None));
            let values: Vec<String> = match assignment.values.as_slice() {
                [word] if !assignment.array => vec![self.flatten(word).text],
                words => {
                    let fields = words.iter().flat_map(|word| self.expand(word));
                    let fields: Vec<Field> = fields.collect();
                    for field in &fields {
                        self.placed(&field.text, field.span);
                    }
                    elements(fields.into_iter().map(|field| field.text).collect())
                }
            };
            if let (Some(value), Some(span)) = (values.first(), span) {
                self.environment(name, value, span, alone);
                if PROMPTS.contains(&name) {
                    self.evaluated(value, span);
                }
                if matches!(name, "BASH_CMDS" | "BASH_ALIASES") {
                    self.sign(Sign::InjectedCode, span);
                }
            }
            match index {
                Some(index) => self.store_element(name, &index, assignment.append, values),
                None if assignment.array && assignment.append => {
                    self.settle(name);
                    let before = self.scope.get(name);
                    let unknown = before.is_none().then(|| HOLE.to_string());
                    let before = before.unwrap_or_default().iter().cloned();
                    let all = unknown.into_iter().chain(before).chain(values);
                    let all = all.collect();
                    self.store(name, false, all);
                }
                None => self.store(name, assignment.append, values),
            }
        }
    }

    /// Sets one element of an array.
    fn store_element(&mut self, name: &str, index: &str, append: bool, values: Vec<String>) {
        self.settle(name);
        let before = self.scope.get(name).unwrap_or_default();
        let number = index.parse::<usize>().ok();
        let number = number.filter(|number| *number <= before.len() && !append);
        let all = match (number, values.into_iter().next()) {
            (Some(number), Some(value)) => {
                let mut all = before.to_vec();
                match all.get_mut(number) {
                    Some(element) => *element = value,
                    None => all.push(value),
                }
                all
            }
            _ => vec![HOLE.to_string()],
        };
        self.store(name, false, all);
    }

    /// Gives a variable a value.
    pub(super) fn store(&mut self, name: &str, append: bool, mut values: Vec<String>) {
        if append {
            self.settle(name);
            let before = self.scope.get(name).map(<[String]>::to_vec);
            let mut all = before.unwrap_or_else(|| vec![HOLE.to_string()]);
            let more = values.concat();
            match all.first_mut() {
                Some(first) => first.push_str(&more),
                None => all.push(more),
            }
            values = all;
        }
        match self.scope.kind(name) {
            Kind::Plain | Kind::Kept => {}
            Kind::Integer => {
                let span = Span { start: 0, end: 0 };
                for value in values.clone() {
                    self.arithmetic(&value, span);
                }
            }
            // It names another variable, or gives one that it names a value.
            Kind::Reference => {
                let named: Vec<String> = self.scope.every(name).flatten().cloned().collect();
                for other in named.iter().chain(&values) {
                    self.named(other, Span { start: 0, end: 0 });
                    if self.scope.kind(other) != Kind::Reference {
                        self.scope.set(other, vec![HOLE.to_string()]);
                    }
                }
                values.extend(named);
            }
        }
        self.scope.set(name, values);
    }

    /// Looks at a variable whose value is run, by the next program or by the shell itself.
    pub(super) fn environment(&mut self, name: &str, value: &str, span: Span, alone: bool) {
        if lifts(name, value) {
            self.sign(Sign::LiftedRails, span);
        }
        if name == "PROMPT_COMMAND" || !alone && matches_any(COMMANDS, name) {
            let text = value.trim_start_matches(['|', '!', ':']);
            self.text(text, span, Input::Nothing);
        } else if !alone && matches_any(BUILDERS, name) {
            self.later(value, span);
        } else if let Some((_, program)) = OPTIONS.iter().find(|(own, _)| *own == name) {
            // A blank inside one of them is marked.
            let value = value.replace("\\ ", " ");
            self.called_in_make(&value, span);
            self.text(&format!("{program} {value}"), span, Input::Nothing);
        } else if matches!(
            name,
            "LD_PRELOAD" | "LD_AUDIT" | "BASH_ENV" | "DYLD_INSERT_LIBRARIES"
        ) || !alone && injects(name, value)
        {
            self.sign(Sign::InjectedCode, span);
        }
    }

    /// Looks at a variable that is there already and from now on is handed to programs.
    pub(super) fn exported(&mut self, name: &str, span: Span) {
        let values: Vec<String> = self.scope.every(name).flatten().cloned().collect();
        for value in values {
            self.environment(name, &value, span, false);
        }
    }

    pub(super) fn streams(&mut self, redirects: &[Redirect]) -> Redirected {
        let mut streams = Vec::new();
        let mut here = None;
        let mut written = Vec::new();
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
                Flow::Out | Flow::Append => {
                    if !field.text.starts_with("/dev/") {
                        written.push(Written {
                            path: places::absolute(&field.text, &self.cwd),
                            append: redirect.flow == Flow::Append,
                        });
                    }
                    streams.push(Stream::Out(field));
                }
            }
        }
        Redirected {
            streams: streams.into(),
            here,
            written,
        }
    }
}

/// What the redirections of a program come to.
pub(super) struct Redirected {
    pub(super) streams: Rc<[Stream]>,
    pub(super) here: Option<Input>,
    pub(super) written: Vec<Written>,
}

/// Variables whose value is run by programs that read them.
const COMMANDS: &[&str] = &[
    "*EDITOR",
    "*PAGER",
    "*_ASKPASS",
    "*_RSH",
    "BROWSER",
    "FCEDIT",
    "FZF_*COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "HGMERGE",
    "LESSCLOSE",
    "LESSOPEN",
    "NPM_CONFIG_SCRIPT_SHELL",
    "RSYNC_CONNECT_PROG",
    "SVN_SSH",
    "VISUAL",
    "npm_config_script_shell",
];

/// Variables that name programs for builds.
const BUILDERS: &[&str] = &[
    "CARGO_TARGET_*_LINKER",
    "CARGO_TARGET_*_RUNNER",
    "CC",
    "CPP",
    "CXX",
    "LD",
    "RUSTC",
    "RUSTC_*WRAPPER",
    "RUSTDOC",
];

/// Variables with more options for a program.
const OPTIONS: &[(&str, &str)] = &[
    ("GNUMAKEFLAGS", "make"),
    ("MAKEFLAGS", "make"),
    ("TAR_OPTIONS", "tar"),
];

fn matches_any(patterns: &[&str], name: &str) -> bool {
    let mut patterns = patterns.iter();
    patterns.any(|pattern| wildcard::matches(pattern, name))
}

/// Variables whose value is evaluated before it is shown.
const PROMPTS: [&str; 5] = ["PS0", "PS1", "PS2", "PS3", "PS4"];

/// The elements of a list. One that says its own place leaves the others at places nobody knows.
fn elements(values: Vec<String>) -> Vec<String> {
    let placed = |value: &String| value.starts_with('[') && value.contains("]=");
    match values.iter().any(placed) {
        true => vec![HOLE.to_string()],
        false => values,
    }
}

/// Whether a variable with this value makes the next program load something it would not load by itself. Most
/// of these have everyday values too.
fn injects(name: &str, value: &str) -> bool {
    let loads = |options: &[&str]| {
        let mut words = value.split_whitespace();
        words.any(|word| options.iter().any(|option| word.starts_with(option)))
    };
    let passing = ["/tmp", "/var/tmp", "/dev/shm"];
    match name {
        "PYTHONSTARTUP" => !value.is_empty(),
        "NODE_OPTIONS" => loads(&[
            "-r",
            "--require",
            "--import",
            "--loader",
            "--experimental-loader",
        ]),
        "PERL5OPT" => loads(&["-M", "-m", "-I", "-d"]),
        "RUBYOPT" => loads(&["-r", "-I"]),
        "JAVA_TOOL_OPTIONS" | "_JAVA_OPTIONS" => loads(&["-javaagent", "-agentpath", "-agentlib"]),
        // A shell reads this file; to other programs it is the name of where they run.
        "ENV" => value.contains('/'),
        "LD_LIBRARY_PATH" | "DYLD_LIBRARY_PATH" => value.split(':').any(|place| {
            passing
                .iter()
                .any(|directory| places::is_under(place, directory))
        }),
        _ => false,
    }
}
