//! Providers with several addresses: which of them a key belongs to is found out once and kept.

use hermes_llm::resolve::{self, Flags, Request};
use hermes_llm::{Caller, PatienceSettings};

use crate::commands::fallback::probe;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::{Chosen, Models};
use crate::output::Output;

/// How long one address may take to answer a word.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(8);

/// Asks the addresses of a provider one after the other until one accepts the key. Nothing is asked when
/// an address is set, was found before or there is no key.
pub(super) fn look(
    provider: &str,
    model: &str,
    models: &Models,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let Some(profile) = models.profiles.get(provider).ok().flatten() else {
        return Ok(());
    };
    let chosen = Chosen {
        model: Some(model.to_owned()),
        provider: Some(provider.to_owned()),
    };
    let usual = models.route(&chosen).ok().is_some_and(|found| {
        let mut why = found.route.why.iter();
        why.any(|why| why.part == "address" && why.from == resolve::OWN_ADDRESS)
    });
    if profile.bases.is_empty() || !usual {
        return Ok(());
    }
    let mut caller = Caller {
        attempts: 1,
        ..models.caller(&context.store()?)
    };
    caller.patience = PatienceSettings {
        stale: Some(PATIENCE),
        total: PATIENCE,
        ..caller.patience
    };
    for base in &profile.bases {
        let request = Request {
            flags: Flags {
                base_url: Some(base),
                ..models.request(&chosen).flags
            },
            ..models.request(&chosen)
        };
        let Ok(resolved) = resolve::resolve(&request) else {
            continue;
        };
        let route = models.known(resolved);
        if !probe::call(&caller, route.clone())?.works {
            continue;
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let lease = runtime.block_on(models.keys.lease(&route));
        if let Ok(Some(key)) = lease.map(|lease| lease.secret) {
            models.keys.keep_place(provider, &key, base)?;
        }
        return Ok(output.line(format!("{} accepts the key at {base}.", profile.name))?);
    }
    Ok(output.line(format!(
        "None of the {} addresses of {} accepts the key; {} stays.",
        profile.bases.len(),
        profile.name,
        profile.base_url.as_deref().unwrap_or("the usual one")
    ))?)
}
