//! Where credentials come from, where they may go, and how they are shown.

use super::*;

#[tokio::test]
async fn a_key_from_the_environment_is_kept_as_a_fingerprint_only() {
    let canary = "sk-canary-from-the-environment";
    let bench = Bench::with_three();
    let own = |value: &str| ProviderKeys {
        keys: vec![variable("LAB_API_KEY", value)],
        ..ProviderKeys::default()
    };
    let ring = bench.ring();
    ring.know("lab", own(canary));
    let lease = leased(&ring).await;
    assert_eq!(
        lease.label, "LAB_API_KEY",
        "what is set by hand comes first"
    );
    ring.worked(&lease);
    ring.flush();
    assert_eq!(bench.pool().len(), 3, "a key that works leaves no trace");
    ring.set_aside(&lease, &fault(Reason::Auth, 401));
    drop(ring);
    let text = bench.home.read("auth.json").unwrap();
    assert!(!text.contains(canary));
    let row = bench
        .pool()
        .into_iter()
        .find(|row| row["source"] == "env:LAB_API_KEY")
        .unwrap();
    assert_eq!(row["last_status"], "exhausted");
    assert!(
        row["secret_fingerprint"]
            .as_str()
            .unwrap()
            .starts_with("sha256:")
    );

    let ring = bench.ring();
    ring.know("lab", own(canary));
    assert_eq!(leased(&ring).await.id, "a", "its rest outlives the process");
    ring.know("lab", own("sk-a-new-value"));
    assert_eq!(
        leased(&ring).await.label,
        "LAB_API_KEY",
        "but not its value"
    );
    let refused = ring.remove("lab", "LAB_API_KEY").unwrap_err();
    assert!(
        matches!(refused, KeyError::KeptElsewhere { .. }),
        "{refused}"
    );
}

#[tokio::test]
async fn no_key_names_the_variable_and_where_to_get_one() {
    let bench = Bench::new(json!([]));
    let ring = bench.ring();
    ring.know(
        "lab",
        ProviderKeys {
            variables: vec!["LAB_API_KEY".to_owned(), "LAB_TOKEN".to_owned()],
            signup_url: Some("https://lab.example/keys".to_owned()),
            ..ProviderKeys::default()
        },
    );
    let error = ring.lease(&route()).await.unwrap_err();
    assert_eq!(reason(&error), Reason::Auth);
    assert_eq!(
        error.to_string(),
        "no key for The Lab: set LAB_API_KEY or LAB_TOKEN, or run `hermes auth add lab`; keys are \
         made at https://lab.example/keys"
    );
    // Nobody refused anything.
    let told = classify(&error, &Facts::default());
    assert!(told.unasked && told.status.is_none(), "{told:?}");
    assert_eq!(ring.state(&route(), None).others, 0);

    let keyless = [
        ring.lease(&route_to(BASE, Auth::None, false)).await,
        ring.lease(&route_to("http://127.0.0.1:1234/v1", Auth::Bearer, true))
            .await,
    ];
    for lease in keyless {
        let lease = lease.unwrap();
        assert!(lease.secret.is_none());
        ring.set_aside(&lease, &fault(Reason::Auth, 401));
        ring.worked(&lease);
    }
    ring.know(
        "lab",
        ProviderKeys {
            need: KeyNeed::Optional,
            ..ProviderKeys::default()
        },
    );
    assert!(leased(&ring).await.secret.is_none());
}

// PV-3
#[tokio::test]
async fn a_lease_is_for_the_origin_of_its_route_and_no_other() {
    let elsewhere = "https://api.lab.example:8443/v1";
    let row = |id: &str, base: Value| json!({"id": id, "access_token": format!("sk-{id}"), "base_url": base});
    let bench = Bench::new(json!([
        row("there", json!(elsewhere)),
        row("broken", json!("not an address")),
        row("here", json!(BASE)),
        row("anywhere", Value::Null),
    ]));
    let ring = bench.ring();
    ring.know(
        "lab",
        ProviderKeys {
            keys: vec![OwnKey {
                source: KeySource::Variable("LAB_API_KEY".to_owned()),
                secret: secret("sk-own", "https://other.example"),
            }],
            ..ProviderKeys::default()
        },
    );
    let lease = leased(&ring).await;
    assert_eq!(
        (lease.id.as_str(), ring.state(&route(), Some(&lease)).others),
        ("here", 1)
    );
    let there = ring
        .lease(&route_to(elsewhere, Auth::Bearer, false))
        .await
        .unwrap();
    assert_eq!(there.id, "there");

    let secret = lease.secret.unwrap();
    assert_eq!(
        secret.expose_for(&BASE.parse().unwrap()).unwrap(),
        "sk-here"
    );
    for other in [
        elsewhere,
        "http://api.lab.example",
        "https://lab.example",
        "https://x.api.lab.example",
        "https://api.lab.example.evil.example",
    ] {
        assert!(
            secret.expose_for(&other.parse().unwrap()).is_err(),
            "{other}"
        );
    }

    // With nothing for this address, nothing is sent.
    let nowhere = route_to("https://evil.example/v1", Auth::Bearer, false);
    let bench = Bench::new(json!([row("here", json!(BASE))]));
    let error = bench.ring().lease(&nowhere).await.unwrap_err();
    assert_eq!(reason(&error), Reason::Auth);
    assert!(
        error.to_string().contains("https://evil.example"),
        "{error}"
    );

    // One that names no address is for its provider, not for whoever is asked in its place.
    let bench = Bench::new(json!([row("anywhere", Value::Null)]));
    let ring = bench.ring();
    let stranger = untied("https://evil.example/v1");
    for _ in 0..2 {
        let error = ring.lease(&stranger).await.unwrap_err();
        assert_eq!(reason(&error), Reason::Auth);
        assert_eq!(ring.state(&stranger, None).others, 0);
    }
    assert_eq!(leased(&ring).await.id, "anywhere");
    let beside = ring.lease_beside(&stranger).await;
    assert!(beside.is_err(), "{beside:?}");
}

#[tokio::test]
async fn logins_of_other_programs_are_listed_and_left_alone() {
    let bench = Bench::new(json!([
        {"id": "x", "auth_type": "oauth", "source": "claude_code", "access_token": "tok-foreign"},
    ]));
    let ring = bench.ring();
    assert_eq!(ring.entries("lab").unwrap()[0].kind, EntryKind::Unsupported);
    assert!(ring.lease(&route()).await.is_err());
    assert_eq!(ring.state(&route(), None).renewal, Renewal::Never);
}

// AG-35
#[tokio::test]
async fn nothing_shows_a_secret() {
    let canary = "canary-0123456789-abcdefghij";
    let bench = Bench::new(json!([{"id": "a", "label": "one", "access_token": canary}]));
    let ring = bench.ring();
    ring.know(
        "lab",
        ProviderKeys {
            keys: vec![variable("LAB_API_KEY", &format!("{canary}-2"))],
            ..ProviderKeys::default()
        },
    );
    let lease = leased(&ring).await;
    let document = AuthFile::new(bench.home.path().join("auth.json"), None)
        .read()
        .unwrap();
    let known = ring
        .add_key("lab", &secret(canary, BASE), None, None)
        .unwrap_err();
    let shown = [
        format!("{lease:?}"),
        format!("{document:?}"),
        format!("{:?}", ring.entries("lab").unwrap()),
        format!("{:?}", ring.status().unwrap()),
        format!("{known} {known:?}"),
        format!("{:?}", variable("LAB_API_KEY", canary)),
    ];
    for text in shown {
        assert!(
            !text.contains(canary) && !text.contains("0123456789"),
            "{text}"
        );
    }
    assert_eq!(ring.entries("lab").unwrap()[1].masked, "cana…ghij");
}

#[tokio::test]
async fn entries_are_added_and_removed_by_id_label_or_number() {
    let bench = Bench::with_three();
    let ring = bench.ring();
    let address = "https://api.lab.example/v1".parse().unwrap();
    let added = ring
        .add_key(
            "lab",
            &secret("sk-added", BASE),
            Some("spare"),
            Some(&address),
        )
        .unwrap();
    assert_eq!((added.index, added.label.as_str()), (4, "spare"));
    assert_eq!(
        bench.row(&added.id)["base_url"],
        "https://api.lab.example/v1"
    );
    assert_eq!(bench.row(&added.id)["priority"], 3);
    assert_eq!(ring.remove("lab", "2").unwrap().id, "b");
    assert_eq!(ring.remove("lab", "key c").unwrap().id, "c");
    assert_eq!(ring.remove("lab", &added.id).unwrap().label, "spare");
    assert!(matches!(
        ring.remove("lab", "9"),
        Err(KeyError::NoSuchEntry { .. })
    ));
    let left: Vec<_> = ring
        .entries("lab")
        .unwrap()
        .into_iter()
        .map(|e| e.id)
        .collect();
    assert_eq!(left, ["a"]);
    let status = ring.status().unwrap();
    assert_eq!(
        (status[0].provider.as_str(), status[0].active),
        ("lab", false)
    );
}
