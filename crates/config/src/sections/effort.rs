//! How hard a model should think.

use crate::macros::choice;

choice! {
    /// How much a model may think before it answers.
    pub enum Effort {
        /// Left to the model.
        Unset = "",
        /// No thinking.
        None = "none",
        /// As little as the model allows.
        Minimal = "minimal",
        /// A little.
        Low = "low",
        /// The usual amount.
        Medium = "medium",
        /// A lot.
        High = "high",
        /// More than high, where the model has such a level.
        ExtraHigh = "xhigh",
        /// The model's highest level.
        Max = "max",
        /// Beyond the highest level, on the few models that offer it.
        Ultra = "ultra",
    }
}
