//! A model that is named on the command line to be written into the settings.

use hermes_llm::Route;
use hermes_llm::resolve::{self, Flags, Request, ResolveError};

use crate::complaint::Outcome;
use crate::models::{Chosen, Models};

/// Stands in for a key that is not there yet, to find out the rest of the route.
const LATER: &str = "a-key-that-comes-later";

/// What is asked for.
pub(super) struct Wish {
    pub(super) model: String,
    pub(super) provider: Option<String>,
    pub(super) base_url: Option<String>,
    /// A key that comes with it, to be kept.
    pub(super) api_key: Option<String>,
    pub(super) key_env: Option<String>,
}

/// Who serves it, as settings call them.
pub(super) struct Found {
    /// What routes call the provider.
    pub(super) id: String,
    pub(super) provider: String,
    pub(super) model: String,
    /// The address of the API; empty for a model inside the program.
    pub(super) address: String,
    /// The key or login that is still missing.
    pub(super) lack: Option<ResolveError>,
}

impl Wish {
    /// Finds out who serves the model; a key may still be missing, everything else must be right.
    pub(super) fn find(&self, models: &Models) -> Outcome<Found> {
        let chosen = Chosen::default();
        let request = |api_key| Request {
            flags: Flags {
                model: Some(&self.model),
                provider: self.provider.as_deref(),
                base_url: self.base_url.as_deref(),
                api_key,
            },
            ..models.request(&chosen)
        };
        let own = self.key_env.as_deref();
        let own = own.and_then(|name| models.loaded.environment.filled_named(name));
        let own = self.api_key.as_deref().or(own);
        let (resolved, lack) = match resolve::resolve(&request(own)) {
            Ok(resolved) => (resolved, None),
            Err(error @ (ResolveError::MissingKey { .. } | ResolveError::MissingLogin { .. })) => {
                (resolve::resolve(&request(Some(LATER)))?, Some(error))
            }
            Err(error) => return Err(error.into()),
        };
        let id = resolved.route.provider.clone();
        Ok(Found {
            provider: self.place(models, &resolved.route)?.unwrap_or(id.clone()),
            id,
            address: resolved.route.address_text(),
            model: resolved.route.model,
            lack,
        })
    }

    /// A server on this machine that goes by a name of its own, such as `ollama`: that name has the
    /// address, the profile behind it has none.
    fn place(&self, models: &Models, route: &Route) -> Outcome<Option<String>> {
        if self.base_url.is_some() {
            return Ok(None);
        }
        let profile = models.profiles.get(&route.provider);
        let Some(profile) = profile.map_err(ResolveError::from)? else {
            return Ok(None);
        };
        let address = route.address_text();
        let mut places = profile.places.iter();
        let place = places.find(|(_, url)| url.trim_end_matches('/') == address);
        Ok(place.map(|(name, _)| name.clone()))
    }
}
