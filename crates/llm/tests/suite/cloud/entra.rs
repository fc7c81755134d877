//! Azure Foundry with Microsoft Entra, and Claude in Azure with a key.

use hermes_llm::resolve::{Credential, ResolveError, resolve};
use hermes_llm::{Endpoint, Route};
use hermes_secrets::Origin;
use hermes_testkit::model_server::{ModelServer, Scenario, Step, error, json as reply, text};
use serde_json::{Value, json};

use super::{Bench, calls, field, last_bearer, to};
use crate::suite::profiles::{Setup, http_of};

const TENANT: &str = "/tenant-1/oauth2/v2.0/token";

fn server(method: &str, path: &str, answer: Value) -> ModelServer {
    let bearer = Step::new(text("fine")).when_header("authorization", "Bearer entra-1");
    let scenario = Scenario::new()
        .route(method, path, [Step::new(reply(answer))])
        .reply(bearer.repeat());
    ModelServer::start(scenario).expect("a server")
}

fn bench(server: &ModelServer, model: &str, below: &str, variables: &[(&str, &str)]) -> Bench {
    let base = format!("{}{below}", server.origin());
    let mut all = vec![
        ("AZURE_FOUNDRY_BASE_URL", base.as_str()),
        // Not used: the mode was chosen.
        ("AZURE_FOUNDRY_API_KEY", "azure-0123456789"),
    ];
    all.extend_from_slice(variables);
    let config =
        format!("model: {{provider: azure-foundry, default: {model}, auth_mode: entra_id}}");
    Bench::new(Setup::new(&config, &all).resolve())
}

// PV-1
#[tokio::test]
async fn an_application_signs_in_with_its_secret() {
    let answer = json!({"access_token": "entra-1", "expires_in": 3_599, "token_type": "Bearer"});
    let server = server("POST", TENANT, answer);
    let authority = server.origin();
    let variables = [
        ("AZURE_TENANT_ID", "tenant-1"),
        ("AZURE_CLIENT_ID", "client-1"),
        ("AZURE_CLIENT_SECRET", "secret-0123456789"),
        ("AZURE_AUTHORITY_HOST", authority.as_str()),
    ];
    let bench = bench(&server, "gpt-4.1", "/openai/v1", &variables);
    bench.ask().await;
    bench.ask().await;
    let made = to(&server, TENANT);
    assert_eq!(made.len(), 1, "a token is kept");
    assert_eq!(
        field(&made[0], "grant_type").as_deref(),
        Some("client_credentials")
    );
    assert_eq!(field(&made[0], "client_id").as_deref(), Some("client-1"));
    assert_eq!(
        field(&made[0], "client_secret").as_deref(),
        Some("secret-0123456789")
    );
    assert_eq!(
        field(&made[0], "scope").as_deref(),
        Some("https://ai.azure.com/.default")
    );
    assert_eq!(last_bearer(&server), "Bearer entra-1");
}

// PV-3
#[tokio::test]
async fn a_token_is_not_lent_to_an_address_that_is_not_its_providers() {
    let answer = json!({"access_token": "entra-1", "expires_in": 3_599});
    let server = server("POST", TENANT, answer);
    let authority = server.origin();
    let variables = [
        ("AZURE_TENANT_ID", "tenant-1"),
        ("AZURE_CLIENT_ID", "client-1"),
        ("AZURE_CLIENT_SECRET", "secret-0123456789"),
        ("AZURE_AUTHORITY_HOST", authority.as_str()),
    ];
    let bench = bench(&server, "gpt-4.1", "/openai/v1", &variables);
    bench.ask().await;
    // Another route of the same provider, such as a fallback with a key of its own.
    let stranger = ModelServer::start(Scenario::new().reply(text("thanks"))).expect("a server");
    let mut route = Route::clone(&bench.route);
    if let Endpoint::Http(address) = &mut route.endpoint {
        address.base = stranger.base_url().parse().expect("an address");
        address.tied = false;
    }
    let lease = bench.lab.caller.keys.lease(&route).await;
    let lent = lease.is_ok_and(|lease| lease.secret.is_some());
    assert!(!lent, "a token went to a stranger");
}

// PV-1
#[tokio::test]
async fn a_workload_shows_the_token_of_its_platform_and_claude_is_reached_the_same_way() {
    let answer = json!({"access_token": "entra-1", "expires_in": 3_599});
    let server = server("POST", TENANT, answer);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("token");
    std::fs::write(&file, "platform-token\n").expect("a token");
    let (authority, file) = (server.origin(), file.display().to_string());
    let variables = [
        ("AZURE_TENANT_ID", "tenant-1"),
        ("AZURE_CLIENT_ID", "client-1"),
        ("AZURE_FEDERATED_TOKEN_FILE", file.as_str()),
        ("AZURE_AUTHORITY_HOST", authority.as_str()),
    ];
    let bench = bench(&server, "claude-opus-4-6", "/anthropic", &variables);
    bench.ask().await;
    let made = to(&server, TENANT).remove(0);
    assert_eq!(
        field(&made, "client_assertion").as_deref(),
        Some("platform-token")
    );
    assert_eq!(
        field(&made, "client_assertion_type").as_deref(),
        Some("urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
    );
    let seen = calls(&server).remove(0);
    assert_eq!(seen.path, "/anthropic/v1/messages?api-version=2025-04-15");
    assert_eq!(seen.header("authorization"), Some("Bearer entra-1"));
    let betas = seen.header("anthropic-beta").unwrap_or_default();
    assert!(betas.contains("context-1m-2025-08-07"), "{betas}");
}

// PV-1
#[tokio::test]
async fn a_machine_and_an_app_have_identities_of_their_own() {
    // As text, and the end as a moment: so the services write it.
    let answer = json!({"access_token": "entra-1", "expires_on": "1767229200"});
    let path = "/metadata/identity/oauth2/token";
    let machine = server("GET", path, answer.clone());
    let origin = machine.origin();
    let bench_of = [("AZURE_POD_IDENTITY_AUTHORITY_HOST", origin.as_str())];
    bench(&machine, "gpt-4.1", "/openai/v1", &bench_of)
        .ask()
        .await;
    let made = to(&machine, path).remove(0);
    assert_eq!(made.header("metadata"), Some("true"));
    assert!(
        made.path.contains("resource=https%3A%2F%2Fai.azure.com"),
        "{}",
        made.path
    );

    let app = server("GET", "/msi/token", answer);
    let endpoint = format!("{}/msi/token", app.origin());
    let variables = [
        ("IDENTITY_ENDPOINT", endpoint.as_str()),
        ("IDENTITY_HEADER", "proof-0123456789"),
        ("AZURE_CLIENT_ID", "client-2"),
    ];
    bench(&app, "gpt-4.1", "/openai/v1", &variables).ask().await;
    let made = to(&app, "/msi/token").remove(0);
    assert_eq!(made.header("x-identity-header"), Some("proof-0123456789"));
    assert!(made.path.contains("client_id=client-2"), "{}", made.path);
}

#[tokio::test]
async fn a_refused_sign_in_is_said_without_the_secret() {
    let refusal = json!({
        "error": "invalid_client",
        "error_description": "AADSTS7000215: Invalid client secret secret-0123456789 provided.",
    });
    let scenario = Scenario::new().route("POST", TENANT, [Step::new(error(401).body(refusal))]);
    let server = ModelServer::start(scenario).expect("a server");
    let authority = server.origin();
    let variables = [
        ("AZURE_TENANT_ID", "tenant-1"),
        ("AZURE_CLIENT_ID", "client-1"),
        ("AZURE_CLIENT_SECRET", "secret-0123456789"),
        ("AZURE_AUTHORITY_HOST", authority.as_str()),
    ];
    let said = bench(&server, "gpt-4.1", "/openai/v1", &variables)
        .refusal()
        .await;
    assert!(said.contains("AADSTS7000215"), "{said}");
    assert!(!said.contains("secret-0123456789"), "{said}");
    assert!(calls(&server).is_empty());
}

// PV-1, PV-3
#[test]
fn claude_in_azure_has_a_key_of_its_own() {
    let variables = [
        ("ANTHROPIC_API_KEY", "ant-0123456789"),
        ("AZURE_ANTHROPIC_KEY", "azure-0123456789"),
    ];
    let host = "https://mine.services.ai.azure.com";
    let config = format!("model: {{provider: anthropic, base_url: '{host}/anthropic'}}");
    let resolved = Setup::new(&config, &variables).resolve();
    let Credential::Key { secret, .. } = &resolved.key else {
        panic!("no key: {:?}", resolved.key);
    };
    let origin: Origin = host.parse().expect("an origin");
    assert_eq!(
        secret.expose_for(&origin).expect("its own origin"),
        "azure-0123456789"
    );
    let address = http_of(&resolved);
    assert_eq!(address.auth, hermes_llm::Auth::Bearer);
    assert_eq!(
        address.query,
        [("api-version".to_owned(), "2025-04-15".to_owned())]
    );
    assert!(resolved.route.quirks.long_context);

    // Anthropic's own key does not go to Azure, and Azure's not to Anthropic.
    let error = resolve(&Setup::new(&config, &variables[..1]).request()).expect_err("no key");
    assert!(
        matches!(&error, ResolveError::MissingKey { variables, .. } if variables == &["AZURE_ANTHROPIC_KEY"]),
        "{error}"
    );
    let plain = Setup::new("model: {provider: anthropic}", &variables[1..]);
    assert!(matches!(
        resolve(&plain.request()),
        Err(ResolveError::MissingKey { .. })
    ));
    let evil = "model: {provider: anthropic, base_url: 'https://notazure.com/anthropic'}";
    let error = resolve(&Setup::new(evil, &variables).request()).expect_err("a foreign host");
    assert!(matches!(error, ResolveError::ForeignKey { .. }), "{error}");
}
