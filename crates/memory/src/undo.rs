//! Taking a change back, entry by entry, from a file that may have changed since.

use crate::entries::{Entry, fresh_id};

/// What taking a change back comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Back {
    pub(crate) entries: Vec<Entry>,
    /// What is there again.
    pub(crate) restored: Vec<String>,
    /// What is gone again.
    pub(crate) removed: Vec<String>,
}

/// What the change brought was changed again since; there is nothing left to put the old words in place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overtaken;

/// Takes back that `gone` went and `came` came. The entries are the file as it is now: what was done to others
/// since stays, and what is as it was before the change already is left alone.
pub(crate) fn back(now: &[Entry], gone: &[&str], came: &[&str]) -> Result<Back, Overtaken> {
    let has = |entries: &[Entry], text: &str| entries.iter().any(|entry| entry.text == text);
    let still: Vec<&str> = came.iter().copied().filter(|text| has(now, text)).collect();
    let absent: Vec<&str> = gone
        .iter()
        .copied()
        .filter(|text| !has(now, text))
        .collect();
    if !came.is_empty() && still.is_empty() && !absent.is_empty() {
        return Err(Overtaken);
    }
    let mut entries = now.to_vec();
    let mut left = absent.iter();
    for text in &still {
        let Some(at) = entries.iter().position(|entry| entry.text == *text) else {
            continue;
        };
        // Words that were replaced come back where the others stood, and under the same id.
        match (left.next(), entries.get_mut(at)) {
            (Some(old), Some(entry)) => entry.text = (*old).to_owned(),
            _ => {
                entries.remove(at);
            }
        }
    }
    for text in left {
        let id = fresh_id(text, &entries);
        let text = (*text).to_owned();
        entries.push(Entry { id, text });
    }
    let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect();
    Ok(Back {
        entries,
        restored: owned(absent),
        removed: owned(still),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::{Aside, identified};

    #[track_caller]
    fn check(now: &[&str], gone: &[&str], came: &[&str], expected: Option<&[&str]>) {
        let entries = identified(now, &Aside::default());
        let found = back(&entries, gone, came);
        let texts = found.map(|back| {
            let texts = back.entries.into_iter().map(|entry| entry.text);
            texts.collect::<Vec<_>>()
        });
        assert_eq!(
            texts.as_deref().ok(),
            expected
                .map(|texts| texts
                    .iter()
                    .map(|text| (*text).to_owned())
                    .collect::<Vec<_>>())
                .as_deref()
        );
    }

    // LN-4
    #[test]
    fn a_change_is_taken_back_whatever_happened_to_other_entries() {
        // An addition, a removal, a replacement.
        check(&["a", "new", "c"], &[], &["new"], Some(&["a", "c"]));
        check(&["a", "later"], &["b"], &[], Some(&["a", "later", "b"]));
        check(&["a", "B", "c"], &["b"], &["B"], Some(&["a", "b", "c"]));
        // It never reached the file, or was taken back by hand.
        check(&["a"], &[], &["new"], Some(&["a"]));
        check(&["a", "b"], &["b"], &[], Some(&["a", "b"]));
        check(&["a", "b"], &["b"], &["B"], Some(&["a", "b"]));
        // A batch of which part is gone since.
        check(&["x"], &["a", "b"], &["x", "y"], Some(&["a", "b"]));
        // The new words were replaced again.
        check(&["a", "BB"], &["b"], &["B"], None);
    }
}
