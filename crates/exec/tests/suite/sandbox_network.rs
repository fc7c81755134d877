//! The network of confined commands.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::thread;

use anyhow::Result;
use hermes_exec::ExecError;
use hermes_exec::sandbox::{Proxy, Rights, Sandbox};
use hermes_policy::{Confinement, Mode, Network};
use tokio_util::sync::CancellationToken;

use super::sandbox::{Cell, bubblewrap, cells, helper, landlock};

/// Answers every connection of this machine with the same page until the test ends.
fn server() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            if stream.read(&mut request).is_ok_and(|read| read > 0) {
                let page = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
                drop(stream.write_all(page.as_bytes()));
            }
        }
    });
    Ok(port)
}

fn connect(port: u16) -> String {
    format!(
        "import socket
try:
    socket.create_connection(('127.0.0.1', {port}), timeout=20).close()
    print('connected')
except OSError as error:
    print('refused', error)"
    )
}

// EX-68
#[test]
fn the_network_is_there_when_on_and_not_when_off() -> Result<()> {
    let port = server()?;
    for cell in cells()? {
        let check = |when: &str| -> Result<()> {
            let mechanism = cell.mechanism();
            let on = cell.python(Network::On, &connect(port))?.text;
            assert!(on.contains("connected"), "{mechanism} {when}: {on}");
            let off = cell.python(Network::Off, &connect(port))?.text;
            assert!(off.contains("refused"), "{mechanism} {when}: {off}");
            Ok(())
        };
        check("with nothing to hide")?;
        let _doors = cell.doors()?;
        check("with sockets to hide")?;
    }
    Ok(())
}

// EX-68
#[test]
fn raw_and_unusual_sockets_are_refused() -> Result<()> {
    const TRICKS: &str = r#"
import socket
for name, arguments in [
    ('packet', (17, socket.SOCK_RAW, 3)),
    ('raw', (socket.AF_INET, socket.SOCK_RAW, 1)),
    ('crypto', (38, socket.SOCK_SEQPACKET, 0)),
    ('machine', (40, socket.SOCK_STREAM, 0)),
]:
    try:
        socket.socket(*arguments)
        print(name, 'passed')
    except OSError as error:
        print(name, 'refused')
"#;
    for cell in cells()? {
        for network in [Network::On, Network::Off] {
            let ran = cell.python(network, TRICKS)?;
            assert_eq!(
                ran.text.matches("refused").count(),
                4,
                "{}: {}",
                cell.mechanism(),
                ran.text
            );
        }
    }
    Ok(())
}

// EX-68
#[test]
fn sockets_without_a_file_are_not_reached() -> Result<()> {
    let name = format!("hermes-sandbox-{}", std::process::id());
    let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
    let script = format!(
        "import socket
try:
    socket.socket(socket.AF_UNIX).connect('\\0{name}')
    print('passed')
except OSError as error:
    print('refused', error)"
    );
    for cell in cells()? {
        for network in [Network::On, Network::Off] {
            let ran = cell.python(network, &script)?;
            assert!(
                ran.text.contains("refused"),
                "{}: {}",
                cell.mechanism(),
                ran.text
            );
        }
    }
    Ok(())
}

// EX-68
#[tokio::test(flavor = "multi_thread")]
async fn listed_hosts_are_reached_through_the_proxy_and_others_are_not() -> Result<()> {
    let port = server()?;
    let mut roots = vec![Rights::UserNamespace];
    if nix::unistd::geteuid().is_root() {
        roots.push(Rights::Root);
    }
    for rights in roots {
        let mut cell = Cell::new(bubblewrap(rights))?;
        let hosts = vec![format!("127.0.0.1:{port}")];
        // Where those of other sessions are hidden from it.
        let place = cell.root.join("temporary/hermes-proxy-00000000000000aa");
        let proxy = Proxy::bind(place, &hosts)?;
        let socket = proxy.socket().to_owned();
        cell.sandbox = Sandbox::of(helper(), bubblewrap(rights)).with_proxy(socket.clone());
        let cancel = CancellationToken::new();
        let serving = tokio::task::JoinSet::from_iter([proxy.serve(cancel.clone())]);
        let script = format!(
            r#"
import http.client, os, urllib.parse
proxy = urllib.parse.urlsplit(os.environ['http_proxy'])
def ask(method, target):
    connection = http.client.HTTPConnection(proxy.hostname, proxy.port, timeout=30)
    connection.request(method, target)
    answer = connection.getresponse()
    print(answer.status, answer.read())
ask('GET', 'http://127.0.0.1:{port}/page')
ask('GET', 'http://127.0.0.2:{port}/page')
ask('GET', 'http://localhost/')
tunnel = http.client.HTTPConnection(proxy.hostname, proxy.port, timeout=30)
tunnel.set_tunnel('127.0.0.1', {port})
tunnel.request('GET', '/')
print('tunnel', tunnel.getresponse().read())
{}"#,
            connect(port)
        );
        let ran = tokio::task::spawn_blocking(move || {
            let only = Network::Only(hosts);
            let ran = cell.python(only.clone(), &script)?;
            let code = cell.run_with(Mode::WorkspaceWrite, only, &["bash", "-c", "exit 9"])?;
            anyhow::Ok((ran, code))
        });
        let (ran, code) = ran.await??;
        assert!(ran.text.contains("200 b'hello'"), "{}", ran.text);
        assert!(ran.text.contains("tunnel b'hello'"), "{}", ran.text);
        assert_eq!(ran.text.matches("403 ").count(), 2, "{}", ran.text);
        assert!(ran.text.contains("refused"), "{}", ran.text);
        assert_eq!(code.code, Some(9), "{}", code.text);
        cancel.cancel();
        serving.join_all().await;
        assert!(!socket.exists());
    }
    Ok(())
}

// EX-68: a listed name of loopback means this machine, not the sandbox.
#[test]
fn a_listed_loopback_host_is_asked_through_the_proxy() -> Result<()> {
    let mut cell = Cell::new(bubblewrap(Rights::UserNamespace))?;
    let socket = cell.root.join("proxy");
    cell.sandbox = Sandbox::of(helper(), bubblewrap(Rights::UserNamespace)).with_proxy(socket);
    for (listed, expected) in [
        ("127.0.0.1:8080", "localhost,::1"),
        ("localhost", "127.0.0.1,::1"),
        ("[::1]:8080", "localhost,127.0.0.1"),
        ("*.localhost", "localhost,127.0.0.1,::1"),
    ] {
        let only = Network::Only(vec![listed.to_owned()]);
        let made = Confinement::for_workspace(Mode::WorkspaceWrite, &cell.surroundings, only);
        let told = cell
            .sandbox
            .wrap(&made, &["true".into()], None)?
            .environment;
        for name in ["no_proxy", "NO_PROXY"] {
            let expected = (name.to_owned(), expected.to_owned());
            assert!(told.contains(&expected), "{listed}: {told:?}");
        }
    }
    Ok(())
}

#[test]
fn listed_hosts_without_bubblewrap_are_refused_and_not_ignored() -> Result<()> {
    let cell = Cell::new(landlock(Some(Rights::UserNamespace)))?;
    let network = Network::Only(vec!["example.org".into()]);
    let confinement = Confinement::for_workspace(Mode::WorkspaceWrite, &cell.surroundings, network);
    let wrapped = cell.sandbox.wrap(&confinement, &["true".into()], None);
    let Err(ExecError::Confinement(why)) = wrapped else {
        anyhow::bail!("{wrapped:?}");
    };
    assert!(why.contains("bubblewrap"));
    Ok(())
}
