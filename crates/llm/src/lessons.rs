//! What models turned out to want.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::failover::Fix;
use crate::route::Route;

/// Changes that a model turned out to need, by provider and model.
#[derive(Clone, Default)]
pub struct Learned(Arc<Mutex<Lessons>>);

type Lessons = HashMap<(String, String), Vec<Fix>>;

impl Learned {
    pub(crate) fn of(&self, route: &Route) -> Vec<Fix> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (route.provider.clone(), route.model.clone());
        known.get(&key).cloned().unwrap_or_default()
    }

    /// Keeps what is a property of the model, not of one request.
    pub(crate) fn keep(&self, route: &Route, fix: Fix) {
        let lasting = matches!(
            fix,
            Fix::SwapMaxTokensKey
                | Fix::OmitTemperature
                | Fix::StripToolImages
                | Fix::StripSchemaPatterns
                | Fix::DropLongContextBeta
        );
        if lasting {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (route.provider.clone(), route.model.clone());
            known.entry(key).or_default().push(fix);
        }
    }
}
