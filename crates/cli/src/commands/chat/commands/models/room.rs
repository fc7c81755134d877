//! Models that cannot read all that was said so far.

use std::sync::Arc;

use super::Wish;
use crate::commands::chat::commands::{Order, aside};
use crate::complaint::Outcome;
use crate::models::Chosen;

/// What a person should know before such a model answers, as far as its window is known.
pub(super) async fn lacking(
    order: &Order<'_>,
    wish: &Wish,
    model: &str,
) -> Outcome<Option<String>> {
    let used = order.conversation.front().used();
    let wanted = Chosen {
        model: Some(model.to_owned()),
        provider: wish.provider.clone(),
    };
    let models = Arc::clone(&order.conversation.house.models);
    aside::run(order.context, move |_| {
        let Ok(found) = models.route(&wanted) else {
            return Ok(None);
        };
        let settings = &models.loaded.config.compression;
        let most = u64::from(hermes_agent::room(&found.route, settings));
        let follows = match settings.enabled {
            true => "its older part is summarised before the next answer",
            false => "compression.enabled is off, so the next answer may fail",
        };
        Ok((used > most).then(|| {
            format!(
                "note: {} reads {} tokens and this conversation has {used}: {follows}",
                found.route.model, found.route.limits.window
            )
        }))
    })
    .await
}
