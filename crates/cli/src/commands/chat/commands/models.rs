//! Which model answers.

mod dear;
mod removal;
mod room;
mod wish;

use std::sync::Arc;

use hermes_core::Op;

use super::{Next, Order, aside};
use crate::args::model::{ModelArgs, ModelCommand};
use crate::commands::chat::ask::{Ask, Entry, List};
use crate::commands::chat::conversation::Conversation;
use crate::commands::model::{self, Offer};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;
use wish::{HowLong, Wish};

/// `/model [name] [--provider p] [--global|--session|--once] [--refresh] [--remove]`
pub(super) async fn model(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let wish = Wish::parse(&order.arguments)?;
    let conversation = order.conversation;
    if wish.remove {
        return removal::remove(order, &wish, output).await;
    }
    let Some(model) = wish.model.clone() else {
        let provider = conversation.front().route().provider.clone();
        if wish.refresh {
            refresh(order, wish.provider.unwrap_or(provider)).await?;
        }
        let front = conversation.front();
        output.line(front.route().line(&conversation.house.models))?;
        return pick(order, None, output).await;
    };
    if let Some(ask) = dear::confirmation(order, &wish, &model).await? {
        return Ok(Next::Ask(ask));
    }
    let how_long = wish.how_long.unwrap_or({
        let settings = &conversation.house.models.loaded.config.model;
        match settings.persist_switch_by_default {
            true => HowLong::Always,
            false => HowLong::Session,
        }
    });
    if how_long == HowLong::Always {
        let (model, provider) = (model.clone(), wish.provider.clone());
        aside::print(order.context, output, move |context, output| {
            let set = ModelCommand::Set {
                model,
                provider,
                base_url: None,
                api_key: None,
            };
            run(set, context, output)
        })
        .await?;
    }
    if let Some(note) = room::lacking(order, &wish, &model).await? {
        output.line(note)?;
    }
    let front = conversation.front();
    match how_long {
        HowLong::Once => front.lend_place(),
        HowLong::Session | HowLong::Always => front.give_place(),
    }
    let op = Op::SetModel {
        model,
        provider: wish.provider,
    };
    Ok(Next::Send(op, None))
}

/// `/provider [id]`
pub(super) async fn provider(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    if let Some(id) = order.argument() {
        return pick(order, Some(id), output).await;
    }
    let in_use = order.conversation.front().route().provider.clone();
    let mut providers: Vec<(String, usize)> = Vec::new();
    for offer in offers(order.conversation, order.context).await? {
        match providers.iter_mut().find(|(id, _)| *id == offer.provider) {
            Some((_, count)) => *count += 1,
            None => providers.push((offer.provider, 1)),
        }
    }
    if providers.is_empty() {
        let front = order.conversation.front();
        output.line(front.route().line(&order.conversation.house.models))?;
        output.line(
            "The models of no provider are known. hermes model sets one up; /model PROVIDER:NAME changes to one.",
        )?;
        return Ok(Next::Nothing);
    }
    let entries = providers.into_iter().map(|(id, count)| Entry {
        picked: id == in_use,
        line: format!("/provider {id}"),
        cells: vec![id, count.to_string()],
        also: String::new(),
    });
    Ok(Next::Ask(Ask::One(List {
        title: "Providers that are set up".to_owned(),
        columns: vec![("Provider", false), ("Models", true)],
        entries: entries.collect(),
    })))
}

async fn pick(order: &Order<'_>, provider: Option<&str>, output: &mut Output) -> Outcome<Next> {
    let conversation = order.conversation;
    let (in_use, model) = {
        let front = conversation.front();
        let route = front.route();
        (route.provider.clone(), route.model.clone())
    };
    let mut found = offers(conversation, order.context).await?;
    // Endpoints of one's own are known by the name they have in the settings, too.
    let is_meant = |id: &str| {
        provider.is_none_or(|meant| id == meant || id.strip_prefix("custom:") == Some(meant))
    };
    found.retain(|offer| is_meant(&offer.provider));
    let removal = match provider {
        Some(_) => None,
        None => removal::entry(order).await?,
    };
    if found.is_empty() {
        if let Some(provider) = provider {
            return Err(
                Complaint::bad_request(format!("no models of {provider} are known")).hint(format!(
                    "/model --refresh --provider {provider} asks for them"
                )),
            );
        }
        output.line(
            "No other models are known: /model --refresh asks for them. /model NAME or /model PROVIDER:NAME changes it \
             for this conversation.",
        )?;
        return Ok(Next::Nothing);
    }
    let entries = found.into_iter().map(|offer| Entry {
        picked: offer.provider == in_use && offer.model == model,
        line: format!("/model {} --provider {}", offer.model, offer.provider),
        cells: cells(offer),
        also: String::new(),
    });
    Ok(Next::Ask(Ask::One(List {
        title: "Answer with".to_owned(),
        columns: vec![
            ("Model", false),
            ("Provider", false),
            ("Window", true),
            ("$ in/out", true),
        ],
        entries: entries.chain(removal).collect(),
    })))
}

fn cells(offer: Offer) -> Vec<String> {
    let window = match offer.window {
        Some(window) if window >= 1_000_000 => format!("{}M", window / 1_000_000),
        Some(window) => format!("{}k", window / 1_000),
        None => String::new(),
    };
    let price = offer
        .price
        .map(|(input, output)| format!("{input:.2}/{output:.2}"));
    vec![
        offer.model,
        offer.provider,
        window,
        price.unwrap_or_default(),
    ]
}

/// The models that can be chosen, from what is known: nobody waits for a network.
pub(in crate::commands::chat) async fn offers(
    conversation: &Conversation,
    context: &Context,
) -> Outcome<Vec<Offer>> {
    let models = Arc::clone(&conversation.house.models);
    let in_use = conversation.front().route().provider.clone();
    aside::run(context, move |_| model::offers(&models, &in_use)).await
}

async fn refresh(order: &Order<'_>, provider: String) -> Outcome {
    aside::run(order.context, move |context| {
        let list = ModelCommand::List {
            provider: Some(provider),
            refresh: true,
            json: false,
        };
        run(list, context, &mut Output::kept())
    })
    .await
}

fn run(command: ModelCommand, context: &Context, output: &mut Output) -> Outcome {
    let args = ModelArgs {
        why: false,
        model: None,
        provider: None,
        json: false,
        command: Some(command),
    };
    model::run(args, context, output)
}
