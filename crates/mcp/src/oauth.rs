//! Signing in to servers: OAuth 2.1 with PKCE, as the protocol's authorization chapter has it.
//!
//! [`OAuth`] stands behind the transport of one server. It gives the stored token, renews it once for all
//! tasks and processes, and says when only a person can help. [`OAuth::login`] is the way of that person:
//! discovery, registration, browser, exchange. Without a person nothing is opened and no port is bound.
//!
//! Built on our own HTTP client and not on the SDK's manager, because files, locks and what counts as a
//! failure are the point here, and the exchange itself is small.

mod assertion;
mod authority;
mod browser;
mod callback;
mod challenge;
mod client;
mod discover;
mod error;
mod files;
mod grant;
mod login;
mod metadata;
mod pkce;
mod renew;
mod settings;
mod tokens;
mod wire;

pub use authority::{OAuth, OAuthParts};
pub use browser::Browser;
pub use error::OAuthError;
pub use files::{TokenFiles, file_stem};
pub use login::{LoggedIn, Person};
pub use settings::{BadOAuth, OAuthSettings};
