//! Google Vertex AI.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hermes_core::Clock as _;
use hermes_llm::resolve::{ResolveError, resolve};
use hermes_testkit::model_server::{ModelServer, Scenario, Step, error, json as reply, text};
use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use super::{Bench, calls, field, last_bearer, to};
use crate::suite::lab::question;
use crate::suite::profiles::{Setup, base_of};

const PATH: &str = "/v1beta1/projects/p1/locations/global/endpoints/openapi";

/// A key of an account, made for this test.
fn private_key(folder: &Path) -> String {
    let file = folder.join("key.pem");
    let made = Command::new("openssl")
        .args([
            "genpkey",
            "-quiet",
            "-algorithm",
            "RSA",
            "-pkeyopt",
            "rsa_keygen_bits:2048",
            "-out",
        ])
        .arg(&file)
        .status()
        .expect("openssl, see scripts/setup");
    assert!(made.success());
    std::fs::read_to_string(file).expect("a key")
}

fn tokens(names: &[&str]) -> Vec<Step> {
    let answer = |name: &&str| {
        let body = json!({"access_token": name, "expires_in": 3_600, "token_type": "Bearer"});
        Step::new(reply(body))
    };
    names.iter().map(answer).collect()
}

fn part(assertion: &str, number: usize) -> Value {
    let part = assertion.split('.').nth(number).expect("three parts");
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).expect("base64")).expect("JSON")
}

// PV-1, PV-15
#[tokio::test]
async fn a_service_account_signs_for_tokens_that_are_made_once_and_before_they_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let pem = private_key(folder.path());
    let scenario = Scenario::new()
        .route("POST", "/token", tokens(&["token-1", "token-2", "token-3"]))
        .reply(
            Step::new(text("fine"))
                .when_header("authorization", "Bearer token-1")
                .repeat(),
        )
        .reply(Step::new(error(401)).when_header("authorization", "Bearer token-2"))
        .reply(
            Step::new(text("again"))
                .when_header("authorization", "Bearer token-3")
                .repeat(),
        )
        .extra_keys(["extra_body"]);
    let server = ModelServer::start(scenario).expect("a server");
    let token_uri = format!("{}/token", server.origin());
    let account = folder.path().join("account.json");
    let content = json!({
        "type": "service_account", "project_id": "p1", "private_key": pem, "private_key_id": "k1",
        "client_email": "agent@p1.test", "token_uri": token_uri,
    });
    std::fs::write(&account, content.to_string()).expect("an account");
    let base = format!("{}{PATH}", server.origin());
    let setup = Setup::new(
        "model: {provider: vertex, default: gemini-3-pro-preview}",
        &[
            ("VERTEX_CREDENTIALS_PATH", &account.display().to_string()),
            ("VERTEX_BASE_URL", &base),
        ],
    );
    let bench = Bench::new(setup.resolve());
    let now = bench.lab.clock.now().as_second();
    tokio::join!(bench.ask(), bench.ask(), bench.ask(), bench.ask());
    let made = to(&server, "/token");
    assert_eq!(made.len(), 1, "one token for all");
    assert_eq!(calls(&server).len(), 4);

    let seen = calls(&server).pop().expect("a call");
    assert_eq!(seen.path, format!("{PATH}/chat/completions"));
    assert_eq!(seen.expect_json()["model"], "google/gemini-3-pro-preview");
    let thinking = &seen.expect_json()["extra_body"]["google"]["thinking_config"];
    assert_eq!(
        question().settings.effort,
        Some(hermes_core::Effort::Medium)
    );
    assert!(thinking.is_object(), "{}", seen.expect_json());

    let assertion = field(&made[0], "assertion").expect("an assertion");
    assert_eq!(
        field(&made[0], "grant_type").as_deref(),
        Some("urn:ietf:params:oauth:grant-type:jwt-bearer")
    );
    assert_eq!(
        part(&assertion, 0),
        json!({"alg": "RS256", "typ": "JWT", "kid": "k1"})
    );
    let claims = part(&assertion, 1);
    assert_eq!(claims["iss"], "agent@p1.test");
    assert_eq!(claims["aud"], token_uri);
    assert_eq!(
        claims["scope"],
        "https://www.googleapis.com/auth/cloud-platform"
    );
    assert_eq!(claims["exp"].as_i64().map(|exp| exp - now), Some(3_600));
    let (signed, signature) = assertion.rsplit_once('.').expect("a signature");
    let der: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let key = RsaKeyPair::from_pkcs8(&STANDARD.decode(der).expect("base64")).expect("a key");
    UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.public_key().as_ref())
        .verify(
            signed.as_bytes(),
            &URL_SAFE_NO_PAD.decode(signature).expect("base64"),
        )
        .expect("the account's signature");

    // 300 s before its end it is replaced, and one that is turned down is made anew at once.
    bench.lab.clock.advance(Duration::from_secs(3_299));
    bench.ask().await;
    assert_eq!(to(&server, "/token").len(), 1);
    bench.lab.clock.advance(Duration::from_secs(1));
    bench.ask().await;
    assert_eq!(to(&server, "/token").len(), 3);
    assert_eq!(last_bearer(&server), "Bearer token-3");
}

// PV-1
#[tokio::test]
async fn a_sign_in_of_gcloud_gives_tokens_and_its_end_is_said() {
    let ended = json!({"error": "invalid_grant", "error_description": "Token has been revoked."});
    let scenario = Scenario::new()
        .route(
            "POST",
            "/token",
            [
                tokens(&["token-1"]).remove(0),
                Step::new(error(400).body(ended)),
            ],
        )
        .reply(
            Step::new(text("fine"))
                .when_header("authorization", "Bearer token-1")
                .repeat(),
        )
        .extra_keys(["extra_body"]);
    let server = ModelServer::start(scenario).expect("a server");
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join(".config/gcloud");
    std::fs::create_dir_all(&folder).expect("a folder");
    let content = json!({
        "type": "authorized_user", "client_id": "id-1", "client_secret": "secret-1",
        "refresh_token": "refresh-1", "token_uri": format!("{}/token", server.origin()),
    });
    let file = folder.join("application_default_credentials.json");
    std::fs::write(file, content.to_string()).expect("a sign-in");
    let setup = Setup::new(
        "model: {provider: vertex}\nvertex: {project_id: p1}",
        &[
            ("HOME", &home.path().display().to_string()),
            ("VERTEX_BASE_URL", &format!("{}{PATH}", server.origin())),
        ],
    );
    let bench = Bench::new(setup.resolve());
    bench.ask().await;
    let made = to(&server, "/token").remove(0);
    assert_eq!(field(&made, "refresh_token").as_deref(), Some("refresh-1"));
    assert_eq!(field(&made, "client_secret").as_deref(), Some("secret-1"));
    bench.lab.clock.advance(Duration::from_secs(4_000));
    let said = bench.refusal().await;
    assert!(said.contains("Token has been revoked"), "{said}");
    assert!(!said.contains("refresh-1"), "{said}");
}

// PV-1
#[test]
fn the_region_decides_about_the_host_and_the_project_comes_from_the_credentials() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/google-account.json"
    );
    let account = ("GOOGLE_APPLICATION_CREDENTIALS", file);
    for (config, variables, base) in [
        (
            "",
            vec![account],
            "https://aiplatform.googleapis.com/v1beta1/projects/fixture-project/locations/global/endpoints/openapi",
        ),
        (
            "\nvertex: {region: us-east5, project_id: p2}",
            vec![account],
            "https://us-east5-aiplatform.googleapis.com/v1beta1/projects/p2/locations/us-east5/endpoints/openapi",
        ),
        (
            "\nvertex: {region: us-east5}",
            vec![
                account,
                ("VERTEX_REGION", "europe-west4"),
                ("VERTEX_PROJECT_ID", "p3"),
            ],
            "https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/p3/locations/europe-west4/endpoints/openapi",
        ),
    ] {
        let setup = Setup::new(
            &format!("model: {{provider: google-vertex}}{config}"),
            &variables,
        );
        assert_eq!(base_of(&setup.resolve()), base);
    }
    let none = Setup::new("model: {provider: vertex}", &[]);
    let error = resolve(&none.request()).expect_err("no credentials");
    assert!(
        error.hint().contains("VERTEX_CREDENTIALS_PATH"),
        "{}",
        error.hint()
    );
    let elsewhere = "model: {provider: vertex, default: m1, base_url: 'https://evil.test/v1'}";
    let error = resolve(&Setup::new(elsewhere, &[account]).request()).expect_err("a foreign host");
    assert!(matches!(error, ResolveError::ForeignKey { .. }), "{error}");
}
