//! Models that can be chosen, with what is known of each. Nobody is asked: providers answered earlier, or not at all.

use hermes_llm::{Route, WindowSource, metadata};

use super::list::rows;
use crate::complaint::Outcome;
use crate::models::{Chosen, Models};

/// Models of one provider that are offered.
const MOST_MODELS: usize = 500;

/// A model.
#[derive(Debug, Clone)]
pub(in crate::commands) struct Offer {
    pub(in crate::commands) provider: String,
    pub(in crate::commands) model: String,
    /// Tokens it reads.
    pub(in crate::commands) window: Option<u32>,
    /// Dollars for a million tokens in, and out.
    pub(in crate::commands) price: Option<(f64, f64)>,
}

/// The models of everybody who is set up, and of the provider in use.
pub(in crate::commands) fn offers(models: &Models, in_use: &str) -> Outcome<Vec<Offer>> {
    let usable = rows(models)?.into_iter();
    let usable = usable.filter(|row| row.usable && (row.chosen || row.id == in_use));
    let mut found = Vec::new();
    for row in usable {
        for model in row.models.into_iter().take(MOST_MODELS) {
            found.push(offer(models, row.id.clone(), model));
        }
    }
    Ok(found)
}

fn offer(models: &Models, provider: String, model: String) -> Offer {
    let chosen = Chosen {
        model: Some(model.clone()),
        provider: Some(provider.clone()),
    };
    let route = models.route(&chosen).ok().map(|found| found.route);
    Offer {
        provider,
        model,
        price: route.as_ref().and_then(price),
        // A guess is for those who must reckon with something, not for those who choose.
        window: route
            .filter(|route| route.limits.window_from != WindowSource::Guess)
            .map(|route| route.limits.window),
    }
}

/// What a name leads to, whichever way it is written; nothing if it leads nowhere.
pub(in crate::commands) fn priced(models: &Models, chosen: &Chosen) -> Option<Offer> {
    let route = models.route(chosen).ok()?.route;
    Some(Offer {
        price: price(&route),
        window: Some(route.limits.window),
        provider: route.provider,
        model: route.model,
    })
}

/// Dollars for a million tokens in, and out.
fn price(route: &Route) -> Option<(f64, f64)> {
    let price = metadata::usual_price(route)?;
    Some((price.input, price.output))
}
