//! Brace expansion: `{a,b}` and `{1..3}`.

use super::expand::Chunk;
use super::tree::{Part, Word};

/// The most words one word becomes. Of a longer row of numbers or letters the rest is dropped, as it is more of the
/// same.
const MAX_WORDS: usize = 4_096;
const MAX_RANGE: usize = 256;

/// How deep braces are followed.
const MAX_DEPTH: usize = 8;

/// The longest word whose braces are looked at.
const MAX_LENGTH: usize = 4096;

#[derive(Clone, Copy)]
struct Atom {
    c: char,
    from: usize,
    active: bool,
}

/// Every alternative of a word; nothing when there are too many.
pub(super) fn expand(chunks: Vec<Chunk>) -> Option<Vec<Vec<Chunk>>> {
    if chunks.iter().map(|chunk| chunk.text.len()).sum::<usize>() > MAX_LENGTH {
        let expands = |chunk: &Chunk| {
            let active = !chunk.quoted && !chunk.splits;
            active && chunk.text.contains('{') && chunk.text.contains([',', '.'])
        };
        return (!chunks.iter().any(expands)).then(|| vec![chunks]);
    }
    let mut atoms = Vec::new();
    for (from, chunk) in chunks.iter().enumerate() {
        let active = !chunk.quoted && !chunk.splits;
        atoms.extend(chunk.text.chars().map(|c| Atom { c, from, active }));
    }
    let words = alternatives(&atoms, 0)?;
    if words.len() == 1 {
        return Some(vec![chunks]);
    }
    let rebuilt = words.into_iter().map(|word| rebuild(&chunks, &word));
    Some(rebuilt.collect())
}

/// Whether several words are made of one.
pub(super) fn divide(word: &Word) -> bool {
    let chunks = word.parts.iter().map(|part| match part {
        Part::Text { text, quoted } => Chunk {
            text: text.clone(),
            quoted: *quoted,
            ..Chunk::default()
        },
        _ => Chunk {
            quoted: true,
            ..Chunk::default()
        },
    });
    expand(chunks.collect()).is_none_or(|words| words.len() > 1)
}

fn rebuild(chunks: &[Chunk], atoms: &[Atom]) -> Vec<Chunk> {
    let mut built: Vec<Chunk> = Vec::new();
    let mut last = None;
    for atom in atoms {
        if last != Some(atom.from) {
            let like = chunks.get(atom.from).cloned().unwrap_or_default();
            built.push(Chunk {
                text: String::new(),
                ..like
            });
            last = Some(atom.from);
        }
        if let Some(chunk) = built.last_mut() {
            chunk.text.push(atom.c);
        }
    }
    built
}

fn alternatives(atoms: &[Atom], depth: usize) -> Option<Vec<Vec<Atom>>> {
    let Some((open, close, commas)) = group(atoms) else {
        return Some(vec![atoms.to_vec()]);
    };
    if depth == MAX_DEPTH {
        return None;
    }
    let before = atoms.get(..open).unwrap_or_default();
    let inside = atoms.get(open + 1..close).unwrap_or_default();
    let behind = alternatives(atoms.get(close + 1..).unwrap_or_default(), depth + 1)?;
    let mut choices = Vec::new();
    if commas.is_empty() {
        choices = range(inside);
    } else {
        let mut start = open + 1;
        for end in commas.into_iter().chain([close]) {
            let piece = atoms.get(start..end).unwrap_or_default();
            choices.extend(alternatives(piece, depth + 1)?);
            start = end + 1;
        }
    }
    let mut words = Vec::new();
    for choice in &choices {
        for rest in &behind {
            if words.len() == MAX_WORDS {
                return None;
            }
            words.push([before, choice, rest].concat());
        }
    }
    Some(words)
}

/// The first group that expands: where it opens and closes, and its commas.
fn group(atoms: &[Atom]) -> Option<(usize, usize, Vec<usize>)> {
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut found: Option<(usize, usize, Vec<usize>)> = None;
    for (at, atom) in atoms.iter().enumerate().filter(|(_, atom)| atom.active) {
        match atom.c {
            '{' => open.push((at, Vec::new())),
            ',' => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            '}' => {
                let Some((start, commas)) = open.pop() else {
                    continue;
                };
                let inside = atoms.get(start + 1..at).unwrap_or_default();
                let expands = !commas.is_empty() || !range(inside).is_empty();
                let earlier = found.as_ref().is_none_or(|(first, _, _)| start < *first);
                if expands && earlier {
                    found = Some((start, at, commas));
                }
                if found.is_some() && open.is_empty() {
                    break;
                }
            }
            _ => {}
        }
    }
    found
}

/// The words of `1..3` or `a..c`; empty if it is neither.
fn range(inside: &[Atom]) -> Vec<Vec<Atom>> {
    let text: String = inside.iter().map(|atom| atom.c).collect();
    let Some(first) = inside.first() else {
        return Vec::new();
    };
    let mut ends = text.split("..");
    let (Some(low), Some(high)) = (ends.next(), ends.next()) else {
        return Vec::new();
    };
    let single = |text: &str| {
        let mut all = text.chars();
        all.next().filter(|_| all.next().is_none())
    };
    let words: Vec<String> = match (low.parse::<i64>(), high.parse::<i64>()) {
        (Ok(low), Ok(high)) => {
            let (from, to) = (low.min(high), low.max(high));
            (from..=to).take(MAX_RANGE).map(|n| n.to_string()).collect()
        }
        _ => match (single(low), single(high)) {
            (Some(low), Some(high)) => (low.min(high)..=low.max(high))
                .take(MAX_RANGE)
                .map(String::from)
                .collect(),
            _ => Vec::new(),
        },
    };
    let atoms = |word: String| word.chars().map(|c| Atom { c, ..*first }).collect();
    words.into_iter().map(atoms).collect()
}
