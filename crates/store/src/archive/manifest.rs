//! What a backup says about itself.

use serde::{Deserialize, Serialize};

/// The entry that holds the manifest.
pub(super) const MANIFEST_NAME: &str = "hermes-backup.json";
/// The format this program writes.
pub(super) const FORMAT: u32 = 1;

/// What a backup says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the archive.
    pub version: u32,
    /// The program that wrote it.
    #[serde(default)]
    pub program: String,
    pub created_at: String,
    pub profile: String,
    #[serde(default)]
    pub databases: Vec<BackedUpDatabase>,
}

/// A database in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackedUpDatabase {
    /// Relative to the home.
    pub path: String,
    /// The version of its tables; 0 when it says nothing about it.
    pub schema: u32,
    pub bytes: u64,
}
