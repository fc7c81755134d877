//! One question to a service, and its answer.

use std::time::Duration;

use hermes_http::{AuthScheme, HttpClient, HttpError, RedirectRule, RequestBuilder, Timeouts};
use http::{HeaderName, Method};
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use crate::Account;
use crate::service::Service;

/// Longest that a service may take.
const WHOLE: Duration = Duration::from_secs(60);
/// The same for one that thinks before it answers.
const THINKING: Duration = Duration::from_secs(90);
/// Most of an answer that is read.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Why a service gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The network or the server.
    #[error("{service}: {}", hermes_core::causes(.source))]
    Http {
        service: &'static str,
        #[source]
        source: HttpError,
    },
    /// It answered something else.
    #[error("{service} answered something that is not understood")]
    Strange { service: &'static str },
    /// The call was stopped.
    #[error("stopped")]
    Cancelled,
}

/// Asks services.
pub(crate) struct Asker<'a> {
    pub(crate) http: &'a HttpClient,
    pub(crate) account: &'a Account,
    pub(crate) cancel: &'a CancellationToken,
}

impl Asker<'_> {
    pub(crate) async fn post(&self, path: &str, body: &Json) -> Result<Json, AskError> {
        self.json(self.request(Method::POST, path).json(body)).await
    }

    pub(crate) async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Json, AskError> {
        let request = self.request(Method::GET, path);
        self.json(request.query(query.iter().copied())).await
    }

    pub(crate) async fn text(
        &self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<String, AskError> {
        let request = self.request(Method::GET, path);
        let answer = async {
            let response = request.query(query.iter().copied()).send().await?;
            response.require_success().await?.text(MOST_BYTES).await
        };
        answer.await.map_err(|error| self.failed(error))
    }

    async fn json(&self, request: RequestBuilder) -> Result<Json, AskError> {
        let answer = async {
            let response = request.send().await?;
            response.require_success().await?.json(MOST_BYTES).await
        };
        answer.await.map_err(|error| self.failed(error))
    }

    pub(crate) fn strange(&self) -> AskError {
        let service = self.account.service.name();
        AskError::Strange { service }
    }

    fn failed(&self, source: HttpError) -> AskError {
        let service = self.account.service.name();
        match source {
            HttpError::Cancelled => AskError::Cancelled,
            source => AskError::Http { service, source },
        }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let Account {
            service, base, key, ..
        } = self.account;
        let limit = if *service == Service::Xai {
            THINKING
        } else {
            WHOLE
        };
        let mut request = self
            .http
            .request(method, base.join(path))
            .cancel(self.cancel.clone())
            // What was asked is for this server only.
            .redirects(RedirectRule::Stop)
            .timeouts(Timeouts {
                first_byte: limit,
                idle: limit,
                total: limit,
                ..Timeouts::default()
            });
        if let Some(key) = key {
            request = request.auth(key, scheme(*service));
        }
        if *service == Service::Parallel {
            let version = HeaderName::from_static("parallel-beta");
            request = request.header(version, "search-extract-2025-10-10");
        }
        request
    }
}

fn scheme(service: Service) -> AuthScheme {
    match service {
        Service::Exa | Service::Parallel => {
            AuthScheme::Header(HeaderName::from_static("x-api-key"))
        }
        Service::Brave => AuthScheme::Header(HeaderName::from_static("x-subscription-token")),
        Service::Tavily
        | Service::Firecrawl
        | Service::Gateway
        | Service::SearXng
        | Service::DuckDuckGo
        | Service::Xai
        | Service::Direct => AuthScheme::Bearer,
    }
}
