//! Logging in with OAuth 2.0: the device flow of RFC 8628 and the renewal of tokens.
//!
//! A flow is data: addresses, client id, scope. Built in is the one of the Nous Portal; a provider's
//! profile may declare another one that the provider documents. Left out on purpose are logins that
//! only work under another program's client id (Codex, Copilot, Claude, Qwen, Grok, MiniMax) and the
//! import of tokens that other programs keep.

mod device;
mod flow;
mod token;

pub use device::{DeviceCode, DeviceLogin, Poll};
pub use flow::{BadFlow, Flow, RefreshPlace};
pub use token::{Granted, Life, OAuthError};

pub(crate) use flow::is_private;
pub(crate) use token::{Due, answer, for_server, refresh};
