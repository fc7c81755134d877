//! Merging skills that overlap, wired: the model, the tools, and where what they do is kept.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hermes_agent::{MERGE_TASK, Merge, Routes as _};
use hermes_core::{SessionId, SystemRandom};
use hermes_llm::Route;
use hermes_skills::{Library, Merging};
use hermes_store::{Options, Store};
use hermes_tools::{Seen, SkillCaller, SkillServices, skill_tools};
use tokio_util::sync::CancellationToken;

use super::Desk;
use crate::commands::chat::runtime;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::hands::staging_at;
use crate::models::{Chosen, Found, Models, tell};

/// What a model needs to merge skills.
pub(crate) struct Means {
    pub(crate) context: Context,
    pub(crate) models: Arc<Models>,
    /// The route of conversations.
    pub(crate) main: Arc<Route>,
    /// Where calls are counted.
    pub(crate) store: Store,
    /// The skills, and where changes of them are written down.
    pub(crate) services: Arc<SkillServices>,
    pub(crate) spill: PathBuf,
}

impl Means {
    /// Does it, until it ends or is stopped. What goes wrong is part of how it went.
    pub(crate) async fn merge(
        &self,
        skills: Vec<(String, String)>,
        cancel: CancellationToken,
    ) -> Merging {
        let caller = SkillCaller {
            surface: "cli".to_owned(),
            may_ask: false,
        };
        let clock = self.context.clock().clone();
        let main = self.models.asked(&self.main).await;
        let merge = Merge {
            caller: self.models.caller(&self.store),
            store: self.store.clone(),
            redactor: self.context.redactor.clone(),
            spill: self.spill.clone(),
            helpers: self.models.helpers(MERGE_TASK, &main),
            limit: self.models.loaded.config.auxiliary.curator.timeout,
            tools: skill_tools(&self.services, &caller),
            skills,
            run: SessionId::generate(&*clock, &SystemRandom),
            clock,
            cancel,
        };
        match merge.run().await {
            Some(merged) => Merging {
                model: merged.model,
                calls: merged.calls,
                cut_short: merged.cut_short,
            },
            None => not_tried("no model is set up for it".to_owned()),
        }
    }
}

pub(super) fn not_tried(why: String) -> Merging {
    Merging {
        cut_short: Some(why),
        ..Merging::default()
    }
}

/// Does it for somebody who waits. `journal` is where changes are written down.
pub(super) fn by_hand(
    desk: &Desk<'_>,
    library: &Arc<Library>,
    journal: Store,
    skills: Vec<(String, String)>,
) -> Merging {
    tried(desk, library, journal, skills).unwrap_or_else(|error| not_tried(error.cause()))
}

fn tried(
    desk: &Desk<'_>,
    library: &Arc<Library>,
    journal: Store,
    skills: Vec<(String, String)>,
) -> Outcome<Merging> {
    let context = desk.context;
    let home = context.home()?;
    let models = Arc::new(Models::new(context, context.settings()?)?);
    let runtime = runtime()?;
    runtime.block_on(async {
        let usual = Chosen::default();
        let course =
            models.measured_course(&usual, models.loading(&|line| tracing::info!("{line}")));
        let Found { course, notes } = course.await?;
        tell(&notes);
        let means = Means {
            context: context.clone(),
            main: course.route().clone(),
            store: context.store()?,
            services: Arc::new(SkillServices {
                library: library.clone(),
                store: journal,
                staging: staging_at(context, home, Arc::new(SystemRandom)),
                // Whoever gave the command has said yes.
                approval: AtomicBool::new(false),
                seen: Seen::default(),
                // Nobody is asked for a key here.
                patience: Duration::ZERO,
            }),
            spill: home.cache_dir().join("tool-results"),
            models,
        };
        let merging = means.merge(skills, CancellationToken::new()).await;
        means.models.keys.close().await;
        Ok(merging)
    })
}

/// A journal that nobody reads, for a copy of the skills.
pub(super) fn journal_at(home: &std::path::Path, context: &Context) -> Outcome<Store> {
    Ok(Store::open(Options {
        path: home.join("hermes.db"),
        blobs: home.join("blobs"),
        clock: context.clock().clone(),
        redactor: context.redactor.clone(),
        vfs: None,
    })?)
}
