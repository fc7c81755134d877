//! What one session has seen of files.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::path::{Path, PathBuf};

use hermes_exec::FileStamp;

/// Reads that are remembered, so that the same text is not sent twice.
const MOST_READS: usize = 1_000;
/// Files whose last seen state is remembered.
const MOST_STATES: usize = 1_000;
/// Identical calls in a row that are warned about.
const WARN_AT: u32 = 3;
/// Identical calls in a row that are refused.
const REFUSE_AT: u32 = 4;

/// A call that may be repeated, in the words it is compared by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Asked {
    Read {
        path: PathBuf,
        offset: usize,
        limit: usize,
    },
    Search(String),
}

/// What is to be said about a repeated call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// Nothing.
    Fine,
    /// That it has been made this often.
    Warn(u32),
    /// That it is refused after this many.
    Refuse(u32),
    /// That the text is unchanged and was sent before.
    Unchanged,
    /// The same, after that was said and not heard.
    StillUnchanged,
}

/// How a file looked when the model last saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) stamp: FileStamp,
    pub(crate) moment: u64,
    /// Not all of it was shown.
    pub(crate) partial: bool,
}

/// What one session has seen of files.
#[derive(Default)]
pub(crate) struct Seen {
    /// Reads whose text is in the conversation.
    reads: Recent<Asked, FileStamp>,
    states: Recent<PathBuf, State>,
    /// The last call and how often it came in a row.
    last: Option<(Asked, u32)>,
    /// How often in a row nothing was found to replace in a file.
    misses: Recent<PathBuf, u32>,
}

impl Seen {
    /// A look at a file in this state is about to happen.
    pub(crate) fn read(&mut self, asked: Asked, stamp: FileStamp) -> Again {
        let known = self.reads.get(&asked) == Some(&stamp);
        let times = self.repeat(asked);
        if known {
            return if times >= WARN_AT {
                Again::StillUnchanged
            } else {
                Again::Unchanged
            };
        }
        judge(times)
    }

    /// The text of a read went into the conversation.
    pub(crate) fn sent(&mut self, asked: Asked, stamp: FileStamp) {
        self.reads.put(asked, stamp, MOST_READS);
    }

    /// A search is about to happen.
    pub(crate) fn search(&mut self, asked: String) -> Again {
        judge(self.repeat(Asked::Search(asked)))
    }

    fn repeat(&mut self, asked: Asked) -> u32 {
        let times = match &self.last {
            Some((last, times)) if *last == asked => times + 1,
            _ => 1,
        };
        self.last = Some((asked, times));
        times
    }

    /// Some other tool was called: what is repeated after it is a new look.
    pub(crate) fn other_call(&mut self) {
        self.last = None;
    }

    /// The conversation was made shorter: the texts may not be in it any more.
    pub(crate) fn forget_texts(&mut self) {
        self.reads = Recent::default();
        self.last = None;
    }

    /// Takes down how a file looked.
    pub(crate) fn saw(&mut self, path: &Path, state: State) {
        self.states.put(path.to_owned(), state, MOST_STATES);
    }

    /// How a file looked when it was last seen.
    pub(crate) fn state(&self, path: &Path) -> Option<State> {
        self.states.get(&path.to_owned()).copied()
    }

    /// A change found nothing; says how often in a row.
    pub(crate) fn missed(&mut self, path: &Path) -> u32 {
        let times = self
            .misses
            .get(&path.to_owned())
            .map_or(1, |times| times + 1);
        self.misses.put(path.to_owned(), times, MOST_STATES);
        times
    }

    /// A change was made.
    pub(crate) fn hit(&mut self, path: &Path) {
        self.misses.remove(&path.to_owned());
    }
}

fn judge(times: u32) -> Again {
    match times {
        REFUSE_AT.. => Again::Refuse(times),
        WARN_AT => Again::Warn(times),
        _ => Again::Fine,
    }
}

/// A map that forgets what came first.
struct Recent<K, V> {
    known: HashMap<K, V>,
    order: VecDeque<K>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self {
            known: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<K: Hash + Eq + Clone, V> Recent<K, V> {
    fn get(&self, key: &K) -> Option<&V> {
        self.known.get(key)
    }

    fn put(&mut self, key: K, value: V, most: usize) {
        if self.known.insert(key.clone(), value).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > most
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    fn remove(&mut self, key: &K) {
        if self.known.remove(key).is_some() {
            self.order.retain(|known| known != key);
        }
    }
}
