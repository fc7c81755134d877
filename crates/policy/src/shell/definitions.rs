//! What earlier commands left in a session's shell: functions, aliases and variables, which give words another
//! meaning.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::field::HOLE;
use super::read::{is_name, read};
use super::scope::{Kind, Scope};
use super::tree::{Body, Parsed, Part, Stage, Word};

/// The longest state that is looked at.
const LONGEST: usize = 4 << 20;

/// The most variables that may have come since the shell began.
const MOST_VARIABLES: usize = 4_096;

/// Variables that a shell keeps itself, and those of a single command.
const KEPT_BY_SHELL: [&str; 4] = ["PWD", "OLDPWD", "SHLVL", "_"];

/// The functions, aliases and variables of a session's shell.
///
/// What the user's start files define is theirs: such a function is a program like any other. What commands of
/// the session define is followed when it is called.
#[derive(Debug, Clone, Default)]
pub struct Definitions {
    /// Functions the shell started with, by their text.
    own: HashMap<String, u64>,
    /// Functions made since. Without a text when it cannot be told for sure.
    made: HashMap<String, Option<String>>,
    aliases: HashMap<String, String>,
    /// Variables the shell started with, by how they are printed.
    own_variables: HashMap<String, u64>,
    /// Names of variables that programs get, also of those without a value.
    exported: HashSet<String>,
    /// Variables that came or changed since.
    variables: HashMap<String, Variable>,
    unreadable: bool,
}

/// A variable that programs get.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Variable {
    /// Nothing where it cannot be told for sure.
    value: Option<String>,
    kind: Kind,
}

impl Definitions {
    /// What a shell starts with, from what `export -p`, `declare -f` and `alias -p` print one after the other.
    pub fn first(state: &str) -> Self {
        let all = Self::default().now(state);
        let own = all.made.into_iter().filter_map(|(name, text)| {
            let text = text?;
            Some((name, hash(&text)))
        });
        Self {
            own: own.collect(),
            aliases: all.aliases,
            own_variables: printed_variables(state)
                .map(|printed| (printed.name.to_owned(), hash(printed.line)))
                .collect(),
            exported: all.exported,
            ..Self::default()
        }
    }

    /// What the same shell has later.
    #[must_use]
    pub fn now(&self, state: &str) -> Self {
        if state.len() > LONGEST {
            return Self {
                unreadable: true,
                ..self.clone()
            };
        }
        let (functions, rest) = functions(state);
        let mut made: HashMap<String, Option<String>> = HashMap::new();
        for (name, text) in functions {
            let known = self.own.get(&name).copied();
            if text
                .as_deref()
                .is_some_and(|text| known == Some(hash(text)))
            {
                continue;
            }
            // Two texts of one name: one of them is only written inside something else.
            let twice = made.contains_key(&name);
            made.insert(name, text.filter(|_| !twice));
        }
        let aliases = aliases(rest);
        let printed: Vec<Printed<'_>> = printed_variables(state)
            .filter(|printed| !KEPT_BY_SHELL.contains(&printed.name))
            .collect();
        let variables: HashMap<String, Variable> = printed
            .iter()
            .filter(|printed| self.own_variables.get(printed.name) != Some(&hash(printed.line)))
            .filter_map(|printed| Some((printed.name.to_owned(), printed.read(printed.value?))))
            .take(MOST_VARIABLES + 1)
            .collect();
        Self {
            own: self.own.clone(),
            made,
            unreadable: aliases.is_none() || variables.len() > MOST_VARIABLES,
            aliases: aliases.unwrap_or_default(),
            own_variables: self.own_variables.clone(),
            exported: printed.iter().map(|one| one.name.to_owned()).collect(),
            variables,
        }
    }

    pub(super) fn alias(&self, name: &str) -> Option<&str> {
        self.aliases.get(name).map(String::as_str)
    }

    pub(super) fn is_own(&self, name: &str) -> bool {
        self.own.contains_key(name)
    }

    /// Gives a scope the variables that came or changed.
    pub(super) fn fill(&self, scope: &mut Scope) {
        for (name, variable) in &self.variables {
            let value = variable.value.clone().unwrap_or(HOLE.to_string());
            scope.set(name, vec![value]);
            scope.set_kind(name, variable.kind);
        }
    }

    /// Whether programs get a variable of this name: what becomes of it is there for the next command.
    pub(super) fn is_exported(&self, name: &str) -> bool {
        self.exported.contains(name)
    }

    pub(super) fn is_unreadable(&self) -> bool {
        self.unreadable
    }

    /// The text of a function that was made: `Some(None)` when there is one that nobody can read.
    pub(super) fn function(&self, name: &str) -> Option<Option<&str>> {
        self.made.get(name).map(Option::as_deref)
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The functions, and what follows them. Bash indents what is inside one, so a heading at the start of a line inside
/// another function is a text that only looks like one; neither of the two is then believed.
fn functions(state: &str) -> (Vec<(String, Option<String>)>, &str) {
    let mut found = Vec::new();
    let mut open: Option<(String, usize)> = None;
    let (mut at, mut rest) = (0, 0);
    let mut lines = state.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().is_some_and(|next| next.trim_end() == "{");
        if let Some(name) = heading(line).filter(|_| next) {
            if let Some((name, _)) = open.take() {
                found.push((name, None));
            }
            open = Some((name.to_owned(), at));
        }
        at += line.len();
        if line.starts_with('}')
            && let Some((name, start)) = open.take()
        {
            let text = state.get(start..at).unwrap_or_default();
            found.push((name, Some(text.to_owned())));
            rest = at;
        }
    }
    if let Some((name, _)) = open {
        found.push((name, None));
    }
    (found, state.get(rest..).unwrap_or_default())
}

/// A variable as `export -p` prints it.
struct Printed<'a> {
    name: &'a str,
    /// Everything about it.
    line: &'a str,
    options: &'a str,
    /// As a shell reads it, if there is one.
    value: Option<&'a str>,
}

impl Printed<'_> {
    fn read(&self, value: &str) -> Variable {
        let (parsed, trouble) = read(value, None);
        let stage = stages(&parsed).next().filter(|_| trouble.is_none());
        let words = stage.and_then(|stage| match &stage.body {
            Body::Simple { words, .. } => Some(words.as_slice()),
            _ => None,
        });
        let value = match words {
            Some([word]) => plain(word),
            _ => None,
        };
        let kind = match self.options {
            options if options.contains('n') => Kind::Reference,
            options if options.contains('i') => Kind::Integer,
            _ => Kind::Plain,
        };
        Variable { value, kind }
    }
}

/// The variables at the beginning of a state. What looks like one inside the value of another is none: a value
/// goes on to the end of its quotes.
fn printed_variables(state: &str) -> impl Iterator<Item = Printed<'_>> {
    let start = match state.starts_with(DECLARED) {
        true => 0,
        false => state
            .find(&format!("\n{DECLARED}"))
            .map_or(state.len(), |at| at + 1),
    };
    let mut rest = state.get(start..).unwrap_or_default();
    std::iter::from_fn(move || {
        loop {
            let behind = rest.strip_prefix(DECLARED)?;
            let (options, behind) = behind.split_once(' ')?;
            let length = behind
                .bytes()
                .take_while(|byte| *byte != b'=' && *byte != b'\n')
                .count();
            let (name, behind) = behind.split_at_checked(length)?;
            let value = behind.strip_prefix('=');
            let size = value.map_or(Some(0), quoted_length)?;
            let value = value.map(|value| value.get(..size).unwrap_or_default());
            let used = rest.len() - behind.len() + value.map_or(0, |value| value.len() + 1);
            let line = rest.get(..used)?;
            rest = rest.get(used..)?.strip_prefix('\n').unwrap_or_default();
            if is_name(name) {
                return Some(Printed {
                    name,
                    line,
                    options,
                    value,
                });
            }
        }
    })
}

/// How a line about a variable begins; letters for its kind follow.
const DECLARED: &str = "declare -";

/// How long a value with its quotes is.
fn quoted_length(text: &str) -> Option<usize> {
    let (open, close) = match text.as_bytes() {
        [b'$', b'\'', ..] => (2, b'\''),
        [b'"', ..] => (1, b'"'),
        _ => return Some(text.find('\n').unwrap_or(text.len())),
    };
    let mut bytes = text.bytes().enumerate().skip(open);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            _ if byte == close => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn heading(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_suffix(" ()")?;
    let name = name.strip_prefix("function ").unwrap_or(name);
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(name)
}

/// The aliases in what follows the functions; nothing when it cannot be read.
fn aliases(rest: &str) -> Option<HashMap<String, String>> {
    let mut all = HashMap::new();
    let start = match rest.starts_with("alias ") {
        true => 0,
        false => match rest.find("\nalias ") {
            Some(place) => place + 1,
            None => return Some(all),
        },
    };
    let (parsed, trouble) = read(rest.get(start..).unwrap_or_default(), None);
    if trouble.is_some() {
        return None;
    }
    for stage in stages(&parsed) {
        let Body::Simple { words, .. } = &stage.body else {
            continue;
        };
        for word in words.iter().skip(1) {
            if let Some((name, text)) = plain(word)?.split_once('=') {
                all.insert(name.to_owned(), text.to_owned());
            }
        }
    }
    Some(all)
}

/// What stands in a text, one after the other.
pub(super) fn stages(parsed: &Parsed) -> impl Iterator<Item = &Stage> {
    let pipelines = parsed.script.pipelines.iter();
    pipelines.flat_map(|pipeline| &pipeline.stages)
}

fn plain(word: &Word) -> Option<String> {
    let parts = word.parts.iter().map(|part| match part {
        Part::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::tests::around;
    use crate::{Verdict, judge, judge_in};

    const START: &str =
        "declare -x HOME=\"/home/ada\"\nnvm () \n{ \n    eval \"$1\"\n}\nalias ll='ls -l'\n";

    fn later(more: &str) -> Definitions {
        Definitions::first(START).now(&START.replace("alias ll", &format!("{more}alias ll")))
    }

    // EX-52, EX-54
    #[test]
    fn a_word_means_what_an_earlier_command_made_of_it() {
        let runs = later("f () \n{ \n    \"$@\"\n}\nwipe () \n{ \n    rm -rf \"$1\"\n}\n")
            .now("f () \n{ \n    \"$@\"\n}\nwipe () \n{ \n    rm -rf \"$1\"\n}\nalias d='rm -rf'\nalias s='sudo '\nalias ls='ls --color=auto'\n");
        for (command, verdict) in [
            ("d /", Verdict::Deny),
            ("s d /", Verdict::Deny),
            ("cd /tmp && d /", Verdict::Deny),
            ("f rm -rf /", Verdict::Deny),
            ("f d /", Verdict::Deny),
            ("wipe /", Verdict::Deny),
            ("wipe build", Verdict::Ask),
            ("ls -l", Verdict::Allow),
            ("f ls", Verdict::Allow),
        ] {
            let judged = judge_in(command, &around(), &runs);
            assert_eq!(judged.verdict, verdict, "{command}: {judged:?}");
        }
    }

    #[test]
    fn an_alias_of_the_same_command_counts_for_its_next_lines() {
        let judged = judge("alias d='rm -rf'\nd /", &around());
        assert_eq!(judged.verdict, Verdict::Deny);
    }

    #[test]
    fn what_the_user_brought_along_is_theirs_until_it_is_changed() {
        let own = later("");
        assert_eq!(
            judge_in("nvm use 20", &around(), &own).verdict,
            Verdict::Allow
        );
        assert!(judge_in("nvm use 20", &around(), &own).defines);
        let changed = own.now("nvm () \n{ \n    rm -rf \"$@\"\n}\n");
        assert_eq!(
            judge_in("nvm /", &around(), &changed).verdict,
            Verdict::Deny
        );
    }

    #[test]
    fn a_text_that_looks_like_a_definition_does_not_hide_one() {
        let hidden = later(
            "d () \n{ \n    rm -rf \"$@\"\n}\ng () \n{ \n    cat <<E\nd () \n{ \n    true\n}\nE\n\n}\n",
        );
        assert_ne!(judge_in("d /", &around(), &hidden).verdict, Verdict::Allow);
        let swallowed = Definitions::first("")
            .now("declare -x A=\"\nx () \n{ \n\"\nd () \n{ \n    rm -rf \"$@\"\n}\n");
        assert_eq!(
            judge_in("d /", &around(), &swallowed).verdict,
            Verdict::Deny
        );
    }

    fn with_variables(lines: &str) -> Definitions {
        Definitions::first(START).now(&format!("{lines}{START}"))
    }

    // EX-52, EX-54
    #[test]
    fn a_variable_stands_for_what_an_earlier_command_gave_it() {
        let runs = with_variables(
            "declare -x HOME=\"/\"\ndeclare -x a=\"rm -rf /\"\ndeclare -x b=$'rm\\t-rf\\n/'\ndeclare -x c=\"x\ny () \n{ \ndeclare -x d=\\\"ls\\\"\n\"\ndeclare -x d=\"reboot\"\ndeclare -ix e=\"1\"\n",
        );
        for (command, verdict) in [
            ("$a", Verdict::Deny),
            ("sudo $a", Verdict::Deny),
            ("$b", Verdict::Deny),
            ("$d", Verdict::Deny),
            ("eval \"$a\"", Verdict::Deny),
            ("rm -rf $HOME", Verdict::Deny),
            ("rm -rf ~/usr", Verdict::Deny),
            ("e='x[$(rm -rf /)]'", Verdict::Deny),
            ("a=ls; $a", Verdict::Allow),
            ("echo \"$a\"", Verdict::Allow),
        ] {
            let judged = judge_in(command, &around(), &runs);
            assert_eq!(judged.verdict, verdict, "{command}: {judged:?}");
        }
        let git = "declare -x GIT_CONFIG_COUNT=\"1\"\ndeclare -x GIT_CONFIG_KEY_0=\"core.pager\"\ndeclare -x GIT_CONFIG_VALUE_0=\"rm -rf /\"\n";
        let judged = judge_in("git log", &around(), &with_variables(git));
        assert_eq!(judged.verdict, Verdict::Deny, "{judged:?}");
    }

    #[test]
    fn variables_the_user_brought_along_are_theirs_and_many_are_not_read() {
        let start = format!("declare -x TOOL=\"rm -rf /\"\n{START}");
        let own = Definitions::first(&start).now(&start);
        assert_eq!(judge_in("$TOOL", &around(), &own).verdict, Verdict::Ask);
        let many = (0..=MOST_VARIABLES).map(|number| format!("declare -x v{number}=\"x\"\n"));
        let many = with_variables(&many.collect::<String>());
        assert_eq!(judge_in("ls", &around(), &many).verdict, Verdict::Ask);
        let long = format!("declare -x a=\"{}\"\n", "x".repeat(1 << 20));
        let long = with_variables(&long);
        assert_eq!(judge_in("$a", &around(), &long).verdict, Verdict::Ask);
        assert_eq!(judge_in("ls", &around(), &long).verdict, Verdict::Allow);
    }

    #[test]
    fn what_is_handed_on_is_read_again() {
        let shell = with_variables("declare -x a=\"1\"\ndeclare -x none\n");
        let again = |command: &str| judge_in(command, &around(), &shell).defines;
        for command in [
            "a=2",
            "none=2",
            "read a",
            "for a in 1 2; do :; done",
            "export b=1",
            "declare -x b=1",
        ] {
            assert!(again(command), "{command}");
        }
        for command in ["b=2", "cd /tmp", "(a=2)", "echo $a"] {
            assert!(!again(command), "{command}");
        }
    }

    #[test]
    fn commands_that_may_define_something_are_known() {
        for command in [
            "f() { :; }",
            "alias a=b",
            ". ./x",
            "source x",
            "eval \"$X\"",
            "unset -f f",
            "$X y",
            "export A=1",
            "set -a; A=1",
        ] {
            assert!(judge(command, &around()).defines, "{command}");
        }
        for command in ["ls", "A=1", "cd x && make", "echo 'alias a=b'"] {
            assert!(!judge(command, &around()).defines, "{command}");
        }
    }
}
