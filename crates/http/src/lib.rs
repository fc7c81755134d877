//! The one HTTP client: every outgoing request of the program is made by a client built here.
//!
//! A credential goes only to the origin it is bound to and is dropped on a redirect elsewhere; the addresses that were
//! checked are the addresses connected to; bodies are capped while they stream; every wait has a limit and ends when a
//! token is cancelled. This crate reads no environment, no clock and no file: settings carry proxies and certificates.
//! Retrying is left to the callers, who know what a second attempt costs.
#![deny(missing_docs)]

mod address;
mod base_url;
mod client;
mod credentials;
mod display_url;
mod error;
mod failure;
mod hop;
mod network;
mod policy;
mod proxy;
mod redirect;
mod request;
mod resolve;
mod response;
mod retry_after;
mod settings;
mod tls;
mod tls_flaw;
mod wait;
mod websocket;

pub use base_url::BaseUrl;
pub use client::{ClientBuilder, HttpClient};
pub use credentials::{AuthScheme, SECRET_MARK};
pub use display_url::DisplayUrl;
pub use error::{BuildError, HttpError, Refusal, Stage, StatusError};
pub use network::{Network, NetworkError};
pub use policy::{AddressPolicy, HostRule};
pub use proxy::{NoProxy, ProxyEndpoint, ProxyError, ProxyName, ProxySettings};
pub use redirect::RedirectRule;
pub use request::RequestBuilder;
pub use resolve::{Resolver, SystemResolver};
pub use response::{Body, Response};
pub use retry_after::retry_after;
pub use settings::{ClientSettings, Identity, Roots, Timeouts, Trust};
pub use tls::check_bundle;
pub use tls_flaw::TlsFlaw;
pub use websocket::{WebSocket, WebSocketMessage};
