//! What earlier commands left in a session's shell: functions and aliases, which give words another meaning.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::read::read;
use super::tree::{Body, Parsed, Part, Stage, Word};

/// The longest state that is looked at.
const LONGEST: usize = 4 << 20;

/// The functions and aliases of a session's shell.
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
    unreadable: bool,
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
        Self {
            own: self.own.clone(),
            made,
            unreadable: aliases.is_none(),
            aliases: aliases.unwrap_or_default(),
        }
    }

    pub(super) fn alias(&self, name: &str) -> Option<&str> {
        self.aliases.get(name).map(String::as_str)
    }

    pub(super) fn is_own(&self, name: &str) -> bool {
        self.own.contains_key(name)
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
        ] {
            assert!(judge(command, &around()).defines, "{command}");
        }
        for command in ["ls", "export A=1", "cd x && make", "echo 'alias a=b'"] {
            assert!(!judge(command, &around()).defines, "{command}");
        }
    }
}
