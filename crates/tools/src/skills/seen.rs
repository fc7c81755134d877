//! Which session has read which skill.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hermes_core::SessionId;

/// Readings that are remembered; the oldest are forgotten first.
const MOST: usize = 10_000;

/// What was read, by directory: a name may be that of several, and one may have several names.
#[derive(Debug, Default)]
pub struct Seen(Mutex<Readings>);

#[derive(Debug, Default)]
struct Readings {
    all: HashSet<(SessionId, PathBuf)>,
    order: VecDeque<(SessionId, PathBuf)>,
}

impl Seen {
    pub(super) fn add(&self, session: &SessionId, directory: &Path) {
        let mut readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let one = (session.clone(), directory.to_owned());
        if readings.all.insert(one.clone()) {
            readings.order.push_back(one);
        }
        if readings.order.len() > MOST
            && let Some(oldest) = readings.order.pop_front()
        {
            readings.all.remove(&oldest);
        }
    }

    pub(super) fn has(&self, session: &SessionId, directory: &Path) -> bool {
        let readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        readings
            .all
            .contains(&(session.clone(), directory.to_owned()))
    }
}
