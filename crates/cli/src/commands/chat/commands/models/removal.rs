//! Endpoints of the user's own that are not wanted any more.

use super::{Wish, run};
use crate::args::model::ModelCommand;
use crate::commands::chat::ask::{Ask, Entry, List};
use crate::commands::chat::commands::{Next, Order, aside};
use crate::commands::model;
use crate::complaint::Outcome;
use crate::output::Output;

/// The way to it from the list of models; none where nothing can be removed.
pub(super) async fn entry(order: &Order<'_>) -> Outcome<Option<Entry>> {
    let saved = aside::run(order.context, model::saved).await?;
    let what = "Remove an endpoint of your own".to_owned();
    Ok((!saved.is_empty()).then(|| Entry {
        picked: false,
        line: "/model --remove".to_owned(),
        cells: vec![what, String::new(), String::new(), String::new()],
        also: String::new(),
    }))
}

/// `/model --remove [ENDPOINT] [--yes]`
pub(super) async fn remove(order: &Order<'_>, wish: &Wish, output: &mut Output) -> Outcome<Next> {
    let Some(endpoint) = wish.model.clone() else {
        return choose(order, output).await;
    };
    if !wish.agreed {
        return Ok(Next::Ask(Ask::Confirm {
            title: format!("Remove {endpoint}"),
            text: "Its entry in config.yaml and the keys that are kept for it go.".to_owned(),
            yes: format!("/model --remove {endpoint} --yes"),
            always: None,
        }));
    }
    aside::print(order.context, output, move |context, output| {
        let remove = ModelCommand::Remove {
            endpoint,
            yes: true,
        };
        run(remove, context, output)?;
        Ok(output.line("Conversations that are open know it until they end.")?)
    })
    .await?;
    Ok(Next::Nothing)
}

async fn choose(order: &Order<'_>, output: &mut Output) -> Outcome<Next> {
    let saved = aside::run(order.context, model::saved).await?;
    if saved.is_empty() {
        output.line("There is no endpoint of your own in config.yaml.")?;
        return Ok(Next::Nothing);
    }
    let entries = saved.into_iter().map(|endpoint| Entry {
        picked: false,
        line: format!("/model --remove {}", endpoint.key),
        cells: vec![endpoint.key, endpoint.address],
        also: String::new(),
    });
    Ok(Next::Ask(Ask::One(List {
        title: "Remove".to_owned(),
        columns: vec![("Endpoint", false), ("Address", false)],
        entries: entries.collect(),
    })))
}
