//! What all conversations of one program share: store, models, tools and engine, wired.

mod wiring;

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use hermes_agent::{Engine, Routes, Session, SessionSpec};
use hermes_config::{ApprovalMode, Config, Loaded, ToolProgress, Variable};
use hermes_core::{Clock, Effort, Random, RunMode, SessionId};
use hermes_llm::Course;
use hermes_memory::External;
use hermes_store::{BackgroundImport, Store};
use tokio::runtime::Runtime;

use super::front::Calls;
use super::importing::Importing;
use crate::args::chat::{self as args, RunArgs};
use crate::commands::curator;
use crate::commands::tools::{meant, missing, unheeded};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::hands::Hands;
use crate::logging::CallLog;
use crate::models::{Chosen, Found, Models};
use crate::recall::{self, Filler};
use crate::servers::Servers;
use wiring::Wiring;

/// Where these sessions run.
const SURFACE: &str = "cli";
/// How long sessions that were told to stop may take for it.
const LAST_STEPS: Duration = Duration::from_secs(10);

/// Everything but the sessions themselves.
pub(super) struct House {
    pub(super) store: Store,
    pub(super) models: Arc<Models>,
    pub(super) hands: Arc<Hands>,
    pub(super) servers: Arc<Servers>,
    /// Makes vectors of what was said.
    pub(super) filler: Filler,
    /// The routes the settings and the command line ask for.
    pub(super) course: Course,
    /// How actions are approved unless the user says otherwise.
    pub(super) mode: RunMode,
    /// Whether the user is asked before risky commands, at first.
    pub(super) asks: bool,
    /// Whether `config.yaml` is left out.
    pub(super) without_settings: bool,
    /// Whether a conversation that is taken up again stays in the directory the program was started in.
    pub(super) stays_here: bool,
    pub(super) directory: PathBuf,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) random: Arc<dyn Random>,
    engine: Engine,
    external: Option<External>,
    company: Company,
    most_calls: u32,
    ignore_rules: bool,
    /// What sessions are filed under.
    pub(super) source: String,
    tells_id: bool,
    /// The reference's history, on its way in behind the prompt.
    pub(super) importing: Importing,
    /// Where calls of tools are written, when they are wanted there.
    call_log: Option<Rc<CallLog>>,
}

/// What a person may change about the sessions while the program runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Manner {
    pub(super) toolsets: Option<Vec<String>>,
    pub(super) effort: Option<Effort>,
    pub(super) personality: Option<String>,
    /// Skills in front of every conversation.
    pub(super) skills: Vec<String>,
}

impl Manner {
    fn asked(toolsets: Option<Vec<String>>, skills: Vec<String>) -> Self {
        Self {
            toolsets,
            skills,
            ..Self::default()
        }
    }
}

/// A session that is to be opened.
pub(super) struct Begin<'a> {
    pub(super) id: SessionId,
    pub(super) directory: PathBuf,
    pub(super) course: Course,
    pub(super) manner: &'a Manner,
    pub(super) mode: RunMode,
    /// Whether it goes on after one answer.
    pub(super) lasting: bool,
}

/// Who is there while a run lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Company {
    /// Somebody sits at the terminal, and can be asked.
    Person,
    /// Messages come one after the other, and nobody can be asked.
    Pipe,
    /// One question is to be answered, and nobody can be asked.
    Question,
}

impl Company {
    /// Whether somebody can be asked.
    fn can_be_asked(self) -> bool {
        self == Self::Person
    }

    /// Whether there may be more than one message.
    pub(super) fn lasts(self) -> bool {
        match self {
            Self::Person | Self::Pipe => true,
            Self::Question => false,
        }
    }
}

/// What a run begins with.
pub(super) struct Start {
    pub(super) house: House,
    pub(super) manner: Manner,
    /// The session in front.
    pub(super) id: SessionId,
    /// Whether it is an earlier one.
    pub(super) resumed: bool,
    /// What somebody at the terminal should know before the first word.
    pub(super) notes: Vec<String>,
}

impl House {
    /// Wires what the arguments ask for.
    pub(super) fn open(
        run: &RunArgs,
        company: Company,
        loaded: Loaded,
        runtime: &Runtime,
        context: &Context,
    ) -> Outcome<Start> {
        let directory = context.workspace()?;
        let (toolsets, unknown) = toolsets(run, &loaded.config)?;
        let source = source(run, context)?;
        let switches = Switches::of(run, context);
        let (models, Found { course, mut notes }) = models(run, loaded, runtime, context)?;
        let _entered = runtime.enter();
        let (store, resumed, import) = store_and_id(run, company, context)?;
        let wiring = Wiring::new(context, models, store);
        let search = recall::services(context, &wiring.config, wiring.store.clone())?;
        let filler = wiring.filler(&search, company);
        let web = wiring.web(switches)?;
        let external = wiring.external(switches)?;
        let hands = wiring.hands(search, &web, external.clone())?;
        let is_resumed = resumed.is_some();
        let id = resumed.unwrap_or_else(|| wiring.fresh_id());
        let servers = wiring.servers(&hands, course.route(), &id, switches);
        runtime.block_on(servers.apply(context, &wiring.models.loaded))?;
        let mode = mode_of(wiring.config.approvals.mode);
        let logs = wiring.config.display.tool_progress == ToolProgress::Log;
        let call_log = logs.then(|| CallLog::new(context)).flatten().map(Rc::new);
        let house = Self {
            most_calls: run.max_turns.unwrap_or(wiring.config.agent.max_turns),
            engine: wiring.engine(&servers, &hands, web)?,
            external,
            store: wiring.store,
            models: wiring.models,
            hands,
            servers,
            filler,
            course,
            mode,
            asks: !switches.yolo && mode != RunMode::Off,
            without_settings: switches.without_settings,
            stays_here: run.no_restore_cwd,
            directory,
            clock: context.clock().clone(),
            random: wiring.random,
            company,
            ignore_rules: switches.ignore_rules,
            source,
            tells_id: run.pass_session_id,
            importing: Importing::new(import),
            call_log,
        };
        if company.lasts() && !switches.safe {
            house.tidy_behind(context)?;
        }
        let (skills, missing) = preloaded(run, &house)?;
        let waiting = house.hands.waiting();
        notes.extend(unknown.into_iter().chain(missing).chain(waiting));
        Ok(Start {
            house,
            manner: Manner::asked(toolsets, skills),
            id,
            resumed: is_resumed,
            notes,
        })
    }

    /// Looks after skills while nobody waits for it.
    fn tidy_behind(&self, context: &Context) -> Outcome {
        let means = curator::Means {
            context: context.clone(),
            models: self.models.clone(),
            main: self.course.route().clone(),
            store: self.store.clone(),
            services: self.hands.skills().clone(),
            spill: context.home()?.cache_dir().join("tool-results"),
        };
        curator::start_behind(means, &self.engine);
        Ok(())
    }

    /// A fresh id for a session.
    pub(super) fn fresh_id(&self) -> SessionId {
        SessionId::generate(&*self.clock, &*self.random)
    }

    /// What is told of the calls of a session.
    pub(super) fn calls(&self) -> Calls {
        Calls::new(self.call_log.clone())
    }

    /// Opens a session in the engine.
    pub(super) fn begin(&self, begin: Begin<'_>) -> Session {
        self.engine.open(SessionSpec {
            id: begin.id,
            surface: SURFACE.to_owned(),
            user: None,
            source: self.source.clone(),
            tells_id: self.tells_id,
            directory: begin.directory,
            course: begin.course,
            toolsets: begin.manner.toolsets.clone(),
            most_calls: self.most_calls,
            effort: begin.manner.effort,
            personality: begin.manner.personality.clone(),
            attended: self.company.can_be_asked(),
            // Who sits at the terminal hears what happens between two messages.
            lasting: self.company.lasts() && begin.lasting,
            skills: begin.manner.skills.clone(),
            ignore_rules: self.ignore_rules,
            titles: self.company.lasts() && begin.lasting,
            mode: begin.mode,
        })
    }

    /// The routes for a session that goes on with this model.
    pub(super) async fn course_to(&self, provider: &str, model: &str) -> Course {
        let first = self.course.route();
        let same = first.provider == provider && first.model == model;
        if same && !self.models.is_renewed() {
            return self.course.clone();
        }
        let found = Routes::course(&*self.models, model, Some(provider)).await;
        // It has answered before; if it is gone now, the preferred one is.
        found.unwrap_or_else(|_| self.course.clone())
    }

    /// How a session approves actions, as the user was last told.
    pub(super) fn mode_when(&self, asking: bool) -> RunMode {
        match (asking, self.mode) {
            (false, _) => RunMode::Off,
            (true, RunMode::Off) => RunMode::Manual,
            (true, mode) => mode,
        }
    }

    /// Ends everything; what was acknowledged is on disk already. Answers with what the user should still know.
    pub(super) async fn close(self) -> Option<String> {
        if !self.engine.shut_down(LAST_STEPS).await {
            tracing::warn!("a session was still at work when the program ended");
        }
        let last = match &self.external {
            Some(external) => external.close().await,
            None => None,
        };
        self.filler.close().await;
        self.servers.close().await;
        self.hands.close().await;
        self.models.keys.close().await;
        drop(self.importing);
        last
    }

    /// Gives work behind the last answer, such as a title, a moment to end.
    pub(super) async fn settle(&self, limit: Duration) {
        let _ = tokio::time::timeout(limit, self.engine.settle()).await;
    }
}

/// What the command line and the environment switch on.
#[derive(Debug, Clone, Copy)]
struct Switches {
    ignore_rules: bool,
    /// Servers of others and tidying are left out.
    safe: bool,
    /// Nobody is asked.
    yolo: bool,
    without_settings: bool,
}

impl Switches {
    fn of(run: &RunArgs, context: &Context) -> Self {
        let set = |variable: &Variable| is_on(context.environment.filled(variable));
        Self {
            ignore_rules: run.ignore_rules || run.safe_mode || set(&Variable::HERMES_IGNORE_RULES),
            safe: run.safe_mode || set(&Variable::HERMES_SAFE_MODE),
            yolo: run.yolo || set(&Variable::HERMES_YOLO_MODE),
            without_settings: run.ignore_user_config || run.safe_mode,
        }
    }
}

fn mode_of(approvals: ApprovalMode) -> RunMode {
    match approvals {
        ApprovalMode::Manual => RunMode::Manual,
        ApprovalMode::Smart => RunMode::Smart,
        ApprovalMode::Off => RunMode::Off,
    }
}

/// The models, and the routes the command line asks for.
fn models(
    run: &RunArgs,
    loaded: Loaded,
    runtime: &Runtime,
    context: &Context,
) -> Outcome<(Arc<Models>, Found)> {
    let models = Arc::new(Models::new(context, loaded)?);
    let chosen = Chosen {
        model: run.model.clone(),
        provider: run.provider.clone(),
    };
    let found = models.begin(chosen, runtime)?;
    Ok((models, found))
}

/// Somebody at a terminal waits for nothing: the reference's history comes in behind the prompt,
/// unless one of its conversations is asked for.
fn store_and_id(
    run: &RunArgs,
    company: Company,
    context: &Context,
) -> Outcome<(Store, Option<SessionId>, Option<BackgroundImport>)> {
    let named = run.resume.as_deref().or(run.go_on.as_deref());
    let Some(named) = named else {
        let store = context.store()?;
        let theirs = context.home()?.reference_database();
        let due = company.lasts() && store.import_is_due(&theirs)?;
        let import = due
            .then(|| store.import_in_background(theirs))
            .transpose()?;
        return Ok((store, None, import));
    };
    let store = context.conversations()?;
    let id = if named.is_empty() {
        store.latest(None).wait()?.ok_or_else(|| {
            Complaint::bad_request("there is no conversation to go on with")
                .hint("hermes chat begins one")
        })?
    } else {
        store.resolve(named).wait()?
    };
    Ok((store, Some(id), None))
}

/// The skills that were asked for and are there, and a warning for each that is not. When none is there,
/// that is no conversation anybody wanted.
fn preloaded(run: &RunArgs, house: &House) -> Outcome<(Vec<String>, Vec<String>)> {
    let asked: Vec<&str> = run.skills.iter().map(|name| name.trim()).collect();
    let asked: Vec<&str> = asked.into_iter().filter(|name| !name.is_empty()).collect();
    if asked.is_empty() || house.ignore_rules {
        return Ok((Vec::new(), Vec::new()));
    }
    let library = &house.hands.skills().library;
    let mut found: Vec<String> = Vec::new();
    let mut missing = Vec::new();
    for name in asked {
        match library.view(name, SURFACE) {
            Ok(viewed) => found.push(viewed.entry.full_name()),
            Err(error) => missing.push(error.to_string()),
        }
    }
    found.dedup();
    match found.is_empty() {
        true => {
            Err(Complaint::bad_request(missing.join("; ")).hint("hermes skills list shows them"))
        }
        false => Ok((found, missing)),
    }
}

/// The toolsets in place of those of the settings, and what to say about all that have no use.
fn toolsets(run: &RunArgs, config: &Config) -> Outcome<(Option<Vec<String>>, Vec<String>)> {
    let (toolsets, mut unknown) = match &run.toolsets {
        Some(asked) => {
            let (known, unknown) = known_toolsets(asked, config)?;
            (Some(known), unknown)
        }
        None => (None, Vec::new()),
    };
    // What is asked for takes the place of the list in the settings.
    let in_use = |surface: &str| surface == SURFACE && toolsets.is_none();
    let unheeded = unheeded(config, in_use).into_iter();
    unknown.extend(unheeded.map(|one| format!("{one}; {}", one.hint)));
    Ok((toolsets, unknown))
}

/// The toolsets that were asked for and are there, and a warning for each that is not. When none is there, that is no
/// conversation anybody wanted.
fn known_toolsets(asked: &[String], config: &Config) -> Outcome<(Vec<String>, Vec<String>)> {
    let unknown = missing(asked, config);
    let known = asked.iter().filter(|set| !unknown.contains(&set.as_str()));
    let known: Vec<String> = known.cloned().collect();
    match (known.is_empty(), unknown.first()) {
        (true, Some(name)) => {
            let text = format!("there is no toolset {}", unknown.join(", "));
            Err(Complaint::bad_request(text).hint(meant(name, config)))
        }
        _ => {
            let left_out = unknown.iter().map(|name| {
                let hint = meant(name, config);
                format!("there is no toolset {name}, so it is left out; {hint}")
            });
            Ok((known, left_out.collect()))
        }
    }
}

/// Whether the value of a variable switches something on. Who writes a no there must not get a yes.
fn is_on(value: Option<&str>) -> bool {
    value.is_some_and(|value| {
        let value = value.trim().to_ascii_lowercase();
        !matches!(value.as_str(), "" | "0" | "false" | "no" | "off")
    })
}

/// What sessions are filed under: what the command line says, then the environment.
fn source(run: &RunArgs, context: &Context) -> Outcome<String> {
    let named = context.environment.filled(&Variable::HERMES_SESSION_SOURCE);
    match (&run.source, named) {
        (Some(source), _) => Ok(source.clone()),
        (None, Some(named)) => args::source(named.trim()).map_err(|cause| {
            Complaint::bad_request(format!("HERMES_SESSION_SOURCE cannot be used: {cause}"))
                .hint("unset it, or name one with --source")
        }),
        (None, None) => Ok(SURFACE.to_owned()),
    }
}
