//! What models turned out to want.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::caller::Caller;
use crate::failover::Fix;
use crate::route::Route;

/// How long helper tasks leave a provider alone that wants to be paid first.
const UNWELL: Duration = Duration::from_secs(600);

/// Changes that a model turned out to need, by provider and model, and providers that cannot answer now.
#[derive(Clone, Default)]
pub struct Learned(Arc<Mutex<Lessons>>);

#[derive(Default)]
struct Lessons {
    fixes: HashMap<(String, String), Vec<Fix>>,
    /// Until when a provider is better left alone.
    unwell: HashMap<String, Timestamp>,
}

impl Learned {
    pub(crate) fn of(&self, route: &Route) -> Vec<Fix> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (route.provider.clone(), route.model.clone());
        known.fixes.get(&key).cloned().unwrap_or_default()
    }

    /// Keeps what is a property of the model, not of one request.
    pub(crate) fn keep(&self, route: &Route, fix: Fix) {
        let lasting = matches!(
            fix,
            Fix::OmitTools
                | Fix::SwapMaxTokensKey
                | Fix::OmitTemperature
                | Fix::StripToolImages
                | Fix::StripSchemaPatterns
                | Fix::DropLongContextBeta
                | Fix::DropBeta(_)
                | Fix::DropBetas
                | Fix::OmitEncryptedReasoning
                | Fix::OmitReasoning
                | Fix::OmitSummaries
        );
        if lasting {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (route.provider.clone(), route.model.clone());
            let fixes = known.fixes.entry(key).or_default();
            // Several calls may learn the same at once.
            if !fixes.contains(&fix) {
                fixes.push(fix);
            }
        }
    }

    /// A provider wants to be paid before it answers again.
    pub(crate) fn unwell(&self, provider: &str, now: Timestamp) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let until = now.checked_add(UNWELL).unwrap_or(now);
        known.unwell.insert(provider.to_owned(), until);
    }

    /// A provider has answered.
    pub(crate) fn well(&self, provider: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.unwell.remove(provider);
    }

    /// The same routes, those last whose provider cannot answer now. None is left out: a call that may
    /// fail is better than none.
    fn by_health(&self, routes: Vec<Arc<Route>>, now: Timestamp) -> Vec<Arc<Route>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_well = |route: &Arc<Route>| {
            let until = known.unwell.get(&route.provider);
            until.is_none_or(|until| *until <= now)
        };
        let (mut well, unwell): (Vec<_>, Vec<_>) = routes.into_iter().partition(is_well);
        well.extend(unwell);
        well
    }
}

impl Caller {
    /// The routes of a helper task in the order they are worth trying: providers that want to be paid
    /// first come last for ten minutes.
    pub fn by_health(&self, routes: Vec<Arc<Route>>) -> Vec<Arc<Route>> {
        self.learned.by_health(routes, self.transport.clock.now())
    }
}
