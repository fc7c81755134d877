//! The course a program begins with. Its servers are asked about it when somebody first needs it: a prompt
//! waits for no network.

use std::sync::{Arc, OnceLock};

use hermes_llm::resolve::ResolveError;
use hermes_llm::{Course, Route};
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

use super::{Chosen, Found, Models};

/// The course, and what its servers made of it.
#[derive(Default)]
pub(super) struct Begun(OnceLock<Beginning>);

struct Beginning {
    chosen: Chosen,
    course: Course,
    /// Asked once, however many sessions begin with it.
    measured: OnceCell<Course>,
}

impl Models {
    /// The routes of the conversations this program begins with, as far as that is known without asking anybody.
    /// Only a server whose model nobody names is asked at once: without one there is nothing to begin with.
    pub(crate) fn begin(&self, chosen: Chosen, runtime: &Runtime) -> Result<Found, ResolveError> {
        let (chosen, found) = match self.course(&chosen) {
            Err(ResolveError::NoModel { .. }) => {
                let (chosen, _) = runtime.block_on(self.found_route(&chosen))?;
                let found = self.course(&chosen)?;
                (chosen, found)
            }
            found => (chosen, found?),
        };
        self.begun.0.get_or_init(|| Beginning {
            chosen,
            course: found.course.clone(),
            measured: OnceCell::new(),
        });
        Ok(found)
    }

    /// The course this program began with, after its servers were asked. Nothing for any other: those were asked
    /// about when they were chosen.
    pub(super) async fn measured_beginning(&self, course: &Course) -> Option<Course> {
        let begun = self.begun.0.get()?;
        if !Arc::ptr_eq(course.preferred(), begun.course.preferred()) {
            return None;
        }
        let measuring = async || {
            let progress = |line: &str| self.listener.say(line);
            let reach = self.loading(&progress);
            match self.measured_course(&begun.chosen, reach).await {
                Ok(Found { course, notes }) => {
                    self.listener.note(&notes);
                    course
                }
                // The same settings have led to a course before.
                Err(_) => begun.course.clone(),
            }
        };
        Some(begun.measured.get_or_init(measuring).await.clone())
    }

    /// A route that may be the one this program began with, after its server was asked.
    pub(crate) async fn asked(&self, route: &Arc<Route>) -> Arc<Route> {
        let course = Course::new(route.clone(), []);
        match self.measured_beginning(&course).await {
            Some(course) => course.preferred().clone(),
            None => route.clone(),
        }
    }

    /// A route as its server was last seen, without asking it.
    pub(crate) fn last_seen(&self, route: Arc<Route>) -> Arc<Route> {
        let measured = self.begun.0.get().and_then(|begun| begun.measured.get());
        let known = measured.and_then(|course| {
            let mut routes = course.routes().iter();
            routes.find(|known| is_like(known, &route)).cloned()
        });
        known.unwrap_or(route)
    }
}

fn is_like(one: &Route, other: &Route) -> bool {
    let names = |route: &Route| (route.label(), route.address_text());
    names(one) == names(other)
}
