//! What is read again or asked for while the program runs: secrets, and how quick answers are.

use hermes_config::Loaded;
use hermes_core::Op;

use super::{Next, Order, aside};
use crate::complaint::{Complaint, Outcome};
use crate::models::Chosen;
use crate::output::{Output, one_line};

/// The tier that providers sell quicker answers as.
const QUICKER: &str = "priority";
/// Names that are told; more are counted.
const MOST_NAMES: usize = 10;

/// `/reload`
pub(super) async fn reload(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let house = &order.conversation.house;
    let changed = house.models.renew(fresh(order).await?);
    for route in house.course.routes() {
        house.models.meet_again(&Chosen {
            model: Some(route.model.clone()),
            provider: Some(route.provider.clone()),
        });
    }
    let chosen = in_front(order);
    house.models.meet_again(&chosen);
    if changed.is_empty() {
        output.line("Nothing in the secrets file has changed.")?;
        return Ok(Next::Nothing);
    }
    let mut shown = changed.get(..MOST_NAMES).unwrap_or(&changed).join(", ");
    if let Some(more) = changed
        .len()
        .checked_sub(MOST_NAMES)
        .filter(|more| *more > 0)
    {
        shown = format!("{shown} and {more} more");
    }
    output.line(format!(
        "Read again: {}. Keys of models count from the next call on; /reload-mcp does the same for MCP servers.",
        one_line(&shown)
    ))?;
    // A conversation keeps the key it began with as long as that works; it begins anew with this one.
    Ok(again(chosen))
}

/// Has the same model answer by what holds now.
fn again(chosen: Chosen) -> Next {
    let model = chosen.model.unwrap_or_default();
    let provider = chosen.provider;
    Next::Send(Op::SetModel { model, provider }, None)
}

/// `/fast [on|off] [--global]`
pub(super) async fn fast(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let mut words: Vec<&str> = order.arguments.split_whitespace().collect();
    let before = words.len();
    words.retain(|word| *word != "--global");
    let for_good = words.len() < before;
    let models = &order.conversation.house.models;
    let chosen = in_front(order);
    let tier = match words.as_slice() {
        [] => {
            let now = models.route(&chosen)?.route;
            return said(now.service_tier(), output);
        }
        ["on"] => QUICKER,
        ["off"] => "",
        _ => {
            return Err(Complaint::bad_request("/fast is on or off")
                .hint("/fast on, /fast off, with --global for all conversations"));
        }
    };
    let before = models.set_tier(Some(tier.to_owned()), fresh(order).await?);
    let asks = models
        .route(&chosen)?
        .route
        .service_tier()
        .map(str::to_owned);
    if asks.is_none() && !tier.is_empty() {
        models.set_tier(before, fresh(order).await?);
        let provider = chosen.provider.unwrap_or_default();
        return Err(
            Complaint::bad_request(format!("{provider} sells no quicker answers")).hint(
                "OpenAI, Azure, OpenRouter and endpoints of your own may; /model changes to one",
            ),
        );
    }
    if for_good {
        order.keep("agent.service_tier", tier)?;
    }
    said(asks.as_deref(), output)?;
    Ok(again(chosen))
}

fn said(tier: Option<&str>, output: &mut Output) -> Outcome<Next> {
    output.line(match tier {
        Some(tier) => format!("Answers are asked for in the tier {tier}, at its price."),
        None => "Answers come as quick as the provider usually is.".to_owned(),
    })?;
    Ok(Next::Nothing)
}

/// Who answers now.
fn in_front(order: &Order<'_>) -> Chosen {
    let front = order.conversation.front();
    let route = front.route();
    Chosen {
        model: Some(route.model.clone()),
        provider: Some(route.provider.clone()),
    }
}

/// The settings and secrets as they are now.
async fn fresh(order: &Order<'_>) -> Outcome<Loaded> {
    let without = order.conversation.house.without_settings;
    aside::run(order.context, move |context| {
        context.settings_again(without)
    })
    .await
}
