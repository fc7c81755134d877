//! Renewing logins.

use std::time::Instant;

use hermes_llm::{Ask, CallEnd};
use hermes_testkit::model_server::{ModelServer, RecordedRequest, Scenario, Step, error, text};

use super::super::lab::{Heard, Lab, answered, course, question};
use super::*;

// PV-15
#[tokio::test(flavor = "multi_thread")]
async fn twenty_tasks_of_two_processes_renew_once() {
    let bench = Bench::logged_in(40).await;
    let start = || {
        bench
            .home
            .command(env!("CARGO_BIN_EXE_auth-worker"))
            .args(["renew", &bench.file(), &url(&bench), "20", "use"])
            .spawn()
            .unwrap()
    };
    let running = [start(), start()];
    let outputs = tokio::task::spawn_blocking(move || {
        running.map(|process| process.wait(Duration::from_secs(30)).unwrap().ok())
    })
    .await
    .unwrap();
    for output in outputs {
        assert_eq!(
            output.stdout.matches("used").count(),
            20,
            "{}",
            output.report()
        );
    }
    assert_eq!(bench.portal.refreshes(), 1);
    let seen = bench.portal.seen.lock().unwrap().clone();
    assert_eq!(seen[0].0, "grant_type=refresh_token&client_id=hermes-cli");
    assert_eq!(seen[0].1.as_deref(), Some("refresh-0"));
    let document = bench.document();
    for row in [
        &document["providers"]["nous"],
        &document["credential_pool"]["nous"][0],
    ] {
        assert_eq!(
            (&row["access_token"], &row["refresh_token"]),
            (&json!("access-1"), &json!("refresh-1"))
        );
        assert_eq!(row["tls"], json!({"insecure": false}));
        assert_eq!(row.get("refresh_started_at"), None);
    }
}

// PV-15
#[tokio::test(flavor = "multi_thread")]
async fn a_kill_between_the_reply_and_its_use_loses_nothing() {
    let bench = Bench::logged_in(1).await;
    let worker = |then: &str| {
        bench.home.command(env!("CARGO_BIN_EXE_auth-worker")).args([
            "renew",
            &bench.file(),
            &url(&bench),
            "1",
            then,
        ])
    };
    let (hold, go_on) = (worker("hold"), worker("use"));
    let output = tokio::task::spawn_blocking(move || {
        let running = hold.spawn().unwrap();
        let line = running.next_line(Duration::from_secs(30)).unwrap();
        assert_eq!(line.as_deref(), Some("kept"));
        running.kill().unwrap();
        go_on.run().unwrap().ok()
    })
    .await
    .unwrap();
    assert_eq!(output.stdout, "used\n");
    assert_eq!(bench.portal.refreshes(), 1);
}

// PV-15
#[tokio::test]
async fn a_renewal_outlives_the_caller_that_asked_for_it() {
    let bench = Bench::logged_in(1).await;
    let ring = bench.ring();
    let lease = ring.lease(&bench.route()).await.unwrap();
    let closed = bench.portal.gate.acquire_many(1_000).await.unwrap();
    tokio::select! {
        renewed = ring.renew(&lease) => panic!("{renewed:?}"),
        () = bench.portal.arrived.notified() => {}
    }
    // What is about to be asked for is written down before.
    assert!(bench.document()["providers"]["nous"]["refresh_started_at"].is_string());
    drop(closed);
    ring.close().await;
    assert_eq!(
        bench.document()["providers"]["nous"]["refresh_token"],
        "refresh-1"
    );
    let renewed = ring.renew(&lease).await.unwrap();
    assert_eq!(
        (bench.value(&renewed), bench.portal.refreshes()),
        ("access-1".to_owned(), 1)
    );
    assert_eq!(renewed.id, lease.id);
    assert!(
        renewed
            .secret
            .unwrap()
            .expose_for(&"https://evil.example".parse().unwrap())
            .is_err()
    );
}

// PV-15
#[tokio::test]
async fn a_login_that_is_refused_is_dead_and_one_that_is_limited_is_not() {
    let bench = Bench::logged_in(1).await;
    let ring = bench.ring();
    let lease = ring.lease(&bench.route()).await.unwrap();
    bench.portal.refusals.lock().unwrap().extend([
        (429, json!({"error": "rate_limited"})),
        (
            400,
            json!({"error": "invalid_grant", "error_description": "reuse of refresh-0"}),
        ),
    ]);
    let limited = ring.renew(&lease).await.unwrap_err();
    assert!(matches!(limited, KeyError::Later { .. }), "{limited}");
    assert_eq!(ring.entries("nous").unwrap()[0].standing, Standing::Good);
    assert_eq!(
        bench.document()["providers"]["nous"].get("refresh_started_at"),
        None
    );

    let ended = ring.renew(&lease).await.unwrap_err();
    let words = format!("{ended} {ended:?}");
    assert!(
        words.contains("hermes auth add nous") && !words.contains("refresh-0"),
        "{words}"
    );
    assert!(matches!(
        ring.entries("nous").unwrap()[0].standing,
        Standing::Dead { .. }
    ));
    assert!(ring.lease(&bench.route()).await.is_err());
    assert!(matches!(
        ring.renew(&lease).await,
        Err(KeyError::Ended { .. })
    ));
    assert_eq!(
        bench.portal.refreshes(),
        2,
        "a void token is not sent again"
    );
}

// PV-15
#[tokio::test]
async fn a_renewal_that_was_cut_off_explains_why_the_login_has_ended() {
    let bench = Bench::logged_in(1).await;
    let mut document = bench.document();
    document["providers"]["nous"]["refresh_started_at"] = json!("2025-12-31T23:59:59Z");
    bench.home.write("auth.json", document.to_string()).unwrap();
    let ring = bench.ring();
    let lease = ring.lease(&bench.route()).await.unwrap();
    let reply = (400, json!({"error": "refresh_token_reused"}));
    bench.portal.refusals.lock().unwrap().push_back(reply);
    let ended = ring.renew(&lease).await.unwrap_err();
    assert!(ended.to_string().contains("cut off"), "{ended}");
}

#[tokio::test]
async fn a_login_that_ends_soon_is_renewed_before_it_is_lent() {
    // (seconds left, lived before, whether a renewal is due, what is lent if it fails)
    for (left, lived, due, lent_anyway) in [
        (7_200, 0, false, true),
        (1_801, 80_000, false, true),
        (1_700, 80_000, true, true),
        (400, 500, true, true),
        (500, 400, false, true),
        (120, 80_000, true, false),
    ] {
        for works in [true, false] {
            let bench = Bench::logged_in(1).await;
            let mut document = bench.document();
            let now = bench.clock.now().as_second();
            let login = &mut document["providers"]["nous"];
            login["expires_at"] = json!(now + left);
            login["obtained_at"] = json!(now - lived);
            bench.home.write("auth.json", document.to_string()).unwrap();
            if !works {
                let reply = (503, json!({"error": "down"}));
                bench.portal.refusals.lock().unwrap().push_back(reply);
            }
            let lease = bench.ring().lease(&bench.route()).await;
            assert_eq!(bench.portal.refreshes() == 1, due, "{left} of {lived}");
            let token = lease.ok().map(|lease| bench.value(&lease));
            let expected = match (due && works, lent_anyway) {
                (true, _) => Some("access-1"),
                (false, true) => Some("access-0"),
                (false, false) => None,
            };
            assert_eq!(token.as_deref(), expected, "{left} of {lived}, {works}");
        }
    }
}

#[tokio::test]
async fn a_login_lent_from_the_root_is_renewed_in_place() {
    let bench = Bench::logged_in(1).await;
    let own = bench.home.path().join("profiles/work/auth.json");
    let ring = bench.ring_on(AuthFile::new(own.clone(), Some(bench.file().into())));
    let lease = ring.lease(&bench.route()).await.unwrap();
    let renewed = ring.renew(&lease).await.unwrap();
    assert_eq!(bench.value(&renewed), "access-1");
    assert_eq!(
        bench.document()["providers"]["nous"]["refresh_token"],
        "refresh-1"
    );
    assert!(!own.exists(), "one grant, one place");
}

// PV-17
#[tokio::test]
async fn a_call_goes_on_with_another_credential_when_the_login_has_ended() {
    let bench = Bench::logged_in(1).await;
    let refused = json!({"error": "invalid_grant", "error_description": "revoked"});
    bench
        .portal
        .refusals
        .lock()
        .unwrap()
        .push_back((400, refused));
    let server = ModelServer::start(
        Scenario::new()
            .reply(error(401).message("token expired"))
            .reply(text("with the other one")),
    )
    .unwrap();
    let mut document = bench.document();
    let pool = document["credential_pool"]["nous"].as_array_mut().unwrap();
    pool.push(
        json!({"id": "spare", "label": "spare", "source": "manual", "auth_type": "api_key",
        "priority": 9, "access_token": "spare-key-1234567890"}),
    );
    bench.home.write("auth.json", document.to_string()).unwrap();
    let lab = Lab::with_keys(bench.ring());
    let mut route = bench.route();
    if let Endpoint::Http(address) = &mut route.endpoint {
        address.base = server.base_url().parse().unwrap();
    }
    assert_eq!(
        lab.ask(&route, &question()).await.text,
        "with the other one"
    );
    let sent: Vec<_> = server
        .requests()
        .iter()
        .map(|seen| seen.header("authorization").unwrap().to_owned())
        .collect();
    assert_eq!(sent, ["Bearer access-0", "Bearer spare-key-1234567890"]);
    assert_eq!(bench.portal.refreshes(), 1);
}

// AG-12, PV-15
#[tokio::test]
async fn a_login_that_cannot_be_renewed_now_is_not_shown_again_at_once() {
    let bench = Bench::logged_in(1).await;
    let down = (503, json!({"error": "down"}));
    let refusals = [down.clone(), down];
    bench.portal.refusals.lock().unwrap().extend(refusals);
    let refused = Step::new(error(401).message("token expired")).repeat();
    let server = ModelServer::start(Scenario::new().reply(refused)).unwrap();
    let lab = Lab::with_keys(bench.ring());
    let mut route = bench.route();
    if let Endpoint::Http(address) = &mut route.endpoint {
        address.base = server.base_url().parse().unwrap();
    }
    let failure = lab.fail(&route, &question()).await;
    let said = &failure.fault.message;
    assert!(said.contains("token expired"), "{said}");
    assert!(said.contains("could not be renewed"), "{said}");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(bench.portal.refreshes(), 1);
}

/// The login ends after so many seconds.
fn ends_in(bench: &Bench, seconds: i64) {
    let mut document = bench.document();
    let now = bench.clock.now().as_second();
    for row in ["/providers/nous", "/credential_pool/nous/0"] {
        let row = document.pointer_mut(row).unwrap();
        row["expires_at"] = json!(now + seconds);
        row["obtained_at"] = json!(now - 80_000);
    }
    bench.home.write("auth.json", document.to_string()).unwrap();
}

fn served(bench: &Bench, server: &ModelServer) -> Route {
    let mut route = bench.route();
    if let Endpoint::Http(address) = &mut route.endpoint {
        address.base = server.base_url().parse().unwrap();
    }
    route
}

fn shown(server: &ModelServer) -> Vec<String> {
    let all = server.requests();
    let bearer = |seen: &RecordedRequest| seen.header("authorization").unwrap().to_owned();
    all.iter().map(bearer).collect()
}

// PV-15: a conversation keeps what it was lent, and the token is replaced all the same.
#[tokio::test]
async fn a_login_is_renewed_in_the_middle_of_a_conversation_before_it_ends() {
    let bench = Bench::logged_in(1).await;
    ends_in(&bench, 3_600);
    let server = ModelServer::start(Scenario::new().reply(Step::new(text("fine")).repeat()));
    let server = server.unwrap();
    let lab = Lab::with_keys(bench.ring());
    let mut course = course(&served(&bench, &server));
    let mut ask = async || answered(lab.call(&mut course, &question()).await.0);
    ask().await;
    bench.clock.advance(Duration::from_secs(1_799));
    ask().await;
    assert_eq!(bench.portal.refreshes(), 0);
    // Its server is away: the token still works, and the server is not asked before every call.
    let down = (503, json!({"error": "down"}));
    bench.portal.refusals.lock().unwrap().push_back(down);
    bench.clock.advance(Duration::from_secs(1));
    ask().await;
    ask().await;
    assert_eq!(bench.portal.refreshes(), 1);
    bench.clock.advance(Duration::from_secs(60));
    ask().await;
    let (old, new) = ("Bearer access-0", "Bearer access-1");
    assert_eq!(shown(&server), [old, old, old, old, new]);
    assert_eq!(bench.portal.refreshes(), 2);
}

// AG-8, PV-15: the renewal goes on, because its reply is worth a login.
#[tokio::test]
async fn a_stop_is_heard_while_a_login_is_renewed() {
    for leased_before in [false, true] {
        let bench = Bench::logged_in(1).await;
        ends_in(&bench, if leased_before { 3_600 } else { 60 });
        let server = ModelServer::start(Scenario::new().reply(Step::new(text("fine")).repeat()));
        let server = server.unwrap();
        let lab = Lab::with_keys(bench.ring());
        let mut course = course(&served(&bench, &server));
        if leased_before {
            answered(lab.call(&mut course, &question()).await.0);
            bench.clock.advance(Duration::from_secs(3_590));
        }
        let closed = bench.portal.gate.acquire_many(1_000).await.unwrap();
        let (request, cancel, mut heard) = (question(), CancellationToken::new(), Heard::default());
        let asked = Ask {
            request: &request,
            tokens: 100,
            compactable: true,
            addressed: None,
        };
        let call = lab.caller.call(&mut course, &asked, &mut heard, &cancel);
        let stop = async {
            bench.portal.arrived.notified().await;
            cancel.cancel();
            Instant::now()
        };
        let (end, since) = tokio::join!(call, stop);
        assert!(matches!(end, CallEnd::Stopped(_)), "{end:?}");
        let took = since.elapsed();
        assert!(took < Duration::from_millis(300), "{took:?}");
        drop(closed);
        answered(lab.call(&mut course, &question()).await.0);
        assert_eq!(shown(&server).pop().unwrap(), "Bearer access-1");
        assert_eq!(bench.portal.refreshes(), 1);
    }
}
