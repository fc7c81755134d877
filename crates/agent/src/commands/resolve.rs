//! What a line means.

use super::info::{CommandInfo, Surface};
use super::registry::all;

/// How many skills may stand in front of one message.
pub const MOST_SKILLS: usize = 5;

/// What users and their skills add to the commands.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'k> {
    /// The names of skills.
    pub skills: &'k [String],
    /// The names of bundles of skills.
    pub bundles: &'k [String],
    /// The names of quick commands.
    pub quick: &'k [String],
}

/// What a line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved<'a> {
    /// Nothing: it is a message.
    Message,
    /// A command that is built in.
    BuiltIn {
        /// Which one.
        command: &'static CommandInfo,
        /// What stands behind it.
        arguments: &'a str,
    },
    /// A command of the user's own.
    Quick {
        /// Its name, as it was configured.
        name: &'a str,
        /// What stands behind it.
        arguments: &'a str,
    },
    /// A bundle of skills.
    Bundle {
        /// Its name.
        name: &'a str,
        /// The message for it.
        text: &'a str,
    },
    /// Skills, one to five.
    Skills {
        /// Their names, in the order they were given.
        names: Vec<&'a str>,
        /// The message for them.
        text: &'a str,
    },
    /// A command that is not for this surface.
    Elsewhere {
        /// Which one.
        command: &'static CommandInfo,
    },
    /// The beginning of several names that are equally near.
    Ambiguous {
        /// What could be meant.
        names: Vec<&'a str>,
    },
    /// No command at all.
    Unknown {
        /// What was written, without the slash.
        typed: &'a str,
        /// What may have been meant.
        nearest: Option<&'a str>,
    },
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning<'a> {
    BuiltIn(&'static CommandInfo),
    Quick(&'a str),
    Bundle(&'a str),
    Skill(&'a str),
}

/// Reads a line given at a surface. `is_path` says whether a word names an existing file: a message may begin
/// with one.
///
/// Capitals do not matter and `_` is `-`. Built-in commands come first, then quick commands, bundles and
/// skills, then whatever begins with what was written; of several of these the shortest is meant, unless
/// two are equally short.
pub fn resolve<'a>(
    line: &'a str,
    known: &Known<'a>,
    at: Surface,
    is_path: impl Fn(&str) -> bool,
) -> Resolved<'a> {
    let line = line.trim();
    let (word, rest) = split(line);
    let Some(typed) = word.strip_prefix('/').filter(|typed| !typed.is_empty()) else {
        return Resolved::Message;
    };
    let name = normal(typed);
    let built_in = all().find(|info| info.names().any(|known| known == name));
    match built_in {
        Some(command) if command.surface.includes(at) => {
            return Resolved::BuiltIn {
                command,
                arguments: rest,
            };
        }
        // A name that is free here may be the user's own.
        _ if is_path(word) || typed.contains('/') => return Resolved::Message,
        _ => {}
    }
    if let Some(meaning) = exact(&name, known) {
        return resolved(meaning, rest, known);
    }
    if let Some(command) = built_in {
        return Resolved::Elsewhere { command };
    }
    match beginning(&name, known, at) {
        Ok(Some(meaning)) => resolved(meaning, rest, known),
        Ok(None) => Resolved::Unknown {
            typed,
            nearest: nearest(&name, known, at),
        },
        Err(names) => Resolved::Ambiguous { names },
    }
}

fn resolved<'a>(meaning: Meaning<'a>, rest: &'a str, known: &Known<'a>) -> Resolved<'a> {
    match meaning {
        Meaning::BuiltIn(command) => Resolved::BuiltIn {
            command,
            arguments: rest,
        },
        Meaning::Quick(name) => Resolved::Quick {
            name,
            arguments: rest,
        },
        Meaning::Bundle(name) => Resolved::Bundle { name, text: rest },
        Meaning::Skill(name) => stacked(name, rest, known),
    }
}

/// More skills may follow the first, each with its slash and its whole name.
fn stacked<'a>(first: &'a str, rest: &'a str, known: &Known<'a>) -> Resolved<'a> {
    let mut names = vec![first];
    let mut text = rest;
    while names.len() < MOST_SKILLS {
        let (word, behind) = split(text);
        let skill = word
            .strip_prefix('/')
            .and_then(|typed| named(known.skills, &normal(typed)));
        let Some(skill) = skill else { break };
        if !names.contains(&skill) {
            names.push(skill);
        }
        text = behind;
    }
    Resolved::Skills { names, text }
}

fn exact<'a>(name: &str, known: &Known<'a>) -> Option<Meaning<'a>> {
    let quick = named(known.quick, name).map(Meaning::Quick);
    let bundle = || named(known.bundles, name).map(Meaning::Bundle);
    let skill = || named(known.skills, name).map(Meaning::Skill);
    quick.or_else(bundle).or_else(skill)
}

/// The one thing whose name begins so, or the shortest of them; several that are equally short are an error.
fn beginning<'a>(
    name: &str,
    known: &Known<'a>,
    at: Surface,
) -> Result<Option<Meaning<'a>>, Vec<&'a str>> {
    let mut fitting: Vec<(&'a str, Meaning<'a>)> = names(known, at)
        .filter(|(full, _)| normal(full).starts_with(name))
        .collect();
    let Some(shortest) = fitting.iter().map(|(full, _)| full.chars().count()).min() else {
        return Ok(None);
    };
    fitting.retain(|(full, _)| full.chars().count() == shortest);
    match fitting.as_slice() {
        [(_, only), others @ ..] if others.iter().all(|(_, other)| other == only) => {
            Ok(Some(*only))
        }
        _ => Err(fitting.into_iter().map(|(full, _)| full).collect()),
    }
}

fn nearest<'a>(name: &str, known: &Known<'a>, at: Surface) -> Option<&'a str> {
    hermes_config::nearest(name, names(known, at).map(|(full, _)| full))
}

/// Every name that means something at a surface. A name that is taken by something that comes first is left
/// out behind it.
fn names<'a>(known: &Known<'a>, at: Surface) -> impl Iterator<Item = (&'a str, Meaning<'a>)> {
    let built_in = all().filter(move |info| info.surface.includes(at));
    let built_in =
        built_in.flat_map(|info| info.names().map(move |name| (name, Meaning::BuiltIn(info))));
    let quick = known
        .quick
        .iter()
        .map(|name| (name.as_str(), Meaning::Quick(name)));
    let bundles = known
        .bundles
        .iter()
        .map(|name| (name.as_str(), Meaning::Bundle(name)));
    let skills = known
        .skills
        .iter()
        .map(|name| (name.as_str(), Meaning::Skill(name)));
    let known = *known;
    let own = quick.chain(bundles).chain(skills);
    let own = own.filter(move |(name, meaning)| exact(&normal(name), &known) == Some(*meaning));
    built_in.chain(own)
}

fn named<'a>(names: &'a [String], wanted: &str) -> Option<&'a str> {
    names
        .iter()
        .map(String::as_str)
        .find(|name| normal(name) == wanted)
}

fn normal(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// The first word and what stands behind it.
fn split(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

#[cfg(test)]
mod tests;
