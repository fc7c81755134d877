//! Tokens that are kept, renewed and shared.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_mcp::{AuthError, Authority as _, Browser, Person, Recovery, Refusal};
use hermes_testkit::authorization_server::AuthorizationServer;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::oauth_support::{
    Does, Fixture, Listeners, Scripted, all_listening, call, call_and_recover, listening,
};

// MCP-67
#[tokio::test]
async fn a_kept_login_is_renewed_without_a_person() {
    let fixture = Fixture::signed_in(-10);
    assert_eq!(call(&fixture, &fixture.authority(None)).await.0.status, 200);
    let stats = fixture.server.stats();
    assert_eq!(
        (stats.token_requests, stats.renewals, stats.authorizations),
        (1, 1, 0)
    );
    let resource = ("resource".to_owned(), fixture.server.resource());
    assert!(stats.forms[0].contains(&resource));
    // A new process knows the new token and where to renew it.
    assert_eq!(call(&fixture, &fixture.authority(None)).await.0.status, 200);
    assert_eq!(fixture.server.stats().token_requests, 1);
}

// MCP-67
#[tokio::test]
async fn a_login_of_the_reference_is_renewed_for_its_server_and_no_other() {
    let fixture = Fixture::signed_in(-10);
    let described = fixture.describe().await;
    assert!(described.get("resource").is_none(), "{described}");
    fixture.write("s.meta.json", &described);
    assert_eq!(call(&fixture, &fixture.authority(None)).await.0.status, 200);
    let resource = ("resource".to_owned(), fixture.server.resource());
    assert!(fixture.server.stats().forms[0].contains(&resource));
    // From now on it is kept, so that it goes nowhere else.
    assert_eq!(fixture.read("s.meta.json")["resource"], resource.1);
}

// MCP-99
#[tokio::test]
async fn a_login_is_not_shown_to_the_address_that_its_server_gets_later() {
    let fixture = Fixture::signed_in(3600);
    fixture.write("s.meta.json", &fixture.describe().await);
    assert_eq!(call(&fixture, &fixture.authority(None)).await.0.status, 200);
    let kept = ["s.json", "s.meta.json", "s.client.json"].map(|name| fixture.read(name));

    let other = AuthorizationServer::start().unwrap();
    for name in ["s", "s."] {
        let moved = fixture.of(name, other.resource(), None);
        let Err(AuthError::NeedsLogin { why }) = moved.bearer().await else {
            panic!("{name}: the login was shown to another address");
        };
        assert!(why.contains(&fixture.server.resource()), "{why}");
        let refusal = Refusal {
            token: None,
            challenge: None,
        };
        let recovery = moved.recover(refusal).await;
        assert!(
            matches!(recovery, Recovery::NeedsLogin { .. }),
            "{recovery:?}"
        );
    }
    assert_eq!(other.stats().token_requests, 0);
    // It is there again when the address is.
    let now = ["s.json", "s.meta.json", "s.client.json"].map(|name| fixture.read(name));
    assert_eq!(now, kept);
    assert_eq!(call(&fixture, &fixture.authority(None)).await.0.status, 200);

    // A login there registers anew: what A knows us by is no business of B's.
    let person: Arc<dyn Person> = Scripted::new(Does::Visits);
    let moved = fixture.of("s", other.resource(), Some((person, Browser::Unlikely)));
    moved.login(&CancellationToken::new()).await.unwrap();
    assert_eq!(other.stats().registrations, 1);
    assert_ne!(fixture.read("s.client.json"), kept[2]);
    assert_eq!(fixture.read("s.meta.json")["resource"], other.resource());
    assert!(matches!(
        fixture.authority(None).bearer().await,
        Err(AuthError::NeedsLogin { .. })
    ));
}

// MCP-67
#[tokio::test]
async fn a_file_of_the_reference_without_an_end_is_dated_by_its_time() {
    let fixture = Fixture::signed_in(3600);
    let mut tokens = fixture.read("s.json");
    let fields = tokens.as_object_mut().unwrap();
    fields.remove("expires_at");
    fields.insert("expires_in".to_owned(), json!(10));
    fixture.write("s.json", &tokens);
    assert_eq!(call(&fixture, &fixture.authority(None)).await.0.status, 200);
    assert_eq!(fixture.server.stats().renewals, 1);
}

#[tokio::test]
async fn a_server_that_gives_no_new_refresh_token_keeps_the_old_one_good() {
    let fixture = Fixture::signed_in(-10);
    let before = fixture.read("s.json");
    fixture.server.switch(|switches| switches.rotate = false);
    let oauth = fixture.authority(None);
    assert_eq!(call(&fixture, &oauth).await.0.status, 200);
    let after = fixture.read("s.json");
    assert_ne!(after["access_token"], before["access_token"]);
    assert_eq!(after["refresh_token"], before["refresh_token"]);
    fixture.server.revoke_access();
    assert_eq!(call_and_recover(&fixture, &oauth).await, Ok(200));
}

// MCP-68
#[test]
fn several_processes_use_a_refresh_token_once() {
    let fixture = Fixture::signed_in(-10);
    fixture
        .server
        .switch(|switches| switches.token_delay_ms = 200);
    let mut workers: Vec<_> = (0..3)
        .map(|_| {
            Command::new(env!("CARGO_BIN_EXE_mcp-oauth-worker"))
                .arg(fixture.home.path())
                .arg(fixture.server.resource())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for worker in &mut workers {
        worker.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    let told: Vec<String> = workers
        .into_iter()
        .map(|worker| {
            let output = worker.wait_with_output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        })
        .collect();
    assert!(
        told.iter()
            .all(|token| *token == told[0] && token.starts_with("ox-access-")),
        "{told:?}"
    );
    let stats = fixture.server.stats();
    assert_eq!(
        (stats.token_requests, stats.reuses, stats.refusals),
        (1, 0, 0)
    );
}

// MCP-67
#[tokio::test]
async fn a_renewal_that_takes_its_time_is_not_given_up_and_not_made_twice() {
    let fixture = Fixture::signed_in(-10);
    // Longer than anybody waits for it.
    fixture
        .server
        .switch(|switches| switches.token_delay_ms = 11_000);
    let oauth = fixture.authority(None);
    let refused = oauth.bearer().await;
    assert!(
        matches!(refused, Err(AuthError::Later { .. })),
        "{refused:?}"
    );
    // The refresh token is used up by now, so the answer is worth waiting for.
    let begun = Instant::now();
    let token = loop {
        match oauth.bearer().await {
            Ok(token) => break token.unwrap(),
            Err(_) => assert!(begun.elapsed() < Duration::from_secs(30)),
        }
    };
    let kept = fixture.read("s.json");
    assert!(token.matches(kept["access_token"].as_str().unwrap()));
    let stats = fixture.server.stats();
    assert_eq!((stats.token_requests, stats.renewals), (1, 1));
}

// MCP-68
#[tokio::test]
async fn a_token_that_a_program_without_our_lock_stored_is_taken_over() {
    let fixture = Fixture::signed_in(-10);
    fixture.server.switch(|switches| {
        switches.token_delay_ms = 1_500;
        switches.token_failures = vec![(400, "invalid_grant".to_owned())];
    });
    let oauth = fixture.authority(None);
    let (token, stored) = tokio::join!(oauth.bearer(), async {
        while fixture.server.stats().token_requests == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        fixture.write_tokens(3600)
    });
    let token = token.unwrap().unwrap();
    assert!(token.matches(&stored));
    assert_eq!(call(&fixture, &oauth).await.0.status, 200);
}

// MCP-69
#[tokio::test]
async fn a_token_file_that_changes_is_used_at_once() {
    let fixture = Fixture::signed_in(3600);
    let oauth = fixture.authority(None);
    assert_eq!(call(&fixture, &oauth).await.0.status, 200);
    fixture.server.revoke_access();
    let limit = Duration::from_secs(30);
    let (noticed, newer) = tokio::join!(tokio::time::timeout(limit, oauth.changed()), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        fixture.write_tokens(3600)
    });
    noticed.unwrap();
    let (answered, token) = call(&fixture, &oauth).await;
    assert_eq!(answered.status, 200);
    assert!(token.unwrap().matches(&newer));
    assert_eq!(fixture.server.stats().token_requests, 0);
}

// MCP-87
#[tokio::test]
async fn a_token_file_without_a_token_is_no_news_until_it_changes() {
    let fixture = Fixture::new();
    let oauth = fixture.authority(None);
    let unread: [fn(&Fixture); 2] = [
        |fixture| fixture.write("s.json", &json!({ "access_token": 7 })),
        // Something that cannot be read at all.
        |fixture| {
            std::fs::remove_file(fixture.path("s.json")).unwrap();
            std::fs::create_dir(fixture.path("s.json")).unwrap();
        },
    ];
    for spoil in unread {
        spoil(&fixture);
        assert!(oauth.bearer().await.is_err());
        let soon = Duration::from_millis(800);
        let woken = tokio::time::timeout(soon, oauth.changed()).await;
        assert!(woken.is_err(), "the same file woke the server again");
    }
    std::fs::remove_dir(fixture.path("s.json")).unwrap();
    fixture.server.add_client("known", None);
    fixture.write_tokens(3600);
    let limit = Duration::from_secs(30);
    tokio::time::timeout(limit, oauth.changed()).await.unwrap();
    assert!(oauth.bearer().await.unwrap().is_some());
}

// MCP-70
#[tokio::test]
async fn nobody_there_means_an_answer_at_once_and_nothing_opened() {
    let fixture = Fixture::new();
    let oauth = fixture.authority(None);
    let watch = Listeners::watch();
    let begun = Instant::now();
    let refused = oauth.bearer().await.unwrap_err();
    assert!(matches!(refused, AuthError::NeedsLogin { .. }), "{refused}");
    let refusal = Refusal {
        token: None,
        challenge: None,
    };
    let recovery = oauth.recover(refusal).await;
    assert!(
        matches!(recovery, Recovery::NeedsLogin { .. }),
        "{recovery:?}"
    );
    assert!(begun.elapsed() < Duration::from_secs(2));
    let stats = fixture.server.stats();
    assert_eq!((stats.registrations, stats.authorizations), (0, 0));
    assert!(!fixture.path("s.client.json").exists());
    assert_eq!(watch.opened(), BTreeSet::new(), "a port was opened");

    // With a person there would have been one.
    let before = all_listening();
    let person = fixture.authority(Some(Scripted::new(Does::Waits)));
    let cancel = CancellationToken::new();
    let (login, found) = tokio::join!(person.login(&cancel), async {
        let deadline = Instant::now() + Duration::from_secs(30);
        let found = loop {
            let found = !listening().is_subset(&before);
            if found || Instant::now() > deadline {
                break found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        cancel.cancel();
        found
    });
    assert!(login.is_err() && found);

    // A token that cannot be used any more is the same.
    let fixture = Fixture::signed_in(-10);
    fixture
        .server
        .switch(|switches| switches.token_failures = vec![(400, "invalid_grant".to_owned()); 9]);
    let before = fixture.read("s.json");
    let oauth = fixture.authority(None);
    for _ in 0..3 {
        assert!(matches!(
            oauth.bearer().await,
            Err(AuthError::NeedsLogin { .. })
        ));
    }
    // The refused token is not sent again, and not given up either.
    assert_eq!(fixture.server.stats().token_requests, 1);
    assert_eq!(fixture.read("s.json"), before);
}

// MCP-71
#[tokio::test]
async fn a_forgotten_client_is_registered_again() {
    let fixture = Fixture::signed_in(-10);
    let before = fixture.read("s.json");
    fixture.server.forget_clients();
    let refused = fixture.authority(None).bearer().await.unwrap_err();
    assert!(matches!(refused, AuthError::NeedsLogin { .. }), "{refused}");
    assert!(!fixture.path("s.client.json").exists() && !fixture.path("s.meta.json").exists());
    assert_eq!(fixture.read("s.client.json.bak")["client_id"], "known");
    assert_eq!(fixture.read("s.json"), before);
    let oauth = fixture.authority(Some(Scripted::new(Does::Visits)));
    oauth.login(&CancellationToken::new()).await.unwrap();
    assert_eq!(fixture.server.stats().registrations, 1);
    assert_eq!(call(&fixture, &oauth).await.0.status, 200);
}

// MCP-71
#[tokio::test]
async fn a_client_that_is_found_to_be_forgotten_during_the_login_is_registered_again() {
    let forgotten = |times| vec![(401, "invalid_client".to_owned()); times];
    let fixture = Fixture::signed_in(-10);
    let failures = forgotten(1);
    fixture
        .server
        .switch(|switches| switches.token_failures = failures);
    let person = Scripted::new(Does::Visits);
    let oauth = fixture.authority(Some(person.clone()));
    let cancel = CancellationToken::new();
    oauth.login(&cancel).await.unwrap();
    assert_eq!(person.shown().len(), 2);
    assert_eq!(fixture.server.stats().registrations, 1);
    assert_eq!(fixture.read("s.client.json.bak")["client_id"], "known");
    assert_ne!(fixture.read("s.client.json")["client_id"], "known");
    assert_eq!(call(&fixture, &oauth).await.0.status, 200);

    // Once is enough, and what was there before is still there.
    let fixture = Fixture::signed_in(-10);
    let before = fixture.read("s.json");
    let failures = forgotten(9);
    fixture
        .server
        .switch(|switches| switches.token_failures = failures);
    let person = Scripted::new(Does::Visits);
    let oauth = fixture.authority(Some(person.clone()));
    let refused = oauth.login(&cancel).await.unwrap_err();
    assert!(refused.to_string().contains("invalid_client"), "{refused}");
    assert_eq!(person.shown().len(), 2);
    assert_eq!(fixture.read("s.json"), before);

    // A configured client is the user's own, who alone can change it.
    let mut fixture = Fixture::signed_in(-10);
    fixture.oauth.client_id = "known".to_owned();
    let failures = forgotten(9);
    fixture
        .server
        .switch(|switches| switches.token_failures = failures);
    let person = Scripted::new(Does::Visits);
    let oauth = fixture.authority(Some(person.clone()));
    assert!(oauth.login(&cancel).await.is_err());
    assert_eq!(person.shown().len(), 1);
    assert!(fixture.path("s.client.json").exists());
}

// MCP-71
#[tokio::test]
async fn a_configured_client_is_left_alone() {
    let mut fixture = Fixture::signed_in(-10);
    fixture.oauth.client_id = "known".to_owned();
    fixture.server.forget_clients();
    let refused = fixture.authority(None).bearer().await.unwrap_err();
    assert!(refused.to_string().contains("invalid_client"), "{refused}");
    assert!(fixture.path("s.client.json").exists());
    assert!(!fixture.path("s.client.json.bak").exists());
}

#[tokio::test]
async fn trouble_at_the_authorization_server_is_not_the_end_of_a_login() {
    let fixture = Fixture::signed_in(20);
    fixture
        .server
        .switch(|switches| switches.token_failures = vec![(503, "busy".to_owned())]);
    let oauth = fixture.authority(None);
    // The token still works for a moment.
    assert_eq!(call(&fixture, &oauth).await.0.status, 200);
    fixture.server.revoke_access();
    fixture
        .server
        .switch(|switches| switches.token_failures = vec![(503, "busy".to_owned()); 2]);
    let (_, token) = call(&fixture, &oauth).await;
    let refusal = Refusal {
        token: token.as_ref(),
        challenge: None,
    };
    assert!(matches!(
        oauth.recover(refusal).await,
        Recovery::Later { .. }
    ));
    assert_eq!(call_and_recover(&fixture, &oauth).await, Ok(200));
}

// MCP-81
#[tokio::test]
async fn many_refusals_of_one_token_cost_one_renewal() {
    let fixture = Fixture::signed_in(3600);
    fixture
        .server
        .switch(|switches| switches.token_delay_ms = 100);
    let oauth = fixture.authority(None);
    fixture.server.revoke_access();
    let calls = (0..10).map(|_| call_and_recover(&fixture, &oauth));
    for answered in futures_util::future::join_all(calls).await {
        assert_eq!(answered, Ok(200));
    }
    let stats = fixture.server.stats();
    assert_eq!((stats.token_requests, stats.reuses), (1, 0));
}
