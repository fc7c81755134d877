//! Fetching a page, within the user's rules.

use std::time::Duration;

use hermes_http::{HttpClient, HttpError, RedirectRule, Timeouts};
use hermes_policy::Blocklist;
use http::header;
use url::Url;

use crate::Sites;
use crate::text;

/// Most of a page that is read.
const MOST_BYTES: usize = 5 * 1024 * 1024;
/// Most addresses that are gone through for one page.
const MOST_HOPS: usize = 10;

/// Longest that a server may be silent.
const SILENCE: Duration = Duration::from_secs(20);
/// Longest that one address may take.
const WHOLE: Duration = Duration::from_secs(60);

/// Reads pages as text.
#[derive(Clone)]
pub struct PageReader {
    http: HttpClient,
    sites: Sites,
}

/// A page that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Where it was in the end.
    pub url: String,
    /// What it calls itself; empty when it does not.
    pub title: String,
    /// What it says.
    pub content: String,
}

/// Why a page could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// It is not an address of a page.
    #[error("{0} is not an address that begins with http:// or https://")]
    NotAnAddress(String),
    /// The user does not want the site visited.
    #[error("{0}")]
    Blocked(String),
    /// The network, the server, or a rule about addresses.
    #[error("{}", hermes_core::causes(.0))]
    Http(#[from] HttpError),
    /// The server said no.
    #[error("the server answered with HTTP {0}")]
    Status(u16),
    /// It sent us in circles.
    #[error("the page moved more than {MOST_HOPS} times")]
    TooManyHops,
    /// What is there is not text.
    #[error("it is {0}, which is not text")]
    NotText(String),
}

impl PageReader {
    /// The client decides which addresses may be reached at all.
    pub fn new(http: HttpClient, sites: Sites) -> Self {
        Self { http, sites }
    }

    /// The text of a page.
    pub async fn read(&self, address: &str) -> Result<String, PageError> {
        self.page(address).await.map(|page| page.content)
    }

    /// The sites the user does not want visited, as they are now.
    pub(crate) async fn blocklist(&self) -> Blocklist {
        self.sites.blocklist().await
    }

    /// Whether our rules let an address be fetched by somebody else.
    pub(crate) async fn permitted(&self, url: &Url) -> Result<(), PageError> {
        Ok(self.http.check(url).await?)
    }

    /// A page with its title.
    pub async fn page(&self, address: &str) -> Result<Page, PageError> {
        let blocklist = self.sites.blocklist().await;
        let mut url = page_address(address)?;
        for _ in 0..MOST_HOPS {
            check(&blocklist, &url)?;
            let asked = self.http.get(url.clone()).redirects(RedirectRule::Stop);
            let asked = asked.timeouts(Timeouts {
                first_byte: SILENCE,
                idle: SILENCE,
                total: WHOLE,
                ..Timeouts::default()
            });
            let accepted = "text/html, text/plain;q=0.9, */*;q=0.5";
            let response = asked.header(header::ACCEPT, accepted).send().await?;
            let status = response.status();
            let value = |name| response.headers().get(name)?.to_str().ok();
            if status.is_redirection()
                && let Some(next) = value(header::LOCATION)
            {
                let next = url
                    .join(next)
                    .map_err(|_| PageError::NotAnAddress(next.to_owned()))?;
                url = page_address(next.as_str())?;
                continue;
            }
            if !status.is_success() {
                return Err(PageError::Status(status.as_u16()));
            }
            let content_type = value(header::CONTENT_TYPE).unwrap_or_default().to_owned();
            let body = response.bytes(MOST_BYTES).await?;
            let (title, content) =
                text::of(&content_type, &body).ok_or(PageError::NotText(content_type))?;
            return Ok(Page {
                url: url.into(),
                title,
                content,
            });
        }
        Err(PageError::TooManyHops)
    }
}

pub(crate) fn page_address(address: &str) -> Result<Url, PageError> {
    let url = Url::parse(address).ok();
    url.filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or_else(|| PageError::NotAnAddress(address.to_owned()))
}

pub(crate) fn check(blocklist: &Blocklist, url: &Url) -> Result<(), PageError> {
    match blocklist.check(url.as_str()) {
        Some(blocked) => Err(PageError::Blocked(blocked.message)),
        None => Ok(()),
    }
}
