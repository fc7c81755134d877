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
