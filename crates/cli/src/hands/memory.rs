//! What the agent remembers, wired.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hermes_agent::SessionFacts;
use hermes_config::{Config, Home};
use hermes_core::{Random, Tool};
use hermes_memory::{Memory, MemoryOptions, Settings, Target};
use hermes_store::Store;
use hermes_tools::{Marks, MemoryCaller, MemoryServices, MemoryTool, Staging};

use super::is_asked_at;
use crate::context::Context;

/// What is remembered in a home. Nothing is read.
pub(crate) fn memory_at(context: &Context, config: &Config, home: &Home, store: &Store) -> Memory {
    Memory::new(MemoryOptions {
        directory: home.memories_dir(),
        settings: (&config.memory).into(),
        store: store.clone(),
        clock: context.clock().clone(),
    })
}

/// Where changes wait for a yes.
pub(crate) fn staging_at(context: &Context, home: &Home, random: Arc<dyn Random>) -> Staging {
    Staging {
        folder: home.pending_dir(),
        clock: context.clock().clone(),
        random,
    }
}

pub(super) fn services(
    context: &Context,
    config: &Config,
    home: &Home,
    store: &Store,
    random: &Arc<dyn Random>,
) -> MemoryServices {
    MemoryServices {
        memory: Arc::new(memory_at(context, config, home, store)),
        staging: staging_at(context, home, random.clone()),
        redactor: context.redactor.clone(),
        approval: AtomicBool::new(config.memory.write_approval),
        patience: config.approvals.timeout,
        sessions: Marks::default(),
        external: None,
    }
}

/// The tool for a turn of a session, unless everything is switched off.
pub(super) fn tool(
    services: &Arc<MemoryServices>,
    facts: &SessionFacts<'_>,
) -> Option<Arc<dyn Tool>> {
    is_on(services.memory.settings()).then(|| {
        let caller = MemoryCaller {
            may_ask: is_asked_at(facts.surface),
            surface: facts.surface.to_owned(),
            user: facts.user.map(str::to_owned),
        };
        Arc::new(MemoryTool::new(services.clone(), caller)) as Arc<dyn Tool>
    })
}

/// Whether anything may be remembered at all.
pub(super) fn is_on(settings: &Settings) -> bool {
    let mut targets = Target::ALL.into_iter();
    targets.any(|target| settings.of(target).enabled)
}

/// Adds the tools of an external memory. One that is called like another tool is left out: it must not stand for it.
pub(super) fn add_external(tools: &mut Vec<Arc<dyn Tool>>, theirs: Vec<Arc<dyn Tool>>) {
    for tool in theirs {
        let name = &tool.spec().name;
        match tools.iter().any(|ours| ours.spec().name == *name) {
            true => {
                tracing::warn!("an external memory has a tool {name}, which is another one's name")
            }
            false => tools.push(tool),
        }
    }
}

#[cfg(test)]
mod tests {
    use hermes_tools::{Clarify, Todo};

    use super::*;

    // LN-37
    #[test]
    fn a_tool_of_an_external_memory_never_stands_for_another() {
        let ours: Arc<dyn Tool> = Arc::new(Clarify::new());
        let theirs: [Arc<dyn Tool>; 2] =
            [Arc::new(Clarify::new()), Arc::new(Todo::from_history(&[]))];
        let mut tools = vec![ours.clone()];
        add_external(&mut tools, theirs.to_vec());
        assert_eq!(tools.len(), 2);
        assert!(Arc::ptr_eq(&tools[0], &ours));
        assert!(Arc::ptr_eq(&tools[1], &theirs[1]));
    }
}
