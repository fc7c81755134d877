//! A run by itself, behind a conversation.

use hermes_agent::Engine;
use hermes_config::Curator as Settings;
use hermes_skills::Curator;
use hermes_store::{Glance, Pending};
use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::merge::{Means, not_tried};
use super::written::tidy;
use crate::complaint::Outcome;

/// Tidies up when that is due, on a thread that may wait. Nobody waits for it, and only the log hears of it.
pub(crate) fn start(means: Means, engine: &Engine) {
    let settings = means.models.loaded.config.curator.clone();
    if !settings.enabled {
        return;
    }
    // Asked for now: what is said in this conversation must not count.
    let before = means.store.glance();
    engine.behind(|stop| async move {
        let done = tokio::task::spawn_blocking(move || when_due(&means, settings, before, &stop));
        match done.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!("skills were not tidied up: {}", error.cause()),
            Err(error) => tracing::warn!(%error, "tidying skills up broke off"),
        }
    });
}

fn when_due(
    means: &Means,
    settings: Settings,
    before: Pending<Glance>,
    stop: &CancellationToken,
) -> Outcome {
    let library = &means.services.library;
    // Where there are no skills nothing is begun.
    if !library.own().is_dir() {
        return Ok(());
    }
    let consolidate = settings.consolidate;
    let curator = Curator::new(library.clone(), settings);
    let last = before.wait()?.last_active_at;
    let last = last.and_then(|seconds| Timestamp::from_second(seconds as i64).ok());
    if !curator.is_due(last)? {
        return Ok(());
    }
    let asks = means.models.loaded.config.skills.write_approval;
    let merge = |skills| match asks {
        true => not_tried("you are asked before skills change, and this was not you".to_owned()),
        false => Handle::current().block_on(means.merge(skills, stop.clone())),
    };
    let run = tidy(&curator, &means.store, consolidate.then_some(merge))?;
    tracing::info!("skills were tidied up: {}", run.summary());
    Ok(())
}
