//! AWS Bedrock with roles and sign-ins.

use std::path::Path;
use std::time::Duration;

use hermes_core::Clock as _;
use hermes_llm::resolve::{CloudMachine, Credential, ResolveError, Resolved, resolve};
use hermes_llm::wire::converse::sigv4::{self, Signer};
use hermes_testkit::model_server::{
    ModelServer, RecordedRequest, Scenario, Step, bytes, json as reply, text,
};
use serde_json::json;
use tempfile::TempDir;

use super::{Bench, calls, field, to};
use crate::suite::profiles::Setup;

/// A person's own directory with the files of AWS in it.
struct Person {
    home: TempDir,
}

impl Person {
    fn new(credentials: &str, config: &str) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join(".aws/sso/cache");
        std::fs::create_dir_all(folder).expect("a folder");
        let person = Self { home };
        person.write(".aws/credentials", credentials);
        person.write(".aws/config", config);
        person
    }

    fn write(&self, path: &str, content: &str) {
        std::fs::write(self.home.path().join(path), content).expect("a file");
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    fn setup(&self, server: &ModelServer, variables: &[(&str, &str)]) -> Setup {
        let (home, origin) = (self.path().display().to_string(), server.origin());
        let mut all = vec![
            ("HOME", home.as_str()),
            ("BEDROCK_BASE_URL", origin.as_str()),
            ("AWS_ENDPOINT_URL_STS", origin.as_str()),
            ("AWS_ENDPOINT_URL_SSO", origin.as_str()),
            ("AWS_REGION", "eu-west-1"),
        ];
        all.extend_from_slice(variables);
        Setup::new(
            "model: {provider: bedrock, default: 'amazon.nova-pro-v1:0'}",
            &all,
        )
    }

    fn resolve(&self, server: &ModelServer, variables: &[(&str, &str)]) -> Resolved {
        self.setup(server, variables).resolve()
    }
}

fn lent(id: &str, until: &str) -> Step {
    let xml = format!(
        "<AssumeRoleResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleResult><Credentials>\
         <AccessKeyId>{id}</AccessKeyId><SecretAccessKey>made/secret+1</SecretAccessKey>\
         <SessionToken>made-token==</SessionToken><Expiration>{until}</Expiration></Credentials>\
         </AssumeRoleResult></AssumeRoleResponse>"
    );
    Step::new(bytes(xml).content_type("text/xml"))
}

fn answers(scenario: Scenario) -> ModelServer {
    let scenario = scenario.reply(Step::new(text("fine")).repeat());
    ModelServer::start(scenario).expect("a server")
}

/// Who signed a request to a model, and the token that went with it.
#[track_caller]
fn signer(server: &ModelServer) -> (String, Option<String>) {
    let call = calls(server).pop().expect("a call");
    let header = call.header("authorization").unwrap_or_default().to_owned();
    let id = header
        .split_once("Credential=")
        .and_then(|(_, rest)| rest.split('/').next())
        .unwrap_or_default();
    let token = call.header("x-amz-security-token").map(str::to_owned);
    (id.to_owned(), token)
}

/// The signature that a request should have.
fn expected(request: &RecordedRequest, signer: &Signer<'_>, now: jiff::Timestamp) -> String {
    let headers: Vec<(&str, &str)> = ["host", "content-type"]
        .iter()
        .map(|name| (*name, request.header(name).unwrap_or_default()))
        .collect();
    let signed = sigv4::sign(
        signer,
        &sigv4::Request {
            method: "POST",
            path: "/",
            query: &[],
            headers: &headers,
            body: &request.body,
        },
        now,
    );
    let found = signed
        .into_iter()
        .find(|(name, _)| *name == "authorization");
    found.expect("a signature").1
}

// PV-1, PV-10
#[tokio::test]
async fn a_profile_takes_on_its_role_with_another_profile() {
    let server = answers(Scenario::new().route(
        "POST",
        "/",
        [
            lent("ASIA-FIRST", "2026-01-01T01:00:00Z"),
            lent("ASIA-SECOND", "2026-01-01T02:00:00Z"),
        ],
    ));
    let person = Person::new(
        "[base]\naws_access_key_id = AKIABASE\naws_secret_access_key = base-secret-0123\n",
        "[profile work]\nrole_arn = arn:aws:iam::1:role/agent\nsource_profile = base\nexternal_id = x-1\n\
         duration_seconds = 3600\nregion = us-west-2\ns3 =\n  role_arn = not-this\n",
    );
    let bench = Bench::new(person.resolve(&server, &[("AWS_PROFILE", "work")]));
    let now = bench.lab.clock.now();
    tokio::join!(bench.ask(), bench.ask(), bench.ask());
    let made = to(&server, "/");
    assert_eq!(made.len(), 1, "the role is taken on once");
    assert_eq!(field(&made[0], "Action").as_deref(), Some("AssumeRole"));
    assert_eq!(
        field(&made[0], "RoleArn").as_deref(),
        Some("arn:aws:iam::1:role/agent")
    );
    assert_eq!(field(&made[0], "ExternalId").as_deref(), Some("x-1"));
    assert_eq!(field(&made[0], "DurationSeconds").as_deref(), Some("3600"));
    let base = Signer {
        access_key: "AKIABASE",
        secret_key: "base-secret-0123",
        session_token: None,
        region: "us-west-2",
        service: "sts",
    };
    assert_eq!(
        made[0].header("authorization"),
        Some(expected(&made[0], &base, now).as_str())
    );
    assert_eq!(
        signer(&server),
        ("ASIA-FIRST".to_owned(), Some("made-token==".to_owned()))
    );

    bench.lab.clock.advance(Duration::from_secs(3_301));
    bench.ask().await;
    assert_eq!(signer(&server).0, "ASIA-SECOND");
    assert_eq!(to(&server, "/").len(), 2);
}

// PV-1
#[tokio::test]
async fn a_web_identity_is_shown_instead_of_a_key() {
    let server =
        answers(Scenario::new().route("POST", "/", [lent("ASIA-WEB", "2026-01-01T01:00:00Z")]));
    let person = Person::new("", "");
    person.write("token", "platform-jwt\n");
    let token = person.path().join("token").display().to_string();
    let variables = [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", token.as_str()),
        ("AWS_ROLE_ARN", "arn:aws:iam::1:role/pod"),
        ("AWS_ROLE_SESSION_NAME", "pod-1"),
    ];
    Bench::new(person.resolve(&server, &variables)).ask().await;
    let made = to(&server, "/").remove(0);
    assert_eq!(
        field(&made, "Action").as_deref(),
        Some("AssumeRoleWithWebIdentity")
    );
    assert_eq!(
        field(&made, "WebIdentityToken").as_deref(),
        Some("platform-jwt")
    );
    assert_eq!(field(&made, "RoleSessionName").as_deref(), Some("pod-1"));
    assert_eq!(made.header("authorization"), None);
    assert_eq!(signer(&server).0, "ASIA-WEB");
}

// PV-1
#[tokio::test]
async fn a_sign_in_gives_a_role_until_it_ends() {
    let given = json!({"roleCredentials": {
        "accessKeyId": "ASIA-SSO", "secretAccessKey": "sso-secret", "sessionToken": "sso-token",
        "expiration": 1_767_229_200_000_i64,
    }});
    let path = "/federation/credentials";
    let server = answers(Scenario::new().route("GET", path, [Step::new(reply(given))]));
    let person = Person::new(
        "",
        "[profile work]\nsso_session = corp\nsso_account_id = 42\nsso_role_name = Dev\n\
         [sso-session corp]\nsso_start_url = https://corp.test/start\nsso_region = eu-west-1\n",
    );
    let name = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, b"corp");
    let name: String = name
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let kept = format!(".aws/sso/cache/{name}.json");
    person.write(
        &kept,
        r#"{"accessToken": "signed-in", "expiresAt": "2026-01-01T08:00:00UTC"}"#,
    );
    let bench = Bench::new(person.resolve(&server, &[("AWS_PROFILE", "work")]));
    bench.ask().await;
    let made = to(&server, path).remove(0);
    assert_eq!(made.header("x-amz-sso_bearer_token"), Some("signed-in"));
    assert!(made.path.contains("role_name=Dev") && made.path.contains("account_id=42"));
    assert_eq!(signer(&server).0, "ASIA-SSO");

    person.write(
        &kept,
        r#"{"accessToken": "signed-in", "expiresAt": "2026-01-01T00:00:00Z"}"#,
    );
    let late = Bench::new(person.resolve(&server, &[("AWS_PROFILE", "work")]));
    let said = late.refusal().await;
    assert!(said.contains("aws sso login"), "{said}");
}

// PV-1
#[tokio::test]
async fn containers_and_machines_are_lent_roles() {
    let given = |id: &str| {
        Step::new(reply(json!({
            "AccessKeyId": id, "SecretAccessKey": "lent-secret", "Token": "lent-token",
            "Expiration": "2026-01-01T06:00:00Z",
        })))
    };
    let roles = "/latest/meta-data/iam/security-credentials/";
    let server = answers(
        Scenario::new()
            .route("GET", "/creds", [given("ASIA-BOX")])
            .route("PUT", "/latest/api/token", [Step::new(bytes("imds-token"))])
            .route("GET", roles, [Step::new(bytes("agent-role\n"))])
            .route("GET", format!("{roles}agent-role"), [given("ASIA-VM")]),
    );
    let person = Person::new("", "");
    person.write("proof", "box-proof\n");
    let (url, proof) = (
        format!("{}/creds", server.origin()),
        person.path().join("proof").display().to_string(),
    );
    let variables = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", url.as_str()),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", proof.as_str()),
    ];
    Bench::new(person.resolve(&server, &variables)).ask().await;
    assert_eq!(
        to(&server, "/creds")[0].header("authorization"),
        Some("box-proof")
    );
    assert_eq!(
        signer(&server),
        ("ASIA-BOX".to_owned(), Some("lent-token".to_owned()))
    );

    let origin = server.origin();
    let variables = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", origin.as_str())];
    Bench::new(person.resolve(&server, &variables)).ask().await;
    let asked = to(&server, &format!("{roles}agent-role"));
    assert_eq!(
        asked[0].header("x-aws-ec2-metadata-token"),
        Some("imds-token")
    );
    assert_eq!(signer(&server).0, "ASIA-VM");
}

#[test]
fn the_first_of_many_ways_is_taken_and_none_is_said() {
    let server = answers(Scenario::new());
    let both = Person::new(
        "[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key = default-secret\n",
        "[profile loop]\nrole_arn = arn:aws:iam::1:role/a\nsource_profile = pool\n\
         [profile pool]\nrole_arn = arn:aws:iam::1:role/b\nsource_profile = loop\n\
         [profile empty]\nregion = us-east-1\n",
    );
    let kind = |variables: &[(&str, &str)]| match both.resolve(&server, variables).key {
        Credential::Key { from, .. } => format!("{from:?}"),
        Credential::Minted(mint) => mint.label().to_owned(),
        other => format!("{other:?}"),
    };
    let web = [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "/none"),
        ("AWS_ROLE_ARN", "arn:aws:iam::1:role/web"),
    ];
    let keys = [
        ("AWS_ACCESS_KEY_ID", "AKIAENV"),
        ("AWS_SECRET_ACCESS_KEY", "env-secret-0123"),
    ];
    let box_ = [("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials")];
    let all: Vec<_> = keys.iter().chain(&web).chain(&box_).copied().collect();
    assert_eq!(kind(&all), "Variable(\"AWS_SECRET_ACCESS_KEY\")");
    assert_eq!(kind(&all[2..]), "aws:arn:aws:iam::1:role/web");
    assert_eq!(kind(&box_), "Setting(\"aws:default\")");

    let bare = Person::new("", "");
    let made = bare.resolve(&server, &box_);
    assert!(
        matches!(&made.key, Credential::Minted(mint) if mint.label() == "aws:role of the container")
    );
    // Nobody asks for the role of a machine that is not one of a cloud.
    let setup = bare.setup(&server, &[]);
    assert!(matches!(
        resolve(&setup.request()),
        Err(ResolveError::MissingKey { .. })
    ));
    let mut request = setup.request();
    request.machine = Some(CloudMachine::Amazon);
    let made = resolve(&request).expect("a machine of the cloud").key;
    assert!(matches!(made, Credential::Minted(mint) if mint.label() == "aws:role of the machine"));

    for profile in ["loop", "empty", "absent"] {
        let setup = both.setup(&server, &[("AWS_PROFILE", profile)]);
        let error = resolve(&setup.request()).expect_err(profile);
        assert!(
            matches!(error, ResolveError::NoAwsKeys { .. }),
            "{profile}: {error}"
        );
    }
}

#[tokio::test]
async fn a_role_that_is_refused_is_said_with_its_code() {
    let xml = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>";
    let server = answers(Scenario::new().route(
        "POST",
        "/",
        [Step::new(bytes(xml).status(403).content_type("text/xml"))],
    ));
    let person = Person::new(
        "[base]\naws_access_key_id = AKIABASE\naws_secret_access_key = base-secret-0123\n",
        "[profile work]\nrole_arn = arn:aws:iam::1:role/agent\nsource_profile = base\n",
    );
    let said = Bench::new(person.resolve(&server, &[("AWS_PROFILE", "work")]))
        .refusal()
        .await;
    assert!(said.contains("AccessDenied"), "{said}");
    assert!(!said.contains("base-secret"), "{said}");
    assert!(calls(&server).is_empty());
}
