//! What a file holds, and whether it may be written again.

use crate::change::size_of;
use crate::entries::{Aside, Entry, identified, parse, serialise};
use crate::file::Found;
use crate::number::{usage, with_commas};
use crate::target::Target;

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The file.
    pub target: Target,
    /// The entries, in order.
    pub entries: Vec<Entry>,
    /// Characters they take.
    pub size: usize,
    /// Characters there is room for.
    pub limit: usize,
    /// Whether something else edited the file so that writing it again would lose something.
    pub drifted: bool,
}

impl Contents {
    /// How full it is: `12% — 263/2,200 chars`.
    pub fn usage(&self) -> String {
        usage(self.size, self.limit)
    }

    /// The same in short: `263/2,200`.
    pub fn short_usage(&self) -> String {
        format!("{}/{}", with_commas(self.size), with_commas(self.limit))
    }

    pub(super) fn of(target: Target, found: &Found, aside: &Aside, limit: usize) -> Self {
        let text = found.text();
        let entries = identified(&parse(&text), aside);
        let normal = serialise(entries.iter().map(|entry| entry.text.as_str()));
        let too_long = |entry: &Entry| entry.text.chars().count() > limit;
        // What we wrote ourselves is in order, also when the limit was lowered since.
        let ours = found.digest == aside.written;
        // Editors end the last line, and nothing is lost of that.
        let foreign =
            normal.as_bytes() != found.bytes.trim_ascii_end() || entries.iter().any(too_long);
        Self {
            target,
            size: size_of(&entries),
            limit,
            // Nothing is lost of a file that is blank.
            drifted: !ours && foreign && !text.trim().is_empty(),
            entries,
        }
    }

    pub(super) fn with(self, entries: Vec<Entry>) -> Self {
        Self {
            size: size_of(&entries),
            entries,
            drifted: false,
            ..self
        }
    }
}
