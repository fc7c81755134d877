//! Where the browser comes back to after signing in.

use std::net::TcpListener;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::oauth_support::{Does, Fixture, Scripted};

/// A port nobody has at the moment.
fn free_port() -> u16 {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    socket.local_addr().unwrap().port()
}

/// Signs in and answers where the browser was asked to come back to.
async fn redirect(fixture: &Fixture, does: Does) -> String {
    let oauth = fixture.authority(Some(Scripted::new(does)));
    oauth.login(&CancellationToken::new()).await.unwrap();
    let visits = fixture.server.stats().visits;
    let visit = visits.last().unwrap();
    let uri = visit.iter().find(|(name, _)| name == "redirect_uri");
    uri.unwrap().1.clone()
}

// MCP-66
#[tokio::test]
async fn the_browser_may_come_back_to_any_path_on_this_machine() {
    let mut fixture = Fixture::new();
    fixture.server.add_client("mine", None);
    fixture.oauth.client_id = "mine".to_owned();
    let uri = format!("http://127.0.0.1:{}/oauth/done", free_port());
    fixture.oauth.redirect_uri.clone_from(&uri);
    assert_eq!(redirect(&fixture, Does::Visits).await, uri);
}

// MCP-66
#[tokio::test]
async fn the_port_and_the_host_of_the_way_back_can_be_chosen() {
    let mut fixture = Fixture::new();
    let port = free_port();
    fixture.oauth.redirect_port = port;
    fixture.oauth.redirect_host = "localhost".to_owned();
    let uri = redirect(&fixture, Does::Visits).await;
    assert_eq!(uri, format!("http://localhost:{port}/callback"));
    assert_eq!(
        fixture.read("s.client.json")["redirect_uris"],
        json!([uri]),
        "that is what was registered"
    );
}

// MCP-66
#[tokio::test]
async fn a_registration_that_names_a_page_elsewhere_is_used_by_pasting() {
    let fixture = Fixture::new();
    let uri = "https://hermes.example.test/back";
    fixture.server.add_client("known", None);
    let client = json!({ "client_id": "known", "redirect_uris": [uri],
        "token_endpoint_auth_method": "none" });
    fixture.write("s.client.json", &client);
    assert_eq!(redirect(&fixture, Does::Pastes).await, uri);
    assert_eq!(fixture.server.stats().registrations, 0);
}

// MCP-66
#[tokio::test]
async fn a_port_that_somebody_else_has_by_now_is_registered_anew() {
    let fixture = Fixture::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let kept = format!("http://127.0.0.1:{port}/callback");
    fixture.server.add_client("known", None);
    let client = json!({ "client_id": "known", "redirect_uris": [kept],
        "token_endpoint_auth_method": "none" });
    fixture.write("s.client.json", &client);
    let uri = redirect(&fixture, Does::Visits).await;
    assert_ne!(uri, kept);
    assert_eq!(fixture.read("s.client.json")["redirect_uris"], json!([uri]));
    assert_eq!(fixture.server.stats().registrations, 1);
}
