//! The browser's way back: a small page on this machine, or an address the person pastes.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use url::Url;

use super::error::OAuthError;
use super::pkce::same;
use super::wire::quoted;

/// Where the browser comes back to, unless the settings name another place.
pub(super) const PATH: &str = "/callback";
/// Most connections at once; browsers open some in advance and leave them idle.
const MOST_CONNECTIONS: usize = 16;
/// Most bytes of a request that are read.
const MOST_BYTES: usize = 16 * 1024;
/// How long one connection may take.
const LONGEST_REQUEST: Duration = Duration::from_secs(10);

/// What came back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Returned {
    pub(super) code: String,
    pub(super) issuer: Option<String>,
}

/// Why something that came back is not an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It answers somebody else's question, or none.
    NotOurs,
    /// It says no.
    Denied(String),
}

/// Reads an address, or its query, and checks that it answers our question.
pub(super) fn read_back(text: &str, state: &str) -> Result<Returned, Wrong> {
    let text = text.trim();
    let query = match Url::parse(text) {
        Ok(url) => url.query().unwrap_or_default().to_owned(),
        Err(_) => text.rsplit('?').next().unwrap_or(text).to_owned(),
    };
    let (mut code, mut given, mut issuer) = (None, None, None);
    let (mut error, mut said) = (None, None);
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let slot = match name.as_ref() {
            "code" => &mut code,
            "state" => &mut given,
            "iss" => &mut issuer,
            "error" => &mut error,
            "error_description" => &mut said,
            _ => continue,
        };
        slot.get_or_insert(value.into_owned());
    }
    if !same(state, given.as_deref().unwrap_or_default()) {
        return Err(Wrong::NotOurs);
    }
    match (error, code.filter(|code| !code.is_empty())) {
        (Some(error), _) => Err(Wrong::Denied(quoted(&said.unwrap_or(error)))),
        (None, Some(code)) => Ok(Returned { code, issuer }),
        (None, None) => Err(Wrong::NotOurs),
    }
}

/// A port that waits for the browser.
pub(super) struct Listener {
    socket: TcpListener,
    pub(super) port: u16,
}

impl Listener {
    /// Opens a port on this machine only; any free one for 0.
    pub(super) async fn bind(port: u16) -> Result<Self, OAuthError> {
        let failed = |source| OAuthError::Listen { port, source };
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .await
            .map_err(failed)?;
        let port = socket.local_addr().map_err(failed)?.port();
        Ok(Self { socket, port })
    }

    /// Waits for the one answer to our question at this path; whatever else comes is turned away.
    pub(super) async fn wait(&self, path: &str, state: &str) -> Result<Returned, OAuthError> {
        let mut open = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = self.socket.accept(), if open.len() < MOST_CONNECTIONS => {
                    if let Ok((stream, _)) = accepted {
                        open.push(timeout(LONGEST_REQUEST, serve(stream, path, state)));
                    } else {
                        // Out of sockets, for instance; the next one may work.
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
                Some(served) = open.next() => match served {
                    Ok(Some(Ok(returned))) => return Ok(returned),
                    Ok(Some(Err(Wrong::Denied(why)))) => return Err(OAuthError::Denied(why)),
                    Ok(Some(Err(Wrong::NotOurs)) | None) | Err(_) => {}
                },
            }
        }
    }
}

/// Answers one request; `None` when it was for something else.
async fn serve(
    mut stream: TcpStream,
    expected: &str,
    state: &str,
) -> Option<Result<Returned, Wrong>> {
    let mut head = Vec::new();
    let mut chunk = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < MOST_BYTES {
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(count) => head.extend_from_slice(chunk.get(..count).unwrap_or_default()),
        }
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    let target = (words.next() == Some("GET"))
        .then(|| words.next())
        .flatten();
    let query = target.and_then(|target| {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        (path == expected).then_some(query)
    });
    let back = query.map(|query| read_back(query, state));
    let (status, words) = match &back {
        None => ("404 Not Found", "There is nothing here."),
        Some(Ok(_)) => ("200 OK", "You are signed in. This window can be closed."),
        Some(Err(Wrong::Denied(_))) => (
            "200 OK",
            "The login was refused. This window can be closed.",
        ),
        Some(Err(Wrong::NotOurs)) => (
            "400 Bad Request",
            "This does not belong to the login that is under way.",
        ),
    };
    let page =
        format!("<!doctype html><meta charset=\"utf-8\"><title>Hermes</title><p>{words}</p>\n");
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
    // Whoever asked may be gone; what they brought counts all the same.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
    back
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_is_read_in_every_form() {
        let good = Ok(Returned {
            code: "a b".to_owned(),
            issuer: None,
        });
        for text in [
            "http://127.0.0.1:1/callback?code=a+b&state=s",
            "  ?state=s&code=a%20b ",
            "code=a+b&state=s",
            "/callback?code=a+b&state=s",
        ] {
            assert_eq!(read_back(text, "s"), good, "{text}");
        }
        for text in [
            "code=a&state=t",
            "code=a",
            "state=s",
            "",
            "nonsense",
            "code=a&state=s&state=t&x",
        ] {
            let expected = if text.contains("state=s&state") {
                Ok(Returned {
                    code: "a".to_owned(),
                    issuer: None,
                })
            } else {
                Err(Wrong::NotOurs)
            };
            assert_eq!(read_back(text, "s"), expected, "{text}");
        }
        let denied = read_back("error=access_denied&error_description=no&state=s", "s");
        assert_eq!(denied, Err(Wrong::Denied("no".to_owned())));
        // Somebody who does not know the state cannot end the login either.
        assert_eq!(
            read_back("error=access_denied&state=x", "s"),
            Err(Wrong::NotOurs)
        );
    }
}
