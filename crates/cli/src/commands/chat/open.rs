//! Opening a conversation: store, models, tools and engine, wired.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_agent::{Dumps, Engine, Services, Session, SessionSpec, toolsets};
use hermes_config::{ApprovalMode, Config, Loaded};
use hermes_core::{RunMode, SessionId, SystemRandom};
use hermes_llm::Course;
use hermes_store::{BackgroundImport, Store};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::args::chat::RunArgs;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::hands::{Hands, Parts};
use crate::models::{Chosen, Measured, Models};
use crate::servers::{ModelSampler, Servers};
use crate::web::Web;

/// A conversation that is open.
pub(super) struct Conversation {
    pub(super) session: Session,
    pub(super) store: Store,
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) embedded: bool,
    /// As it was when the conversation was opened; the engine goes its own way from there.
    pub(super) course: Course,
    pub(super) models: Arc<Models>,
    engine: Engine,
    pub(super) hands: Arc<Hands>,
    pub(super) servers: Arc<Servers>,
    /// How actions are approved unless the user says otherwise.
    pub(super) mode: RunMode,
    /// Whether the user is asked before risky commands, at first.
    pub(super) asks: bool,
    pub(super) directory: PathBuf,
    /// Whether `config.yaml` is left out.
    pub(super) without_settings: bool,
    /// The reference's history, on its way in behind the prompt.
    pub(super) import: Option<BackgroundImport>,
    /// What somebody at the terminal should know before the first word.
    pub(super) notes: Vec<String>,
}

impl Conversation {
    /// Opens what the arguments ask for. `attended` says that somebody sits at the terminal.
    pub(super) fn open(
        run: &RunArgs,
        attended: bool,
        loaded: Loaded,
        runtime: &Runtime,
        context: &Context,
    ) -> Outcome<Self> {
        if let Some(sets) = &run.toolsets {
            check_toolsets(sets, &loaded.config)?;
        }
        let models = Arc::new(Models::new(context, loaded)?);
        let chosen = Chosen {
            model: run.model.clone(),
            provider: run.provider.clone(),
        };
        let Measured { course, mut notes } =
            runtime.block_on(models.measured_course(&chosen, models.loading()))?;
        let _entered = runtime.enter();
        let (store, id, import) = store_and_id(run, attended, context)?;
        notes.extend(id.as_ref().map(|id| format!("Going on with {id}.")));
        let home = context.home()?;
        let config = models.loaded.config.clone();
        let random = Arc::new(SystemRandom);
        let (provider, model) = (
            course.route().provider.clone(),
            course.route().model.clone(),
        );
        let embedded = course.route().is_embedded();
        let id = id.unwrap_or_else(|| SessionId::generate(&*context.clock, &*random));
        let most_calls = run.max_turns.unwrap_or(config.agent.max_turns);
        let config = Arc::new(config);
        let hands = Arc::new(Hands::new(
            context,
            Parts {
                config: config.clone(),
                store: store.clone(),
                random: random.clone(),
            },
        )?);
        let safe = run.safe_mode || context.environment.filled("HERMES_SAFE_MODE").is_some();
        let servers = Arc::new(Servers::new(
            hands.clone(),
            store.clone(),
            Arc::new(ModelSampler {
                models: models.clone(),
                caller: models.caller(&store),
                store: store.clone(),
                clock: context.clock.clone(),
                main: course.route().clone(),
                session: id.clone(),
            }),
            !safe,
        ));
        runtime.block_on(servers.apply(context, &models.loaded))?;
        let mode = match config.approvals.mode {
            ApprovalMode::Manual => RunMode::Manual,
            ApprovalMode::Smart => RunMode::Smart,
            ApprovalMode::Off => RunMode::Off,
        };
        let engine = Engine::new(Services {
            store: store.clone(),
            caller: models.caller(&store),
            config,
            tools: servers.clone(),
            pages: Arc::new(Web::new(context, &models.loaded)?),
            routes: models.clone(),
            clock: context.clock.clone(),
            random,
            redactor: context.redactor.clone(),
            home: home.path().to_owned(),
            programs: context.programs(),
            spill: home.cache_dir().join("tool-results"),
            news: hands.news(),
            side_by_side: models.timing.tools,
            dumps: Dumps {
                folder: home.cache_dir().join("requests"),
                every: context
                    .environment
                    .filled("HERMES_DUMP_REQUESTS")
                    .is_some_and(|value| value != "0"),
            },
            stop: CancellationToken::new(),
        });
        let directory = context.directory().unwrap_or_default();
        let session = engine.open(SessionSpec {
            id,
            surface: "cli".to_owned(),
            directory: directory.clone(),
            course: course.clone(),
            toolsets: run.toolsets.clone(),
            most_calls,
            effort: None,
            attended,
            // Who sits at the terminal hears what happens between two messages.
            lasting: attended,
            ignore_rules: run.ignore_rules || run.safe_mode,
            titles: attended,
            mode: if run.yolo { RunMode::Off } else { mode },
        });
        Ok(Self {
            session,
            store,
            provider,
            model,
            embedded,
            course,
            engine,
            models,
            hands,
            servers,
            mode,
            asks: !run.yolo && mode != RunMode::Off,
            directory,
            without_settings: run.ignore_user_config || run.safe_mode,
            import,
            notes,
        })
    }

    /// Ends the conversation; what was acknowledged is on disk already.
    pub(super) async fn close(self) {
        let Self {
            session,
            engine,
            models,
            hands,
            servers,
            import,
            ..
        } = self;
        drop(session);
        engine.shut_down().await;
        servers.close().await;
        hands.close().await;
        models.keys.close().await;
        drop(import);
    }

    /// Gives work behind the last answer, such as a title, a moment to end.
    pub(super) async fn settle(&self, limit: std::time::Duration) {
        let _ = tokio::time::timeout(limit, self.engine.settle()).await;
    }
}

/// Somebody at a terminal waits for nothing: the reference's history comes in behind the prompt,
/// unless one of its conversations is asked for.
fn store_and_id(
    run: &RunArgs,
    attended: bool,
    context: &Context,
) -> Outcome<(Store, Option<SessionId>, Option<BackgroundImport>)> {
    let named = run.resume.as_deref().or(run.go_on.as_deref());
    let Some(named) = named else {
        let store = context.store()?;
        let theirs = context.home()?.reference_database();
        let due = attended && store.import_is_due(&theirs)?;
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
    store.reopen_session(&id).wait()?;
    Ok((store, Some(id), None))
}

fn check_toolsets(sets: &[String], config: &Config) -> Outcome {
    let sets = sets.iter().map(String::as_str);
    let unknown = toolsets::unknown(sets.filter(|set| toolsets::server_of(config, set).is_none()));
    match unknown.first() {
        None => Ok(()),
        Some(name) => {
            let servers = config.mcp_servers.keys().map(String::as_str);
            let known = toolsets::toolsets()
                .iter()
                .map(|set| set.name)
                .chain(servers);
            let hint = match hermes_config::nearest(name, known) {
                Some(near) => format!("did you mean {near}?"),
                None => "hermes tools list shows them".to_owned(),
            };
            Err(Complaint::bad_request(format!("there is no toolset {name}")).hint(hint))
        }
    }
}
