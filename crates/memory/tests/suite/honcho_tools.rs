//! What the model may ask of Honcho, and which settings ask in vain.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_core::future::BoxFuture;
use hermes_memory::{ProviderError, Rewriter};
use serde_json::{Value as Json, json};

use super::external::{Place, asked, scene};
use super::honcho::{honcho, service};

// LN-38
#[tokio::test]
async fn every_tool_asks_what_it_says() {
    let (place, service) = (Place::new(), service());
    let honcho = honcho(&place, &service, json!({})).unwrap();
    let at = scene("/place/tea".as_ref());
    let call = async |tool: &str, arguments: Json| honcho.call(&at, tool, &arguments).await;
    let base = "/v3/workspaces/hermes";
    for (tool, arguments, line, key) in [
        (
            "honcho_profile",
            json!({}),
            format!("POST {base}/peers/hermes/representation"),
            "representation",
        ),
        (
            "honcho_profile",
            json!({"card": ["Likes tea"]}),
            format!("PUT {base}/peers/hermes/card"),
            "card",
        ),
        (
            "honcho_search",
            json!({"query": "tea"}),
            format!("POST {base}/peers/user/search"),
            "excerpts",
        ),
        (
            "honcho_search",
            json!({"query": "tea", "peer": "all"}),
            format!("POST {base}/search"),
            "excerpts",
        ),
        (
            "honcho_reasoning",
            json!({"query": "tea?", "reasoning_level": "max"}),
            format!("POST {base}/peers/hermes/chat"),
            "answer",
        ),
        (
            "honcho_context",
            json!({}),
            format!("GET {base}/sessions/tea/context"),
            "context",
        ),
        (
            "honcho_context",
            json!({"peer": "ai"}),
            format!("GET {base}/peers/hermes/context"),
            "context",
        ),
        (
            "honcho_conclude",
            json!({"conclusion": "Likes tea"}),
            format!("POST {base}/conclusions"),
            "kept",
        ),
        (
            "honcho_conclude",
            json!({"list": true}),
            format!("POST {base}/conclusions/list"),
            "conclusions",
        ),
        (
            "honcho_conclude",
            json!({"query": "tea"}),
            format!("POST {base}/conclusions/query"),
            "conclusions",
        ),
        (
            "honcho_conclude",
            json!({"delete_id": "../c1"}),
            format!("DELETE {base}/conclusions/..%2Fc1"),
            "removed",
        ),
    ] {
        let answer = call(tool, arguments.clone()).await.unwrap();
        assert!(!answer[key].is_null(), "{tool} {arguments}: {answer}");
        assert_eq!(service.lines().last(), Some(&line), "{tool} {arguments}");
    }
    assert_eq!(
        service.to("POST /v3/workspaces/*/peers/*/chat")[0].body["reasoning_level"],
        "max"
    );
    assert_eq!(service.to("GET /v3/workspaces/*/peers/*/card").len(), 1);
    let thought = &service.to("POST /v3/workspaces/*/peers/*/representation")[0];
    assert_eq!(thought.body, json!({"target": "user"}));
    let found = call("honcho_search", json!({"query": "tea", "peer": "all"})).await;
    assert_eq!(found.unwrap()["excerpts"][0]["by"], "hermes");
    let kept = &service.to("POST /v3/workspaces/*/conclusions")[0].body["conclusions"][0];
    assert_eq!(
        kept,
        &json!({"content": "Likes tea", "observer_id": "hermes", "observed_id": "user", "session_id": "tea"})
    );
    for (tool, arguments) in [
        ("honcho_conclude", json!({})),
        ("honcho_search", json!({})),
        ("honcho_dance", json!({})),
    ] {
        let told = call(tool, arguments).await.unwrap_err();
        assert!(matches!(told, ProviderError::Arguments { .. }), "{told}");
    }
    assert_eq!(service.unexpected(), Vec::<String>::new());
}

/// Says how often it was asked, and something with line breaks in it.
struct Scribe {
    asked: AtomicUsize,
    says: Option<&'static str>,
}

impl Rewriter for Scribe {
    fn rewritten<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Option<String>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move { self.says.map(str::to_owned) })
    }
}

// LN-38
#[tokio::test]
async fn messages_are_put_into_other_words_where_that_is_wanted_and_due() {
    let (place, service) = (Place::new(), service());
    let chat = "POST /v3/workspaces/*/peers/*/chat";
    let says = Some("Which tea\n does Ana like?");
    for (wanted, turn, says, asked_for) in [
        (true, 2, says, "Which tea does Ana like?"),
        (true, 2, None, "hm, tea?"),
        (true, 1, says, "hm, tea?"),
        (false, 2, says, "hm, tea?"),
    ] {
        let settings = json!({"queryRewrite": wanted, "contextCadence": 9, "dialecticCadence": 9});
        let honcho = honcho(&place, &service, settings).unwrap();
        let scribe = Arc::new(Scribe {
            asked: AtomicUsize::new(0),
            says,
        });
        for turn in [turn, turn + 1] {
            let mut question = asked("hm, tea?", turn);
            question.rewriter = Some(scribe.clone());
            honcho.recall(&question).await.unwrap();
        }
        let query = service.to(chat).pop().unwrap().body["query"].clone();
        let query = query.as_str().unwrap();
        assert!(
            query.ends_with(&format!("The message: {asked_for}")),
            "{query}"
        );
        let looked = service.to("GET /v3/workspaces/*/sessions/*/context").pop();
        let looked = looked.unwrap().query;
        let is_rewritten = looked.contains("search_query=Which");
        assert_eq!(is_rewritten, asked_for.starts_with("Which"), "{looked}");
        // Nobody is asked for what is not needed.
        let times = usize::from(wanted && turn > 1);
        assert_eq!(scribe.asked.load(Ordering::Relaxed), times, "turn {turn}");
    }
}
