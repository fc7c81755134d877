//! The web for the agent: searching it, and pages read as text.
//!
//! | module | holds |
//! |---|---|
//! | `service` | the services that can be asked, and which of them is |
//! | `ask` | one question to a service |
//! | `search` | searching, with one shape of answer |
//! | `extract` | reading pages, by a service or by ourselves |
//! | `address` | addresses that must not be handed on |
//! | `page` | fetching a page, within the user's rules |
//! | `sites` | the sites the user does not want visited |
//! | `text`, `markdown` | what a page says, without its markup |
//!
//! Requests go through the client of `http`, which checks addresses. What the model is shown of a page, and the fence
//! around it, are made by the tools.

mod address;
mod ask;
mod extract;
mod markdown;
mod page;
mod search;
mod service;
mod sites;
mod text;

pub use ask::AskError;
pub use extract::{ExtractError, Extractor};
pub use page::{Page, PageError, PageReader};
pub use search::{Hit, search};
pub use service::{Account, Job, Service, ServiceError, choose};
pub use sites::Sites;
