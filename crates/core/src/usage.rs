//! What a model call used and cost.

use serde::{Deserialize, Serialize};

/// Tokens of one or more model calls. The four input and output counts do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Fresh input, paid in full.
    pub input_tokens: u64,
    /// Output, including reasoning.
    pub output_tokens: u64,
    /// Input read from the provider's cache.
    pub cache_read_tokens: u64,
    /// Input written to the provider's cache.
    pub cache_write_tokens: u64,
    /// The part of the output that was reasoning.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Everything that was read or written.
    pub fn total(&self) -> u64 {
        self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
        self.reasoning_tokens += other.reasoning_tokens;
    }
}

/// How far a cost can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostStatus {
    /// The provider said so.
    Actual,
    /// Computed from a price list.
    Estimated,
    /// Covered by a subscription or a local model.
    Included,
    /// No price is known. Never shown as zero.
    Unknown,
}

impl CostStatus {
    /// The word that stands for it on disk.
    pub fn word(self) -> &'static str {
        match self {
            Self::Actual => "actual",
            Self::Estimated => "estimated",
            Self::Included => "included",
            Self::Unknown => "unknown",
        }
    }
}
