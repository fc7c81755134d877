//! The end of the proxy inside a sandbox without network: a port of loopback whose connections lead to the
//! proxy's socket.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::proxy;
use crate::ExecError;

/// Most connections at once.
const MOST_CONNECTIONS: usize = 256;

/// Where connections are taken. The network in there is the sandbox's own, so every port is free.
const ADDRESS: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 3128);

/// The variables programs look for a proxy in.
const PROXY_VARIABLES: &[&str] = &[
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "all_proxy",
    "https_proxy",
    "http_proxy",
];

/// Names of the sandbox's own loopback, where its servers are.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// What tells programs inside where the way out is. A loopback name that is listed means the machine's.
pub(super) fn variables(hosts: &[String]) -> Vec<(String, String)> {
    let (address, port) = ADDRESS;
    let url = format!("http://{address}:{port}");
    let inside = LOOPBACK
        .into_iter()
        .filter(|name| !proxy::is_listed(name, hosts));
    let none: Vec<&str> = inside.collect();
    let none = none.join(",");
    PROXY_VARIABLES
        .iter()
        .map(|name| ((*name).to_owned(), url.clone()))
        .chain(["NO_PROXY", "no_proxy"].map(|name| (name.to_owned(), none.clone())))
        .collect()
}

/// Runs the command with a way to the proxy, and ends as it ends.
pub(super) fn run(socket: &Path, command: &[OsString]) -> Result<ExitCode, ExecError> {
    let failed = |what: &'static str| {
        move |source| ExecError::Io {
            what: what.into(),
            source,
        }
    };
    let listener = TcpListener::bind(ADDRESS).map_err(failed("opening the way out"))?;
    let (program, rest) = command
        .split_first()
        .ok_or_else(|| ExecError::Confinement("no command".into()))?;
    let mut child = Command::new(program)
        .args(rest)
        .spawn()
        .map_err(failed("starting the command"))?;
    let socket = socket.to_owned();
    thread::spawn(move || carry_all(&listener, &socket));
    // The caller ends the whole tree when time is up.
    let status = child.wait().map_err(failed("waiting for the command"))?;
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
        .unwrap_or(1);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

fn carry_all(listener: &TcpListener, socket: &Path) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming().flatten() {
        if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let open = Arc::clone(&open);
        let socket = socket.to_owned();
        thread::spawn(move || {
            // A connection that breaks is seen by the program that made it.
            drop(carry(&stream, &socket));
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

fn carry(inside: &TcpStream, socket: &Path) -> io::Result<()> {
    let outside = UnixStream::connect(socket)?;
    thread::scope(|scope| {
        scope.spawn(|| {
            let copied = io::copy(&mut &*inside, &mut &outside);
            drop(outside.shutdown(Shutdown::Write));
            copied
        });
        let copied = io::copy(&mut &outside, &mut &*inside);
        drop(inside.shutdown(Shutdown::Write));
        copied.map(drop)
    })
}
