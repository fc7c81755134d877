//! Following tool calls to their results.

use std::collections::BTreeSet;

use serde_json::Value;

use super::checker::Checker;

/// Which calls were made, and which of them wait for their result.
#[derive(Default)]
pub(super) struct Calls {
    seen: BTreeSet<String>,
    open: Vec<String>,
}

impl Calls {
    /// A call begins; its id must be new.
    pub(super) fn open(&mut self, checker: &mut Checker<'_>, place: &str, id: &Value) {
        let Some(id) = id.as_str().filter(|id| !id.is_empty()) else {
            checker.add(place, "a call needs an id");
            return;
        };
        if self.seen.insert(id.to_owned()) {
            self.open.push(id.to_owned());
        } else {
            checker.add(place, format_args!("call id {id:?} is used twice"));
        }
    }

    /// A result comes; it must answer a call that waits.
    pub(super) fn answer(&mut self, checker: &mut Checker<'_>, place: &str, id: &Value) {
        let waiting = self.open.iter().position(|open| *id == *open.as_str());
        match waiting {
            Some(index) => {
                self.open.remove(index);
            }
            None if id.as_str().is_some_and(|id| self.seen.contains(id)) => {
                checker.add(place, format_args!("call {id} has its result already"));
            }
            None => checker.add(place, format_args!("result without a call: {id}")),
        }
    }

    /// Something else comes at `place`: no call may wait any longer.
    pub(super) fn settle(&mut self, checker: &mut Checker<'_>, place: &str) {
        for id in self.open.drain(..) {
            checker.add(
                place,
                format_args!("call {id:?} has no result directly after it"),
            );
        }
    }
}
