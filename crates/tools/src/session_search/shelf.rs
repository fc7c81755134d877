//! The store that is meant: this profile's own, or another's, which is only looked at.

use std::sync::Arc;

use hermes_core::{Clock, SessionId, ToolContext, ToolError};
use hermes_store::{Options, Store, StoreError, Visit};
use jiff::tz::TimeZone;
use serde_json::{Value as Json, json};

use super::{Neighbour, SearchServices, told};
use crate::arguments::refuse;

/// Profiles that are looked through for an id nobody knows.
const MOST_NEIGHBOURS: usize = 64;

/// Conversations that are looked at.
pub(super) struct Shelf {
    place: Place,
    /// The conversation whose model sees part of this already.
    seen_by: Option<SessionId>,
    clock: Arc<dyn Clock>,
}

enum Place {
    Own(Store),
    Other { profile: String, visit: Visit },
}

impl Shelf {
    /// Opens what is meant; another profile's database must be there.
    pub(super) async fn open(
        services: &Arc<SearchServices>,
        profile: Option<&str>,
        context: &ToolContext,
    ) -> Result<Self, ToolError> {
        let Some(name) = profile.filter(|name| *name != services.profile) else {
            return Ok(Self {
                place: Place::Own(services.store.clone()),
                seen_by: Some(context.session.clone()),
                clock: services.clock.clone(),
            });
        };
        let known = neighbours(services).await;
        let Some(neighbour) = known.iter().find(|one| one.name == name) else {
            let names: Vec<_> = known.iter().map(|one| one.name.as_str()).collect();
            let there = match names.is_empty() {
                true => "there is no other".to_owned(),
                false => format!("there are {}", names.join(", ")),
            };
            return Err(refuse(format!("there is no profile {name}; {there}")));
        };
        let visit = visit(services, neighbour).await;
        Ok(Self::of(
            services,
            neighbour,
            visit.map_err(|error| match error {
                StoreError::NoDatabase { .. } => {
                    refuse(format!("profile {name} has no conversations yet"))
                }
                other => told(&other),
            })?,
        ))
    }

    fn of(services: &SearchServices, neighbour: &Neighbour, visit: Visit) -> Self {
        Self {
            place: Place::Other {
                profile: neighbour.name.clone(),
                visit,
            },
            seen_by: None,
            clock: services.clock.clone(),
        }
    }

    /// The other profile that has a conversation of this very id. Those that cannot be read are passed over.
    pub(super) async fn holding(services: &Arc<SearchServices>, session: &str) -> Option<Self> {
        let id = SessionId::try_from(session.to_owned()).ok()?;
        for neighbour in neighbours(services).await.iter().take(MOST_NEIGHBOURS) {
            let Ok(visit) = visit(services, neighbour).await else {
                continue;
            };
            if let Ok(Some(_)) = visit.store().session(&id).await {
                return Some(Self::of(services, neighbour, visit));
            }
        }
        None
    }

    pub(super) fn store(&self) -> &Store {
        match &self.place {
            Place::Own(store) => store,
            Place::Other { visit, .. } => visit.store(),
        }
    }

    /// The time zone times are told in.
    pub(super) fn zone(&self) -> &TimeZone {
        self.clock.zone()
    }

    /// The conversation whose model sees part of this already.
    pub(super) fn seen_by(&self) -> Option<&SessionId> {
        self.seen_by.as_ref()
    }

    /// Whether all that was read belongs together.
    pub(super) fn undisturbed(&self) -> bool {
        match &self.place {
            Place::Own(_) => true,
            Place::Other { visit, .. } => visit.undisturbed(),
        }
    }

    /// Says in an answer which profile it is about, when it is another's.
    pub(super) fn signed(&self, mut answer: Json) -> Json {
        if let (Place::Other { profile, .. }, Json::Object(fields)) = (&self.place, &mut answer) {
            fields.insert("profile".to_owned(), json!(profile));
        }
        answer
    }
}

async fn neighbours(services: &Arc<SearchServices>) -> Vec<Neighbour> {
    let find = services.neighbours.clone();
    let found = tokio::task::spawn_blocking(move || find()).await;
    found.unwrap_or_default()
}

async fn visit(services: &SearchServices, neighbour: &Neighbour) -> Result<Visit, StoreError> {
    let options = Options {
        path: neighbour.database.clone(),
        blobs: neighbour.blobs.clone(),
        clock: services.clock.clone(),
        redactor: services.redactor.clone(),
        vfs: None,
    };
    let opened = tokio::task::spawn_blocking(move || Visit::open(options)).await;
    opened.unwrap_or(Err(StoreError::Closed))
}
