//! What a service turns down: kept for as long as it may be the service, and given up when it is not.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::ToolSpec;
use hermes_memory::{Delivery, Entries, Errand, Manner, Provider, ProviderError, Question, Scene};
use serde_json::Value as Json;

use super::external::{Place, asked, borrowed, mem0, scene, service};

// LN-37: a person mends the address.
#[tokio::test]
async fn nothing_is_given_up_while_everything_is_turned_down() {
    for status in [400, 404, 405, 410, 413, 422] {
        let (place, service) = (Place::new(), service());
        let variables = mem0(&service);
        service.fail("/memories", status, usize::MAX);
        let at = scene(place.folder.path());
        let mut said = vec!["one", "two", "three"].into_iter();
        let open = || {
            let provider = place.provider("mem0", "default", &borrowed(&variables));
            place.kept(provider, "mem0")
        };
        for _ in 0..6 {
            let external = open();
            if let Some(text) = said.next() {
                external.said(at.clone(), place.turn(text, "yes")).await;
            }
            external.recall(asked("tea?", 1)).await;
            assert_eq!(external.close().await, None, "{status}");
        }
        assert_eq!(open().backlog().await.unwrap().waiting, 3, "{status}");
        service.mend();
        let before = service.to("POST /memories").len();
        let external = open();
        let told = external.recall(asked("tea?", 1)).await.notice;
        assert_eq!((told, external.close().await), (None, None), "{status}");
        let sent = service.to("POST /memories").split_off(before);
        let sent = sent
            .iter()
            .map(|asked| asked.body["messages"][0]["content"].as_str());
        let all = [Some("one"), Some("two"), Some("three")];
        assert_eq!(sent.collect::<Vec<_>>(), all, "{status}");
    }
}

/// A provider that takes everything but turns with a certain word.
#[derive(Default)]
struct Picky {
    taken: Arc<Mutex<Vec<Errand>>>,
}

impl Provider for Picky {
    fn manner(&self) -> Manner {
        Manner::default()
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
        Box::pin(async { Ok(None) })
    }

    fn deliver<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async {
            match &delivery.errand {
                Errand::Turn { user, .. } if user.contains("bad") => {
                    Err(ProviderError::Arguments {
                        message: "this is too much".to_owned(),
                    })
                }
                taken => {
                    self.taken.lock().unwrap().push(taken.clone());
                    Ok(())
                }
            }
        })
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

// LN-37
#[tokio::test]
async fn what_is_turned_down_while_its_like_is_taken_is_given_up_and_told_of_once() {
    let (place, taken) = (Place::new(), Arc::default());
    let at = scene(place.folder.path());
    let open = || {
        let taken = Arc::clone(&taken);
        place.kept(Ok(Arc::new(Picky { taken })), "picky")
    };
    let mut told = Vec::new();
    let external = open();
    for text in ["bad one", "bad two"] {
        external.said(at.clone(), place.turn(text, "yes")).await;
    }
    let entries = Entries {
        new: vec!["Likes tea.".to_owned()],
        ..Entries::default()
    };
    external.written(at.clone(), "user", entries).await;
    told.extend(external.close().await);
    for _ in 0..8 {
        let external = open();
        external.recall(asked("tea?", 1)).await;
        told.extend(external.close().await);
    }
    // An entry is not a turn: maybe turns go to another address.
    assert_eq!(open().backlog().await.unwrap().waiting, 2);
    assert_eq!((told.len(), taken.lock().unwrap().len()), (0, 1));

    let external = open();
    external.said(at, place.turn("good", "yes")).await;
    told.extend(external.close().await);
    assert_eq!(external.backlog().await.unwrap().waiting, 0);
    let [Errand::Written { .. }, Errand::Turn { user, .. }] = &taken.lock().unwrap()[..] else {
        panic!("{taken:?}");
    };
    assert_eq!(user, "good");
    let [told] = &told[..] else {
        panic!("{told:?}");
    };
    assert!(
        told.contains("2 things") && told.contains("this is too much"),
        "{told}"
    );
    assert!(told.contains("hermes logs"), "{told}");
}

// LN-37
#[tokio::test]
async fn a_service_that_fails_at_everything_is_told_of_once() {
    let (place, service) = (Place::new(), service());
    let variables = mem0(&service);
    let external = place.kept(
        place.provider("mem0", "default", &borrowed(&variables)),
        "mem0",
    );
    service.fail("/", 404, usize::MAX);
    let mut told = Vec::new();
    for turn in 1..=4 {
        told.extend(external.recall(asked("tea?", turn)).await.notice);
        let at = scene(place.folder.path());
        external.said(at, place.turn("one", "1")).await;
        let sent = async {
            while service.to("POST /memories").is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), sent)
            .await
            .unwrap();
    }
    external.close().await;
    assert_eq!(told.len(), 1, "{told:?}");
}
