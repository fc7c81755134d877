//! A session that is taken up again.

use std::path::{Path, PathBuf};

use hermes_core::SessionId;

use super::super::house::House;
use super::super::recap::{self, Recap};
use super::super::waiting::{Waited, Waiting};
use super::still_waiting;
use crate::complaint::Outcome;

/// What there was before the first word.
pub(super) struct Earlier {
    pub(super) directory: PathBuf,
    /// What was said, when something was.
    pub(super) recap: Option<Recap>,
    /// What waited.
    pub(super) waited: Vec<Waited>,
    /// What the user should know about it.
    pub(super) notes: Vec<String>,
}

impl Earlier {
    /// Of a session that is new.
    pub(super) fn none(directory: PathBuf) -> Self {
        Self {
            directory,
            recap: None,
            waited: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Takes a session up again, and what waited in it where that is wanted.
    pub(super) async fn of(
        house: &House,
        id: &SessionId,
        waiting: Option<&Waiting>,
    ) -> Outcome<Self> {
        let place = taken_up(house, id).await?;
        let recap = recap::of(house, id).await?;
        let waited = match waiting {
            Some(waiting) => waiting.bring_back(house, id).await?,
            None => Vec::new(),
        };
        let going_on = format!("Going on with {id}.");
        let notes = place.note.into_iter().chain([going_on]);
        Ok(Self {
            directory: place.directory,
            recap: Some(recap),
            notes: notes.chain(still_waiting(waited.len())).collect(),
            waited,
        })
    }
}

/// Where a session goes on.
pub(super) struct Place {
    pub(super) directory: PathBuf,
    /// What the user should know about it.
    pub(super) note: Option<String>,
}

/// Takes a session up again, where it was.
pub(super) async fn taken_up(house: &House, id: &SessionId) -> Outcome<Place> {
    house.store.reopen_session(id).await?;
    let here = house.directory.clone();
    let row = house.store.session(id).await?;
    let recorded = row.and_then(|row| row.cwd).map(PathBuf::from);
    let Some(recorded) = recorded.filter(|place| !house.stays_here && *place != here) else {
        return Ok(Place {
            directory: here,
            note: None,
        });
    };
    Ok(match Path::is_dir(&recorded) {
        true => Place {
            note: Some(format!("Working in {} again.", recorded.display())),
            directory: recorded,
        },
        false => Place {
            note: Some(format!(
                "{} is gone; working in {}.",
                recorded.display(),
                here.display()
            )),
            directory: here,
        },
    })
}
