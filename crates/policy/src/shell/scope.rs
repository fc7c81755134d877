//! What names stand for at a point of a script.
//!
//! A branch that may or may not run leaves a name with more than one value, so a name has a few of them. What is
//! read later is judged for each.

use std::collections::HashMap;
use std::rc::Rc;

use super::field::HOLE;

/// The longest value that is remembered.
pub(super) const MAX_VALUE: usize = 65_536;

/// The most elements of one variable that are remembered.
const MAX_ELEMENTS: usize = 1_024;

/// The most values one name may have; more are one that is unknown.
const MAX_WAYS: usize = 8;

/// A value, as a list: a plain variable has one element, one that was unset none. Nothing when this command does
/// not say what it is.
type Value = Option<Rc<[String]>>;

/// How assignments to a name work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    #[default]
    Plain,
    /// What is assigned is worked out as a number.
    Integer,
    /// What is assigned may come to nothing, so what was there stays possible.
    Kept,
    /// It stands for another variable.
    Reference,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Known {
    /// Never empty, apart from a name nobody spoke of.
    ways: Vec<Value>,
    kind: Kind,
}

impl Known {
    fn add(&mut self, value: Value) {
        if self.ways.contains(&value) {
            return;
        }
        self.ways.push(value);
        if self.ways.len() > MAX_WAYS {
            self.ways = vec![unknown()];
        }
    }

    fn add_all(&mut self, other: Option<&Self>) {
        match other {
            Some(other) => {
                other.ways.iter().for_each(|way| self.add(way.clone()));
                self.kind = self.kind.max(other.kind);
            }
            None => self.add(None),
        }
    }
}

fn unknown() -> Value {
    Some(Rc::from([HOLE.to_string()]))
}

/// The names and what they stand for, and where the script stands.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    /// Shared until changed: whatever may be undone starts from a copy.
    names: Rc<HashMap<Rc<str>, Rc<Known>>>,
    /// The directories it may be in.
    directories: Rc<[Rc<str>]>,
    /// How many names were copied since somebody asked.
    copied: usize,
}

impl Scope {
    fn change(&mut self, name: &str, known: Known) {
        if Rc::strong_count(&self.names) > 1 {
            self.copied += self.names.len();
        }
        let names = Rc::make_mut(&mut self.names);
        match names.get_mut(name) {
            Some(entry) => *entry = Rc::new(known),
            None => drop(names.insert(Rc::from(name), Rc::new(known))),
        }
    }

    /// How much copying there was.
    pub(super) fn take_copied(&mut self) -> usize {
        std::mem::take(&mut self.copied)
    }

    pub(super) fn set(&mut self, name: &str, mut values: Vec<String>) {
        if values.len() > MAX_ELEMENTS {
            values = vec![HOLE.to_string()];
        }
        for value in &mut values {
            if value.len() > MAX_VALUE {
                *value = HOLE.to_string();
            }
        }
        self.put(name, Some(Rc::from(values)));
    }

    fn put(&mut self, name: &str, value: Value) {
        let kind = self.kind(name);
        let mut known = Known::default();
        if let Some(before) = self.names.get(name).filter(|_| kind == Kind::Kept) {
            known = before.as_ref().clone();
        }
        known.kind = kind;
        known.add(value);
        self.change(name, known);
    }

    pub(super) fn kind(&self, name: &str) -> Kind {
        self.names.get(name).map_or(Kind::Plain, |known| known.kind)
    }

    pub(super) fn set_kind(&mut self, name: &str, kind: Kind) {
        let known = self.names.get(name);
        let mut known = known.map_or_else(Known::default, |known| known.as_ref().clone());
        if known.ways.is_empty() {
            known.ways.push(None);
        }
        known.kind = known.kind.max(kind);
        self.change(name, known);
    }

    /// The value of a name; the first where it may have several.
    pub(super) fn get(&self, name: &str) -> Option<&[String]> {
        self.ways(name).first()?.as_deref()
    }

    /// Every value a name may have.
    pub(super) fn every(&self, name: &str) -> impl Iterator<Item = &[String]> {
        self.ways(name).iter().filter_map(Option::as_deref)
    }

    fn ways(&self, name: &str) -> &[Value] {
        self.names.get(name).map_or(&[], |known| &known.ways)
    }

    /// How many values a name may have.
    pub(super) fn count(&self, name: &str) -> usize {
        self.ways(name).len()
    }

    /// Leaves a name one of its values.
    pub(super) fn pin(&mut self, name: &str, which: usize) {
        if let Some(way) = self.ways(name).get(which).cloned() {
            let kind = self.kind(name);
            self.change(
                name,
                Known {
                    ways: vec![way],
                    kind,
                },
            );
        }
    }

    /// Makes a name stand for what it did before.
    pub(super) fn put_back(&mut self, name: &str, before: &Self) {
        let known = before.names.get(name);
        let unset = || Known {
            ways: vec![None],
            kind: Kind::Plain,
        };
        let known = known.map_or_else(unset, |known| known.as_ref().clone());
        self.change(name, known);
    }

    /// Makes what a name stood for before possible as well.
    pub(super) fn mix(&mut self, name: &str, before: &Self) {
        let mut known = Known::default();
        known.add_all(self.names.get(name).map(Rc::as_ref));
        known.add_all(before.names.get(name).map(Rc::as_ref));
        self.change(name, known);
    }

    /// Makes everything possible that is so in the other one. Whether that is more than before.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for directory in other.directories.iter() {
            if !self.directories.contains(directory) {
                let all = self.directories.iter().chain([directory]);
                self.directories = all.cloned().collect();
                changed = true;
            }
        }
        if self.directories.len() > MAX_WAYS {
            self.directories = Rc::from([Rc::from(HOLE.to_string())]);
        }
        if Rc::ptr_eq(&self.names, &other.names) {
            return changed;
        }
        for name in self.differing(other) {
            let before = self.names.get(&name).cloned();
            self.mix(&name, other);
            changed |= self.names.get(&name) != before.as_ref();
        }
        changed
    }

    /// The names that do not stand for the same in the other one.
    pub(super) fn differing(&self, other: &Self) -> Vec<Rc<str>> {
        let own = self.names.iter().filter(|(name, known)| {
            let theirs = other.names.get(*name);
            !theirs.is_some_and(|theirs| Rc::ptr_eq(theirs, known) || theirs == *known)
        });
        let new = other.names.keys();
        let new = new.filter(|name| !self.names.contains_key(*name));
        own.map(|(name, _)| name).chain(new).cloned().collect()
    }

    /// Every name, in order.
    pub(super) fn all(&self) -> Vec<Rc<str>> {
        let mut names: Vec<Rc<str>> = self.names.keys().cloned().collect();
        names.sort();
        names
    }

    /// Whether nothing was changed since this copy was made.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.names, &other.names)
    }

    /// How many names there are.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The directories the script may be in.
    pub(super) fn directories(&self) -> &[Rc<str>] {
        &self.directories
    }

    pub(super) fn enter(&mut self, directory: Rc<str>) {
        self.directories = Rc::from([directory]);
    }
}
