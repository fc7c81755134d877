//! A vendor's address can be replaced, for tests and for private gateways.

use hermes_http::{AuthScheme, BaseUrl, ClientSettings};

use super::server::{KEY, Reply, Server, client_with, key_for};

#[tokio::test]
async fn an_override_replaces_the_built_in_address() {
    let server = Server::start(|_| Reply::ok("")).await;
    let mut settings = ClientSettings::default();
    settings.base_urls.insert(
        "acme".into(),
        server.url("/v1?api-version=2").parse().expect("a url"),
    );
    let client = client_with(settings);
    let built_in: BaseUrl = "https://api.acme.test/v1".parse().expect("a url");
    let base = client.base_url("acme", &built_in);
    let key = key_for(&[&base.origin().expect("an origin").to_string()]);
    client
        .get(base.join("chat/completions?x=1"))
        .auth(&key, AuthScheme::Bearer)
        .send()
        .await
        .expect("an answer");
    let [seen] = server.seen().try_into().expect("one request");
    assert_eq!(
        (seen.target.as_str(), seen.headers["authorization"].as_str()),
        (
            "/v1/chat/completions?api-version=2&x=1",
            format!("Bearer {KEY}").as_str()
        )
    );
    assert_eq!(client.base_url("other", &built_in), built_in);
}

#[test]
fn paths_are_appended_whatever_the_slashes() {
    for (base, path, expected) in [
        ("https://h.test", "a", "https://h.test/a"),
        ("https://h.test/", "/a", "https://h.test/a"),
        ("https://h.test/v1", "a/b", "https://h.test/v1/a/b"),
        ("https://h.test/v1/", "/a", "https://h.test/v1/a"),
        ("https://h.test/v1?q=1#f", "", "https://h.test/v1?q=1"),
        (
            "https://h.test/v1?q=1",
            "a?r=2",
            "https://h.test/v1/a?q=1&r=2",
        ),
    ] {
        let base: BaseUrl = base.parse().expect("a url");
        assert_eq!(base.join(path).as_str(), expected);
    }
    let secret: BaseUrl = "https://u:p@h.test/v1?key=k".parse().expect("a url");
    assert_eq!(format!("{secret:?}"), "https://h.test/v1");
}
