//! The system prompt of a turn: the stored one, or one that is made and stored.

use std::sync::Arc;

use hermes_core::Event;
use hermes_memory::Snapshot;
use hermes_secrets::Scope;
use hermes_store::{Pending, StoreError};

use super::skills::first_said;
use super::{SkillsPart, Surroundings, Turn, skills};
use crate::toolbox::Toolbox;
use crate::{compaction, personality, prompt};

/// The stored prompt, byte for byte, unless another model is preferred now, or something else is to be in it. One
/// that is made is on its way to the disk when this returns.
pub(super) async fn system_prompt(
    around: &Surroundings<'_>,
    toolbox: &Toolbox,
    first: &str,
) -> Result<(Arc<str>, Option<Pending<()>>), StoreError> {
    let services = around.services;
    let (store, id) = (&services.store, &around.spec.id);
    let preferred = around.spec.course.preferred();
    let redactor = services.redactor.snapshot();
    let here = prompt::here(&services.config, &around.spec.directory);
    let wanted = prompt::Wanted {
        model: &preferred.model,
        provider: &preferred.provider,
        personality: personality::chosen(&services.config, around.spec.personality.as_deref()),
        extent: around.spec.extent(),
        ignore_rules: around.spec.ignore_rules,
        here: here.map(|here| redactor.redact_in(Scope::Known, &here).into_owned()),
    };
    let stored = store.system_prompt(id).await?;
    if let Some(stored) = &stored
        && prompt::is_for(stored, &wanted)
    {
        return Ok((stored.as_str().into(), None));
    }
    let unkept = skills::equip_those_in_front(around).await;
    let skills = skills::part(around, toolbox, first).await;
    let Made { text, warnings } = make(around, toolbox, &remembered(around), &skills);
    let raised = compaction::raised(around.spec.course.route(), &services.config.compression);
    let told = unkept.into_iter().chain(warnings).chain(raised);
    for text in told.chain(reduced(around)) {
        around.events.send(Event::Notice { text }).await;
    }
    let kept = store.set_system_prompt(id, text.to_string(), preferred.model.clone());
    Ok((text, Some(kept)))
}

impl Turn<'_> {
    /// Brings what is remembered up to date after a compaction, when the provider has to read everything anew
    /// anyway. A prompt that says the same already stays, byte for byte.
    pub(super) async fn refresh_memory(&mut self) -> Result<(), StoreError> {
        let around = &self.around;
        let memory = remembered(around);
        if memory.is_in(&self.system) {
            return Ok(());
        }
        let first = first_said(self.history.iter().map(|entry| &entry.message));
        let skills = skills::part(around, &self.toolbox, &first.unwrap_or_default()).await;
        let Made { text, .. } = make(around, &self.toolbox, &memory, &skills);
        for text in memory.warnings {
            self.say(Event::Notice { text }).await;
        }
        let model = around.spec.course.preferred().model.clone();
        let store = &around.services.store;
        store
            .set_system_prompt(&around.spec.id, text.to_string(), model)
            .await?;
        self.system = text;
        Ok(())
    }
}

/// A prompt with known secrets masked, and what the user should know about it.
struct Made {
    text: Arc<str>,
    warnings: Vec<String>,
}

fn make(
    around: &Surroundings<'_>,
    toolbox: &Toolbox,
    memory: &Snapshot,
    skills: &SkillsPart,
) -> Made {
    let services = around.services;
    // Whoever takes over is named on the way out: see `prompt::address`.
    let preferred = around.spec.course.preferred();
    let external = services.external.as_ref();
    let external = external.map(|external| external.prompt(&around.spec.surface));
    let made = prompt::build(&prompt::Facts {
        config: &services.config,
        home: &services.home,
        rules: &services.rules,
        directory: &around.spec.directory,
        surface: &around.spec.surface,
        session: around.spec.tells_id.then_some(&around.spec.id),
        personality: personality::chosen(&services.config, around.spec.personality.as_deref()),
        model: &preferred.model,
        provider: &preferred.provider,
        window: around.spec.course.window(),
        tools: &toolbox.names().collect::<Vec<_>>(),
        programs: &services.programs,
        memory,
        external: external.as_deref().unwrap_or_default(),
        skills,
        ignore_rules: around.spec.ignore_rules,
        extent: around.spec.extent(),
        now: services.clock.local(),
    });
    let redactor = services.redactor.snapshot();
    Made {
        text: redactor.redact_in(Scope::Known, &made.text).as_ref().into(),
        warnings: made.warnings,
    }
}

/// What the user should know where a model is not given everything.
fn reduced(around: &Surroundings<'_>) -> Option<String> {
    let (spec, config) = (&around.spec, &around.services.config);
    let (model, window) = (&spec.course.route().model, spec.course.window());
    let configured = config.model.context_length;
    if spec.course.route().quirks.no_tools {
        return Some(format!(
            "{model} cannot call tools, so it is given none and cannot act. `hermes model` chooses another model"
        ));
    }
    spec.extent()
        .notice(model, window, spec.toolsets.is_some(), configured)
}

/// What is remembered, as a prompt holds it.
fn remembered(around: &Surroundings<'_>) -> Snapshot {
    let services = around.services;
    let extent = around.spec.extent();
    let read = || services.memory.snapshot();
    let redactor = services.redactor.snapshot();
    prompt::remembered(around.spec.ignore_rules, extent, read)
        .map(|block| redactor.redact_in(Scope::Known, block).into_owned())
}
