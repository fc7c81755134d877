//! Who vouches for us at a server: the seam between a transport and what keeps its tokens.

use futures_core::future::BoxFuture;
use hermes_secrets::Secret;

/// Gives tokens for the requests of one server, and better ones after a refusal.
///
/// A transport calls `bearer` before each request and `recover` when the server refused one with 401, or
/// with 403 and a challenge that asks for more rights. Both may be called from several tasks at once and
/// may be dropped at any await; work that must not be cut off goes on without the caller. After `recover`
/// gave [`Recovery::Possible`] the transport asks for the token again and sends its request once more.
pub trait Authority: Send + Sync {
    /// The token for the next request, bound to the server's origin. `None`: send none.
    fn bearer(&self) -> BoxFuture<'_, Result<Option<Secret>, AuthError>>;

    /// Looks for a better token than the refused one. Refusals of the same token share one attempt.
    fn recover<'a>(&'a self, refusal: Refusal<'a>) -> BoxFuture<'a, Recovery>;

    /// Waits until what is kept for the server was changed by somebody else, such as a login in another
    /// terminal. Whoever waits bounds the wait.
    fn changed(&self) -> BoxFuture<'_, ()>;
}

/// A request that was refused.
#[derive(Debug, Clone, Copy)]
pub struct Refusal<'a> {
    /// The token it carried.
    pub token: Option<&'a Secret>,
    /// The `WWW-Authenticate` header of the answer.
    pub challenge: Option<&'a str>,
}

/// Whether trying again makes sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// There is another token now: connect again and repeat the request once.
    Possible,
    /// Only a person can help; `hermes mcp login` is the way.
    NeedsLogin {
        /// Why, without any secret.
        why: String,
    },
    /// Nothing is known against the login, but a new token could not be had now.
    Later {
        /// Why, without any secret.
        why: String,
    },
}

impl Recovery {
    /// Whether a request may be sent again.
    pub fn is_possible(&self) -> bool {
        *self == Self::Possible
    }
}

/// Why there is no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// Only a person can help.
    #[error("a login is needed: {why}")]
    NeedsLogin {
        /// Why, without any secret.
        why: String,
    },
    /// It may work a little later.
    #[error("no token could be had: {why}")]
    Later {
        /// Why, without any secret.
        why: String,
    },
}
