//! What was typed into processes, which the rules need to know to judge what comes next.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Processes that are remembered; the one that came first is forgotten first.
const MOST: usize = 64;
/// Bytes that are remembered of each, the last ones.
const LONGEST: usize = 64 << 10;

/// Remembers it.
#[derive(Default)]
pub(super) struct Typing(Mutex<VecDeque<(String, String)>>);

impl Typing {
    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was typed into a process so far.
    pub(super) fn before(&self, id: &str) -> String {
        let kept = self.lock();
        let found = kept.iter().find(|(known, _)| known == id);
        found.map(|(_, text)| text.clone()).unwrap_or_default()
    }

    /// Takes down what was typed.
    pub(super) fn add(&self, id: &str, text: &str) {
        let mut kept = self.lock();
        if !kept.iter().any(|(known, _)| known == id) {
            kept.push_back((id.to_owned(), String::new()));
        }
        if kept.len() > MOST {
            kept.pop_front();
        }
        let Some((_, all)) = kept.iter_mut().find(|(known, _)| known == id) else {
            return;
        };
        all.push_str(text);
        if let Some(over) = all.len().checked_sub(LONGEST) {
            // From the beginning of a line, or half a command would be judged.
            let line = all.bytes().skip(over).position(|byte| byte == b'\n');
            let from = line.map_or(all.len(), |line| over + line + 1);
            drop(all.drain(..all.ceil_char_boundary(from)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_the_last_processes_are_kept() {
        let typing = Typing::default();
        typing.add("a", "one\n");
        typing.add("a", "two");
        assert_eq!(typing.before("a"), "one\ntwo");
        for line in 0..20_000 {
            typing.add("b", &format!("line {line}\n"));
        }
        let kept = typing.before("b");
        assert!(kept.len() <= LONGEST && kept.starts_with("line ") && kept.ends_with("19999\n"));
        for other in 0..MOST - 1 {
            typing.add(&format!("other {other}"), "x");
        }
        assert_eq!((typing.before("a"), typing.before("c")), Default::default());
        assert!(!typing.before("b").is_empty());
    }
}
