//! Reading pages: by a service, or by ourselves when there is none.

use hermes_http::HttpClient;
use hermes_secrets::RedactorHandle;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::address::bears_secret;
use crate::ask::{AskError, Asker};
use crate::page::{Page, PageError, PageReader, check, page_address};
use crate::service::Service;
use crate::{Account, markdown};

/// Reads pages for somebody who is not trusted with the choice of addresses.
#[derive(Clone)]
pub struct Extractor {
    /// For services, which the user chose.
    pub services: HttpClient,
    /// For pages, which somebody else chose.
    pub pages: PageReader,
    /// Knows what must not leave.
    pub redactor: RedactorHandle,
}

/// Why a page was not read.
#[derive(Debug, thiserror::Error)]
pub enum ExtractError {
    /// The address holds a key.
    #[error(
        "the address carries a credential, which is not handed on; use one without it, or ask the user for the page"
    )]
    Secret,
    /// The page, or the rules about addresses.
    #[error(transparent)]
    Page(#[from] PageError),
    /// The service.
    #[error(transparent)]
    Service(#[from] AskError),
    /// The service could not read it.
    #[error("{service} could not read it: {said}")]
    Unread { service: &'static str, said: String },
}

impl ExtractError {
    /// Whether the user does not want the site visited.
    pub fn is_blocked(&self) -> bool {
        matches!(self, Self::Page(PageError::Blocked(_)))
    }
}

impl Extractor {
    /// One page. Nobody is asked about an address that our rules forbid.
    pub async fn read(
        &self,
        account: &Account,
        address: &str,
        cancel: &CancellationToken,
    ) -> Result<Page, ExtractError> {
        let url = page_address(address)?;
        if bears_secret(&url, &self.redactor) {
            return Err(ExtractError::Secret);
        }
        let reading = async {
            if account.service() == Service::Direct {
                return Ok(self.pages.page(address).await?);
            }
            check(&self.pages.blocklist().await, &url)?;
            self.pages.permitted(&url).await?;
            self.ask(account, &url, cancel).await
        };
        match cancel.run_until_cancelled(reading).await {
            Some(page) => page,
            None => Err(AskError::Cancelled.into()),
        }
    }

    async fn ask(
        &self,
        account: &Account,
        url: &Url,
        cancel: &CancellationToken,
    ) -> Result<Page, ExtractError> {
        let service = account.service().name();
        let asker = Asker {
            http: &self.services,
            account,
            cancel,
        };
        let url_text = url.as_str();
        let (answer, content, failures) = match account.service() {
            Service::Tavily => {
                let body = json!({"urls": [url_text], "include_images": false});
                let answer = asker.post("extract", &body).await?;
                (answer, "raw_content", "failed_results")
            }
            Service::Exa => {
                let body = json!({"urls": [url_text], "text": true});
                (asker.post("contents", &body).await?, "text", "statuses")
            }
            Service::Parallel => {
                let body = json!({"urls": [url_text], "full_content": true});
                let answer = asker.post("v1beta/extract", &body).await?;
                (answer, "full_content", "errors")
            }
            Service::Firecrawl | Service::Gateway => {
                let body = json!({"url": url_text, "formats": ["markdown", "html"]});
                let answer = asker.post("v2/scrape", &body).await?;
                return scraped(&answer, url, service);
            }
            Service::SearXng
            | Service::Brave
            | Service::DuckDuckGo
            | Service::Xai
            | Service::Direct => return Err(asker.strange().into()),
        };
        let first = answer.get("results").and_then(|all| all.get(0));
        let words = first.and_then(|one| one.get(content)?.as_str().map(str::to_owned));
        let words = words.or_else(|| excerpts(first?));
        match (first, words) {
            (Some(first), Some(words)) => Ok(Page {
                url: url_text.to_owned(),
                title: text(first.get("title")),
                content: markdown::without_inline_pictures(&words),
            }),
            _ => Err(ExtractError::Unread {
                service,
                said: reason(answer.get(failures)),
            }),
        }
    }
}

fn scraped(answer: &Json, url: &Url, service: &'static str) -> Result<Page, ExtractError> {
    let data = answer.get("data");
    let part = |name: &str| data.and_then(|data| data.get(name)?.as_str());
    let about = data.and_then(|data| data.get("metadata"));
    let words = part("markdown").map(str::to_owned);
    let words = words.or_else(|| Some(markdown::of(part("html")?)));
    match words {
        Some(words) => Ok(Page {
            url: url.to_string(),
            title: text(about.and_then(|about| about.get("title"))),
            content: markdown::without_inline_pictures(&words),
        }),
        None => Err(ExtractError::Unread {
            service,
            said: match text(answer.get("error")) {
                said if said.is_empty() => "it gave no text".to_owned(),
                said => said,
            },
        }),
    }
}

fn excerpts(page: &Json) -> Option<String> {
    let pieces = page.get("excerpts")?.as_array()?.iter();
    let all: Vec<&str> = pieces.filter_map(Json::as_str).collect();
    (!all.is_empty()).then(|| all.join("\n\n"))
}

/// What a service says about a page it could not read.
fn reason(failures: Option<&Json>) -> String {
    let first = failures.and_then(|all| all.get(0));
    let error = first.and_then(|one| one.get("error").or_else(|| one.get("content")));
    let said = match error {
        Some(Json::String(said)) => said.clone(),
        Some(Json::Object(fields)) => text(fields.get("tag").or_else(|| fields.get("message"))),
        _ => String::new(),
    };
    match said {
        said if said.is_empty() => "it gave no text".to_owned(),
        said => said,
    }
}

fn text(value: Option<&Json>) -> String {
    let text = value.and_then(Json::as_str).unwrap_or_default();
    text.trim().to_owned()
}
