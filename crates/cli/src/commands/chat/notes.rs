//! What somebody at the terminal should know before the first word.

use hermes_config::{UnknownKey, Variable};

use super::house::{House, Manner};
use crate::commands::edit::edit;
use crate::context::Context;
use crate::output::one_line;

/// Where the program before this one kept its things, below the user's directory.
const LEFTOVERS: [&str; 3] = [".openclaw", ".clawdbot", ".moltbot"];
/// The hint about it, as it is remembered to have been shown.
const LEFTOVER_HINT: &str = "openclaw_residue_cleanup";

/// What is unsafe, which is said before all the rest.
pub(super) fn warning(house: &House) -> Option<String> {
    let config = &house.models.loaded.config;
    (!config.security.redact_secrets).then(|| {
        "Warning: security.redact_secrets is off, so only keys that Hermes knows are masked in what tools read and \
         print."
            .to_owned()
    })
}

/// The rest, in the order it is said.
pub(super) fn at_first(house: &House, manner: &Manner, context: &Context) -> Vec<String> {
    let preloaded = (!manner.skills.is_empty()).then(|| {
        let names = manner.skills.join(", ");
        format!(
            "Skills in front of this conversation: {}.",
            one_line(&names)
        )
    });
    [idle(house), leftover(house, context), preloaded]
        .into_iter()
        .flatten()
        .collect()
}

/// What was set to be safer with, or to be kept apart, and does nothing.
fn idle(house: &House) -> Option<String> {
    let idle = house.models.loaded.idle.iter();
    let idle = idle.filter(|idle| idle.is_relied_on());
    let named: Vec<String> = idle
        .map(|idle| format!("{} has no effect {}", idle.key, idle.why))
        .collect();
    (!named.is_empty()).then(|| format!("Note: {}.", named.join("; ")))
}

/// Said once: what an earlier program left, and what can be done with it.
fn leftover(house: &House, context: &Context) -> Option<String> {
    let seen = &house.models.loaded.config.onboarding.seen;
    if house.without_settings || seen.contains_key(LEFTOVER_HINT) {
        return None;
    }
    let user = std::path::Path::new(context.environment.filled(&Variable::HOME)?);
    let mut places = LEFTOVERS.iter().map(|name| user.join(name));
    let found = places.find(|place| place.is_dir())?;
    let key = format!("onboarding.seen.{LEFTOVER_HINT}");
    let kept = edit(context, |settings| {
        settings.set(&key, "true", UnknownKey::Refuse)
    });
    if let Err(complaint) = kept {
        tracing::debug!("a hint will be shown again: {}", complaint.cause());
    }
    let home = context.home().ok()?.path().display();
    Some(format!(
        "OpenClaw was used here: {} is left as it is, and this version does not take it over. From its workspace, \
         SOUL.md goes to {home}, MEMORY.md and USER.md to {home}/memories, and skills to {home}/skills; keys are added \
         with hermes auth add.",
        found.display()
    ))
}
