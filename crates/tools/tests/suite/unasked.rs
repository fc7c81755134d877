//! A conversation with a person in it who may not be asked there, such as one of a messaging platform: changes wait, and
//! keys are not typed into it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_config::{Environment, Skills};
use hermes_core::{Asker, Beside, Question, Reply, SeededRandom, SystemClock, Tool, ToolContext};
use hermes_memory::{Memory, MemoryOptions, Settings, TargetSettings};
use hermes_secrets::RedactorHandle;
use hermes_skills::{Bare, Library, LibraryOptions, Locality, Shipped, System, roots};
use hermes_store::{Options, Store};
use hermes_tools::{
    Marks, MemoryCaller, MemoryServices, MemoryTool, Seen, SkillCaller, SkillServices, Staged,
    Staging, Subsystem, approve_memory, approve_skill, skill_tools,
};
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const SURFACE: &str = "telegram";

/// Somebody who is there and must not be asked.
struct Undisturbed;

impl Asker for Undisturbed {
    fn ask(&self, question: Question, _: CancellationToken) -> BoxFuture<'_, Reply> {
        panic!("nobody may be asked here: {question:?}")
    }
}

struct Place {
    folder: TempDir,
    store: Store,
    context: ToolContext,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(Options {
            path: folder.path().join("hermes.db"),
            blobs: folder.path().join("blobs"),
            clock: Arc::new(SystemClock),
            redactor: RedactorHandle::default(),
            vfs: None,
        })
        .unwrap();
        let mut context = super::fixture::context("one", folder.path());
        context.asker = Arc::new(Undisturbed);
        assert!(context.attended, "somebody is there");
        Self {
            folder,
            store,
            context,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn staging(&self) -> Staging {
        Staging {
            folder: self.path("pending"),
            clock: Arc::new(SystemClock),
            random: Arc::new(SeededRandom::new(7)),
        }
    }

    async fn call(&self, tool: &dyn Tool, arguments: Json) -> Json {
        let answer = tool.call(arguments, &self.context).await.unwrap();
        serde_json::from_str(&answer.content).unwrap()
    }

    /// The change that waits according to an answer, from its file.
    fn waiting(&self, subsystem: Subsystem, answer: &Json) -> Staged {
        assert_eq!(answer["staged"], json!(true), "{answer}");
        let id = answer["pending_id"].as_str().unwrap();
        let file = self.path(&format!("pending/{}/{id}.json", subsystem.word()));
        let record: Staged = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        assert_eq!(record, self.staging().get(subsystem, id).unwrap());
        record
    }

    fn memory(&self) -> Arc<MemoryServices> {
        let of = TargetSettings {
            enabled: true,
            limit: 2_000,
        };
        Arc::new(MemoryServices {
            memory: Arc::new(Memory::new(MemoryOptions {
                directory: self.path("memories"),
                settings: Settings {
                    memory: of,
                    user: of,
                },
                store: self.store.clone(),
                clock: Arc::new(SystemClock),
            })),
            staging: self.staging(),
            redactor: RedactorHandle::default(),
            approval: AtomicBool::new(true),
            patience: Duration::from_secs(60),
            sessions: Marks::default(),
            external: None,
        })
    }

    fn skills(&self) -> Arc<SkillServices> {
        self.skills_with(Skills::default())
    }

    fn skills_with(&self, settings: Skills) -> Arc<SkillServices> {
        let home = self.folder.path();
        let roots = roots(home, &settings.external_dirs, None, &Environment::default());
        Arc::new(SkillServices {
            library: Arc::new(Library::new(LibraryOptions {
                home: home.to_owned(),
                roots,
                settings,
                locality: Locality {
                    system: System::Linux,
                    surroundings: Vec::new(),
                },
                shipped: Shipped::Nothing,
                surroundings: Arc::new(Bare),
                clock: Arc::new(SystemClock),
            })),
            store: self.store.clone(),
            staging: self.staging(),
            approval: AtomicBool::new(true),
            seen: Seen::default(),
            patience: Duration::ZERO,
        })
    }
}

/// What a person says yes with waits for the disk.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

fn skill_tool(services: &Arc<SkillServices>, name: &str) -> Arc<dyn Tool> {
    let caller = SkillCaller {
        surface: SURFACE.to_owned(),
        may_ask: false,
    };
    let mut tools = skill_tools(services, &caller).into_iter();
    tools.find(|tool| tool.spec().name == name).unwrap()
}

// LN-10
#[tokio::test]
async fn a_change_of_memory_waits_where_nobody_may_be_asked() {
    let place = Place::new();
    let services = place.memory();
    let caller = MemoryCaller {
        may_ask: false,
        surface: SURFACE.to_owned(),
        user: Some("ana".to_owned()),
    };
    let tool = MemoryTool::new(services.clone(), caller);
    let add = json!({"target": "memory", "action": "add", "content": "Builds with make."});
    let answer = place.call(&tool, add).await;
    assert_eq!(place.text("memories/MEMORY.md"), "");
    let staged = place.waiting(Subsystem::Memory, &answer);
    assert_eq!(staged.payload["surface"], SURFACE);
    assert_eq!(staged.payload["user"], "ana");
    let approving = services.clone();
    blocking(move || approve_memory(&approving.memory, None, &approving.staging, &staged).unwrap())
        .await;
    assert_eq!(place.text("memories/MEMORY.md"), "Builds with make.");
    assert!(services.staging.list(Subsystem::Memory).is_empty());
}

// LN-10
#[tokio::test]
async fn a_change_of_memory_that_builds_on_what_waits_waits_too() {
    let place = Place::new();
    let services = place.memory();
    let tool = |may_ask| {
        let caller = MemoryCaller {
            may_ask,
            surface: SURFACE.to_owned(),
            user: None,
        };
        MemoryTool::new(services.clone(), caller)
    };
    let mut waiting = Vec::new();
    for (may_ask, call) in [
        (false, json!({"action": "add", "content": "Drinks tea."})),
        (
            false,
            json!({"action": "replace", "old_text": "tea", "content": "Drinks green tea."}),
        ),
        (
            false,
            json!({"operations": [
                {"action": "remove", "old_text": "green"},
                {"action": "add", "content": "Drinks coffee."},
            ]}),
        ),
        // Nobody is asked about what cannot be made yet.
        (
            true,
            json!({"action": "replace", "old_text": "coffee", "content": "Drinks water."}),
        ),
    ] {
        let answer = place.call(&tool(may_ask), call).await;
        waiting.push(place.waiting(Subsystem::Memory, &answer));
    }
    for (target, gone) in [("memory", "tea"), ("user", "water")] {
        let call = json!({"target": target, "action": "remove", "old_text": gone});
        let answer = place.call(&tool(false), call).await;
        assert_eq!(answer["success"], false, "{answer}");
        let known = answer["current_entries"].as_array().unwrap();
        assert_eq!(known.len(), usize::from(target == "memory"), "{answer}");
    }
    assert_eq!(place.text("memories/MEMORY.md"), "");
    blocking(move || {
        let approve = |staged: &Staged| {
            approve_memory(&services.memory, None, &services.staging, staged)
                .map_err(|error| error.hint())
        };
        let early = approve(&waiting[3]).unwrap_err();
        assert!(early.contains("approve what it builds on first"), "{early}");
        for staged in &waiting {
            approve(staged).unwrap();
        }
        // It builds on nothing: it is gone.
        let staged = services.staging.stage(hermes_tools::ToStage {
            subsystem: Subsystem::Memory,
            action: "remove".to_owned(),
            summary: String::new(),
            origin: waiting[0].origin,
            payload: waiting[1].payload.clone(),
        });
        let late = approve(&staged.unwrap()).unwrap_err();
        assert!(late.contains("hermes memory list"), "{late}");
    })
    .await;
    assert_eq!(place.text("memories/MEMORY.md"), "Drinks water.");
}

// LN-10, LN-30
#[tokio::test]
async fn a_change_of_a_skill_waits_where_nobody_may_be_asked() {
    let place = Place::new();
    let services = place.skills();
    let tool = skill_tool(&services, "skill_manage");
    let text = "---\nname: tea\ndescription: How tea is made\n---\n\nBoil water.\n";
    let create = json!({"action": "create", "name": "tea", "content": text});
    let answer = place.call(&*tool, create).await;
    assert_eq!(place.text("skills/tea/SKILL.md"), "");
    let staged = place.waiting(Subsystem::Skills, &answer);
    let approving = services.clone();
    blocking(move || approve_skill(&approving, &staged).unwrap()).await;
    assert_eq!(place.text("skills/tea/SKILL.md"), text);
    assert!(services.staging.list(Subsystem::Skills).is_empty());
}

// AG-6
#[tokio::test]
async fn reading_a_skill_goes_beside_anything_unless_its_commands_run() {
    let place = Place::new();
    for (inline_shell, beside) in [(false, Beside::Anything), (true, Beside::Nothing)] {
        let services = place.skills_with(Skills {
            inline_shell,
            ..Skills::default()
        });
        let handling = skill_tool(&services, "skill_view").handling();
        assert_eq!(handling.beside, beside, "{inline_shell}");
    }
}

// LN-29
#[tokio::test]
async fn a_key_is_not_asked_for_in_a_chat_and_the_way_to_set_it_is_told() {
    let place = Place::new();
    let file = place.path("skills/mail/SKILL.md");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let head = "name: mail\ndescription: Mails\nrequired_environment_variables: [MAIL_KEY]";
    std::fs::write(file, format!("---\n{head}\n---\n\nSend it.\n")).unwrap();
    let tool = skill_tool(&place.skills(), "skill_view");
    let answer = place.call(&*tool, json!({"name": "mail"})).await;
    assert_eq!(
        (&answer["setup_needed"], &answer["setup_skipped"]),
        (&json!(true), &json!(false)),
        "{answer}"
    );
    let hint = answer["gateway_setup_hint"].as_str().unwrap();
    assert!(hint.contains("hermes config set MAIL_KEY"), "{hint}");
}
