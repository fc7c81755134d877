//! The way out of a sandbox whose network is a list of hosts: an HTTP proxy on a socket that only lets these
//! through.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::ExecError;

/// Most connections at once.
const MOST_CONNECTIONS: usize = 256;
/// Longest head of a request.
const HEAD_LIMIT: usize = 32 * 1024;
/// Time for a request to arrive, and for a host to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The ports of a host that is listed without one.
const USUAL_PORTS: [u16; 2] = [80, 443];

/// Lets connections to listed hosts through. Removes its socket when dropped.
#[derive(Debug)]
pub struct Proxy {
    listener: UnixListener,
    socket: PathBuf,
    hosts: Arc<[Host]>,
}

impl Proxy {
    /// Listens on a socket. A host is a name or an address, `*.example.org` is everything below, and
    /// `host:port` a port other than those of the web.
    ///
    /// # Errors
    ///
    /// The socket cannot be made.
    pub fn bind(socket: PathBuf, hosts: &[String]) -> Result<Self, ExecError> {
        let failed = |source| ExecError::Io {
            what: format!("listening on {}", socket.display()),
            source,
        };
        let listener = UnixListener::bind(&socket).map_err(failed)?;
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        Ok(Self {
            listener,
            socket,
            hosts: hosts.iter().map(|host| Host::parse(host)).collect(),
        })
    }

    /// The socket, for [`Sandbox::wrap`](super::Sandbox::wrap).
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Serves until cancelled; open connections end with it.
    pub async fn serve(self, cancel: CancellationToken) {
        let mut open = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return,
                Some(_) = open.join_next() => {}
                accepted = self.listener.accept(), if open.len() < MOST_CONNECTIONS => {
                    match accepted {
                        Ok((stream, _)) => {
                            let hosts = Arc::clone(&self.hosts);
                            open.spawn(async move {
                                if let Err(error) = carry(stream, &hosts).await {
                                    tracing::debug!(%error, "a connection of the sandbox ended");
                                }
                            });
                        }
                        Err(error) => {
                            tracing::warn!(%error, "the sandbox's proxy cannot accept");
                            tokio::time::sleep(Duration::from_millis(100)).await;
                        }
                    }
                }
            }
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.socket) {
            tracing::debug!(%error, socket = %self.socket.display(), "removing a socket");
        }
    }
}

/// An entry of the list.
#[derive(Debug, PartialEq, Eq)]
struct Host {
    /// In lower case, without a trailing dot.
    name: String,
    /// Whether hosts below it are meant instead of itself.
    below: bool,
    port: Option<u16>,
}

impl Host {
    fn parse(text: &str) -> Self {
        let (below, text) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (name, port) = match split_port(text) {
            Some((name, port)) => (name, Some(port)),
            None => (plain(text), None),
        };
        Self { name, below, port }
    }

    fn allows(&self, name: &str, port: u16) -> bool {
        let named = match self.below {
            false => name == self.name,
            true => name
                .strip_suffix(&self.name)
                .is_some_and(|front| front.ends_with('.')),
        };
        named
            && self
                .port
                .map_or_else(|| USUAL_PORTS.contains(&port), |only| only == port)
    }
}

/// Whether a host is on the list, on whichever port.
pub(super) fn is_listed(name: &str, hosts: &[String]) -> bool {
    let mut hosts = hosts.iter().map(|host| Host::parse(host));
    hosts.any(|host| !host.below && host.name == name)
}

/// A host's name in the one way it is compared.
fn plain(text: &str) -> String {
    let text = text.trim_start_matches('[').trim_end_matches(']');
    text.trim_end_matches('.').to_ascii_lowercase()
}

fn split_port(text: &str) -> Option<(String, u16)> {
    let (name, port) = text.rsplit_once(':')?;
    // An address of the newer internet holds colons of its own and needs brackets.
    if name.contains(':') && !name.ends_with(']') {
        return None;
    }
    Some((plain(name), port.parse().ok()?))
}

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    name: String,
    port: u16,
    /// What is sent on ahead, unless the connection is only a tunnel.
    head: Option<Vec<u8>>,
}

async fn carry(mut inside: UnixStream, hosts: &[Host]) -> std::io::Result<()> {
    let Ok(read) = timeout(PATIENCE, read_head(&mut inside)).await else {
        return Ok(());
    };
    let Some((head, rest)) = read? else {
        return answer(&mut inside, "400 Bad Request", "the request cannot be read").await;
    };
    let Some(wanted) = parse(&head) else {
        return answer(&mut inside, "400 Bad Request", "the request cannot be read").await;
    };
    if !hosts
        .iter()
        .any(|host| host.allows(&wanted.name, wanted.port))
    {
        let text = format!(
            "{}:{} is not on the list of this sandbox",
            wanted.name, wanted.port
        );
        return answer(&mut inside, "403 Forbidden", &text).await;
    }
    let target = (wanted.name.as_str(), wanted.port);
    let mut outside = match timeout(PATIENCE, TcpStream::connect(target)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            return answer(&mut inside, "502 Bad Gateway", &error.to_string()).await;
        }
        Err(_) => return answer(&mut inside, "504 Gateway Timeout", "no answer").await,
    };
    match &wanted.head {
        Some(head) => outside.write_all(head).await?,
        None => {
            inside
                .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                .await?
        }
    }
    outside.write_all(&rest).await?;
    copy_bidirectional(&mut inside, &mut outside)
        .await
        .map(drop)
}

/// The head of a request and what came after it; nothing when it has no end within the limit.
async fn read_head(stream: &mut UnixStream) -> std::io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    const END: &[u8] = b"\r\n\r\n";
    let mut bytes = Vec::new();
    while bytes.len() < HEAD_LIMIT {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
        if let Some(at) = bytes.windows(END.len()).position(|window| window == END) {
            let rest = bytes.split_off(at + END.len());
            return Ok(Some((bytes, rest)));
        }
    }
    Ok(None)
}

fn parse(head: &[u8]) -> Option<Wanted> {
    let head = std::str::from_utf8(head).ok()?;
    let (first, headers) = head.split_once("\r\n")?;
    let mut words = first.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if method == "CONNECT" {
        let (name, port) = split_port(target)?;
        let head = None;
        return Some(Wanted { name, port, head });
    }
    let rest = target.strip_prefix("http://")?;
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(at)?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    let (name, port) = split_port(authority).unwrap_or_else(|| (plain(authority), 80));
    let mut sent = format!("{method} {slash}{path} {version}\r\n");
    for line in headers.lines().filter(|line| !line.is_empty()) {
        let lower = line.to_ascii_lowercase();
        if !lower.starts_with("proxy-") && !lower.starts_with("connection:") {
            sent.push_str(line);
            sent.push_str("\r\n");
        }
    }
    // One request for each connection: the next one may be meant for somebody else.
    sent.push_str("Connection: close\r\n\r\n");
    let head = Some(sent.into_bytes());
    Some(Wanted { name, port, head })
}

async fn answer(stream: &mut UnixStream, status: &str, text: &str) -> std::io::Result<()> {
    let length = text.len() + 1;
    let whole = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}\n"
    );
    stream.write_all(whole.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_matched_by_name_and_port() {
        for (entry, name, port, expected) in [
            ("example.org", "example.org", 443, true),
            ("Example.ORG.", "example.org", 80, true),
            ("example.org", "example.org", 22, false),
            ("example.org:22", "example.org", 22, true),
            ("example.org:22", "example.org", 443, false),
            ("example.org", "www.example.org", 443, false),
            ("*.example.org", "www.example.org", 443, true),
            ("*.example.org", "example.org", 443, false),
            ("*.example.org", "badexample.org", 443, false),
            ("[::1]:8080", "::1", 8080, true),
        ] {
            assert_eq!(
                Host::parse(entry).allows(name, port),
                expected,
                "{entry} {name}:{port}"
            );
        }
    }

    #[test]
    fn a_plain_request_is_sent_on_as_the_host_expects_it() {
        let wanted = parse(
            b"GET http://example.org/a?b HTTP/1.1\r\nHost: example.org\r\nProxy-Connection: keep-alive\r\n\r\n",
        );
        let head = b"GET /a?b HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n";
        let expected = Wanted {
            name: "example.org".into(),
            port: 80,
            head: Some(head.to_vec()),
        };
        assert_eq!(wanted, Some(expected));
    }
}
