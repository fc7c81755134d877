//! Pages read by services and by ourselves, within the same rules.

use hermes_config::WebsiteBlocklist;
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_secrets::RedactorHandle;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, bytes, json as answer};
use hermes_web::{Extractor, Job, PageReader, Sites};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::searching::{account, client};

fn extractor(addresses: AddressPolicy) -> Extractor {
    let http = ClientBuilder::new(ClientSettings::default(), addresses)
        .build()
        .unwrap();
    let list = WebsiteBlocklist {
        enabled: true,
        domains: vec!["blocked.example".to_owned()],
        ..WebsiteBlocklist::default()
    };
    let sites = Sites::new(&list, std::path::Path::new("/nowhere"));
    Extractor {
        services: client(),
        pages: PageReader::new(http, sites),
        redactor: RedactorHandle::default(),
    }
}

// IN-5
#[tokio::test]
async fn every_service_gives_the_text_of_a_page_or_says_why_not() {
    let page = |words: &str, more: Json| {
        let mut page = json!({"url": "http://127.0.0.1/p", "title": "A page", words: "# Text ![x](data:image/png;base64,AA)"});
        page.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        page
    };
    let none = json!({});
    let cases = [
        (
            "tavily",
            "TAVILY_BASE_URL",
            "TAVILY_API_KEY",
            "/extract",
            json!({"results": [page("raw_content", none.clone())]}),
            json!({"results": [], "failed_results": [{"url": "x", "error": "too slow"}]}),
        ),
        (
            "exa",
            "EXA_BASE_URL",
            "EXA_API_KEY",
            "/contents",
            json!({"results": [page("text", none.clone())]}),
            json!({"results": [], "statuses": [{"id": "x", "error": {"tag": "too slow"}}]}),
        ),
        (
            "parallel",
            "PARALLEL_BASE_URL",
            "PARALLEL_API_KEY",
            "/v1beta/extract",
            json!({"results": [page("full_content", none)]}),
            json!({"results": [], "errors": [{"url": "x", "content": "too slow"}]}),
        ),
        (
            "firecrawl",
            "FIRECRAWL_API_URL",
            "",
            "/v2/scrape",
            json!({"data": {"markdown": "# Text ![x](data:image/png;base64,AA)", "metadata": {"title": "A page"}}}),
            json!({"success": false, "error": "too slow"}),
        ),
    ];
    for (service, address, key, path, good, bad) in cases {
        let steps = [Step::new(answer(good)), Step::new(answer(bad))];
        let server = ModelServer::start(Scenario::new().route("POST", path, steps)).unwrap();
        let account = account(service, Job::Extract, address, key, &server.origin());
        let extractor = extractor(AddressPolicy::PublicAndPrivate);
        let stop = CancellationToken::new();
        let read = async || extractor.read(&account, "http://127.0.0.1/p", &stop).await;
        let page = read()
            .await
            .unwrap_or_else(|error| panic!("{service}: {error}"));
        assert_eq!(page.title, "A page", "{service}");
        assert_eq!(page.content, "# Text [IMAGE: x]", "{service}");
        let failed = read().await.unwrap_err().to_string();
        assert!(
            failed.contains(service) && failed.contains("too slow"),
            "{failed}"
        );
    }
}

// IN-2, IN-3
#[tokio::test]
async fn a_service_is_not_asked_about_addresses_that_are_not_ours_to_hand_on() {
    let server = ModelServer::start(Scenario::new()).unwrap();
    let origin = server.origin();
    for service in ["tavily", "direct"] {
        let account = account(
            service,
            Job::Extract,
            "TAVILY_BASE_URL",
            "TAVILY_API_KEY",
            &origin,
        );
        let extractor = extractor(AddressPolicy::Public);
        let stop = CancellationToken::new();
        let mut told = Vec::new();
        for address in [
            "http://127.0.0.1/",
            "http://169.254.169.254/latest/",
            "http://localhost/",
            "https://sub.blocked.example/",
            "https://public.example/?api_key=1",
            "file:///etc/passwd",
        ] {
            let refused = extractor.read(&account, address, &stop).await.unwrap_err();
            told.push((refused.is_blocked(), refused.to_string()));
        }
        assert!(told[0].1.contains("refused"), "{told:?}");
        assert_eq!(
            told.iter().filter(|(blocked, _)| *blocked).count(),
            1,
            "{told:?}"
        );
        assert!(told[3].0 && told[4].1.contains("credential"), "{told:?}");
        assert!(told[5].1.contains("not an address"), "{told:?}");
    }
    assert!(server.requests().is_empty(), "{:?}", server.requests());
}

// IN-6
#[tokio::test]
async fn without_a_service_pages_are_fetched_here() {
    let html = "<title>T</title><h1>Head</h1><p>One <b>word</b></p>";
    let steps = [Step::new(bytes(html).content_type("text/html"))];
    let server = ModelServer::start(Scenario::new().route("GET", "/p", steps)).unwrap();
    let account = account("direct", Job::Extract, "", "", "");
    let extractor = extractor(AddressPolicy::PublicAndPrivate);
    let stop = CancellationToken::new();
    let address = format!("{}/p", server.origin());
    let page = extractor.read(&account, &address, &stop).await.unwrap();
    assert_eq!(page.title, "T");
    assert!(
        page.content.contains("Head") && page.content.contains("word"),
        "{page:?}"
    );
}
