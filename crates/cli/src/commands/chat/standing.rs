//! Which route a conversation is on, as its events tell.

use std::sync::Arc;

use hermes_llm::{Course, Route};

use crate::complaint::Outcome;
use crate::models::{Chosen, Models};
use crate::output::{Output, one_line};
use crate::table::Table;

/// The route in use.
pub(super) struct RouteInUse {
    /// What the conversation began with: the preferred route and its fallbacks.
    routes: Vec<Arc<Route>>,
    pub(super) provider: String,
    pub(super) model: String,
    /// Why it is not the preferred one, when something changed it.
    changed: Option<String>,
}

impl RouteInUse {
    pub(super) fn new(course: &Course) -> Self {
        Self {
            routes: course.routes().to_vec(),
            provider: course.route().provider.clone(),
            model: course.route().model.clone(),
            changed: None,
        }
    }

    /// Another route answers from here on.
    pub(super) fn change(&mut self, provider: String, model: String, reason: String) {
        let first = self.routes.first();
        let is_preferred =
            first.is_some_and(|route| route.provider == provider && route.model == model);
        self.changed = (!is_preferred).then_some(reason);
        (self.provider, self.model) = (provider, model);
    }

    /// One line: who answers, and why if it is not who should.
    pub(super) fn line(&self, models: &Models) -> String {
        let mut line = format!("{} from {}", self.model, self.provider);
        if let Some(label) = models.keys.in_use(&self.provider) {
            line = format!("{line}, with {label}");
        }
        match &self.changed {
            Some(why) => format!("{line}; {}", one_line(why)),
            None => line,
        }
    }

    /// Tokens the model in use reads, when that is known.
    pub(super) fn window(&self, models: &Models) -> Option<u64> {
        self.route(models)
            .map(|route| u64::from(route.limits.window))
    }

    /// The service tier that is asked for, where one is.
    pub(super) fn service_tier(&self) -> Option<&str> {
        let mut known = self.routes.iter();
        let known =
            known.find(|route| route.provider == self.provider && route.model == self.model);
        known.and_then(|route| route.service_tier())
    }

    /// Everything about it, and what else there is to say of the session.
    pub(super) fn page(
        &self,
        session: &str,
        more: &[(&str, String)],
        models: &Models,
        output: &mut Output,
    ) -> Outcome {
        let mut table = Table::new(["PART", "VALUE"]);
        let mut row = |part: &str, value: String| table.row([part.to_owned(), value]);
        row("session", session.to_owned());
        for (part, value) in more {
            row(part, one_line(value));
        }
        row("provider", self.provider.clone());
        row("model", self.model.clone());
        if let Some(route) = self.route(models) {
            row("address", route.address_text());
            let limits = route.limits;
            row(
                "window",
                format!("{} tokens, {}", limits.window, limits.window_from),
            );
        }
        let credential = models.keys.in_use(&self.provider);
        row(
            "credential",
            credential.unwrap_or_else(|| "none used yet".to_owned()),
        );
        if let (Some(why), Some(first)) = (&self.changed, self.routes.first()) {
            row("instead of", first.label());
            row("because", one_line(why));
        }
        let others = self.routes.iter().skip(1);
        let fallbacks: Vec<String> = others.map(|route| route.label()).collect();
        if !fallbacks.is_empty() {
            row("fallbacks", fallbacks.join(", "));
        }
        Ok(table.print(output)?)
    }

    fn route(&self, models: &Models) -> Option<Arc<Route>> {
        let mut known = self.routes.iter();
        let known =
            known.find(|route| route.provider == self.provider && route.model == self.model);
        let known = known.map(|route| models.last_seen(route.clone()));
        known.or_else(|| {
            let chosen = Chosen {
                model: Some(self.model.clone()),
                provider: Some(self.provider.clone()),
            };
            models
                .route(&chosen)
                .ok()
                .map(|found| Arc::new(found.route))
        })
    }
}
