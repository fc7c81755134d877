//! Who is chosen, who rests, who is dead.

use super::*;

// PV-17
#[tokio::test]
async fn three_keys_are_used_in_order_and_rest_as_long_as_they_should() {
    let bench = Bench::with_three();
    let ring = bench.ring();
    let others = |lease: &Lease| ring.state(&route(), Some(lease)).others;

    let a = leased(&ring).await;
    assert_eq!(
        (a.id.as_str(), a.label.as_str(), others(&a)),
        ("a", "key a", 2)
    );
    assert_eq!(
        leased(&ring).await.id,
        "a",
        "the first is used until it fails"
    );
    ring.set_aside(&a, &fault(Reason::RateLimit, 429));
    let b = leased(&ring).await;
    assert_eq!((b.id.as_str(), others(&b)), ("b", 1));
    ring.set_aside(&b, &fault(Reason::Billing, 402));
    let c = leased(&ring).await;
    assert_eq!((c.id.as_str(), others(&c)), ("c", 0));
    ring.set_aside(&c, &fault(Reason::Auth, 401));

    // All rest: the limits of two of them are what the caller can wait for.
    let error = ring.lease(&route()).await.unwrap_err();
    let understood = classify(&error, &Facts::default());
    assert_eq!(understood.reason, Reason::UsageLimit);
    assert_eq!(understood.retry_after, Some(Duration::from_secs(300)));
    assert!(
        understood.message.contains("hermes auth reset lab"),
        "{understood:?}"
    );

    bench.pass(299);
    assert!(ring.lease(&route()).await.is_err());
    bench.pass(1);
    let again = leased(&ring).await;
    assert_eq!((again.id.as_str(), others(&again)), ("c", 0));
    ring.worked(&again);
    bench.pass(3_299);
    assert_eq!(leased(&ring).await.id, "c");
    bench.pass(1);
    assert_eq!(leased(&ring).await.id, "a");

    ring.flush();
    let (a, b, c) = (bench.row("a"), bench.row("b"), bench.row("c"));
    let start = 1_767_225_600.0;
    assert_eq!(
        (
            &a["last_status"],
            &a["last_error_code"],
            &a["last_status_at"],
            &a["last_error_reset_at"]
        ),
        (
            &json!("exhausted"),
            &json!(429),
            &json!(start),
            &json!(start + 3_600.0)
        )
    );
    assert_eq!(
        (&b["last_error_code"], &b["request_count"]),
        (&json!(402), &json!(1))
    );
    assert_eq!(
        (&c["last_status"], &c["request_count"]),
        (&json!("ok"), &json!(2))
    );
    assert_eq!(c["last_error_code"], Value::Null);
}

// PV-17
#[tokio::test]
async fn a_provider_that_says_when_is_believed() {
    let bench = Bench::with_three();
    let ring = bench.ring();
    let asks = |seconds| Fault {
        retry_after: Some(Duration::from_secs(seconds)),
        ..fault(Reason::UsageLimit, 429)
    };
    ring.set_aside(&leased(&ring).await, &asks(20));
    ring.set_aside(&leased(&ring).await, &asks(7 * 24 * 3_600));
    assert_eq!(leased(&ring).await.id, "c");
    bench.pass(20);
    assert_eq!(leased(&ring).await.id, "a");
    let entries = ring.entries("lab").unwrap();
    let week = Duration::from_secs(7 * 24 * 3_600 - 20);
    assert_eq!(entries[1].rest, Some(week));
}

// PV-17
#[tokio::test]
async fn a_revoked_key_is_dead_and_forgotten_after_a_day() {
    let bench = Bench::with_three();
    let ring = bench.ring();
    let a = leased(&ring).await;
    ring.set_aside(
        &a,
        &Fault::new(Reason::Auth, "the token has been revoked (token_revoked)"),
    );
    assert_eq!(leased(&ring).await.id, "b");
    drop(ring);
    assert_eq!(bench.row("a")["last_status"], "dead");

    bench.pass(23 * 3_600);
    let ring = bench.ring();
    let b = leased(&ring).await;
    assert_eq!(b.id, "b", "a dead one stays dead in the next process");
    ring.set_aside(&b, &fault(Reason::RateLimit, 429));
    ring.flush();
    assert_eq!(bench.pool().len(), 3);
    bench.pass(3_600);
    ring.worked(&b);
    ring.flush();
    assert_eq!(bench.pool().len(), 2);
}

// PV-17
#[tokio::test]
async fn only_faults_of_the_credential_count_against_it() {
    for reason in Reason::ALL {
        let bench = Bench::with_three();
        let ring = bench.ring();
        let lease = leased(&ring).await;
        ring.set_aside(&lease, &fault(*reason, 400));
        let own = matches!(
            reason,
            Reason::Auth
                | Reason::Billing
                | Reason::RateLimit
                | Reason::UsageLimit
                | Reason::LongContextTier
        );
        let next = leased(&ring).await.id;
        assert_eq!(next, if own { "b" } else { "a" }, "{reason:?}");
    }
}

// PV-17
#[tokio::test]
async fn keys_that_rest_are_no_refusal() {
    let bench = Bench::with_three();
    let ring = bench.ring();
    for _ in 0..3 {
        let lease = leased(&ring).await;
        ring.set_aside(&lease, &fault(Reason::Billing, 402));
    }
    let error = ring.lease(&route()).await.unwrap_err();
    let told = classify(&error, &Facts::default());
    assert!(told.message.contains("rests after a refusal"), "{told:?}");
    assert_eq!(
        (told.reason, told.status, told.unasked),
        (Reason::UsageLimit, None, true)
    );
    assert!(told.retry_after.is_some());
}

// PV-17
#[tokio::test]
async fn strategies_choose_as_they_say() {
    let mut bench = Bench::with_three();
    let order = async |bench: &Bench, count: usize| {
        let ring = bench.ring();
        let mut order = String::new();
        for _ in 0..count {
            let lease = leased(&ring).await;
            order.push_str(&lease.id);
            ring.worked(&lease);
        }
        order
    };
    bench.strategy = PoolStrategy::RoundRobin;
    assert_eq!(order(&bench, 7).await, "abcabca");
    // What was counted in one process counts in the next.
    bench.strategy = PoolStrategy::LeastUsed;
    assert_eq!(order(&bench, 4).await, "bcab");
    bench.strategy = PoolStrategy::Random;
    let random = order(&bench, 60).await;
    for id in ["a", "b", "c"] {
        assert!(random.matches(id).count() > 8, "{random}");
    }

    let bench = Bench {
        strategy: PoolStrategy::LeastUsed,
        ..Bench::with_three()
    };
    let ring = bench.ring();
    let mut together = Vec::new();
    for _ in 0..3 {
        together.push(leased(&ring).await.id);
    }
    assert_eq!(
        together,
        ["a", "b", "c"],
        "leases at the same time are spread"
    );
}

// PV-17
#[tokio::test]
async fn work_beside_a_conversation_takes_a_credential_that_nobody_has_in_hand() {
    let bench = Bench::with_three();
    let ring = bench.ring();
    let beside = async || ring.lease_beside(&route()).await.unwrap();
    let conversation = leased(&ring).await;
    let (first, second) = (beside().await, beside().await);
    let ids = [&conversation.id, &first.id, &second.id];
    assert_eq!(ids, ["a", "b", "c"]);
    // A copy, as one that was renewed has it, is the same hold.
    let copy = second.clone();
    drop(second);
    let shared = beside().await;
    assert_eq!(
        shared.id, "a",
        "all are in hand: the first of those shared least"
    );
    assert_eq!(beside().await.id, "b", "given back at once");
    drop(copy);
    let free = beside().await;
    assert_eq!(free.id, "c", "free again");
    // A conversation goes by its order, whoever has what in hand.
    assert_eq!(leased(&ring).await.id, "a");
    drop(conversation);
    drop(shared);
    // What rests is not taken just because it is free.
    ring.set_aside(&first, &fault(Reason::RateLimit, 429));
    drop(first);
    let held = leased(&ring).await;
    assert_eq!(held.id, "a");
    drop(free);
    assert_eq!(beside().await.id, "c");
}

// PV-17
#[tokio::test]
async fn what_others_have_in_hand_is_left_to_them_until_they_give_it_back() {
    let bench = Bench::with_three();
    let (here, there) = (bench.ring(), bench.ring());
    let beside = async |ring: &Keyring| ring.lease_beside(&route()).await.unwrap();
    let theirs = leased(&there).await;
    let ours = beside(&here).await;
    assert_eq!((theirs.id.as_str(), ours.id.as_str()), ("a", "b"));
    assert_eq!(beside(&there).await.id, "c", "given back at once");
    // A conversation goes by its order, and what it gives back is still theirs.
    let conversation = leased(&here).await;
    assert_eq!(conversation.id, "a");
    drop(conversation);
    assert_eq!(beside(&here).await.id, "c");
    drop(theirs);
    assert_eq!(beside(&here).await.id, "a");
    let mode = bench.home.mode("cache/leases").unwrap() & 0o777;
    assert_eq!(mode, 0o700);
}

// PV-17
#[tokio::test(flavor = "multi_thread")]
async fn what_a_process_had_in_hand_is_free_when_it_was_killed() {
    let bench = Bench::with_three();
    let file = bench.home.path().join("auth.json");
    let other = bench
        .home
        .command(env!("CARGO_BIN_EXE_auth-worker"))
        .args(["hold", file.to_str().unwrap(), BASE])
        .spawn()
        .unwrap();
    let (other, line) = tokio::task::spawn_blocking(move || {
        let line = other.next_line(Duration::from_secs(30)).unwrap();
        (other, line)
    })
    .await
    .unwrap();
    assert_eq!(line.as_deref(), Some("a"));
    let ring = bench.ring();
    let beside = async || ring.lease_beside(&route()).await.unwrap().id;
    assert_eq!(beside().await, "b");
    other.kill().unwrap();
    assert_eq!(beside().await, "a");
}

// PV-17
#[tokio::test]
async fn a_provider_with_one_credential_leaves_no_marks() {
    let row = json!({"id": "a", "source": "manual", "access_token": "sk-lab-a"});
    let bench = Bench::new(json!([row]));
    let ring = bench.ring();
    let _held = ring.lease_beside(&route()).await.unwrap();
    let made = bench.home.path().join("cache");
    assert!(!made.exists(), "there is nothing to choose");
}

// PV-17, PV-21
#[tokio::test]
async fn a_key_of_the_settings_stays_the_key_of_its_route_also_beside() {
    for (source, expected) in [
        (
            KeySource::Setting("auxiliary.vision".to_owned()),
            "auxiliary.vision",
        ),
        (KeySource::Variable("LAB_API_KEY".to_owned()), "key a"),
    ] {
        let bench = Bench::with_three();
        let ring = bench.ring();
        let own = OwnKey {
            source,
            secret: secret("sk-own-0123456789", BASE),
        };
        let keys = ProviderKeys {
            keys: vec![own],
            ..ProviderKeys::default()
        };
        ring.meet(&route(), keys);
        let _conversation = leased(&ring).await;
        let beside = ring.lease_beside(&route()).await.unwrap();
        assert_eq!(beside.label, expected);
    }
}

// PV-17
#[tokio::test]
async fn an_outcome_counts_for_the_lease_it_is_told_with() {
    let bench = Bench {
        strategy: PoolStrategy::RoundRobin,
        ..Bench::with_three()
    };
    let ring = bench.ring();
    let (first, second) = (leased(&ring).await, leased(&ring).await);
    assert_eq!((first.id.as_str(), second.id.as_str()), ("a", "b"));
    ring.set_aside(&first, &fault(Reason::RateLimit, 429));
    ring.worked(&second);
    let standing: Vec<_> = ring
        .entries("lab")
        .unwrap()
        .into_iter()
        .map(|e| e.standing)
        .collect();
    assert!(
        matches!(standing[0], Standing::Resting { code: 429, .. }),
        "{standing:?}"
    );
    assert_eq!(standing[1..], [Standing::Good, Standing::Good]);
}

// PV-17
#[tokio::test]
async fn another_process_knows_who_rests() {
    let bench = Bench::with_three();
    let (here, there) = (bench.ring(), bench.ring());
    here.set_aside(&leased(&here).await, &fault(Reason::RateLimit, 429));
    here.flush();
    assert_eq!(leased(&there).await.id, "b");
    assert_eq!(there.reset("lab").unwrap(), 1);
    assert_eq!(leased(&here).await.id, "a");
}

// PV-18, PV-21
#[tokio::test]
async fn every_route_of_a_provider_is_called_with_its_own_key() {
    let bench = Bench::new(json!([]));
    let ring = bench.ring();
    let at = |base: &str, model: &str| Route {
        model: model.to_owned(),
        ..route_to(base, Auth::Bearer, false)
    };
    let bound = |name: &str, value: &str, base: &str| {
        let origin = Origin::of(&base.parse().unwrap()).unwrap();
        let secret = Secret::new(
            SecretName::new(name).unwrap(),
            value.to_owned(),
            [origin.into()],
        );
        OwnKey {
            source: KeySource::Setting(name.to_owned()),
            secret: secret.unwrap(),
        }
    };
    let told = |keys: Vec<OwnKey>| ProviderKeys {
        need: if keys.is_empty() {
            KeyNeed::Optional
        } else {
            KeyNeed::Required
        },
        keys,
        ..ProviderKeys::default()
    };
    let (here, there, open) = (
        "https://a.test/v1",
        "https://b.test/v1",
        "https://c.test/v1",
    );
    let (main, other) = (at(here, "m1"), at(there, "m1"));
    let (twin, keyless) = (at(here, "m2"), at(open, "m1"));
    ring.meet(
        &other,
        told(vec![bound("fallback.0", "sk-other-0123456789", there)]),
    );
    ring.meet(
        &twin,
        told(vec![bound("fallback.1", "sk-twin-0123456789", here)]),
    );
    ring.meet(&keyless, told(Vec::new()));
    ring.meet(
        &main,
        told(vec![bound("model", "sk-main-0123456789", here)]),
    );
    for (route, label) in [
        (&main, "model"),
        (&other, "fallback.0"),
        (&twin, "fallback.1"),
        (&keyless, "no key"),
    ] {
        assert_eq!(ring.lease(route).await.unwrap().label, label);
    }
    // Where two keys are for one address, the other one takes over.
    let lease = ring.lease(&twin).await.unwrap();
    ring.set_aside(&lease, &fault(Reason::RateLimit, 429));
    assert_eq!(ring.lease(&twin).await.unwrap().label, "model");
}

#[tokio::test]
async fn the_only_credential_is_lent_while_it_rests_but_not_when_it_is_dead() {
    let bench = Bench::new(json!([]));
    let ring = bench.ring();
    ring.know(
        "lab",
        ProviderKeys {
            keys: vec![variable("LAB_API_KEY", "sk-only-0123456789")],
            ..ProviderKeys::default()
        },
    );
    let lease = leased(&ring).await;
    assert_eq!(lease.label, "LAB_API_KEY");
    ring.set_aside(&lease, &fault(Reason::RateLimit, 429));
    assert_eq!(leased(&ring).await.id, lease.id);
    assert_eq!(ring.state(&route(), Some(&lease)).others, 0);
    ring.set_aside(&lease, &Fault::new(Reason::Auth, "invalid_grant"));
    assert_eq!(
        reason(&ring.lease(&route()).await.unwrap_err()),
        Reason::Auth
    );
}
