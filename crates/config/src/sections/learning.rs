//! `learning`: looking back behind answers for what is worth keeping.

use crate::macros::section;

section! {
    /// Looking back behind answers for what is worth keeping, in memory and in skills.
    pub struct Learning {
        /// Most tokens looking back may use in 24 hours, without those read from a provider's cache; 0 turns it off.
        daily_tokens: u32 = 200_000;
    }
}
