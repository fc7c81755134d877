//! `auth.json` on disk.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hermes_core::{ManualClock, SeededRandom};
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_llm::keys::{AuthFile, AuthFileError, Damage, KeyError, Keyring, KeyringParts};
use hermes_secrets::{Secret, SecretName};
use hermes_testkit::TempHome;
use serde_json::{Value, json};

fn ring(file: AuthFile) -> Keyring {
    Keyring::new(KeyringParts {
        file,
        http: ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any)
            .build()
            .unwrap(),
        clock: Arc::new(ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap())),
        random: Arc::new(SeededRandom::new(7)),
        strategies: Default::default(),
    })
}

fn secret(value: &str) -> Secret {
    Secret::new(SecretName::new("key").unwrap(), value.to_owned(), []).unwrap()
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

// PV-16
#[test]
fn processes_and_threads_that_write_at_once_lose_nothing() {
    use std::os::unix::fs::PermissionsExt;

    let home = TempHome::new().unwrap();
    let before = json!({
        "zeta": {"kept": [1, 2.5, null]},
        "version": 1,
        "credential_pool": {"lab": [{"id": "old", "access_token": "sk-old-one", "their_field": "x"}]},
        "updated_at": "2025-01-01T00:00:00+00:00",
        "alpha": true,
    });
    home.write("auth.json", before.to_string()).unwrap();
    let path = home.path().join("auth.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();

    let running: Vec<_> = ["one", "two"]
        .into_iter()
        .map(|name| {
            let file = path.to_str().unwrap();
            home.command(env!("CARGO_BIN_EXE_auth-worker"))
                .args(["add", file, name, "25"])
                .spawn()
                .unwrap()
        })
        .collect();
    std::thread::scope(|scope| {
        // Who only reads takes no lock and still never sees half a file.
        let path_read = path.clone();
        scope.spawn(move || {
            let file = AuthFile::new(path_read, None);
            for _ in 0..2_000 {
                file.read().unwrap();
            }
        });
        for thread in ["three", "four"] {
            let path = path.clone();
            scope.spawn(move || {
                for number in 0..25 {
                    let ring = ring(AuthFile::new(path.clone(), None));
                    let label = format!("{thread}-{number}");
                    // Each ring has the same seed: ids must not be what tells rows apart here.
                    ring.add_key("other", &secret(&format!("sk-{label}")), Some(&label), None)
                        .unwrap();
                }
            });
        }
    });
    for process in running {
        process
            .wait(std::time::Duration::from_secs(30))
            .unwrap()
            .ok();
    }

    let after = json(&path);
    let labels = |provider: &str| -> Vec<String> {
        let pool = after["credential_pool"][provider].as_array().unwrap();
        let label = |row: &Value| row["label"].as_str().unwrap_or("-").to_owned();
        let mut labels: Vec<String> = pool.iter().map(label).collect();
        labels.sort();
        labels.dedup();
        labels
    };
    assert_eq!(labels("lab").len(), 51);
    assert_eq!(labels("other").len(), 50);
    assert_eq!(
        after["credential_pool"]["lab"][0],
        before["credential_pool"]["lab"][0]
    );
    assert_eq!(after["zeta"], before["zeta"]);
    let names: Vec<_> = after.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        ["zeta", "version", "credential_pool", "updated_at", "alpha"]
    );
    assert_eq!(home.mode("auth.json").unwrap() & 0o7777, 0o600);
    assert_eq!(home.mode("auth.lock").unwrap() & 0o7777, 0o600);
    let left: Vec<_> = home
        .tree()
        .unwrap()
        .into_keys()
        .filter(|name| name.ends_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

// PV-16
#[test]
fn a_new_file_is_private_from_the_start() {
    let home = TempHome::new().unwrap();
    let path = home.path().join("auth.json");
    let ring = ring(AuthFile::new(path.clone(), None));
    assert_eq!(ring.entries("lab").unwrap(), []);
    assert!(!path.exists(), "reading makes no file");

    ring.add_key("lab", &secret("sk-lab-0123456789abcdef"), None, None)
        .unwrap();
    assert_eq!(home.mode("auth.json").unwrap() & 0o7777, 0o600);
    let written = json(&path);
    let names: Vec<_> = written.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        ["version", "providers", "active_provider", "credential_pool"]
    );
    assert_eq!(written["version"], 1);
}

// PV-16
#[test]
fn a_damaged_file_is_named_and_never_overwritten() {
    let canary = "sk-canary-0123456789";
    for (text, damage) in [
        ("{\"version\": 1, \"providers\": {".to_owned(), None),
        (format!("{{\"version\": 1, \"{canary}"), None),
        (String::new(), None),
        ("[]".to_owned(), Some(Damage::Form("the file"))),
        (json!({"version": 2}).to_string(), Some(Damage::Version(2))),
        (
            json!({"version": "one"}).to_string(),
            Some(Damage::Form("version")),
        ),
        (
            json!({"providers": []}).to_string(),
            Some(Damage::Form("providers")),
        ),
        (
            json!({"credential_pool": {"lab": {"access_token": canary}}}).to_string(),
            Some(Damage::Form("credential_pool")),
        ),
        (
            json!({"credential_pool": {"lab": [canary]}}).to_string(),
            Some(Damage::Form("credential_pool")),
        ),
    ] {
        let home = TempHome::new().unwrap();
        home.write("auth.json", &text).unwrap();
        let path = home.path().join("auth.json");
        let file = AuthFile::new(path.clone(), None);
        let error = file.read().unwrap_err();
        let words = format!("{error} {error:?}");
        assert!(
            error.to_string().contains(path.to_str().unwrap()),
            "{words}"
        );
        assert!(!words.contains(canary), "{words}");
        match (error, damage) {
            (AuthFileError::Damaged { damage, .. }, Some(expected)) => assert_eq!(damage, expected),
            (AuthFileError::Damaged { damage, .. }, None) => {
                assert!(matches!(damage, Damage::Syntax { .. }), "{damage:?}");
            }
            (other, _) => panic!("{other:?}"),
        }

        let ring = ring(file);
        let added = ring.add_key("lab", &secret("sk-new"), None, None);
        assert!(matches!(added, Err(KeyError::File(_))), "{added:?}");
        assert!(ring.remove("lab", "1").is_err());
        assert!(ring.reset("lab").is_err());
        assert!(ring.status().is_err());
        drop(ring);
        assert_eq!(home.read("auth.json").unwrap(), text);
    }
}

#[test]
fn a_profile_reads_the_root_where_it_has_nothing_and_writes_its_own() {
    let home = TempHome::new().unwrap();
    let pool = |token: &str| json!([{"id": token, "label": token, "access_token": token}]);
    let root = json!({
        "version": 1,
        "credential_pool": {"lab": pool("root-lab-key"), "other": pool("root-other-key")},
    });
    home.write("auth.json", root.to_string()).unwrap();
    let own = json!({"version": 1, "credential_pool": {"lab": pool("own-lab-key"), "other": []}});
    home.write("profiles/work/auth.json", own.to_string())
        .unwrap();
    let root_bytes = home.read("auth.json").unwrap();

    let path = home.path().join("profiles/work/auth.json");
    let ring = ring(AuthFile::new(path, Some(home.path().join("auth.json"))));
    let labels = |provider| -> Vec<String> {
        ring.entries(provider)
            .unwrap()
            .into_iter()
            .map(|entry| entry.label)
            .collect()
    };
    assert_eq!(labels("lab"), ["own-lab-key"]);
    assert_eq!(labels("other"), ["root-other-key"]);
    let refused = ring.remove("other", "1").unwrap_err();
    assert!(
        matches!(refused, KeyError::KeptElsewhere { .. }),
        "{refused:?}"
    );

    ring.add_key("other", &secret("own-other-key"), Some("mine"), None)
        .unwrap();
    assert_eq!(labels("other"), ["mine"]);
    assert_eq!(ring.remove("other", "mine").unwrap().index, 1);
    assert_eq!(labels("other"), ["root-other-key"]);
    ring.reset("other").unwrap();
    drop(ring);
    assert_eq!(home.read("auth.json").unwrap(), root_bytes);
}
