//! Memory beside the files: a service or a store that is asked before a turn and told after it. One at a time.
//!
//! | module | holds |
//! |---|---|
//! | `provider` | the seam: what an external memory can do |
//! | `keeper` | [`External`]: limits of time, the queue on disk, what the user is told |
//! | `fence` | what a model sees of what was recalled, and how that stays out of what is kept |
//! | `tool` | a provider's own tools, as the engine calls them |
//! | `catalog` | the providers there are, and how one is made |
//! | `fields` | a provider's settings: its file and its variables |
//! | `form` | a file as a form |
//! | `api` | requests to a service, with its key, limits and retries |
//! | `facts`, `honcho`, `hindsight`, `mem0`, `openviking`, `supermemory` | the providers |

mod api;
mod catalog;
mod error;
mod facts;
mod fence;
mod fields;
mod form;
mod hindsight;
mod honcho;
mod keeper;
mod mem0;
mod openviking;
mod provider;
mod supermemory;
mod tool;

pub use catalog::{Known, PROVIDERS, Setup, known};
pub use error::ProviderError;
pub use fence::{FENCE, fenced, scrubbed};
pub use keeper::{Entries, External, ExternalOptions, Recollection};
pub use provider::{Delivery, Errand, Exchange, Manner, Provider, Question, Rewriter, Scene};
