//! Repeatable choices.

use hermes_core::{Random as _, SeededRandom};

/// A stream of choices that is the same for the same seed and stream number.
pub(crate) struct Dice(SeededRandom);

impl Dice {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mixed = SeededRandom::new(seed ^ stream.wrapping_mul(0xa076_1d64_78bd_642f));
        Self(SeededRandom::new(mixed.next_u64()))
    }

    /// A number from 0 up to but not including `bound`.
    pub(crate) fn below(&self, bound: usize) -> usize {
        let number = self.0.below(u64::try_from(bound).unwrap_or(u64::MAX));
        usize::try_from(number).unwrap_or(0)
    }

    /// A number from `low` up to and including `high`.
    pub(crate) fn between(&self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    pub(crate) fn chance(&self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A number from 0 up to but not including 1.
    pub(crate) fn unit(&self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of several; the default of an empty list.
    pub(crate) fn pick<T: Copy + Default>(&self, items: &[T]) -> T {
        items
            .get(self.below(items.len()))
            .copied()
            .unwrap_or_default()
    }

    pub(crate) fn shuffle<T>(&self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
