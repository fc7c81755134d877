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
//! `serve` is the other side: Hermes as a server that lets other programs read its conversations and answer what its
//! sessions ask before they act.
//!
//! What is left out: asking people (the session's `Asker`), asking models (a seam handed in), and deciding
//! which tools an agent offers.
#![deny(missing_docs)]

mod authority;
mod breaker;
mod call;
mod catalog;
mod clean;
mod consent;
mod discover;
mod environment;
mod failure;
mod filter;
mod fleet;
mod gate;
mod keepalive;
mod memory;
mod names;
mod oauth;
mod operation;
mod osv;
mod policy;
mod requests;
mod result;
mod scan;
mod schema;
mod serve;
mod server;
mod session;
mod state;
mod supervisor;
mod task;
mod tool;
mod transport;
mod utility;
mod view;

pub use authority::{AuthError, Authority, Recovery, Refusal};
pub use catalog::{Catalog, RemoteTool};
pub use clean::clean;
pub use environment::{Unresolved, child_environment, unresolved};
pub use failure::{Failure, Link};
pub use filter::{ToolFilter, allows_utility};
pub use fleet::{
    Borders, Change, Fleet, Gatekeeper, Reload, Status, StatusWord, Surroundings, Unavailable,
};
pub use gate::{Gate, Logins};
pub use memory::Memory;
pub use names::{Names, Namespace, Remote, reads_like, toolset};
pub use oauth::{
    BadOAuth, Browser, LoggedIn, OAuth, OAuthError, OAuthParts, OAuthSettings, Person, TokenFiles,
    file_stem,
};
pub use operation::Operation;
pub use osv::{Advisory, Ecosystem, OSV_ENDPOINT, Osv, OsvParts, Package, Severity, Verdict};
pub use policy::RecoveryPolicy;
pub use requests::{Caller, Sample, Sampled, Sampler, SamplingCounts};
pub use result::{Answers, Asked, Rendered, Shelf, ShelfFolders, Trouble};
pub use scan::{Finding, Restated, fingerprint, scan};
pub use schema::normalise as normalise_schema;
pub use serve::{ServeError, ServeParts, ServeTransport, serve};
pub use server::{Kind, Server};
pub use state::State;
pub use supervisor::Handle;
pub use utility::Utility;
pub use view::View;
