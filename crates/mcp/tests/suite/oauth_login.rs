//! Signing in with a person.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use hermes_config::{McpGrant, McpIdentityProvider};
use hermes_mcp::{Authority as _, Browser, OAuthError, Recovery};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::oauth_support::{Does, Fixture, Scripted, call, call_and_recover};

fn mode(path: &std::path::Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

// MCP-66
#[tokio::test]
async fn a_login_registers_proves_itself_and_keeps_its_files_private() {
    let fixture = Fixture::new();
    let person = Scripted::new(Does::Visits);
    let oauth = fixture.authority(Some(person.clone()));
    let login = oauth.login(&CancellationToken::new()).await.unwrap();
    assert!(login.renewable);
    assert_eq!(login.scope.as_deref(), Some("read"));

    let stats = fixture.server.stats();
    assert_eq!(
        (
            stats.registrations,
            stats.authorizations,
            stats.token_requests
        ),
        (1, 1, 1)
    );
    assert!(stats.agents[0].starts_with("hermes/"), "{:?}", stats.agents);
    let resource = ("resource".to_owned(), fixture.server.resource());
    assert!(stats.visits[0].contains(&resource) && stats.forms[0].contains(&resource));

    assert_eq!(mode(&fixture.path("")), 0o700);
    for name in ["s.json", "s.client.json", "s.meta.json"] {
        assert_eq!(mode(&fixture.path(name)), 0o600, "{name}");
    }
    let tokens = fixture.read("s.json");
    assert!(tokens["expires_at"].is_f64() && tokens["expires_in"] == 3600);
    assert_eq!(tokens["token_type"], "Bearer");
    assert!(tokens["refresh_token"].is_string());
    let client = fixture.read("s.client.json");
    assert_eq!(client["token_endpoint_auth_method"], "none");
    assert_eq!(
        client["grant_types"],
        json!(["authorization_code", "refresh_token"])
    );
    assert_eq!(client["client_name"], "Hermes Agent");
    let redirect = client["redirect_uris"][0].as_str().unwrap();
    assert!(redirect.starts_with("http://127.0.0.1:") && redirect.ends_with("/callback"));
    assert!(fixture.read("s.meta.json")["token_endpoint"].is_string());

    assert_eq!(call(&fixture, &oauth).await.0.status, 200);
}

// MCP-66
#[tokio::test]
async fn a_pasted_address_does_as_well_and_the_registration_is_used_again() {
    let fixture = Fixture::new();
    for _ in 0..2 {
        let oauth = fixture.authority(Some(Scripted::new(Does::Pastes)));
        oauth.login(&CancellationToken::new()).await.unwrap();
    }
    let stats = fixture.server.stats();
    assert_eq!((stats.registrations, stats.authorizations), (1, 2));
}

// MCP-66
#[tokio::test]
async fn a_browser_is_opened_where_somebody_sees_it() {
    let fixture = Fixture::new();
    let program = fixture.home.path().join("browser.py");
    let visit = "import sys, urllib.request\nurllib.request.urlopen(sys.argv[2]).read()\n";
    std::fs::write(&program, visit).unwrap();
    // The first one does not exist, and the address goes where the mark is.
    let variable = format!("no-such-browser:python3 {} --open %s", program.display());
    let browser = Browser::new(&[("BROWSER", variable.as_str())].into_iter().collect());
    let oauth = fixture.with_browser(Some(Scripted::new(Does::Watches)), browser);
    oauth.login(&CancellationToken::new()).await.unwrap();
    assert_eq!(fixture.server.stats().authorizations, 1);
}

// MCP-66
#[tokio::test]
async fn a_request_without_a_token_leads_to_the_login() {
    let fixture = Fixture::new();
    let person = Scripted::new(Does::Visits);
    let oauth = fixture.authority(Some(person.clone()));
    assert_eq!(call_and_recover(&fixture, &oauth).await, Ok(200));
    assert_eq!(person.shown().len(), 1);
}

// MCP-66
#[tokio::test]
async fn a_server_that_wants_more_rights_gets_another_login_with_all_of_them() {
    let fixture = Fixture::new();
    let oauth = fixture.authority(Some(Scripted::new(Does::Visits)));
    assert_eq!(call_and_recover(&fixture, &oauth).await, Ok(200));
    fixture
        .server
        .switch(|switches| switches.needs_scope = Some("read write".to_owned()));
    // Without a person it is only noted; the next login, anywhere, asks for it.
    let headless = fixture.authority(None);
    let refused = call_and_recover(&fixture, &headless).await.unwrap_err();
    assert!(
        matches!(refused, Recovery::NeedsLogin { .. }),
        "{refused:?}"
    );
    let oauth = fixture.authority(Some(Scripted::new(Does::Visits)));
    oauth.login(&CancellationToken::new()).await.unwrap();
    assert_eq!(fixture.read("s.json")["scope"], "read write");
    assert_eq!(call(&fixture, &headless).await.0.status, 200);
}

// MCP-72
#[tokio::test]
async fn a_login_that_comes_to_nothing_keeps_the_old_one() {
    let fixture = Fixture::signed_in(3600);
    let before = fixture.read("s.json");
    let login = |does| {
        let oauth = fixture.authority(Some(Scripted::new(does)));
        async move { oauth.login(&CancellationToken::new()).await.unwrap_err() }
    };
    assert!(matches!(
        login(Does::Types(" Skip ")).await,
        OAuthError::Declined
    ));
    fixture.server.switch(|switches| switches.denies = true);
    assert!(matches!(login(Does::Pastes).await, OAuthError::Denied(_)));
    fixture.server.switch(|switches| {
        switches.denies = false;
        switches.token_failures = vec![(400, "invalid_grant".to_owned())];
    });
    assert!(matches!(
        login(Does::Pastes).await,
        OAuthError::Refused { .. }
    ));
    let cancel = CancellationToken::new();
    let person = Scripted::new(Does::Waits);
    let oauth = fixture.authority(Some(person.clone()));
    let (ended, ()) = tokio::join!(oauth.login(&cancel), async {
        while person.shown().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    });
    assert!(matches!(ended, Err(OAuthError::Cancelled)));
    assert_eq!(fixture.read("s.json"), before);
    assert_eq!(fixture.read("s.client.json")["client_id"], "known");
    assert_eq!(call(&fixture, &fixture.authority(None)).await.0.status, 200);
}

#[tokio::test]
async fn nonsense_that_is_pasted_is_explained() {
    let mut fixture = Fixture::new();
    fixture.oauth.timeout = Duration::from_secs(3);
    let person = Scripted::new(Does::Types("http://127.0.0.1/callback?code=x&state=y"));
    let oauth = fixture.authority(Some(person.clone()));
    let ended = oauth.login(&CancellationToken::new()).await.unwrap_err();
    assert!(matches!(ended, OAuthError::TimedOut), "{ended}");
    assert_eq!(person.said().len(), 1);
    assert_eq!(fixture.server.stats().token_requests, 0);
}

// MCP-66
#[tokio::test]
async fn servers_of_the_first_protocol_version_are_their_own_authorization_server() {
    let described = Fixture::new();
    let base = described.server.base();
    described.server.switch(|switches| {
        switches.describes_resource = false;
        switches.issuer = Some(format!("{base}/below"));
    });
    let oauth = described.authority(Some(Scripted::new(Does::Visits)));
    oauth.login(&CancellationToken::new()).await.unwrap();

    let silent = Fixture::new();
    silent.server.switch(|switches| {
        switches.describes_resource = false;
        switches.describes_itself = false;
    });
    let oauth = silent.authority(Some(Scripted::new(Does::Visits)));
    oauth.login(&CancellationToken::new()).await.unwrap();
}

#[tokio::test]
async fn a_description_that_speaks_for_somebody_else_is_refused() {
    let fixture = Fixture::new();
    let elsewhere = "https://elsewhere.example.test".to_owned();
    fixture
        .server
        .switch(|switches| switches.issuer = Some(elsewhere.clone()));
    let oauth = fixture.authority(Some(Scripted::new(Does::Visits)));
    let ended = oauth.login(&CancellationToken::new()).await.unwrap_err();
    assert!(matches!(ended, OAuthError::Mismatch { .. }), "{ended}");
    fixture
        .server
        .switch(|switches| switches.describes_resource = false);
    let ended = oauth.login(&CancellationToken::new()).await.unwrap_err();
    assert!(matches!(ended, OAuthError::Mismatch { .. }), "{ended}");
    assert_eq!(fixture.server.stats().registrations, 0);
}

#[tokio::test]
async fn clients_show_who_they_are_as_the_server_wants_it() {
    for method in ["client_secret_post", "client_secret_basic"] {
        let mut fixture = Fixture::new();
        fixture.server.add_client("mine", Some("s3cret"));
        fixture
            .server
            .switch(|switches| switches.auth_methods = vec![method.to_owned()]);
        fixture.oauth.client_id = "mine".to_owned();
        let parsed = hermes_config::parse(
            "client_secret: s3cret\nclient_id: mine\n",
            hermes_config::Layer::File,
        );
        let mut reader = hermes_config::Reader::default();
        fixture.oauth = hermes_config::Setting::read(&parsed.unwrap(), &mut reader).unwrap();
        let oauth = fixture.authority(Some(Scripted::new(Does::Visits)));
        oauth.login(&CancellationToken::new()).await.unwrap();
        assert_eq!(fixture.server.stats().registrations, 0);
        assert!(!fixture.path("s.client.json").exists());
    }
    let fixture = Fixture::new();
    fixture
        .server
        .switch(|switches| switches.auth_methods = vec!["client_secret_basic".to_owned()]);
    let oauth = fixture.authority(Some(Scripted::new(Does::Visits)));
    oauth.login(&CancellationToken::new()).await.unwrap();
    let client = fixture.read("s.client.json");
    assert_eq!(client["token_endpoint_auth_method"], "client_secret_basic");
}

#[tokio::test]
async fn the_address_of_a_description_can_be_the_client() {
    let mut fixture = Fixture::new();
    fixture
        .server
        .switch(|switches| switches.takes_metadata_documents = true);
    fixture.oauth.client_metadata_url = "https://hermes.example.test/client.json".to_owned();
    let oauth = fixture.authority(Some(Scripted::new(Does::Visits)));
    oauth.login(&CancellationToken::new()).await.unwrap();
    assert_eq!(fixture.server.stats().registrations, 0);
    let client = fixture.read("s.client.json");
    assert_eq!(
        client["client_id"],
        "https://hermes.example.test/client.json"
    );
}

#[tokio::test]
async fn a_client_can_sign_in_by_itself() {
    let mut fixture = Fixture::new();
    fixture.server.add_client("robot", Some("s3cret"));
    let parsed = hermes_config::parse(
        "client_secret: s3cret\nclient_id: robot\nscope: read\ngrant_type: client_credentials\n",
        hermes_config::Layer::File,
    );
    let mut reader = hermes_config::Reader::default();
    fixture.oauth = hermes_config::Setting::read(&parsed.unwrap(), &mut reader).unwrap();
    assert_eq!(fixture.oauth.grant_type, McpGrant::ClientCredentials);
    let oauth = fixture.authority(None);
    assert_eq!(call_and_recover(&fixture, &oauth).await, Ok(200));
    fixture.server.revoke_access();
    fixture
        .server
        .switch(|switches| switches.needs_scope = Some("read write".to_owned()));
    assert_eq!(call_and_recover(&fixture, &oauth).await, Ok(403));
    assert_eq!(call_and_recover(&fixture, &oauth).await, Ok(200));
    assert_eq!(fixture.server.stats().token_requests, 3);
}

#[tokio::test]
async fn an_identity_provider_vouches_for_the_person() {
    let mut fixture = Fixture::new();
    fixture.server.add_client("app", Some("s3cret"));
    fixture.server.add_client("at-idp", None);
    let yaml = format!(
        "client_id: app\nclient_secret: s3cret\nscope: read\nidp:\n  token_endpoint: {}/token\n  \
         client_id: at-idp\n  id_token: who-i-am\n",
        fixture.server.base()
    );
    let parsed = hermes_config::parse(&yaml, hermes_config::Layer::File);
    let mut reader = hermes_config::Reader::default();
    fixture.oauth = hermes_config::Setting::read(&parsed.unwrap(), &mut reader).unwrap();
    assert_ne!(fixture.oauth.idp, Some(McpIdentityProvider::default()));
    let oauth = fixture.authority(None);
    assert!(oauth.bearer().await.unwrap().is_some());
    assert_eq!(call(&fixture, &oauth).await.0.status, 200);
    let forms = fixture.server.stats().forms;
    let has = |form: usize, name: &str, value: &str| {
        forms[form].contains(&(name.to_owned(), value.to_owned()))
    };
    assert!(has(0, "subject_token", "who-i-am") && has(0, "audience", &fixture.server.base()));
    assert!(has(
        1,
        "grant_type",
        "urn:ietf:params:oauth:grant-type:jwt-bearer"
    ));
}
