//! The web: searching it and reading its pages.

mod extract;
mod kept;
mod search;

use std::path::PathBuf;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_core::Tool;
use hermes_http::HttpClient;
use hermes_web::{Account, Extractor, ServiceError};

pub(crate) use extract::WebExtract;
pub(crate) use search::WebSearch;

/// What a connection to the web takes; made when the first call needs it.
pub struct WebReach {
    /// For services, which the user chose.
    pub services: HttpClient,
    /// Reads pages.
    pub extractor: Extractor,
}

/// Makes the connection, or says why there is none. Looks first whether the user's rules changed.
pub type Reach = dyn Fn() -> BoxFuture<'static, Result<Arc<WebReach>, String>> + Send + Sync;

/// What the tools for the web share.
pub struct WebServices {
    /// Who searches, or why nobody does.
    pub search: Result<Account, ServiceError>,
    /// Who reads pages, or why nobody does.
    pub extract: Result<Account, ServiceError>,
    /// The way there.
    pub reach: Box<Reach>,
    /// Characters of a page that are answered unless the model asks for more.
    pub page_limit: usize,
    /// Where the whole of a long page is kept.
    pub kept: PathBuf,
}

/// Both tools.
pub fn web_tools(services: &Arc<WebServices>) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(WebSearch::new(services.clone())),
        Arc::new(WebExtract::new(services.clone())),
    ]
}
