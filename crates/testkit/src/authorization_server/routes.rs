//! What is served where.

use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::ledger::{Code, Verdict};
use super::{Shared, Switches, token};

pub(super) type Pairs = Vec<(String, String)>;

pub(super) fn router(shared: Shared) -> Router {
    Router::new()
        .route("/.well-known/oauth-protected-resource", get(resource))
        .route("/.well-known/oauth-protected-resource/mcp", get(resource))
        .route("/.well-known/oauth-authorization-server", get(server))
        .route("/register", post(register))
        .route("/authorize", get(authorize))
        .route("/token", post(token::give))
        .route("/mcp", any(call))
        .route("/ctl/stats", get(stats))
        .route("/ctl/switches", get(switches).post(set_switches))
        .with_state(shared)
}

pub(super) fn pairs(text: &str) -> Pairs {
    url::form_urlencoded::parse(text.as_bytes())
        .into_owned()
        .collect()
}

pub(super) fn value<'p>(pairs: &'p Pairs, name: &str) -> &'p str {
    let found = pairs.iter().find(|(key, _)| key == name);
    found.map_or("", |(_, value)| value)
}

async fn stats(State(shared): State<Shared>) -> Response {
    Json(shared.lock().stats.clone()).into_response()
}

async fn switches(State(shared): State<Shared>) -> Response {
    Json(shared.lock().switches.clone()).into_response()
}

async fn set_switches(State(shared): State<Shared>, Json(new): Json<Switches>) {
    shared.lock().switches = new;
}

async fn resource(State(shared): State<Shared>) -> Response {
    let state = shared.lock();
    if !state.switches.describes_resource {
        return StatusCode::NOT_FOUND.into_response();
    }
    Json(json!({
        "resource": format!("{}/mcp", shared.base),
        "authorization_servers": [shared.base],
        "scopes_supported": ["read"],
    }))
    .into_response()
}

async fn server(State(shared): State<Shared>) -> Response {
    let state = shared.lock();
    let switches = &state.switches;
    if !switches.describes_itself {
        return StatusCode::NOT_FOUND.into_response();
    }
    let base = &shared.base;
    let mut described = json!({
        "issuer": switches.issuer.as_ref().unwrap_or(base),
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": switches.auth_methods,
        "client_id_metadata_document_supported": switches.takes_metadata_documents,
        "authorization_response_iss_parameter_supported": true,
    });
    if switches.registers
        && let Value::Object(fields) = &mut described
    {
        fields.insert(
            "registration_endpoint".to_owned(),
            json!(format!("{base}/register")),
        );
    }
    Json(described).into_response()
}

async fn register(State(shared): State<Shared>, Json(wishes): Json<Value>) -> Response {
    let mut state = shared.lock();
    if !state.switches.registers {
        return StatusCode::NOT_FOUND.into_response();
    }
    state.stats.registrations += 1;
    let id = state.ledger.name("client");
    let public = wishes.get("token_endpoint_auth_method") == Some(&json!("none"));
    let secret = (!public).then(|| state.ledger.name("secret"));
    state
        .ledger
        .add_client(&id, secret.as_deref(), Some(wishes.clone()));
    let mut given = wishes;
    if let Value::Object(fields) = &mut given {
        fields.insert("client_id".to_owned(), json!(id));
        if let Some(secret) = secret {
            fields.insert("client_secret".to_owned(), json!(secret));
        }
    }
    (StatusCode::CREATED, Json(given)).into_response()
}

/// Sends the browser back at once: the person agrees, unless a switch says otherwise.
async fn authorize(State(shared): State<Shared>, RawQuery(query): RawQuery) -> Response {
    let query = pairs(&query.unwrap_or_default());
    let mut state = shared.lock();
    state.stats.authorizations += 1;
    state.stats.visits.push(query.clone());
    let client = value(&query, "client_id");
    let redirect = value(&query, "redirect_uri");
    let by_document = state.switches.takes_metadata_documents && client.starts_with("https://");
    let known = match state.ledger.clients.get(client) {
        None => by_document,
        Some(known) => known.registration.as_ref().is_none_or(|registration| {
            registration["redirect_uris"]
                .as_array()
                .is_some_and(|uris| uris.contains(&json!(redirect)))
        }),
    };
    let sound = value(&query, "response_type") == "code"
        && value(&query, "code_challenge_method") == "S256"
        && value(&query, "code_challenge").len() == 43
        && !value(&query, "state").is_empty();
    if !known || !sound {
        return (StatusCode::BAD_REQUEST, "this request is not acceptable").into_response();
    }
    let Ok(mut back) = url::Url::parse(redirect) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    if state.switches.denies {
        back.query_pairs_mut().append_pair("error", "access_denied");
    } else {
        let code = state.ledger.name("code");
        let entry = Code {
            client: client.to_owned(),
            redirect: redirect.to_owned(),
            challenge: value(&query, "code_challenge").to_owned(),
            scope: value(&query, "scope").to_owned(),
            resource: value(&query, "resource").to_owned(),
        };
        back.query_pairs_mut().append_pair("code", &code);
        state.ledger.codes.insert(code, entry);
    }
    let issuer = state.switches.issuer.as_ref().unwrap_or(&shared.base);
    back.query_pairs_mut()
        .append_pair("state", value(&query, "state"))
        .append_pair("iss", issuer);
    (StatusCode::FOUND, [(header::LOCATION, back.to_string())]).into_response()
}

/// The protected resource.
async fn call(State(shared): State<Shared>, headers: HeaderMap, _body: Bytes) -> Response {
    let mut state = shared.lock();
    state.stats.calls += 1;
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "))
        .unwrap_or_default();
    let needs = state.switches.needs_scope.clone();
    let mut challenge = "Bearer ".to_owned();
    if state.switches.describes_resource {
        challenge.push_str(&format!(
            "resource_metadata=\"{}/.well-known/oauth-protected-resource/mcp\"",
            shared.base
        ));
    }
    match state.ledger.judge(bearer, needs.as_deref()) {
        Verdict::Good => {
            state.stats.admitted += 1;
            Json(json!({ "token": bearer })).into_response()
        }
        Verdict::Unknown => (
            StatusCode::UNAUTHORIZED,
            [(header::WWW_AUTHENTICATE, challenge)],
        )
            .into_response(),
        Verdict::TooNarrow => {
            let needs = needs.unwrap_or_default();
            let challenge = format!("{challenge}, error=\"insufficient_scope\", scope=\"{needs}\"");
            (
                StatusCode::FORBIDDEN,
                [(header::WWW_AUTHENTICATE, challenge)],
            )
                .into_response()
        }
    }
}
