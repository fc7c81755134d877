//! What could be meant by the word at the cursor, offered in a popup.
//!
//! Commands are known here. What only others know (files, models, skills) is asked for with a number, and
//! an answer to a question that is no longer asked is dropped.

mod target;
mod view;

use std::ops::Range;

pub use target::{Subject, Target, target};

use crate::fuzzy;

/// Candidates beyond this are not looked at.
pub const MOST_CANDIDATES: usize = 2_000;
/// Rows of the popup.
pub const MOST_ROWS: usize = 8;

/// A command as the popup knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEntry {
    /// Its name, without the slash.
    pub name: String,
    /// Other names.
    pub aliases: Vec<String>,
    /// What its arguments look like.
    pub hint: String,
    /// What it does.
    pub about: String,
    /// First arguments that are always the same.
    pub arguments: Vec<String>,
    /// Whether others know more arguments.
    pub asks: bool,
}

/// Something that could be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// What it puts in place of the word. One that ends in `/` or `:` is gone on with.
    pub value: String,
    /// What the popup shows.
    pub label: String,
    /// What it says beside it.
    pub about: String,
}

impl Candidate {
    /// A candidate that is shown as it is.
    pub fn new(value: impl Into<String>, about: impl Into<String>) -> Self {
        let value = value.into();
        Self {
            label: value.clone(),
            value,
            about: about.into(),
        }
    }
}

/// A question to whoever knows files, models and skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Belongs to the answer.
    pub id: u64,
    /// What is completed.
    pub subject: Subject,
    /// What is written of it so far.
    pub typed: String,
}

/// What an accepted candidate changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The stretch it replaces.
    pub range: Range<usize>,
    /// With what.
    pub value: String,
}

/// The popup.
#[derive(Debug, Clone, Default)]
pub struct Complete {
    commands: Vec<CommandEntry>,
    open: Option<Open>,
    asked: u64,
    /// The start of the word for which the popup was closed by hand.
    dismissed: Option<usize>,
}

#[derive(Debug, Clone)]
struct Open {
    target: Target,
    fixed: Vec<Candidate>,
    supplied: Vec<Candidate>,
    /// Places in `fixed` and then `supplied`, best first.
    ranked: Vec<usize>,
    selected: usize,
    /// Whether an entry was chosen by hand.
    chosen: bool,
}

impl Open {
    fn candidate(&self, rank: usize) -> Option<&Candidate> {
        let at = *self.ranked.get(rank)?;
        self.fixed
            .get(at)
            .or_else(|| self.supplied.get(at.checked_sub(self.fixed.len())?))
    }

    fn rank(&mut self) {
        let all = || self.fixed.iter().chain(&self.supplied);
        let values = all().map(|candidate| candidate.value.as_str());
        let mut ranked = fuzzy::rank(&self.target.typed, values);
        // An argument may be known by what is said about it, as a session is by its title.
        if matches!(self.target.subject, Subject::Argument { .. }) {
            let typed = self.target.typed.to_lowercase();
            let told = |one: &Candidate| one.about.to_lowercase().contains(&typed);
            let by_about = all().enumerate().filter(|(_, one)| told(one));
            let by_about: Vec<usize> = by_about
                .map(|(at, _)| at)
                .filter(|at| !ranked.contains(at))
                .collect();
            ranked.extend(by_about);
        }
        self.ranked = ranked;
        self.selected = 0;
        self.chosen = false;
    }
}

impl Complete {
    /// Says which commands there are.
    pub fn set_commands(&mut self, commands: Vec<CommandEntry>) {
        self.commands = commands;
    }

    /// Whether something is offered.
    pub fn is_open(&self) -> bool {
        self.open
            .as_ref()
            .is_some_and(|open| !open.ranked.is_empty())
    }

    /// Whether an entry was chosen with the arrows.
    pub fn is_chosen(&self) -> bool {
        self.is_open() && self.open.as_ref().is_some_and(|open| open.chosen)
    }

    /// Looks at the word at the cursor. `asked` says that the user wants an offer whatever the word is.
    pub fn refresh(&mut self, text: &str, cursor: usize, asked: bool) -> Option<Request> {
        // An answer still on its way belongs to the word as it was.
        self.asked += 1;
        let Some(target) = target(text, cursor, asked) else {
            self.open = None;
            self.dismissed = None;
            return None;
        };
        let start = target.range.start;
        if asked || self.dismissed.is_some_and(|dismissed| dismissed != start) {
            self.dismissed = None;
        }
        if self.dismissed.is_some() {
            return None;
        }
        // Until the new answer is there, the old one is better than nothing.
        let before = self
            .open
            .take()
            .filter(|open| open.target.subject == target.subject);
        let supplied = before.map(|open| open.supplied).unwrap_or_default();
        let fixed = self.fixed(&target);
        let request = self.asks(&target.subject).then(|| Request {
            id: self.asked,
            subject: target.subject.clone(),
            typed: target.typed.clone(),
        });
        let mut open = Open {
            target,
            fixed,
            supplied,
            ranked: Vec::new(),
            selected: 0,
            chosen: false,
        };
        open.rank();
        self.open = Some(open);
        request
    }

    fn asks(&self, subject: &Subject) -> bool {
        match subject {
            // Skills are commands too, and only others know them.
            Subject::Command => true,
            Subject::Argument { command, .. } => self.named(command).is_none_or(|entry| entry.asks),
            Subject::Path | Subject::Reference => true,
        }
    }

    fn named(&self, name: &str) -> Option<&CommandEntry> {
        let is = |known: &String| known.eq_ignore_ascii_case(name);
        self.commands
            .iter()
            .find(|entry| is(&entry.name) || entry.aliases.iter().any(is))
    }

    fn fixed(&self, target: &Target) -> Vec<Candidate> {
        match &target.subject {
            Subject::Command => {
                let offered = self.commands.iter();
                offered
                    .map(|entry| command_candidate(entry, &target.typed))
                    .collect()
            }
            Subject::Argument { command, given: 0 } => {
                let known = self.named(command).map(|entry| entry.arguments.as_slice());
                known
                    .unwrap_or_default()
                    .iter()
                    .map(|value| Candidate::new(value, ""))
                    .collect()
            }
            Subject::Argument { .. } | Subject::Path => Vec::new(),
            Subject::Reference => REFERENCES
                .iter()
                .map(|(value, about)| Candidate::new(*value, *about))
                .collect(),
        }
    }

    /// An answer to a request. One that comes too late is dropped, and then it says no.
    pub fn supply(&mut self, id: u64, mut candidates: Vec<Candidate>) -> bool {
        let Some(open) = self.open.as_mut().filter(|_| id == self.asked) else {
            return false;
        };
        candidates.truncate(MOST_CANDIDATES);
        // What is known already takes no choice back.
        if open.supplied == candidates {
            return true;
        }
        open.supplied = candidates;
        open.rank();
        true
    }

    /// The entry above, or from the first the last.
    pub fn up(&mut self) {
        self.choose(|selected, count| selected.checked_sub(1).unwrap_or(count - 1));
    }

    /// The entry below, or from the last the first.
    pub fn down(&mut self) {
        self.choose(|selected, count| (selected + 1) % count);
    }

    fn choose(&mut self, step: impl Fn(usize, usize) -> usize) {
        if let Some(open) = self.open.as_mut().filter(|open| !open.ranked.is_empty()) {
            open.selected = step(open.selected, open.ranked.len());
            open.chosen = true;
        }
    }

    /// Closes the popup until another word is written.
    pub fn close(&mut self) {
        self.dismissed = self.open.take().map(|open| open.target.range.start);
    }

    /// Forgets the word: the text was sent or replaced.
    pub fn reset(&mut self) {
        self.open = None;
        self.dismissed = None;
        // An answer still on its way belongs to a text that is gone.
        self.asked += 1;
    }

    /// Takes the selected entry.
    pub fn accept(&mut self) -> Option<Accepted> {
        let open = self.open.as_ref()?;
        let value = open.candidate(open.selected)?.value.clone();
        let range = open.target.range.clone();
        self.open = None;
        let goes_on = value.ends_with('/') || value.ends_with(':');
        let value = if goes_on { value } else { format!("{value} ") };
        Some(Accepted { range, value })
    }
}

/// A command under its name, or under another name when that is what is being written.
fn command_candidate(entry: &CommandEntry, typed: &str) -> Candidate {
    let typed = typed.trim_start_matches('/').to_lowercase();
    let begins = |name: &&String| name.starts_with(&typed);
    let alias = entry
        .aliases
        .iter()
        .find(begins)
        .filter(|_| !begins(&&entry.name));
    let name = alias.unwrap_or(&entry.name);
    let hint = match entry.hint.as_str() {
        "" => String::new(),
        hint => format!(" {hint}"),
    };
    Candidate {
        value: format!("/{name}"),
        label: format!("/{name}{hint}"),
        about: entry.about.clone(),
    }
}

/// What can be referred to with `@`.
const REFERENCES: &[(&str, &str)] = &[
    ("@diff", "what is changed and not staged"),
    ("@staged", "what is staged"),
    ("@file:", "a file, or lines of it as in @file:main.rs:10-25"),
    ("@folder:", "what a folder holds"),
    ("@git:", "the last commits with their changes"),
    ("@url:", "a web page"),
];

#[cfg(test)]
mod tests;
