//! Logging in.

use super::*;

// PV-14
#[tokio::test]
async fn a_device_login_waits_slows_down_and_is_granted() {
    let bench = Bench::new(1).await;
    let refused = |word: &str| (400, json!({"error": word}));
    bench.portal.polls.lock().unwrap().extend([
        refused("authorization_pending"),
        refused("slow_down"),
        // Some servers refuse with a success.
        (200, json!({"error": "authorization_pending"})),
        (200, tokens(7)),
    ]);
    let login = bench.login();
    let mut code = login.start().await.unwrap();
    assert_eq!(code.user_code, "WXYZ-1234");
    assert_eq!(
        code.verification_uri.as_str(),
        "https://portal.example/device"
    );
    assert_eq!(
        code.verification_uri_complete, None,
        "not an address to open"
    );
    assert_eq!(code.interval, Duration::from_secs(1));

    assert!(matches!(
        login.poll(&mut code).await.unwrap(),
        Poll::Pending
    ));
    assert!(matches!(
        login.poll(&mut code).await.unwrap(),
        Poll::SlowDown
    ));
    assert_eq!(code.interval, Duration::from_secs(2));
    assert!(matches!(
        login.poll(&mut code).await.unwrap(),
        Poll::Pending
    ));
    let Poll::Granted(granted) = login.poll(&mut code).await.unwrap() else {
        panic!("not granted");
    };
    let shown = format!("{code:?} {granted:?}");
    assert!(
        !shown.contains("canary") && !shown.contains("access-7") && !shown.contains("refresh-7")
    );

    let seen = bench.portal.seen.lock().unwrap().clone();
    assert_eq!(seen[0].0, "client_id=hermes-cli&scope=inference%3Ainvoke");
    assert_eq!(
        seen[1].0,
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&client_id=hermes-cli&\
         device_code=device-canary"
    );

    let ring = bench.ring();
    let entry = ring
        .add_login("nous", &granted, None, &bench.login().flow)
        .unwrap();
    let until = bench
        .clock
        .now()
        .checked_add(Duration::from_secs(86_400))
        .unwrap();
    assert_eq!(
        entry.kind,
        EntryKind::Login {
            expires_at: Some(until)
        }
    );
    assert_eq!(bench.document()["active_provider"], "nous");
    let lease = ring.lease(&bench.route()).await.unwrap();
    assert_eq!(bench.value(&lease), "access-7");
    assert_eq!(
        ring.state(&bench.route(), Some(&lease)).renewal,
        Renewal::OnAuthAndBilling
    );
    assert_eq!(ring.remove("nous", "login").unwrap().label, "login");
    assert_eq!(bench.document()["active_provider"], Value::Null);
}

// PV-14
#[tokio::test]
async fn a_device_login_ends_when_it_is_denied_expired_or_refused() {
    let bench = Bench::new(1).await;
    let login = bench.login();
    let poll = async |status: u16, word: &str| {
        let answer = (
            status,
            json!({"error": word, "error_description": "for device-canary"}),
        );
        bench.portal.polls.lock().unwrap().push_back(answer);
        let mut code = login.start().await.unwrap();
        login.poll(&mut code).await
    };
    assert!(matches!(poll(400, "access_denied").await, Ok(Poll::Denied)));
    assert!(matches!(
        poll(400, "expired_token").await,
        Ok(Poll::Expired)
    ));
    let refused = poll(401, "invalid_client").await.unwrap_err();
    assert!(!refused.is_transient());
    let words = format!("{refused} {refused:?}");
    assert!(
        words.contains("invalid_client") && !words.contains("canary"),
        "{words}"
    );
    assert!(
        poll(503, "temporarily_unavailable")
            .await
            .unwrap_err()
            .is_transient()
    );

    let mut code = login.start().await.unwrap();
    bench.clock.advance(Duration::from_secs(900));
    assert!(
        matches!(login.poll(&mut code).await, Ok(Poll::Expired)),
        "by our own clock"
    );
}

// PV-14
#[tokio::test]
async fn waiting_for_a_decision_survives_a_bad_moment_and_can_be_cancelled() {
    let bench = Bench::new(1).await;
    let mut login = bench.login();
    login.flow.slow_down = Duration::ZERO;
    let answer = |status: u16, word: &str| (status, json!({"error": word}));
    bench.portal.polls.lock().unwrap().extend([
        answer(502, "bad_gateway"),
        (200, tokens(1)),
        answer(400, "access_denied"),
    ]);
    let (cancel, mut code) = (CancellationToken::new(), login.start().await.unwrap());
    code.interval = Duration::ZERO;
    login.finish(code.clone(), &cancel).await.unwrap();
    let denied = login.finish(code.clone(), &cancel).await.unwrap_err();
    assert!(matches!(denied, OAuthError::Denied), "{denied:?}");
    cancel.cancel();
    let stopped = login.finish(code, &cancel).await.unwrap_err();
    assert!(matches!(stopped, OAuthError::Cancelled), "{stopped:?}");
}

#[test]
fn a_profile_may_declare_a_flow_of_its_own() {
    let declare = |device: &str, token: &str| {
        serde_json::from_value::<Flow>(json!({
            "device_authorization_endpoint": device, "token_endpoint": token,
            "client_id": "mine", "scope": "chat", "headers": {"x-team": "blue"},
        }))
    };
    let flow = declare("https://lab.example/device", "https://lab.example/token").unwrap();
    assert_eq!(
        (flow.client_id.as_str(), flow.renewal),
        ("mine", Renewal::OnAuth)
    );
    assert_eq!(flow.interval, Duration::from_secs(5));
    for (device, token) in [
        ("http://lab.example/device", "http://lab.example/token"),
        (
            "https://lab.example/device",
            "https://elsewhere.example/token",
        ),
        ("nonsense", "https://lab.example/token"),
    ] {
        assert!(declare(device, token).is_err(), "{device} {token}");
    }
}

// PV-14, PV-15
#[tokio::test]
async fn a_login_is_renewed_where_it_came_from() {
    let (elsewhere, usual) = (Bench::new(1).await, Bench::new(1).await);
    elsewhere
        .portal
        .polls
        .lock()
        .unwrap()
        .push_back((200, tokens(0)));
    let login = elsewhere.login();
    let mut code = login.start().await.unwrap();
    let Poll::Granted(granted) = login.poll(&mut code).await.unwrap() else {
        panic!("not granted");
    };
    // This one knows the usual portal only.
    let ring = usual.ring();
    ring.add_login("nous", &granted, None, &login.flow).unwrap();
    let lease = ring.lease(&elsewhere.route()).await.unwrap();
    let renewed = ring.renew(&lease).await.unwrap();
    assert_eq!(elsewhere.value(&renewed), "access-1");
    assert_eq!(
        (elsewhere.portal.refreshes(), usual.portal.refreshes()),
        (1, 0)
    );
}
