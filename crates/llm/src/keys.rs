//! The credentials of providers, lent out to whoever calls and kept fresh between calls.
//!
//! A credential comes from the environment or the settings, from the pool that `auth add` fills, or
//! from a login. [`Keyring`] lends one, bound to the address it is lent for, and hears how the call
//! went. What it hears is kept in `auth.json`, so that other processes and later runs know which
//! credentials to leave alone; secrets that belong elsewhere are kept there as a fingerprint only.

mod document;
mod elsewhere;
mod error;
mod file;
mod fresh;
mod hold;
mod manage;
mod minted;
mod place;
mod pool;
mod provider;
mod refusal;
mod renewal;
mod ring;
mod row;
mod save;
mod standing;

use std::sync::Arc;

use hermes_secrets::Secret;

use crate::failover::Renewal;

pub use document::{AuthDocument, Damage};
pub use error::KeyError;
pub use file::{AuthFile, AuthFileError};
pub use manage::{EntryKind, EntryView, ProviderStatus, StoredKey};
pub use place::FoundPlace;
pub(crate) use place::key_hash;
pub use provider::{KeyNeed, KeySource, OwnKey, ProviderKeys};
pub use ring::{Keyring, KeyringParts};
pub use row::fingerprint;
pub(crate) use row::time as moment;
pub use standing::Standing;

/// A credential that is in use. It travels with the call, so that what happens to the call is
/// counted against this credential and no other.
#[derive(Debug, Clone)]
pub struct Lease {
    /// Whose credential it is.
    pub provider: String,
    /// Names the credential among those of its provider.
    pub id: String,
    /// What people call it.
    pub label: String,
    /// The secret; `None` for servers that want none.
    pub secret: Option<Secret>,
    /// Counts as one that is in hand for as long as this lease or a copy of it exists.
    #[expect(dead_code, reason = "what counts is that it is dropped")]
    held: Option<Arc<hold::Hold>>,
}

/// What is left to try at a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyState {
    /// Other credentials that can be used now.
    pub others: u32,
    /// When the one in use can be renewed.
    pub renewal: Renewal,
}
