//! `web_extract`: pages as text.

use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use futures_util::future::join_all;
use hermes_core::{
    Availability, Beside, Effect, Handling, Tool, ToolContext, ToolError, ToolOutcome, ToolSpec,
};
use hermes_web::Account;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{WebReach, WebServices, kept};
use crate::arguments::{read, text};
use crate::files::refused;

/// Pages of one call.
const MOST_PAGES: usize = 5;
/// Characters of a page: as few as may be asked for, and as many.
const FEWEST: usize = 2_000;
const MOST: usize = 500_000;
const DEADLINE: Duration = Duration::from_secs(300);

/// Reads pages.
pub(crate) struct WebExtract {
    spec: ToolSpec,
    services: Arc<WebServices>,
}

#[derive(Deserialize)]
struct Arguments {
    urls: Addresses,
    #[serde(default)]
    char_limit: Option<usize>,
}

/// Models write one address without a list around it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Addresses {
    One(String),
    Several(Vec<String>),
}

impl WebExtract {
    pub(crate) fn new(services: Arc<WebServices>) -> Self {
        Self {
            spec: Self::described(),
            services,
        }
    }

    pub(crate) fn described() -> ToolSpec {
        ToolSpec {
            name: "web_extract".to_owned(),
            description: "Read up to five web pages as text. Of a long page you get the beginning and the end, and the \
                          name of a file with all of it."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "urls": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_PAGES},
                    "char_limit": {
                        "type": "integer", "minimum": FEWEST,
                        "description": "Most characters of each page.",
                    },
                },
                "required": ["urls"],
            }),
            effect: Effect::ReadOnly,
        }
    }

    async fn extract(&self, asked: Arguments, context: &ToolContext) -> ToolOutcome {
        let mut urls = match asked.urls {
            Addresses::One(url) => vec![url],
            Addresses::Several(urls) => urls,
        };
        let mut seen = std::collections::HashSet::new();
        urls.retain(|url| !url.trim().is_empty() && seen.insert(url.clone()));
        if urls.is_empty() || urls.len() > MOST_PAGES {
            return Err(refused(format!("urls must name 1 to {MOST_PAGES} pages")));
        }
        let limit = asked.char_limit.unwrap_or(self.services.page_limit);
        let limit = match asked.char_limit {
            Some(_) => limit.clamp(FEWEST, MOST),
            None => limit.min(MOST),
        };
        let account = self.services.extract.as_ref();
        let account = account.map_err(|error| refused(error.to_string()))?;
        let reach = (self.services.reach)().await.map_err(refused)?;
        let pages = urls
            .iter()
            .map(|url| self.page(&reach, account, url.trim(), limit, context));
        let results = join_all(pages).await;
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        Ok(text(json!({ "results": results }).to_string()))
    }

    /// One page, or why it was not read.
    async fn page(
        &self,
        reach: &WebReach,
        account: &Account,
        url: &str,
        limit: usize,
        context: &ToolContext,
    ) -> Json {
        match reach.extractor.read(account, url, &context.cancel).await {
            Ok(page) => {
                let content = kept::cut(&page, limit, &self.services.kept).await;
                json!({"url": page.url, "title": page.title, "content": content, "error": null})
            }
            Err(error) => {
                let mut result =
                    json!({"url": url, "title": "", "content": "", "error": error.to_string()});
                if error.is_blocked()
                    && let Some(fields) = result.as_object_mut()
                {
                    fields.insert("blocked_by_policy".to_owned(), json!(true));
                }
                result
            }
        }
    }
}

impl Tool for WebExtract {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn availability(&self) -> Availability {
        match &self.services.extract {
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
        Box::pin(async move { self.extract(read(arguments)?, context).await })
    }
}
