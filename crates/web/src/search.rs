//! Searching the web: one shape of answer, whoever is asked.

mod duckduckgo;
mod shapes;

use hermes_http::HttpClient;
use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::Account;
use crate::ask::{AskError, Asker};
use crate::service::Service;

/// Most results that services with a limit of their own give.
const MOST_OF_SOME: usize = 20;
/// What thinks about a search at X.
const XAI_MODEL: &str = "grok-build-0.1";

/// One result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// What the page calls itself.
    pub title: String,
    /// Where it is.
    pub url: String,
    /// Some words from it.
    pub description: String,
    /// Its place among the results, from one.
    pub position: usize,
}

/// Asks an account for results, best first, at most `limit` of them.
pub async fn search(
    http: &HttpClient,
    account: &Account,
    query: &str,
    limit: usize,
    cancel: &CancellationToken,
) -> Result<Vec<Hit>, AskError> {
    let asker = Asker {
        http,
        account,
        cancel,
    };
    let some = limit.min(MOST_OF_SOME);
    let found = match account.service() {
        Service::Tavily => {
            let body = json!({
                "query": query, "max_results": some,
                "include_raw_content": false, "include_images": false,
            });
            shapes::tavily(&asker.post("search", &body).await?)
        }
        Service::Exa => {
            let body =
                json!({"query": query, "numResults": limit, "contents": {"highlights": true}});
            shapes::exa(&asker.post("search", &body).await?)
        }
        Service::Parallel => {
            let mode = account.mode.as_deref().unwrap_or("agentic");
            let body = json!({
                "objective": query, "search_queries": [query], "mode": mode, "max_results": some,
            });
            shapes::parallel(&asker.post("v1beta/search", &body).await?)
        }
        Service::Firecrawl | Service::Gateway => {
            let body = json!({"query": query, "limit": limit});
            shapes::firecrawl(&asker.post("v2/search", &body).await?)
        }
        Service::SearXng => {
            let asked = [("q", query), ("format", "json"), ("pageno", "1")];
            shapes::searxng(&asker.get("search", &asked).await?)
        }
        Service::Brave => {
            let count = some.to_string();
            let asked = [("q", query), ("count", count.as_str())];
            shapes::brave(&asker.get("res/v1/web/search", &asked).await?)
        }
        Service::DuckDuckGo => {
            let page = asker.text("html/", &[("q", query)]).await?;
            duckduckgo::results(&page)
        }
        Service::Xai => {
            let body = json!({
                "model": XAI_MODEL, "input": query, "tools": [{"type": "web_search"}],
            });
            shapes::xai(&asker.post("responses", &body).await?)
        }
        Service::Direct => None,
    };
    let found = found.ok_or_else(|| asker.strange())?;
    Ok(numbered(found, limit))
}

/// A result before it has its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Found {
    title: String,
    url: String,
    description: String,
}

fn numbered(found: Vec<Found>, limit: usize) -> Vec<Hit> {
    let usable = found.into_iter().filter(|one| !one.url.is_empty());
    let numbered = usable.take(limit).enumerate();
    numbered
        .map(|(at, one)| Hit {
            title: one.title,
            url: one.url,
            description: one.description,
            position: at + 1,
        })
        .collect()
}
