//! A model that is named on the command line to be written into the settings.

use hermes_config::Config;
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
        Ok(Found {
            provider: resolved.route.provider.clone(),
            address: resolved.route.address_text(),
            model: resolved.route.model,
            lack,
        })
    }
}

/// Refuses settings that lead nowhere. A key may still be missing.
pub(super) fn check(config: &Config, models: &Models) -> Outcome {
    let chosen = Chosen::default();
    let request = Request {
        config,
        flags: Flags {
            api_key: Some(LATER),
            ..Flags::default()
        },
        ..models.request(&chosen)
    };
    resolve::resolve(&request)?;
    Ok(())
}
