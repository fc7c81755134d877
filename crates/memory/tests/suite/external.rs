//! The one who keeps an external memory: limits, the queue on disk, what people are told.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use futures_core::future::BoxFuture;
use hermes_config::Environment;
use hermes_core::{ManualClock, Role, SeededRandom, SessionId, ToolSpec};
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_memory::{
    Delivery, Entries, Exchange, External, ExternalOptions, Manner, Provider, ProviderError,
    Question, Scene, Setup, known,
};
use hermes_secrets::RedactorHandle;
use hermes_store::{NewRecord, NewSession, Options, Store};
use hermes_testkit::memory_service::MemoryService;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

pub(crate) const SESSION: &str = "20260101_000000_abcdef";

/// A home for providers.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) redactor: RedactorHandle,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new("2026-07-01T12:00:00Z".parse().unwrap()));
        let redactor = RedactorHandle::default();
        let store = Store::open(Options {
            path: folder.path().join("hermes.db"),
            blobs: folder.path().join("blobs"),
            clock: clock.clone(),
            redactor: redactor.clone(),
            vfs: None,
        })
        .unwrap();
        Self {
            folder,
            store,
            clock,
            redactor,
        }
    }

    /// A turn of the conversation, with a row of its own.
    pub(crate) fn turn(&self, user: &str, assistant: &str) -> Exchange {
        std::thread::scope(|scope| {
            let rows = scope.spawn(|| {
                let session = SessionId::try_from(SESSION.to_owned()).unwrap();
                if self.store.session(&session).wait().unwrap().is_none() {
                    let new = NewSession::new(session.clone(), "cli".to_owned());
                    self.store.create_session(new).wait().unwrap();
                }
                let said = [(Role::User, user), (Role::Assistant, assistant)];
                let said = said.map(|(role, text)| NewRecord::text(role, text));
                self.store.append(&session, said.into()).wait().unwrap()
            });
            Exchange {
                row: rows.join().unwrap()[0],
                user: user.to_owned(),
                assistant: assistant.to_owned(),
            }
        })
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A provider with these variables, for a profile.
    pub(crate) fn provider(
        &self,
        name: &str,
        profile: &str,
        variables: &[(&str, &str)],
    ) -> Result<Arc<dyn Provider>, ProviderError> {
        let client = ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any);
        known(name)?.make(&Setup {
            home: self.folder.path(),
            root: self.folder.path(),
            user_home: Some(&self.folder.path().join("user")),
            profile,
            environment: &variables.iter().copied().collect::<Environment>(),
            client: client.build().unwrap(),
            store: self.store.clone(),
        })
    }

    /// The same, kept as a program keeps it.
    pub(crate) fn kept(
        &self,
        provider: Result<Arc<dyn Provider>, ProviderError>,
        name: &str,
    ) -> External {
        let provider = std::sync::Mutex::new(Some(provider));
        External::new(ExternalOptions {
            name: name.to_owned(),
            make: Box::new(move || provider.lock().unwrap().take().unwrap()),
            store: self.store.clone(),
            lock: self.folder.path().join("lock"),
            patience: Duration::from_secs(1),
            clock: self.clock.clone(),
            random: Arc::new(SeededRandom::new(7)),
        })
    }
}

pub(crate) fn scene(directory: &Path) -> Scene {
    Scene {
        session: SESSION.to_owned(),
        directory: directory.to_owned(),
        surface: "cli".to_owned(),
        user: None,
    }
}

pub(crate) fn asked(text: &str, turn: u64) -> Question {
    Question {
        scene: scene(&PathBuf::from("/place/tea")),
        text: text.to_owned(),
        turn,
        rewriter: None,
    }
}

pub(crate) fn mem0(service: &MemoryService) -> Vec<(&'static str, String)> {
    vec![
        ("MEM0_HOST", service.url()),
        ("MEM0_API_KEY", "mem0-key-123".to_owned()),
    ]
}

pub(crate) fn borrowed<'a>(
    variables: &'a [(&'static str, String)],
) -> Vec<(&'static str, &'a str)> {
    variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect()
}

pub(crate) fn service() -> MemoryService {
    let service = MemoryService::start(Some(("x-api-key", "mem0-key-123"))).unwrap();
    service
        .on(
            "POST /search",
            json!({"results": [{"id": "1", "memory": "Likes tea."}]}),
        )
        .on("POST /memories", json!({"results": []}));
    service
}

// LN-37
#[tokio::test]
async fn a_service_that_hangs_is_left_behind_and_told_of_once() {
    let (place, service) = (Place::new(), service());
    let variables = mem0(&service);
    let external = place.kept(
        place.provider("mem0", "default", &borrowed(&variables)),
        "mem0",
    );
    let good = external.recall(asked("tea?", 1)).await;
    assert!(good.text.is_some_and(|text| text.contains("Likes tea.")));
    assert_eq!(good.notice, None);
    service.hang("/search");
    let begun = Instant::now();
    let slow = external.recall(asked("tea?", 2)).await;
    let waited = begun.elapsed();
    assert!(waited < Duration::from_secs(5), "{waited:?}");
    assert_eq!(slow.text, None);
    let told = slow.notice.unwrap();
    assert!(told.contains("did not answer in time"), "{told}");
    let again = external.recall(asked("tea?", 3)).await;
    assert_eq!((again.text, again.notice), (None, None), "once is enough");
    service.mend();
    let back = external.recall(asked("tea?", 4)).await;
    assert!(back.text.is_some() && back.notice.is_none());
    external.close().await;
}

/// A provider that is asked ahead and never answers.
#[derive(Default)]
struct Silent {
    under_way: Arc<AtomicU32>,
}

/// Counts a question for as long as it is under way.
struct UnderWay(Arc<AtomicU32>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Provider for Silent {
    fn manner(&self) -> Manner {
        Manner {
            ahead: true,
            ..Manner::default()
        }
    }

    fn prompt(&self) -> String {
        String::new()
    }

    fn tools(&self) -> Vec<ToolSpec> {
        Vec::new()
    }

    fn recall<'a>(
        &'a self,
        _: &'a Question,
    ) -> BoxFuture<'a, Result<Option<String>, ProviderError>> {
        Box::pin(async {
            self.under_way.fetch_add(1, Ordering::SeqCst);
            let _counted = UnderWay(self.under_way.clone());
            std::future::pending().await
        })
    }

    fn deliver<'a>(&'a self, _: &'a Delivery) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async { Ok(()) })
    }

    fn call<'a>(
        &'a self,
        _: &'a Scene,
        _: &'a str,
        _: &'a Json,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(async { Ok(Json::Null) })
    }

    fn check(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        Box::pin(async { Ok(String::new()) })
    }
}

// LN-37: one question at a time.
#[tokio::test]
async fn what_was_asked_ahead_is_given_up_when_it_is_not_waited_for_any_longer() {
    let (place, silent) = (Place::new(), Silent::default());
    let under_way = silent.under_way.clone();
    let external = place.kept(Ok(Arc::new(silent)), "silent");
    let count = |wanted: u32| {
        let under_way = under_way.clone();
        async move {
            while under_way.load(Ordering::SeqCst) != wanted {
                tokio::task::yield_now().await;
            }
        }
    };
    let limit = Duration::from_secs(30);
    for turn in 1..=3 {
        external.look_ahead(asked("tea?", turn));
        let begun = tokio::time::timeout(limit, count(1)).await;
        assert!(begun.is_ok(), "it is asked ahead");
        assert_eq!(external.recall(asked("tea?", turn)).await.text, None);
        let ended = tokio::time::timeout(limit, count(0)).await;
        assert!(ended.is_ok(), "{turn}: it is still asked for");
    }
    external.close().await;
}

// LN-37
#[tokio::test]
async fn after_five_failures_nobody_is_asked_for_two_minutes() {
    let (place, service) = (Place::new(), service());
    let variables = mem0(&service);
    let external = place.kept(
        place.provider("mem0", "default", &borrowed(&variables)),
        "mem0",
    );
    service.fail("/search", 400, usize::MAX);
    for turn in 0..8 {
        external.recall(asked("tea?", turn)).await;
    }
    assert_eq!(service.to("POST /search").len(), 5);
    service.mend();
    place.clock.advance(Duration::from_secs(121));
    assert!(external.recall(asked("tea?", 9)).await.text.is_some());
    external.close().await;
}

// LN-37
#[tokio::test]
async fn what_cannot_be_sent_waits_and_goes_in_order_when_it_can() {
    let (place, service) = (Place::new(), service());
    let variables = mem0(&service);
    let provider = || place.provider("mem0", "default", &borrowed(&variables));
    service.fail("/memories", 401, usize::MAX);
    let external = place.kept(provider(), "mem0");
    let at = scene(place.folder.path());
    external.said(at.clone(), place.turn("one", "1")).await;
    external.said(at.clone(), place.turn("two", "2")).await;
    external.close().await;
    assert_eq!(external.backlog().await.unwrap().waiting, 2);
    service.mend();
    let sent_before = service.to("POST /memories").len();
    let later = place.kept(provider(), "mem0");
    let entries = Entries {
        new: vec!["Likes tea.".to_owned()],
        ..Entries::default()
    };
    later.written(at.clone(), "user", entries).await;
    later.ended(at).await;
    later.close().await;
    assert_eq!(later.backlog().await.unwrap().waiting, 0);
    let sent = service.to("POST /memories").split_off(sent_before);
    let said: Vec<_> = sent
        .iter()
        .map(|asked| (&asked.body["messages"][0]["content"], &asked.body["infer"]))
        .collect();
    let expected = [
        (&json!("one"), &json!(true)),
        (&json!("two"), &json!(true)),
        (&json!("Likes tea."), &json!(false)),
    ];
    assert_eq!(said, expected);
    assert_eq!(service.unexpected(), Vec::<String>::new());
}

// LN-37
#[tokio::test]
async fn what_is_not_set_up_is_told_once_and_nothing_is_asked() {
    let place = Place::new();
    for (name, why) in [
        ("mem0", "MEM0_API_KEY is missing"),
        ("nope", "there is no external memory"),
    ] {
        let external = place.kept(place.provider(name, "default", &[]), name);
        let first = external.recall(asked("tea?", 1)).await;
        assert!(
            first.notice.is_some_and(|told| told.contains(why)),
            "{name}"
        );
        assert_eq!(external.recall(asked("tea?", 2)).await.notice, None);
        assert!(external.tools("cli", None).is_empty() && external.prompt("cli").is_empty());
        let turn = place.turn("one", "1");
        external.said(scene(place.folder.path()), turn).await;
        assert_eq!(external.backlog().await.unwrap().waiting, 0);
        external.close().await;
    }
}

// LN-38
#[tokio::test]
async fn plans_that_run_by_themselves_have_no_external_memory() {
    let made = Arc::new(AtomicU32::new(0));
    let (place, counted) = (Place::new(), made.clone());
    let external = External::new(ExternalOptions {
        name: "holographic".to_owned(),
        make: Box::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Err(ProviderError::Unknown {
                name: "x".to_owned(),
            })
        }),
        store: place.store.clone(),
        lock: place.folder.path().join("lock"),
        patience: Duration::from_secs(1),
        clock: place.clock.clone(),
        random: Arc::new(SeededRandom::new(7)),
    });
    assert_eq!(
        made.load(Ordering::Relaxed),
        0,
        "nothing is read before it is needed"
    );
    assert!(external.tools("cron", None).is_empty() && external.prompt("cron").is_empty());
    assert_eq!(made.load(Ordering::Relaxed), 0);
    assert!(external.prompt("cli").is_empty());
    assert_eq!(made.load(Ordering::Relaxed), 1);
}
