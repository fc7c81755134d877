//! A switch that can also decide for itself.

use crate::macros::choice;

choice! {
    /// On, off, or decided by the circumstances that the key's meaning names.
    pub enum Automatic {
        /// Decided by the circumstances.
        Auto = "auto",
        /// Always on.
        On = "on",
        /// Always off.
        Off = "off",
    }
}
