//! The routes of the protocol.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;

use super::answer::result;
use super::line::Reset;
use super::state::{Mode, Seen, Server};

const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
/// The id of a question of ours.
const QUESTION: &str = "question";

fn seen(method: &Method, uri: &Uri, headers: &HeaderMap, message: Option<&Json>) -> Seen {
    let text = |value: &header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    Seen {
        line: format!("{method} {}", uri.path()),
        method: message
            .and_then(|message| message.get("method")?.as_str())
            .map(str::to_owned),
        name: message
            .and_then(|message| message.get("params")?.get("name")?.as_str())
            .map(str::to_owned),
        headers: headers
            .iter()
            .map(|(name, value)| (name.to_string(), text(value)))
            .collect(),
    }
}

/// What every route of the protocol refuses.
fn refused(server: &Server, headers: &HeaderMap) -> Option<Response> {
    if server.is_down() {
        return Some((StatusCode::SERVICE_UNAVAILABLE, "down").into_response());
    }
    let wanted = server.token().map(|token| format!("Bearer {token}"))?;
    let carried = headers.get(header::AUTHORIZATION);
    let good = carried.is_some_and(|value| value.as_bytes() == wanted.as_bytes());
    (!good).then(|| {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer error=\"invalid_token\"")];
        (StatusCode::UNAUTHORIZED, challenge).into_response()
    })
}

/// `/mcp`.
pub(super) async fn streamable(
    State(server): State<Arc<Server>>,
    ConnectInfo(reset): ConnectInfo<Reset>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let message: Option<Json> = serde_json::from_slice(&body).ok();
    server.see(seen(&method, &uri, &headers, message.as_ref()));
    if let Some(refusal) = refused(&server, &headers) {
        return refusal;
    }
    let session = headers
        .get(SESSION)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let last = headers
        .get(LAST_EVENT)
        .and_then(|value| value.to_str().ok());
    if last.is_some()
        && let Some(Mode::Status { status, body }) = server.count("resume")
    {
        return refusal(status, body);
    }
    if let Some(id) = &session
        && !server.knows(id)
    {
        return StatusCode::NOT_FOUND.into_response();
    }
    match (method, message, session) {
        (Method::POST, Some(message), session) => post(&server, message, session, &reset).await,
        (Method::GET, _, Some(id)) => match last {
            Some(last) => rest(&server, last),
            None => events(server.listen(&id), None),
        },
        (Method::DELETE, _, Some(id)) => {
            tokio::time::sleep(server.profile.slow_goodbye).await;
            server.close(&id);
            StatusCode::NO_CONTENT.into_response()
        }
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

fn method_of(message: &Json) -> String {
    let method = message.get("method").and_then(Json::as_str);
    method.unwrap_or_default().to_owned()
}

async fn post(
    server: &Arc<Server>,
    message: Json,
    session: Option<String>,
    reset: &Reset,
) -> Response {
    let method = method_of(&message);
    if message.get("id") == Some(&json!(QUESTION)) {
        server.told(message.get("result").cloned().unwrap_or_default());
    }
    let armed = server.count(&method);
    if let (Some(Mode::Ask { question }), Some(id)) = (&armed, message.get("id")) {
        return asked(server, question, id);
    }
    let is_first = method == "initialize" && session.is_none();
    let on_time = !matches!(
        armed,
        Some(Mode::Status { .. } | Mode::Reset | Mode::Garbage)
    );
    if server.profile.resumable && message.get("id").is_some() && on_time && !is_first {
        return resumable(server, method, message, armed);
    }
    let answer = match answered(server, &method, &message, armed).await {
        Answer::None => return StatusCode::ACCEPTED.into_response(),
        Answer::Reset => {
            reset.now();
            return StatusCode::OK.into_response();
        }
        Answer::Whole(response) => return response,
        Answer::Message(answer) => answer,
    };
    let mut response = if server.profile.streams {
        let (sender, receiver) = mpsc::channel(1);
        let _ = sender.try_send(answer);
        events(receiver, None)
    } else {
        axum::Json(answer).into_response()
    };
    if is_first
        && server.profile.sessions
        && let Ok(value) = server.open().parse()
    {
        response.headers_mut().insert(SESSION, value);
    }
    response
}

/// Answers on a stream whose first event has an id and nothing else.
fn resumable(server: &Arc<Server>, method: String, message: Json, armed: Option<Mode>) -> Response {
    let id = server.begin();
    let first = format!("id: {id}\ndata: \n\n");
    let (sender, receiver) = mpsc::channel(1);
    let own = Arc::clone(server);
    tokio::runtime::Handle::current().spawn(async move {
        let is_lost = matches!(armed, Some(Mode::Lose));
        let is_cut = is_lost || matches!(armed, Some(Mode::Cut));
        let armed = armed.filter(|_| !is_cut);
        let Answer::Message(answer) = answered(&own, &method, &message, armed).await else {
            return;
        };
        own.unsaid(&id, answer.clone());
        if is_lost {
            own.drop_sessions();
        }
        if !is_cut && sender.send(answer).await.is_ok() {
            own.said(&id);
        }
    });
    events(receiver, Some(first))
}

/// What was not said on a stream that broke off; nothing as long as that is not known.
fn rest(server: &Server, last: &str) -> Response {
    let Some(rest) = server.rest(last) else {
        return (StatusCode::BAD_REQUEST, "unknown event").into_response();
    };
    let (sender, receiver) = mpsc::channel(1);
    if let Some(answer) = rest {
        let _ = sender.try_send(answer);
    }
    events(receiver, None)
}

/// Answers with what the user says to a question.
fn asked(server: &Arc<Server>, question: &Json, id: &Json) -> Response {
    let reply = server.ask();
    let (sender, receiver) = mpsc::channel(2);
    let method = "elicitation/create";
    let question =
        json!({ "jsonrpc": "2.0", "id": QUESTION, "method": method, "params": question });
    let id = id.clone();
    tokio::runtime::Handle::current().spawn(async move {
        let _ = sender.send(question).await;
        let text = reply.await.unwrap_or_default().to_string();
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        let _ = sender
            .send(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
            .await;
    });
    events(receiver, None)
}

/// What a message leads to.
enum Answer {
    /// It wants no answer.
    None,
    Message(Json),
    /// HTTP itself goes wrong.
    Whole(Response),
    /// The connection does.
    Reset,
}

async fn answered(server: &Server, method: &str, message: &Json, armed: Option<Mode>) -> Answer {
    let Some(id) = message.get("id").filter(|_| !method.is_empty()) else {
        return Answer::None;
    };
    let _working = server.working(method);
    let params = message.get("params").cloned().unwrap_or_default();
    let error =
        |error: Json| Answer::Message(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    match armed {
        None | Some(Mode::Ask { .. }) => {}
        Some(Mode::Error { code, message }) => {
            return error(json!({ "code": code, "message": message }));
        }
        Some(Mode::Status { status, body }) => {
            return Answer::Whole(refusal(status, body));
        }
        Some(Mode::Hold { millis, then }) => {
            server.hold(Duration::from_millis(millis)).await;
            if let Some(text) = then {
                return error(json!({ "code": -32600, "message": text }));
            }
        }
        Some(mode @ (Mode::Cut | Mode::Lose)) => {
            // What was asked is done all the same; only nobody hears of it.
            let _ = result(server, method, &params).await;
            if matches!(mode, Mode::Lose) {
                server.drop_sessions();
            }
            return Answer::Whole(cut(server.profile.streams));
        }
        Some(Mode::Garbage) => {
            let _ = result(server, method, &params).await;
            return Answer::Whole(garbage(server.profile.streams));
        }
        Some(Mode::Reset) => {
            let _ = result(server, method, &params).await;
            return Answer::Reset;
        }
    }
    if method == "initialize" && server.stats().initialize > 1 {
        tokio::time::sleep(server.profile.slow_return).await;
    }
    match result(server, method, &params).await {
        Ok(result) => Answer::Message(json!({ "jsonrpc": "2.0", "id": id, "result": result })),
        Err(failure) => error(failure),
    }
}

fn refusal(status: u16, body: String) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::IM_A_TEAPOT);
    (status, body).into_response()
}

/// An answer that breaks off in the middle of a message.
fn cut(streams: bool) -> Response {
    let (kind, half): (_, &[u8]) = match streams {
        true => ("text/event-stream", b"event: message\ndata: {\"jsonrpc\""),
        false => ("application/json", b"{\"jsonrpc\""),
    };
    let broken = stream::iter([
        Ok(Bytes::from_static(half)),
        Err(std::io::Error::other("cut")),
    ]);
    let response = Response::builder()
        .header(header::CONTENT_TYPE, kind)
        .body(Body::from_stream(broken));
    response.unwrap_or_default()
}

/// An answer that nobody can read.
fn garbage(streams: bool) -> Response {
    let (kind, body) = match streams {
        true => ("text/event-stream", "event: message\ndata: {]\n\n"),
        false => ("application/json", "\u{0}{]"),
    };
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

fn events(receiver: mpsc::Receiver<Json>, first: Option<String>) -> Response {
    let opening = stream::iter(first.map(Ok::<_, Infallible>));
    let rest = stream::unfold(receiver, |mut receiver| async move {
        let message = receiver.recv().await?;
        Some((
            Ok::<_, Infallible>(format!("event: message\ndata: {message}\n\n")),
            receiver,
        ))
    });
    let response = Response::builder()
        .header(header::CONTENT_TYPE, "text/event-stream")
        .body(Body::from_stream(futures_util::StreamExt::chain(
            opening, rest,
        )));
    response.unwrap_or_default()
}

/// `/sse`: the stream of the older transport.
pub(super) async fn open_stream(
    State(server): State<Arc<Server>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    server.see(seen(&method, &uri, &headers, None));
    if let Some(refusal) = refused(&server, &headers) {
        return refusal;
    }
    let id = server.open();
    let receiver = server.listen(&id);
    let first = format!("event: endpoint\ndata: /messages?session={id}\n\n");
    events(receiver, Some(first))
}

/// `/messages`: where the older transport sends requests.
pub(super) async fn message(
    State(server): State<Arc<Server>>,
    ConnectInfo(reset): ConnectInfo<Reset>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    axum::Json(message): axum::Json<Json>,
) -> Response {
    server.see(seen(&method, &uri, &headers, Some(&message)));
    if let Some(refusal) = refused(&server, &headers) {
        return refusal;
    }
    let session = uri.query().and_then(|query| query.strip_prefix("session="));
    let known = session.filter(|id| server.knows(id));
    let Some(stream) = known.and_then(|id| server.stream(id)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let name = method_of(&message);
    let armed = server.count(&name);
    // What goes wrong with HTTP goes wrong here and not on the stream.
    if matches!(armed, Some(Mode::Status { .. } | Mode::Reset)) {
        match answered(&server, &name, &message, armed).await {
            Answer::Whole(response) => return response,
            Answer::Reset => reset.now(),
            Answer::None | Answer::Message(_) => {}
        }
        return StatusCode::ACCEPTED.into_response();
    }
    let own = Arc::clone(&server);
    tokio::runtime::Handle::current().spawn(async move {
        if let Answer::Message(answer) = answered(&own, &name, &message, armed).await {
            let _ = stream.send(answer).await;
        }
    });
    StatusCode::ACCEPTED.into_response()
}

/// `/page`: not MCP.
pub(super) async fn page(
    State(server): State<Arc<Server>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    server.see(seen(&method, &uri, &headers, None));
    axum::response::Html("<html><body>hello</body></html>").into_response()
}

/// `/moved`: leads to the same request somewhere else.
pub(super) async fn moved(
    State(server): State<Arc<Server>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    server.see(seen(&method, &uri, &headers, None));
    let target = server.profile.moved_to.clone().unwrap_or_default();
    (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, target)]).into_response()
}
