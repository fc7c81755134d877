//! Hermes as a client of MCP servers: programs it starts and addresses it connects to.
//!
//! Every configured server has one supervisor, a task that owns the session, the child process, the tool
//! list, the circuit breaker and the budget of attempts. Everybody else holds a `Handle` and reads what
//! the supervisor publishes: the state, a generation that grows with every new session, the tools and what
//! went wrong last. One invariant rules the design: **a server that was not asked to stop can always come
//! back.**
//!
//! ```text
//!              ok                    reconnect asked, session lost
//! Connecting ──────► Ready(generation) ─────────────────────────► Reconnecting ──► Ready(generation + 1)
//!  │ │ 4th failure     │  ▲                                          │ ▲     │ auth
//!  │ └──────────┐ idle,│  │ ok                          6th failure  │ │     ▼
//!  │ auth       │ old  ▼  │                                          ▼ │   NeedsAuth ──► Reconnecting
//!  ▼            │    Recycled ── a call ──► Reconnecting        Parked ┘        (login, changed token)
//! NeedsAuth     └──────────────────────────────────────────────► ▲ a timer, a call, a reload
//!
//! any state ── shutdown ──► Stopping ──► Stopped
//! ```
//!
//! What is left out: asking people (the session's `Asker`), asking models (a seam handed in), and deciding
//! which tools an agent offers.
#![deny(missing_docs)]

mod authority;
mod clean;
mod environment;
mod filter;
mod names;
mod oauth;
mod result;
mod schema;
mod utility;

pub use authority::{AuthError, Authority, Recovery, Refusal};
pub use clean::clean;
pub use environment::{Unresolved, child_environment, unresolved};
pub use filter::{ToolFilter, allows_utility};
pub use names::{Names, Namespace, Remote, toolset};
pub use oauth::{
    BadOAuth, Browser, LoggedIn, OAuth, OAuthError, OAuthParts, OAuthSettings, Person, TokenFiles,
    file_stem,
};
pub use result::{Answers, Asked, Rendered, Shelf, ShelfFolders, Trouble};
pub use schema::normalise as normalise_schema;
pub use utility::Utility;
