//! Models that nobody names: a server nearby that has exactly one is asked for it.

use hermes_llm::nearby;
use hermes_llm::resolve::{ResolveError, Resolved};

use super::{Chosen, Models};

/// Leads to a server as well as any other name.
const ANY: &str = "any";

impl Models {
    /// The route of a choice, and the choice with the model in it.
    pub(super) async fn found_route(
        &self,
        chosen: &Chosen,
    ) -> Result<(Chosen, Resolved), ResolveError> {
        let unnamed = match self.route(chosen) {
            Ok(found) => return Ok((chosen.clone(), found)),
            Err(error @ ResolveError::NoModel { .. }) => error,
            Err(error) => return Err(error),
        };
        let chosen = self.only_model(chosen).await.ok_or(unnamed)?;
        let mut found = self.route(&chosen)?;
        let mut parts = found.route.why.iter_mut();
        if let Some(why) = parts.find(|why| why.part == "model") {
            why.from = "the only one the server has".to_owned();
        }
        Ok((chosen, found))
    }

    async fn only_model(&self, chosen: &Chosen) -> Option<Chosen> {
        let Resolved { route, key } = self.route(&chosen.with_model(ANY)).ok()?;
        let secret = self.met(&route, key).await;
        let only = nearby::only_model(&self.http, &route, secret.as_ref()).await?;
        Some(chosen.with_model(&only))
    }
}

impl Chosen {
    /// A model of whom was chosen, which may be a provider alone such as `custom:lab`.
    fn with_model(&self, model: &str) -> Self {
        let model = match &self.model {
            Some(alone) => format!("{}:{model}", alone.trim_end_matches(':')),
            None => model.to_owned(),
        };
        Self {
            model: Some(model),
            provider: self.provider.clone(),
        }
    }
}
