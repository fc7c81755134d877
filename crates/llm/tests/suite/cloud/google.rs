//! Google Vertex AI.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hermes_core::Clock as _;
use hermes_llm::Course;
use hermes_llm::resolve::{CloudMachine, Credential, ResolveError, resolve};
use hermes_testkit::model_server::{
    ModelServer, Scenario, Step, bytes, error, json as reply, text,
};
use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use super::{Bench, calls, field, last_bearer, to};
use crate::suite::lab::question;
use crate::suite::profiles::{Setup, base_of};

const PATH: &str = "/v1beta1/projects/p1/locations/global/endpoints/openapi";
const MACHINE_TOKEN: &str = "/computeMetadata/v1/instance/service-accounts/default/token";
const MACHINE_PROJECT: &str = "/computeMetadata/v1/project/project-id";

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

/// A machine whose account gives these tokens.
fn machine(names: &[&str]) -> ModelServer {
    let answers = names.iter().map(|name| {
        let step = Step::new(text(*name));
        step.when_header("authorization", format!("Bearer {name}"))
            .repeat()
    });
    let scenario = Scenario::new().route("POST", "/token", tokens(names));
    let scenario = answers.fold(scenario, Scenario::reply);
    ModelServer::start(scenario.extra_keys(["extra_body"])).expect("a server")
}

// PV-15
#[tokio::test]
async fn a_conversation_gets_a_new_token_before_the_one_it_has_ends() {
    let server = machine(&["token-1", "token-2"]);
    let home = tempfile::tempdir().expect("a folder");
    let content = json!({
        "type": "authorized_user", "client_id": "id-1", "client_secret": "secret-1",
        "refresh_token": "refresh-1", "token_uri": format!("{}/token", server.origin()),
    });
    let file = home.path().join("user.json");
    std::fs::write(&file, content.to_string()).expect("a sign-in");
    let setup = Setup::new(
        "model: {provider: vertex}\nvertex: {project_id: p1}",
        &[
            (
                "GOOGLE_APPLICATION_CREDENTIALS",
                &file.display().to_string(),
            ),
            ("VERTEX_BASE_URL", &format!("{}{PATH}", server.origin())),
        ],
    );
    let bench = Bench::new(setup.resolve());
    let mut ours = Course::new(bench.route.clone(), []);
    let mut theirs = ours.clone();
    bench.ask_on(&mut ours).await;
    bench.ask_on(&mut theirs).await;
    bench.lab.clock.advance(Duration::from_secs(3_299));
    bench.ask_on(&mut ours).await;
    assert_eq!(last_bearer(&server), "Bearer token-1");
    bench.lab.clock.advance(Duration::from_secs(1));
    bench.ask_on(&mut ours).await;
    assert_eq!(last_bearer(&server), "Bearer token-2");
    // Whoever has the old one in hand takes over the new one.
    bench.ask_on(&mut theirs).await;
    assert_eq!(last_bearer(&server), "Bearer token-2");
    assert_eq!(to(&server, "/token").len(), 2);
    assert_eq!(calls(&server).len(), 5, "none was refused");
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

// PV-1
#[tokio::test]
async fn a_machine_of_google_asks_its_metadata_server_for_a_token_and_its_project() {
    let scenario = Scenario::new()
        .route("GET", MACHINE_TOKEN, tokens(&["machine-1"]))
        .route(
            "GET",
            MACHINE_PROJECT,
            [Step::new(
                bytes("machine-project\n").content_type("text/plain"),
            )],
        )
        .reply(Step::new(text("fine")).repeat())
        .extra_keys(["extra_body"]);
    let server = ModelServer::start(scenario).expect("a server");
    let bench = Bench::new(on_machine(&server, &[]).resolve());
    bench.ask().await;
    bench.ask().await;
    let made = to(&server, MACHINE_TOKEN);
    assert_eq!(made.len(), 1, "a token is kept");
    assert_eq!(made[0].header("metadata-flavor"), Some("Google"));
    assert_eq!(to(&server, MACHINE_PROJECT).len(), 1);
    assert_eq!(last_bearer(&server), "Bearer machine-1");
    let call = calls(&server).pop().expect("a call");
    assert!(
        call.path
            .starts_with("/v1beta1/projects/machine-project/locations/global/"),
        "{}",
        call.path
    );

    // A file comes first, and nobody asks on a machine that is not Google's.
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/google-account.json"
    );
    let both = on_machine(&server, &[("GOOGLE_APPLICATION_CREDENTIALS", file)]).resolve();
    assert!(matches!(both.key, Credential::Minted(mint) if mint.label().contains(file)));
    let none = Setup::new("model: {provider: vertex}", &[]);
    assert!(matches!(
        resolve(&none.request()),
        Err(ResolveError::MissingKey { .. })
    ));
    let mut request = none.request();
    request.machine = Some(CloudMachine::Google);
    let made = resolve(&request).expect("a machine of Google").key;
    assert!(
        matches!(made, Credential::Minted(mint) if mint.label() == "google:account and project of the machine")
    );
}

// PV-1
#[tokio::test]
async fn a_machine_without_an_account_says_what_was_looked_for_and_what_to_do() {
    let scenario = Scenario::new().reply(Step::new(text("fine")).repeat());
    let server = ModelServer::start(scenario).expect("a server");
    let base = format!("{}{PATH}", server.origin());
    // Nobody listens there: port 1 is taken by no server.
    let variables = [
        ("GCE_METADATA_HOST", "127.0.0.1:1"),
        ("VERTEX_BASE_URL", base.as_str()),
    ];
    let said = Bench::new(Setup::new("model: {provider: vertex}", &variables).resolve())
        .refusal()
        .await;
    assert!(
        said.contains("no file of Google credentials was found"),
        "{said}"
    );
    assert!(said.contains("127.0.0.1:1"), "{said}");
    assert!(
        said.contains("gcloud auth application-default login"),
        "{said}"
    );
    assert!(calls(&server).is_empty());
    let far = Setup::new(
        "model: {provider: vertex}",
        &[("GCE_METADATA_HOST", "evil.test")],
    );
    let error = resolve(&far.request()).expect_err("far away");
    assert!(matches!(error, ResolveError::BadAddress { .. }), "{error}");
}

/// Vertex on a machine of Google whose metadata server is this one; the address has a place for the project.
fn on_machine(server: &ModelServer, more: &[(&str, &str)]) -> Setup {
    let origin = server.origin();
    let host = origin.trim_start_matches("http://");
    let base = format!("{origin}/v1beta1/projects/{{project}}/locations/global/endpoints/openapi");
    let mut variables = vec![
        ("GCE_METADATA_HOST", host),
        ("VERTEX_BASE_URL", base.as_str()),
    ];
    variables.extend_from_slice(more);
    Setup::new("model: {provider: vertex}", &variables)
}

// PV-1
#[tokio::test]
async fn a_project_that_is_set_is_not_asked_for_and_shown_in_the_address() {
    // There is no route to the project: asking for it would fail.
    let scenario = Scenario::new()
        .route("GET", MACHINE_TOKEN, tokens(&["machine-1"]))
        .reply(Step::new(text("fine")).repeat())
        .extra_keys(["extra_body"]);
    let server = ModelServer::start(scenario).expect("a server");
    let set = on_machine(&server, &[("VERTEX_PROJECT_ID", "set-project")]).resolve();
    assert!(base_of(&set).contains("/projects/set-project/"));
    let bench = Bench::new(set);
    bench.ask().await;
    assert!(to(&server, MACHINE_PROJECT).is_empty());
    let call = calls(&server).pop().expect("a call");
    assert!(
        call.path.contains("/projects/set-project/"),
        "{}",
        call.path
    );

    // Until the machine was asked, people are told whose project it will be.
    let open = on_machine(&server, &[]).resolve().route;
    let shown = open.why.iter().find(|why| why.part == "address");
    let shown = shown.expect("an address").value.clone();
    for text in [shown, open.address_text()] {
        assert!(
            text.contains("/projects/(project of this machine)/"),
            "{text}"
        );
    }
}

// PV-1
#[tokio::test]
async fn a_machine_without_a_usable_project_says_which_variable_names_one() {
    let refused = || Step::new(error(404));
    let odd = || Step::new(bytes("a/../b\n").content_type("text/plain"));
    for answer in [refused(), odd()] {
        let scenario = Scenario::new()
            .route("GET", MACHINE_TOKEN, tokens(&["machine-1"]))
            .route("GET", MACHINE_PROJECT, [answer])
            .reply(Step::new(text("fine")).repeat());
        let server = ModelServer::start(scenario).expect("a server");
        let said = Bench::new(on_machine(&server, &[]).resolve())
            .refusal()
            .await;
        assert!(said.contains("gave no project"), "{said}");
        assert!(said.contains("set VERTEX_PROJECT_ID"), "{said}");
        assert!(
            calls(&server).is_empty(),
            "nothing is sent to a placeholder"
        );
    }
}
