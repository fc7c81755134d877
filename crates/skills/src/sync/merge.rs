//! Carrying an owner's changes of a skill over to a newer one: file by file, and within a text line by line. Where
//! both changed the same place nothing is guessed.

use std::collections::{BTreeMap, BTreeSet};

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::base::Base;

/// Paths and bytes.
type Files = BTreeMap<String, Vec<u8>>;

/// What has to be done to the owner's directory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Merge {
    pub(super) write: Files,
    pub(super) remove: BTreeSet<String>,
}

/// How both sets of changes go together; nothing when they do not.
pub(super) fn merge(base: &Base, ours: &Files, theirs: &Files) -> Option<Merge> {
    let mut merge = Merge::default();
    let paths = ours.keys().chain(theirs.keys());
    for path in paths.collect::<BTreeSet<_>>() {
        let (our, their) = (ours.get(path), theirs.get(path));
        if our == their {
            continue;
        }
        let was = match base.files.get(path) {
            None => None,
            Some(Some(text)) => Some(text.as_bytes()),
            // It is no text, so nobody can say who changed what of it.
            Some(None) => return None,
        };
        if our.map(Vec::as_slice) == was {
            match their {
                Some(bytes) => {
                    merge.write.insert(path.clone(), bytes.clone());
                }
                None => {
                    merge.remove.insert(path.clone());
                }
            }
        } else if their.map(Vec::as_slice) != was {
            let text = |bytes: Option<&[u8]>| String::from_utf8(bytes?.to_vec()).ok();
            let (our, their) = (our.map(Vec::as_slice), their.map(Vec::as_slice));
            let merged = texts(&text(was)?, &text(our)?, &text(their)?)?;
            merge.write.insert(path.clone(), merged.into_bytes());
        }
    }
    Some(merge)
}

/// Lines of the base, and what stands in their place.
#[derive(Debug, PartialEq, Eq)]
struct Change<'t> {
    from: usize,
    to: usize,
    lines: Vec<&'t str>,
}

impl Change<'_> {
    /// Changes side by side may mean each other, so they count as the same place.
    fn touches(&self, other: &Change<'_>) -> bool {
        self.from <= other.to && other.from <= self.to
    }
}

fn texts(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let lines: Vec<&str> = base.split_inclusive('\n').collect();
    let mut ours = changes(&lines, ours).into_iter().peekable();
    let mut theirs = changes(&lines, theirs).into_iter().peekable();
    let (mut merged, mut at) = (String::new(), 0);
    loop {
        let next = match (ours.peek(), theirs.peek()) {
            (None, None) => break,
            (Some(our), Some(their)) if our == their => {
                theirs.next();
                ours.next()
            }
            (Some(our), Some(their)) if our.touches(their) => return None,
            (Some(our), Some(their)) if our.from < their.from => ours.next(),
            (Some(_), None) => ours.next(),
            (_, Some(_)) => theirs.next(),
        };
        let Some(change) = next else { break };
        merged.extend(lines.get(at..change.from)?.iter().copied());
        merged.extend(change.lines);
        at = change.to;
    }
    merged.extend(lines.get(at..)?.iter().copied());
    Some(merged)
}

fn changes<'t>(base: &[&'t str], new: &'t str) -> Vec<Change<'t>> {
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut changes: Vec<Change<'t>> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, base, &new) {
        if op.tag() == DiffTag::Equal {
            continue;
        }
        let (old, put) = (op.old_range(), op.new_range());
        let lines = new.get(put).unwrap_or_default().iter().copied();
        match changes.last_mut() {
            // What goes and what comes in its place may be told apart.
            Some(last) if last.to == old.start => {
                last.to = old.end;
                last.lines.extend(lines);
            }
            _ => changes.push(Change {
                from: old.start,
                to: old.end,
                lines: lines.collect(),
            }),
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "one\ntwo\nthree\nfour\nfive\n";

    #[track_caller]
    fn check(ours: &str, theirs: &str, merged: Option<&str>) {
        assert_eq!(texts(BASE, ours, theirs).as_deref(), merged);
        assert_eq!(texts(BASE, theirs, ours).as_deref(), merged, "either way");
    }

    // LN-34
    #[test]
    fn changes_of_different_places_go_together() {
        let ours = "one\nTWO\nthree\nfour\nfive\n";
        check(ours, BASE, Some(ours));
        check(
            ours,
            "one\ntwo\nthree\nfour\nFIVE\nsix\n",
            Some("one\nTWO\nthree\nfour\nFIVE\nsix\n"),
        );
        check(
            "zero\none\ntwo\nthree\nfour\nfive\n",
            "one\ntwo\nthree\nfive\n",
            Some("zero\none\ntwo\nthree\nfive\n"),
        );
        check(ours, ours, Some(ours));
    }

    // LN-34
    #[test]
    fn changes_of_the_same_place_are_nobodys_guess() {
        let ours = "one\nTWO\nthree\nfour\nfive\n";
        check(ours, "one\n2\nthree\nfour\nfive\n", None);
        check(ours, "one\ntwo\n3\nfour\nfive\n", None);
        check(
            "one\ntwo\nthree\nfour\nfive\nsix\n",
            "one\ntwo\nthree\nfour\nfive\n6\n",
            None,
        );
    }

    // LN-34
    #[test]
    fn files_come_go_and_stay_by_who_touched_them() {
        let files = |list: &[(&str, &str)]| -> Files {
            let list = list.iter();
            list.map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
                .collect()
        };
        let base = Base::of_texts(&[
            ("kept", "a\n"),
            ("newer", "a\n"),
            ("gone", "a\n"),
            ("dropped", "a\n"),
        ]);
        let ours = files(&[
            ("kept", "mine\n"),
            ("newer", "a\n"),
            ("dropped", "a\n"),
            ("added", "mine\n"),
        ]);
        let theirs = files(&[
            ("kept", "a\n"),
            ("newer", "b\n"),
            ("gone", "a\n"),
            ("came", "b\n"),
        ]);
        let merge = merge(&base, &ours, &theirs).unwrap();
        assert_eq!(merge.write, files(&[("newer", "b\n"), ("came", "b\n")]));
        assert_eq!(merge.remove, BTreeSet::from(["dropped".to_owned()]));
        // What one removed and the other changed is a question for the owner.
        let theirs = files(&[("gone", "b\n")]);
        assert_eq!(super::merge(&base, &ours, &theirs), None);
    }
}
