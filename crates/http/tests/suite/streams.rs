//! WebSockets, and answers that say at their end how they went.

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use hermes_http::{AuthScheme, HttpError, WebSocketMessage};
use http::{HeaderMap, HeaderValue, Response};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;

use super::server::{Reply, Server, client, key_for};

#[tokio::test]
async fn messages_go_both_ways_on_a_websocket_until_it_is_closed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(socket).await.unwrap();
        socket.send(Message::Ping(Bytes::new())).await.unwrap();
        socket.send(Message::text("hello")).await.unwrap();
        while let Some(Ok(message)) = socket.next().await {
            match message {
                Message::Binary(bytes) => {
                    socket.send(Message::Binary(bytes)).await.unwrap();
                    socket.close(None).await.unwrap();
                }
                _ => continue,
            }
        }
    });
    let mut socket = client().get(url.as_str()).websocket().await.unwrap();
    let hello = WebSocketMessage::Text("hello".to_owned());
    assert_eq!(socket.next().await.unwrap(), hello);
    let bytes = WebSocketMessage::Binary(Bytes::from_static(b"\0\xff"));
    socket.send(bytes.clone()).await.unwrap();
    assert_eq!(socket.next().await.unwrap(), bytes);
    let closed = socket.next().await.unwrap();
    assert!(matches!(
        closed,
        WebSocketMessage::Closed { code: 1005, .. }
    ));
    assert!(socket.next().await.is_err());
}

#[tokio::test]
async fn a_server_that_does_not_speak_websocket_is_not_believed() {
    let accept = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-accept", "bm90IHRoZSBrZXk="),
    ];
    let server = Server::start(move |seen| match seen.target.as_str() {
        "/ok" => Reply::ok("a page"),
        "/no" => Reply::status("403 Forbidden", &[], "no"),
        _ => Reply::status("101 Switching Protocols", &accept, ""),
    })
    .await;
    for path in ["/ok", "/liar"] {
        let asked = client().get(server.url(path).as_str()).websocket().await;
        assert!(matches!(asked, Err(HttpError::Invalid { .. })), "{path}");
    }
    let key = key_for(&[&server.url("")]);
    let refused = client()
        .get(server.url("/no").as_str())
        .auth(&key, AuthScheme::Bearer)
        .websocket()
        .await;
    assert!(matches!(refused, Err(HttpError::Status(_))));
    let seen = server.seen().pop().unwrap();
    assert_eq!(seen.headers["upgrade"], "websocket");
    assert!(seen.headers["authorization"].starts_with("Bearer "));
    // Nor does the key go where it does not belong.
    let elsewhere = client()
        .get(server.url("/no").as_str())
        .auth(&key_for(&["https://example.com"]), AuthScheme::Bearer)
        .websocket()
        .await;
    assert!(matches!(elsewhere, Err(HttpError::WrongOrigin(_))));
}

#[tokio::test]
async fn headers_after_the_body_are_there_when_it_was_read() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/method", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(socket).await.unwrap();
        while let Some(Ok((_, mut respond))) = connection.accept().await {
            let mut send = respond.send_response(Response::new(()), false).unwrap();
            send.send_data(Bytes::from_static(b"answer"), false)
                .unwrap();
            let mut trailers = HeaderMap::new();
            trailers.insert("grpc-status", HeaderValue::from_static("0"));
            send.send_trailers(trailers).unwrap();
        }
    });
    let client = client();
    for _ in 0..2 {
        let answer = client.post(url.as_str()).http2().send().await.unwrap();
        let mut body = answer.stream(100).unwrap();
        assert!(body.trailers().is_none());
        let mut read = Vec::new();
        while let Some(chunk) = body.chunk().await.unwrap() {
            read.extend_from_slice(&chunk);
        }
        assert_eq!(read, b"answer");
        assert_eq!(body.trailers().unwrap()["grpc-status"], "0");
    }
}
