//! `web_search`: results for a question.

use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{
    Availability, Beside, Effect, Handling, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec,
};
use hermes_web::{AskError, search};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::WebServices;
use crate::arguments::{read, text};
use crate::files::{refused, refused_with};

const USUAL: usize = 5;
const MOST: usize = 100;
/// Longer questions are no questions for a search.
const LONGEST: usize = 2_000;
const DEADLINE: Duration = Duration::from_secs(120);

/// Searches the web.
pub(crate) struct WebSearch {
    spec: ToolSpec,
    services: Arc<WebServices>,
}

#[derive(Deserialize)]
struct Arguments {
    query: String,
    #[serde(default)]
    limit: Option<usize>,
}

impl WebSearch {
    pub(crate) fn new(services: Arc<WebServices>) -> Self {
        Self {
            spec: Self::described(),
            services,
        }
    }

    pub(crate) fn described() -> ToolSpec {
        ToolSpec {
            name: "web_search".to_owned(),
            description: "Search the web: titles, addresses and a few words of pages. Read a page with web_extract."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL},
                },
                "required": ["query"],
            }),
            effect: Effect::ReadOnly,
        }
    }

    async fn search(&self, asked: Arguments, context: &ToolContext) -> ToolOutcome {
        let query = asked.query.trim();
        if query.is_empty() || query.chars().count() > LONGEST {
            return Err(refused(format!(
                "query must have 1 to {LONGEST} characters"
            )));
        }
        let limit = asked.limit.unwrap_or(USUAL).clamp(1, MOST);
        let account = self.services.search.as_ref();
        let account = account.map_err(|error| failed(&error.to_string()))?;
        let reach = (self.services.reach)().await;
        let reach = reach.map_err(|error| failed(&error))?;
        match search(&reach.services, account, query, limit, &context.cancel).await {
            Ok(hits) => Ok(text(
                json!({"success": true, "data": {"web": hits}}).to_string(),
            )),
            Err(AskError::Cancelled) => Err(ToolError::Cancelled),
            Err(error) => Err(failed(&error.to_string())),
        }
    }
}

fn failed(why: &str) -> ToolError {
    refused_with(json!({"success": false, "error": why}))
}

impl Tool for WebSearch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn availability(&self) -> Availability {
        match &self.services.search {
            Ok(_) => Availability::Ready,
            Err(error) => Availability::Missing {
                reason: error.to_string(),
            },
        }
    }

    fn handling(&self) -> Handling {
        Handling {
            beside: Beside::Anything,
            deadline: DEADLINE,
            untrusted: true,
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move { self.search(read(arguments)?, context).await })
    }
}
