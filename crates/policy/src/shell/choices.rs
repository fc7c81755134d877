//! Work that is done once for every value that what it reads may have.

use std::rc::Rc;

use super::resolve::Resolver;
use super::scope::{Kind, Scope};

/// The most times one piece of work is done over.
const MAX_TIMES: usize = 256;

/// The most times it is done over only because a text may be one or another.
const MAX_TIMES_FOR_TEXT: usize = 32;

/// What was chosen during a piece of work, in the order it came up.
#[derive(Debug, Default)]
pub(super) struct Choices {
    /// Which of how many.
    taken: Vec<(usize, usize)>,
    /// How many came up since the work began.
    at: usize,
}

impl Choices {
    /// Goes on to what was not chosen yet; false when that was everything.
    fn advance(&mut self) -> bool {
        self.taken.truncate(self.at);
        self.at = 0;
        while let Some((which, of)) = self.taken.pop() {
            if which + 1 < of {
                self.taken.push((which + 1, of));
                return true;
            }
        }
        false
    }

    fn times(&self) -> usize {
        let all = self.taken.iter().map(|(_, of)| of);
        all.fold(1, |times, of| times.saturating_mul(*of))
    }
}

/// What is known at a point: in the shell, and about files.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) scope: Scope,
    pub(super) disk: Scope,
}

impl Resolver<'_> {
    /// Does some work once for every way to choose in it. Its results, each once; what it leaves behind is possible
    /// in every way.
    pub(super) fn each<T: PartialEq>(&mut self, mut work: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let outer = std::mem::take(&mut self.choices);
        let start = self.state();
        let mut results = Vec::new();
        let mut ends: Option<State> = None;
        for times in 1.. {
            let result = work(self);
            if !results.contains(&result) {
                results.push(result);
            }
            if self.exhausted || !self.choices.advance() {
                break;
            }
            if times == MAX_TIMES {
                self.exhausted = true;
                break;
            }
            let end = self.state();
            self.put(start.clone());
            match &mut ends {
                Some(all) => {
                    all.scope.join(&end.scope);
                    all.disk.join(&end.disk);
                }
                None => ends = Some(end),
            }
        }
        if let Some(ends) = ends {
            self.join(&ends);
        }
        self.choices = outer;
        results
    }

    /// Which of several is taken this time.
    pub(super) fn choose(&mut self, of: usize) -> usize {
        if of < 2 {
            return 0;
        }
        let at = self.choices.at;
        self.choices.at += 1;
        match self.choices.taken.get(at) {
            Some((which, _)) => *which,
            None => {
                self.choices.taken.push((0, of));
                0
            }
        }
    }

    /// Which of several texts it is this time; unknown where that would be too many.
    pub(super) fn choose_text(&mut self, texts: Vec<Option<String>>) -> Option<String> {
        let mut different: Vec<Option<String>> = Vec::new();
        for text in texts {
            if !different.contains(&text) {
                different.push(text);
            }
        }
        let begun = self.choices.at < self.choices.taken.len();
        let many = self.choices.times().saturating_mul(different.len()) > MAX_TIMES_FOR_TEXT;
        if different.len() > 1 && !begun && many {
            return None;
        }
        let which = self.choose(different.len());
        different.into_iter().nth(which).flatten()
    }

    /// Settles which of its values a name has.
    pub(super) fn settle(&mut self, name: &str) {
        let of = self.scope.count(name);
        if of > 1 {
            let which = self.choose(of);
            self.scope.pin(name, which);
        }
    }

    /// Settles what is known about a file.
    pub(super) fn settle_on_disk(&mut self, name: &str) {
        let of = self.disk.count(name);
        if of > 1 {
            let which = self.choose(of);
            self.disk.pin(name, which);
        }
    }

    /// Settles in which directory the script is.
    pub(super) fn settle_directory(&mut self) {
        let which = self.choose(self.scope.directories().len());
        if let Some(directory) = self.scope.directories().get(which).cloned() {
            self.enter_directory(directory);
        }
    }

    pub(super) fn enter_directory(&mut self, directory: Rc<str>) {
        self.cwd = Rc::clone(&directory);
        if !matches!(self.scope.directories(), [only] if *only == directory) {
            self.scope.enter(directory);
        }
    }

    /// Goes back to what the shell knew, as when a child process ends.
    pub(super) fn restore(&mut self, scope: Scope) {
        let copied = self.scope.take_copied();
        self.spend(copied);
        self.scope = scope;
        if let Some(directory) = self.scope.directories().first() {
            self.cwd = Rc::clone(directory);
        }
    }

    pub(super) fn state(&self) -> State {
        State {
            scope: self.scope.clone(),
            disk: self.disk.clone(),
        }
    }

    pub(super) fn put(&mut self, state: State) {
        self.disk = state.disk;
        self.restore(state.scope);
    }

    /// Makes another state possible too. Whether that changes anything.
    pub(super) fn join(&mut self, other: &State) -> bool {
        let on_disk = self.disk.join(&other.disk);
        let copied = self.scope.take_copied() + self.disk.take_copied();
        self.spend(copied);
        self.scope.join(&other.scope) || on_disk
    }

    /// The shell leaves a loop, a function or itself here; whatever comes next may find what is so now.
    pub(super) fn leave(&mut self) {
        let now = self.state();
        match &mut self.left {
            Some(left) => {
                left.scope.join(&now.scope);
                left.disk.join(&now.disk);
            }
            None => self.left = Some(now),
        }
    }

    /// Behind something that can be left early.
    pub(super) fn join_left(&mut self) {
        if let Some(left) = self.left.take() {
            self.join(&left);
            self.left = Some(left);
        }
    }

    /// What some work does to the shell may happen now, later or never.
    pub(super) fn perhaps_later(&mut self, work: impl FnOnce(&mut Self)) {
        let before = self.state();
        work(self);
        let changed = self.scope.differing(&before.scope);
        self.join(&before);
        for name in changed {
            self.scope.set_kind(&name, Kind::Kept);
        }
    }
}
