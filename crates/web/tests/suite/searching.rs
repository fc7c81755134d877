//! Searches at servers that answer as the services do.

use hermes_config::Web;
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings, HttpClient};
use hermes_testkit::model_server::{ModelServer, Scenario, Step, bytes, error, json as answer};
use hermes_web::{Account, AskError, Hit, Job, choose, search};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

pub(super) fn client() -> HttpClient {
    ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any)
        .build()
        .unwrap()
}

/// An account at a server of ours.
pub(super) fn account(service: &str, job: Job, address: &str, key: &str, origin: &str) -> Account {
    let named = Web {
        search_backend: service.to_owned(),
        extract_backend: service.to_owned(),
        ..Web::default()
    };
    choose(&named, job, &|name| match name {
        name if name == address => Some(origin.to_owned()),
        name if name == key => Some("a-key-of-some-length".to_owned()),
        _ => None,
    })
    .unwrap()
}

struct Case {
    service: &'static str,
    address: &'static str,
    key: &'static str,
    method: &'static str,
    path: &'static str,
    answer: Json,
}

fn cases() -> Vec<Case> {
    let case = |service, address, key, method, path, answer| Case {
        service,
        address,
        key,
        method,
        path,
        answer,
    };
    let plain = |words: &str| {
        json!([{"title": "One", "url": "https://one.example/", words: "first words"},
               {"title": "Two", "url": "https://two.example/", words: "other words"}])
    };
    let listed = |words: &str| {
        json!([{"title": "One", "url": "https://one.example/", words: ["first words"]},
               {"title": "Two", "url": "https://two.example/", words: ["other words"]}])
    };
    vec![
        case(
            "tavily",
            "TAVILY_BASE_URL",
            "TAVILY_API_KEY",
            "POST",
            "/search",
            json!({"results": plain("content")}),
        ),
        case(
            "exa",
            "EXA_BASE_URL",
            "EXA_API_KEY",
            "POST",
            "/search",
            json!({"results": listed("highlights")}),
        ),
        case(
            "parallel",
            "PARALLEL_BASE_URL",
            "PARALLEL_API_KEY",
            "POST",
            "/v1beta/search",
            json!({"results": listed("excerpts")}),
        ),
        case(
            "firecrawl",
            "FIRECRAWL_API_URL",
            "FIRECRAWL_API_KEY",
            "POST",
            "/v2/search",
            json!({"data": {"web": plain("description")}}),
        ),
        case(
            "gateway",
            "FIRECRAWL_GATEWAY_URL",
            "TOOL_GATEWAY_USER_TOKEN",
            "POST",
            "/v2/search",
            json!({"data": {"web": plain("description")}}),
        ),
        // The better one stands second.
        case(
            "searxng",
            "SEARXNG_URL",
            "",
            "GET",
            "/search",
            json!({"results": [
                {"title": "Two", "url": "https://two.example/", "content": "other words", "score": 1.0},
                {"title": "One", "url": "https://one.example/", "content": "first words", "score": 4.5},
            ]}),
        ),
        case(
            "brave-free",
            "BRAVE_SEARCH_BASE_URL",
            "BRAVE_SEARCH_API_KEY",
            "GET",
            "/res/v1/web/search",
            json!({"web": {"results": plain("description")}}),
        ),
        case(
            "xai",
            "XAI_BASE_URL",
            "XAI_API_KEY",
            "POST",
            "/responses",
            json!({"output": [{"type": "message", "content": [{
            "type": "output_text", "text": "first words other words", "annotations": [
                {"type": "url_citation", "url": "https://one.example/", "title": "One", "start_index": 11},
                {"type": "url_citation", "url": "https://one.example/", "title": "One", "start_index": 11},
                {"type": "url_citation", "url": "https://two.example/", "title": "Two", "start_index": 23},
            ]}]}]}),
        ),
    ]
}

// IN-1, IN-4
#[tokio::test]
async fn every_service_gives_the_same_shape() {
    for case in cases() {
        let steps = [Step::new(answer(case.answer)).repeat()];
        let scenario = Scenario::new().route(case.method, case.path, steps);
        let server = ModelServer::start(scenario).unwrap();
        let account = account(
            case.service,
            Job::Search,
            case.address,
            case.key,
            &server.origin(),
        );
        let stop = CancellationToken::new();
        let found = search(&client(), &account, "some question", 5, &stop).await;
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", case.service));
        let first = Hit {
            title: "One".to_owned(),
            url: "https://one.example/".to_owned(),
            description: "first words".to_owned(),
            position: 1,
        };
        assert_eq!(found.first(), Some(&first), "{}", case.service);
        assert_eq!(found.len(), 2, "{}", case.service);
        assert_eq!(found[1].position, 2);
        let asked = server.requests().remove(0);
        let whole = format!("{asked:?}");
        assert!(whole.contains("some"), "{}: {whole}", case.service);
        let sent = ["authorization", "x-api-key", "x-subscription-token"]
            .iter()
            .filter_map(|name| asked.header(name))
            .any(|value| value.ends_with("a-key-of-some-length"));
        assert_eq!(sent, !case.key.is_empty(), "{}: {whole}", case.service);
        let one = search(&client(), &account, "some question", 1, &stop).await;
        assert_eq!(one.unwrap().len(), 1, "{}", case.service);
    }
}

// IN-4
#[tokio::test]
async fn a_page_for_people_is_read_when_no_service_has_a_key() {
    let page = "<a class=\"result__a\" href=\"https://one.example/\">One</a>\
                <a class=\"result__snippet\">first <b>words</b></a>";
    let html = |text: &str| Step::new(bytes(text.as_bytes()).content_type("text/html"));
    let steps = [html(page), html("<p>Are you a robot?</p>")];
    let server = ModelServer::start(Scenario::new().route("GET", "/html/", steps)).unwrap();
    let account = account("ddgs", Job::Search, "DDGS_BASE_URL", "", &server.origin());
    let stop = CancellationToken::new();
    let found = search(&client(), &account, "x", 5, &stop).await.unwrap();
    assert_eq!(found[0].description, "first words");
    let strange = search(&client(), &account, "x", 5, &stop)
        .await
        .unwrap_err();
    assert!(
        matches!(strange, AskError::Strange { service: "ddgs" }),
        "{strange}"
    );
}

// IN-4
#[tokio::test]
async fn what_a_service_says_instead_of_results_is_told_without_the_key() {
    let said = error(401).message("a-key-of-some-length is not a key");
    let steps = [
        Step::new(said),
        Step::new(answer(json!({"results": "none"}))),
        Step::new(bytes("not JSON").content_type("application/json")),
    ];
    let server = ModelServer::start(Scenario::new().route("POST", "/search", steps)).unwrap();
    let origin = server.origin();
    let account = account(
        "tavily",
        Job::Search,
        "TAVILY_BASE_URL",
        "TAVILY_API_KEY",
        &origin,
    );
    let stop = CancellationToken::new();
    let mut told = Vec::new();
    for _ in 0..3 {
        let failed = search(&client(), &account, "x", 5, &stop)
            .await
            .unwrap_err();
        told.push(failed.to_string());
    }
    assert!(
        told[0].contains("401") && told[0].starts_with("tavily"),
        "{told:?}"
    );
    assert!(
        told.iter().all(|one| !one.contains("a-key-of-some")),
        "{told:?}"
    );
    assert!(told[1].contains("not understood"), "{told:?}");
    stop.cancel();
    let stopped = search(&client(), &account, "x", 5, &stop).await;
    assert!(matches!(stopped, Err(AskError::Cancelled)));
}
