//! Models that cost so much that changing to one is confirmed.

use std::sync::Arc;

use super::Wish;
use crate::commands::chat::ask::Ask;
use crate::commands::chat::commands::{Order, aside};
use crate::commands::model::{self, Offer};
use crate::complaint::Outcome;
use crate::models::Chosen;

/// Dollars for a million tokens in, and out, from which on a model is one to be sure about: several times what
/// the usual ones of a maker cost.
const DEAR: (f64, f64) = (10.0, 50.0);

/// What is asked before such a model answers. Nobody is asked who has agreed already, pays as much now, or whose
/// prices are not known.
pub(super) async fn confirmation(
    order: &Order<'_>,
    wish: &Wish,
    model: &str,
) -> Outcome<Option<Ask>> {
    if wish.agreed {
        return Ok(None);
    }
    let wanted = Chosen {
        model: Some(model.to_owned()),
        provider: wish.provider.clone(),
    };
    let in_use = {
        let front = order.conversation.front();
        let route = front.route();
        Chosen {
            model: Some(route.model.clone()),
            provider: Some(route.provider.clone()),
        }
    };
    let models = Arc::clone(&order.conversation.house.models);
    let (wanted, in_use) = aside::run(order.context, move |_| {
        Ok((
            model::priced(&models, &wanted),
            model::priced(&models, &in_use),
        ))
    })
    .await?;
    let Some((wanted, price)) = wanted.and_then(|offer| offer.price.map(|price| (offer, price)))
    else {
        return Ok(None);
    };
    let now = in_use.as_ref().and_then(|offer| offer.price);
    if !is_dear(price, now) {
        return Ok(None);
    }
    Ok(Some(Ask::Confirm {
        title: format!("Change to {}", wanted.model),
        text: format!("It costs {}{}.", told(price), beside(in_use.as_ref())),
        yes: wish.agreed_to(model),
        always: None,
    }))
}

fn is_dear((input, output): (f64, f64), now: Option<(f64, f64)>) -> bool {
    let dear = input >= DEAR.0 || output >= DEAR.1;
    dear && now.is_none_or(|now| input > now.0 || output > now.1)
}

fn told((input, output): (f64, f64)) -> String {
    format!("${input:.2} for a million tokens in and ${output:.2} out")
}

fn beside(in_use: Option<&Offer>) -> String {
    match in_use.and_then(|offer| offer.price.map(|price| (offer, price))) {
        Some((offer, (input, output))) => {
            format!("; {} costs ${input:.2} and ${output:.2}", offer.model)
        }
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_step_up_to_a_dear_model_is_asked_about() {
        assert!(is_dear((15.0, 75.0), None));
        assert!(is_dear((15.0, 75.0), Some((3.0, 15.0))));
        assert!(is_dear((2.0, 60.0), Some((3.0, 15.0))));
        assert!(!is_dear((15.0, 75.0), Some((15.0, 75.0))));
        assert!(!is_dear((15.0, 75.0), Some((150.0, 600.0))));
        assert!(!is_dear((5.0, 25.0), Some((0.1, 0.4))));
    }
}
