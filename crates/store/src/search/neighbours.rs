//! Which words stand side by side, so that a phrase of common words is looked for in few messages.
//!
//! Each two neighbours are hashed into one of a few thousand buckets, and a bucket is one term of the
//! index. Few buckets keep the index small, however many different neighbours there are: about one
//! message in a hundred is in any of them. A phrase narrows the search to the buckets of its
//! neighbours; whether the phrase is really there is read from the text.

use super::terms::{is_dense, runs};

/// With one message in a hundred in a bucket, most distances between entries fit into one byte.
const BUCKET_BITS: u32 = 12;
const BUCKETS: usize = 1 << BUCKET_BITS;
/// The private use area: no text has a term that starts with one of these letters.
const FIRST_LETTER: u32 = 0xe000;

/// Where two neighbours belong. Stored, so the hash must stay as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bucket(u16);

impl Bucket {
    fn of(left: &str, right: &str) -> Self {
        let pieces = [left.as_bytes(), &[0], right.as_bytes()];
        // FNV-1a, with a last multiplication that brings every bit to the top.
        let hash = pieces
            .into_iter()
            .flatten()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
            });
        let top = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - BUCKET_BITS);
        Self(u16::try_from(top).unwrap_or_default())
    }

    /// The term of the index.
    pub(super) fn letter(self) -> char {
        char::from_u32(FIRST_LETTER + u32::from(self.0)).unwrap_or_default()
    }
}

/// Calls `visit` for the neighbours of a folded text.
///
/// They are two words; a word and the nearest character of a dense run; within a dense run three
/// characters, because two are a term already. The last word of an `open_end` may go on and has no
/// neighbour.
pub(super) fn each_neighbours(folded: &str, open_end: bool, mut visit: impl FnMut(Bucket)) {
    let mut before: Option<&str> = None;
    let mut runs = runs(folded).peekable();
    while let Some(run) = runs.next() {
        let is_dense = is_dense(run);
        let goes_on = open_end && !is_dense && runs.peek().is_none();
        if let (Some(before), false) = (before, goes_on) {
            visit(Bucket::of(before, if is_dense { first(run) } else { run }));
        }
        before = Some(if is_dense { last(run) } else { run });
        if is_dense {
            each_three(run, &mut visit);
        }
    }
}

fn each_three(run: &str, visit: &mut impl FnMut(Bucket)) {
    let mut ends = run
        .char_indices()
        .map(|(at, letter)| at + letter.len_utf8())
        .skip(1);
    let Some(mut middle) = ends.next() else {
        return;
    };
    for ((start, _), end) in run.char_indices().zip(ends) {
        visit(Bucket::of(&run[start..middle], &run[middle..end]));
        middle = end;
    }
}

fn first(run: &str) -> &str {
    &run[..run.chars().next().map_or(0, char::len_utf8)]
}

fn last(run: &str) -> &str {
    &run[run.len() - run.chars().next_back().map_or(0, char::len_utf8)..]
}

/// The buckets a message was put into; most neighbours of a long one repeat.
pub(super) struct Seen([u64; BUCKETS / 64]);

impl Default for Seen {
    fn default() -> Self {
        Self([0; BUCKETS / 64])
    }
}

impl Seen {
    pub(super) fn is_new(&mut self, bucket: Bucket) -> bool {
        let bucket = usize::from(bucket.0);
        let (word, bit) = (&mut self.0[bucket / 64], 1 << (bucket % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(folded: &str, open_end: bool, expected: &[(&str, &str)]) {
        let mut found = Vec::new();
        each_neighbours(folded, open_end, |bucket| found.push(bucket));
        let expected: Vec<_> = expected.iter().map(|(a, b)| Bucket::of(a, b)).collect();
        assert_eq!(found, expected, "{folded}");
    }

    #[test]
    fn words_and_dense_runs_have_neighbours() {
        check("", false, &[]);
        check("one", false, &[]);
        check("one two three", false, &[("one", "two"), ("two", "three")]);
        check("one two thr", true, &[("one", "two")]);
        check("北京大学", false, &[("北京", "大"), ("京大", "学")]);
        check(
            "使用 docker 部署",
            true,
            &[("用", "docker"), ("docker", "部")],
        );
        check("北京", false, &[]);
    }

    #[test]
    fn a_bucket_is_where_it_was_when_the_index_was_written() {
        assert_eq!(Bucket::of("foo", "bar").letter(), '\u{ea3a}');
    }

    #[test]
    fn neighbours_are_spread_evenly() {
        let mut counts = vec![0; BUCKETS];
        for (a, b) in (0..200).flat_map(|a| (0..205).map(move |b| (a, b))) {
            let bucket = Bucket::of(&format!("word{a}"), &format!("{b}"));
            counts[usize::from(bucket.0)] += 1;
        }
        assert!(counts.iter().all(|&count| count < 40), "ten are expected");
    }
}
