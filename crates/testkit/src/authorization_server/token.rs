//! The token endpoint.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::routes::{Pairs, pairs, value};
use super::{Shared, State as Everything};

/// Most requests whose forms are kept.
const MOST_KEPT: usize = 1_000;

type Refusal = (u16, &'static str);

pub(super) async fn give(
    State(shared): State<Shared>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let form = pairs(&body);
    let delay = {
        let mut state = shared.lock();
        note(&mut state, &headers, &form);
        state.switches.token_delay_ms
    };
    tokio::time::sleep(Duration::from_millis(delay)).await;
    let mut state = shared.lock();
    if !state.switches.token_failures.is_empty() {
        let (status, code) = state.switches.token_failures.remove(0);
        state.stats.refusals += 1;
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
        return (status, Json(json!({ "error": code }))).into_response();
    }
    let given = known_client(&state, &headers, &form)
        .and_then(|client| scope_of(&mut state, &client, &form).map(|scope| (client, scope)));
    match given {
        Ok((client, scope)) => tokens(&mut state, &client, &scope, &form),
        Err((status, code)) => {
            state.stats.refusals += 1;
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
            (status, Json(json!({ "error": code }))).into_response()
        }
    }
}

fn note(state: &mut Everything, headers: &HeaderMap, form: &Pairs) {
    state.stats.token_requests += 1;
    if value(form, "grant_type") == "refresh_token" {
        state.stats.renewals += 1;
    }
    if state.stats.forms.len() < MOST_KEPT {
        state.stats.forms.push(form.clone());
        let agent = headers.get(header::USER_AGENT);
        let agent = agent
            .and_then(|agent| agent.to_str().ok())
            .unwrap_or_default();
        state.stats.agents.push(agent.to_owned());
    }
}

/// Who asks, by whichever of the methods.
fn known_client(state: &Everything, headers: &HeaderMap, form: &Pairs) -> Result<String, Refusal> {
    let basic = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok()?.strip_prefix("Basic "))
        .and_then(|text| String::from_utf8(STANDARD.decode(text).ok()?).ok());
    let (id, secret, method) = match &basic {
        Some(pair) => {
            let (id, secret) = pair.split_once(':').unwrap_or((pair, ""));
            (id, secret, "client_secret_basic")
        }
        None => {
            let secret = value(form, "client_secret");
            let method = match (
                secret.is_empty(),
                value(form, "client_assertion").is_empty(),
            ) {
                (false, _) => "client_secret_post",
                (true, false) => "private_key_jwt",
                (true, true) => "none",
            };
            (value(form, "client_id"), secret, method)
        }
    };
    if !state
        .switches
        .auth_methods
        .iter()
        .any(|known| known == method)
    {
        return Err((401, "invalid_client"));
    }
    let by_document = state.switches.takes_metadata_documents && id.starts_with("https://");
    match state.ledger.clients.get(id) {
        // Signatures are checked where they are made; here it counts that there is one.
        Some(known)
            if method == "private_key_jwt" || known.secret.as_deref().unwrap_or("") == secret =>
        {
            Ok(id.to_owned())
        }
        None if by_document => Ok(id.to_owned()),
        Some(_) | None => Err((401, "invalid_client")),
    }
}

/// The rights of the grant that is shown.
fn scope_of(state: &mut Everything, client: &str, form: &Pairs) -> Result<String, Refusal> {
    let invalid = (400, "invalid_grant");
    match value(form, "grant_type") {
        "authorization_code" => {
            let code = state
                .ledger
                .codes
                .remove(value(form, "code"))
                .ok_or(invalid)?;
            let shown = URL_SAFE_NO_PAD.encode(Sha256::digest(value(form, "code_verifier")));
            let sound = code.client == client
                && code.redirect == value(form, "redirect_uri")
                && code.challenge == shown
                && code.resource == value(form, "resource");
            if sound { Ok(code.scope) } else { Err(invalid) }
        }
        "refresh_token" => {
            let token = value(form, "refresh_token").to_owned();
            let rotate = state.switches.rotate;
            let refresh = state.ledger.refresh(&token).ok_or(invalid)?;
            if refresh.client != client {
                return Err(invalid);
            }
            if rotate && refresh.used {
                state.stats.reuses += 1;
                state.ledger.revoke_all();
                return Err(invalid);
            }
            refresh.used = true;
            Ok(refresh.scope.clone())
        }
        "client_credentials" => Ok(value(form, "scope").to_owned()),
        "urn:ietf:params:oauth:grant-type:token-exchange" => Ok("id-jag".to_owned()),
        "urn:ietf:params:oauth:grant-type:jwt-bearer" => {
            let good = value(form, "assertion").starts_with("ox-access-");
            if good {
                Ok(value(form, "scope").to_owned())
            } else {
                Err(invalid)
            }
        }
        _ => Err((400, "unsupported_grant_type")),
    }
}

fn tokens(state: &mut Everything, client: &str, scope: &str, form: &Pairs) -> Response {
    let life = state.switches.access_life;
    let access = state.ledger.new_access(scope, life);
    let mut given = json!({ "access_token": access, "token_type": "Bearer", "expires_in": life, "scope": scope });
    let grant = value(form, "grant_type");
    let renewable = match grant {
        "authorization_code" => state.switches.refreshable,
        "refresh_token" => state.switches.refreshable && state.switches.rotate,
        _ => false,
    };
    if renewable && let Some(fields) = given.as_object_mut() {
        let refresh = state.ledger.new_refresh(client, scope);
        fields.insert("refresh_token".to_owned(), json!(refresh));
    }
    Json(given).into_response()
}
