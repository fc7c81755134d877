//! gRPC over HTTP/2 without encryption.

use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::{HeaderMap, HeaderValue, Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::State;

const PREFIX: usize = 5;

/// Why a call is refused: a status of gRPC.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub(super) code: u16,
    pub(super) message: String,
}

/// The answers of a call as they come; a refusal among them ends it.
pub(super) type Answer = Result<mpsc::Receiver<Result<Vec<u8>, Refusal>>, Refusal>;

pub(super) fn refuse(code: u16, message: &str) -> Answer {
    Err(Refusal {
        code,
        message: message.to_owned(),
    })
}

pub(super) async fn serve(listener: TcpListener, state: Arc<State>) {
    while let Ok((socket, _)) = listener.accept().await {
        Handle::current().spawn(connection(socket, state.clone()));
    }
}

async fn connection(socket: TcpStream, state: Arc<State>) {
    let Ok(mut connection) = h2::server::handshake(socket).await else {
        return;
    };
    while let Some(Ok((request, respond))) = connection.accept().await {
        Handle::current().spawn(call(request, respond, state.clone()));
    }
}

async fn call(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    state: Arc<State>,
) -> Option<()> {
    let (head, mut stream) = request.into_parts();
    let path = head.uri.path().to_owned();
    let mut body = BytesMut::new();
    while let Some(Ok(chunk)) = stream.data().await {
        // Making room again for what was read cannot fail on a stream that is open.
        let _ = stream.flow_control().release_capacity(chunk.len());
        body.extend_from_slice(&chunk);
    }
    let answer = match state.faults.take(&path) {
        None => {
            state
                .answer(&path, &head.headers, body.get(PREFIX..)?)
                .await
        }
        Some(0) => {
            respond.send_reset(Reason::INTERNAL_ERROR);
            return None;
        }
        Some(code) => refuse(code, "on purpose"),
    };
    let head = Response::builder().header("content-type", "application/grpc");
    let mut answers = match answer {
        Ok(answers) => answers,
        Err(refusal) => {
            let mut response = head.body(()).ok()?;
            response.headers_mut().extend(status(&refusal));
            respond.send_response(response, true).ok()?;
            return None;
        }
    };
    let mut send = respond.send_response(head.body(()).ok()?, false).ok()?;
    let mut sent = 0;
    let breaks = path.ends_with("StdioRead") && state.faults.take("stream").is_some();
    while let Some(message) = answers.recv().await {
        let message = match message {
            Ok(message) => message,
            Err(refusal) => {
                send.send_trailers(status(&refusal)).ok()?;
                return None;
            }
        };
        let mut framed = BytesMut::new();
        framed.put_u8(0);
        framed.put_u32(u32::try_from(message.len()).ok()?);
        framed.extend_from_slice(&message);
        sent += framed.len();
        write(&mut send, framed.freeze()).await?;
        if breaks && sent > 100_000 {
            send.send_reset(Reason::INTERNAL_ERROR);
            return None;
        }
    }
    let fine = Refusal {
        code: 0,
        message: String::new(),
    };
    send.send_trailers(status(&fine)).ok()
}

/// Sends as the other side makes room.
async fn write(send: &mut h2::SendStream<Bytes>, mut bytes: Bytes) -> Option<()> {
    while !bytes.is_empty() {
        send.reserve_capacity(bytes.len());
        let room = std::future::poll_fn(|context| send.poll_capacity(context)).await?;
        let room = room.ok()?.min(bytes.len());
        send.send_data(bytes.split_to(room), false).ok()?;
    }
    Some(())
}

fn status(refusal: &Refusal) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("grpc-status", HeaderValue::from(refusal.code));
    let message = refusal.message.replace(' ', "%20");
    if let Ok(message) = HeaderValue::from_str(&message) {
        headers.insert("grpc-message", message);
    }
    headers
}
