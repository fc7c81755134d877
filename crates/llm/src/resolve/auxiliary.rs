//! The models for work on the side.

use std::collections::BTreeMap;
use std::time::Duration;

use hermes_config::{Effort as SetEffort, Fallback, Value};
use hermes_core::Effort;

use super::error::ResolveError;
use super::wanted::{Said, Slot, Wanted};
use super::{Request, Resolved, assemble, fallbacks, same, server};
use crate::metadata;
use crate::profile::Profile;
use crate::route::Route;

/// A summary of a long conversation takes its time whatever was set for quicker tasks.
const LEAST_FOR_COMPRESSION: Duration = Duration::from_secs(300);

/// The time limit of tasks that nobody configured.
const USUAL_TIMEOUT: Duration = Duration::from_secs(30);

/// Providers that describe pictures when the conversation's cannot.
const SEEING: [&str; 3] = ["openrouter", "nous", "deepinfra"];

/// How one helper task is done.
#[derive(Debug)]
pub struct Auxiliary {
    /// The models to try, in order; never empty.
    pub candidates: Vec<Resolved>,
    /// Whether later candidates may be tried only when an earlier one has no capacity.
    pub explicit: bool,
    /// How long one call may take.
    pub timeout: Duration,
    /// Further attempts after a passing failure.
    pub retries: u32,
    /// How hard to think; the model's own measure when absent.
    pub effort: Option<Effort>,
}

/// The settings of a task, whichever section type holds them.
struct Task<'c> {
    slot: Slot<'c>,
    timeout: Duration,
    extra_body: &'c BTreeMap<String, Value>,
    effort: SetEffort,
    chain: &'c [Fallback],
}

macro_rules! task {
    ($section:expr) => {{
        let section = $section;
        Task {
            slot: Slot {
                provider: &section.provider,
                model: &section.model,
                base_url: &section.base_url,
                api_key: &section.api_key,
                key_env: &section.key_env,
                api_mode: section.api_mode,
            },
            timeout: section.timeout,
            extra_body: &section.extra_body,
            effort: section.reasoning_effort,
            chain: &section.fallback_chain,
        }
    }};
}

/// The models for a helper task such as `compression`; `main` is the conversation's.
pub fn auxiliary(
    name: &str,
    request: &Request<'_>,
    main: &Resolved,
) -> Result<Auxiliary, ResolveError> {
    let task = find(request, name);
    let mut timeout = task.as_ref().map_or(USUAL_TIMEOUT, |task| task.timeout);
    if name == "compression" {
        timeout = timeout.max(LEAST_FOR_COMPRESSION);
    }
    let mut candidates = Candidates::default();
    let explicit = match &task {
        Some(task) => fill(request, name, task, main, &mut candidates)?,
        None => {
            candidates.push(main.clone());
            false
        }
    };
    Ok(Auxiliary {
        candidates: candidates.0,
        explicit,
        timeout,
        retries: request.config.auxiliary.transient_retries,
        effort: task.and_then(|task| effort(task.effort)),
    })
}

/// Fills the list; tells whether the first one was named by the user.
fn fill(
    request: &Request<'_>,
    name: &str,
    task: &Task<'_>,
    main: &Resolved,
    candidates: &mut Candidates,
) -> Result<bool, ResolveError> {
    let path = format!("auxiliary.{name}");
    let mut wanted = Wanted::of(request, &path, &task.slot);
    let fields = task.extra_body.iter();
    wanted.extra_body = fields
        .map(|(key, value)| (key.clone(), value.to_json()))
        .collect();
    let on_main = wanted
        .provider
        .as_ref()
        .is_some_and(|it| it.value == "main");
    if on_main {
        wanted.provider = None;
    }
    let chain = |candidates: &mut Candidates| {
        for (index, entry) in task.chain.iter().enumerate() {
            let place = format!("{path}.fallback_chain.{index}");
            let next = assemble::build(request, Wanted::fallback(request, &place, entry));
            candidates.try_push(next, name);
        }
    };
    if wanted.base_url.is_some() || wanted.provider.is_some() {
        default_model(request, &mut wanted, name)?;
        candidates.push(assemble::build(request, wanted)?);
        chain(candidates);
        candidates.push(main.clone());
        return Ok(true);
    }
    if let Some(first) = own(request, name, wanted, main)? {
        candidates.push(first);
    }
    chain(candidates);
    if on_main {
        return Ok(true);
    }
    for next in fallbacks(request) {
        candidates.try_push(next, name);
    }
    others(request, name, candidates)?;
    if candidates.0.is_empty() {
        candidates.push(main.clone());
    }
    Ok(false)
}

/// The conversation's provider: its model, the model set for the task, or its model for pictures.
fn own(
    request: &Request<'_>,
    name: &str,
    mut wanted: Wanted,
    main: &Resolved,
) -> Result<Option<Resolved>, ResolveError> {
    let wants_eyes = name == "vision" && wanted.model.is_none() && !sees(&main.route);
    if wants_eyes && let Some(profile) = request.profiles.get(&main.route.provider)? {
        wanted.model = profile
            .vision_model
            .as_ref()
            .map(|model| Said::new(model.as_str(), "the provider's model for pictures"));
    }
    if wanted.model.is_none() {
        let unfit = name == "vision" && is_blind(&main.route);
        return Ok((!unfit).then(|| main.clone()));
    }
    let main_wanted = Wanted::main(request)?;
    assemble::build(
        request,
        Wanted {
            provider: Some(Said::new(
                main.route.provider.as_str(),
                "the conversation's provider",
            )),
            model: wanted.model,
            extra_body: wanted.extra_body,
            base_url: main_wanted.base_url,
            api_key: main_wanted.api_key,
            flag_key: main_wanted.flag_key,
            api_mode: main_wanted.api_mode,
            headers: main_wanted.headers,
            default_headers: main_wanted.default_headers,
            ..Wanted::default()
        },
    )
    .map(Some)
}

/// Whether the model is known to see no pictures.
fn is_blind(route: &Route) -> bool {
    route.quirks.no_images || route.is_embedded()
}

/// Whether the model is known to see pictures.
fn sees(route: &Route) -> bool {
    !is_blind(route) && (route.quirks.vision_set || metadata::sees(&route.model) == Some(true))
}

/// Whoever else has a key: the aggregators, an endpoint of one's own, the rest.
fn others(
    request: &Request<'_>,
    name: &str,
    candidates: &mut Candidates,
) -> Result<(), ResolveError> {
    let vision = name == "vision";
    let first: &[&str] = if vision {
        &SEEING
    } else {
        &["openrouter", "nous", "custom"]
    };
    let mut keyed = server::with_key(request)?;
    keyed.extend(server::with_pair(request)?);
    let rest = keyed
        .iter()
        .map(|(profile, _)| profile.id.as_str())
        .filter(|_| !vision);
    for id in first.iter().copied().chain(rest) {
        let Some(profile) = request.profiles.get(id)? else {
            continue;
        };
        let wanted = Wanted {
            provider: Some(Said::new(id, "the first with a key")),
            model: model_of(&profile, vision)
                .map(|model| Said::new(model, "the provider's model for small tasks")),
            ..Wanted::default()
        };
        if let Ok(next) = assemble::build(request, wanted) {
            candidates.push(next);
            return Ok(());
        }
    }
    Ok(())
}

/// A named provider without a model gets the one it has for such tasks.
fn default_model(
    request: &Request<'_>,
    wanted: &mut Wanted,
    name: &str,
) -> Result<(), ResolveError> {
    if wanted.model.is_some() {
        return Ok(());
    }
    if let Some(said) = &wanted.provider {
        let found = server::by_name(request, said)?;
        if found.kind == server::Kind::BuiltIn {
            wanted.model = model_of(&found.profile, name == "vision")
                .map(|model| Said::new(model, "the provider's model for small tasks"));
        }
    }
    Ok(())
}

fn model_of(profile: &Profile, vision: bool) -> Option<String> {
    let special = if vision {
        profile.vision_model.as_ref()
    } else {
        profile.aux_model.as_ref()
    };
    special.or(profile.default_model.as_ref()).cloned()
}

fn find<'c>(request: &Request<'c>, name: &str) -> Option<Task<'c>> {
    let all = &request.config.auxiliary;
    Some(match name {
        "vision" => task!(&all.vision),
        "web_extract" => task!(&all.web_extract),
        "session_search" => task!(&all.session_search),
        "compression" => task!(&all.compression),
        "skills_hub" => task!(&all.skills_hub),
        "approval" => task!(&all.approval),
        "mcp" => task!(&all.mcp),
        "title_generation" => task!(&all.title_generation),
        "memory_query_rewrite" => task!(&all.memory_query_rewrite),
        "tts_audio_tags" => task!(&all.tts_audio_tags),
        "triage_specifier" => task!(&all.triage_specifier),
        "kanban_decomposer" => task!(&all.kanban_decomposer),
        "profile_describer" => task!(&all.profile_describer),
        "goal_judge" => task!(&all.goal_judge),
        "curator" => task!(&all.curator),
        "monitor" => task!(&all.monitor),
        "background_review" => task!(&all.background_review),
        "moa_reference" => task!(&all.moa_reference),
        "moa_aggregator" => task!(&all.moa_aggregator),
        other => task!(all.others.get(other)?),
    })
}

fn effort(effort: SetEffort) -> Option<Effort> {
    match effort {
        SetEffort::Unset => None,
        SetEffort::None => Some(Effort::Off),
        SetEffort::Minimal => Some(Effort::Minimal),
        SetEffort::Low => Some(Effort::Low),
        SetEffort::Medium => Some(Effort::Medium),
        SetEffort::High => Some(Effort::High),
        SetEffort::ExtraHigh => Some(Effort::ExtraHigh),
        SetEffort::Max => Some(Effort::Max),
        SetEffort::Ultra => Some(Effort::Ultra),
    }
}

#[derive(Default)]
struct Candidates(Vec<Resolved>);

impl Candidates {
    fn push(&mut self, next: Resolved) {
        if !self.0.iter().any(|seen| same(&seen.route, &next.route)) {
            self.0.push(next);
        }
    }

    /// A spare that cannot be reached is no reason to fail while others can.
    fn try_push(&mut self, next: Result<Resolved, ResolveError>, task: &str) {
        match next {
            Ok(next) => self.push(next),
            Err(error) => {
                tracing::warn!(target: "hermes::llm", task, %error, "a spare model is left out");
            }
        }
    }
}
