//! What is known about models without asking anybody: windows, limits of answers, eyes, prices.

mod catalogue;
mod family;
mod kept;
mod learned;
mod listing;
mod price;
mod snapshot;

use url::Url;

use crate::route::WindowSource;

pub use catalogue::Catalogue;
pub(crate) use family::longest_name;
pub use kept::{Facts, KeptList, KeptLists};
pub use learned::Learned;
pub use listing::{facts_from_listing, window_from_listing};
pub use price::{Cost, Price, cost, usual_price};

/// A window that nearly every model of today has.
const CAREFUL: u32 = 32_768;

/// What the size of a window is looked up by.
pub struct WindowQuery<'a> {
    /// The model's name at its provider.
    pub model: &'a str,
    /// The address, for what was learned there.
    pub base: Option<&'a Url>,
    /// What the user set.
    pub configured: Option<u32>,
    /// What refusals taught.
    pub learned: Option<&'a Learned>,
    /// The provider as the public list calls it, for what is listed there.
    pub provider: &'a str,
    /// What a public list says.
    pub catalogue: Option<&'a Catalogue>,
}

/// The context window in tokens, and where that is known from.
pub fn window(query: &WindowQuery<'_>) -> (u32, WindowSource) {
    if let Some(window) = query.configured.filter(|window| *window > 0) {
        return (window, WindowSource::Configured);
    }
    let learned = query
        .learned
        .zip(query.base)
        .and_then(|(learned, base)| learned.window(query.model, base));
    if let Some(window) = learned {
        return (window, WindowSource::Learned);
    }
    let listed = query
        .catalogue
        .and_then(|catalogue| catalogue.window(query.provider, query.model));
    if let Some(window) = listed {
        return (window, WindowSource::Catalogue);
    }
    if let Some(family) = family::of(query.model) {
        return (family.window, WindowSource::Family);
    }
    let anybody = query.catalogue.and_then(|it| it.usual_window(query.model));
    match anybody {
        Some(window) => (window, WindowSource::Catalogue),
        None => (CAREFUL, WindowSource::Guess),
    }
}

/// Most tokens of one answer, where the family is known.
pub fn output(model: &str) -> Option<u32> {
    family::of(model).and_then(|family| family.output)
}

/// Whether the model takes pictures; `None` where nothing is known.
pub fn sees(model: &str) -> Option<bool> {
    family::of(model).and_then(|family| family.sees)
}
