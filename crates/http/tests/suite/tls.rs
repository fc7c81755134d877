//! Trust: built-in authorities, a private one, none.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::thread;

use hermes_http::{
    AddressPolicy, BuildError, ClientBuilder, ClientSettings, HttpError, Refusal, Roots, Trust,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::server::{Reply, Server, client, client_with};

const CA: &[u8] = include_bytes!("../fixtures/ca.pem");

/// A certificate and its key.
type Shown = (&'static [u8], &'static [u8]);

const USUAL: Shown = (
    include_bytes!("../fixtures/server.pem"),
    include_bytes!("../fixtures/server.key"),
);
const OTHER_KEY: &[u8] = include_bytes!("../fixtures/other.key");

/// Answers `count` connections as `vendor.test`; each sends `answer`. Returns the port.
fn secure_server(count: usize, answer: String) -> u16 {
    server_that_shows(USUAL, count, answer)
}

fn server_that_shows(shown: Shown, count: usize, answer: String) -> u16 {
    let certificate = CertificateDer::from_pem_slice(shown.0).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(shown.1).expect("a key");
    let config =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .expect("a server");
    let config = Arc::new(config);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().take(count).flatten() {
            let mut stream = StreamOwned::new(
                ServerConnection::new(config.clone()).expect("a connection"),
                stream,
            );
            // A client that does not trust us goes away in the handshake.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    port
}

fn hello() -> String {
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello".to_owned()
}

async fn fetch(settings: ClientSettings, host: &str) -> Result<String, HttpError> {
    let port = secure_server(1, hello());
    client_with(settings)
        .get(format!("https://{host}:{port}/").as_str())
        .send()
        .await?
        .text(100)
        .await
}

#[tokio::test]
async fn a_private_authority_is_trusted_when_it_is_in_the_bundle() {
    for roots in [Roots::BuiltInAnd(CA.to_vec()), Roots::Only(CA.to_vec())] {
        let settings = ClientSettings {
            roots,
            ..ClientSettings::default()
        };
        assert_eq!(
            fetch(settings, "vendor.test").await.expect("an answer"),
            "hello"
        );
    }
}

#[tokio::test]
async fn an_unknown_authority_and_a_wrong_name_are_tls_errors() {
    let unknown = fetch(ClientSettings::default(), "vendor.test").await;
    assert!(matches!(unknown, Err(HttpError::Tls { .. })), "{unknown:?}");
    let settings = ClientSettings {
        roots: Roots::Only(CA.to_vec()),
        ..ClientSettings::default()
    };
    let wrong_name = fetch(settings, "other.test").await;
    assert!(
        matches!(wrong_name, Err(HttpError::Tls { .. })),
        "{wrong_name:?}"
    );
}

// PV-31
#[tokio::test]
async fn what_is_wrong_with_a_certificate_is_said_in_words() {
    let authority: Shown = (include_bytes!("../fixtures/authority.pem"), OTHER_KEY);
    let expired: Shown = (include_bytes!("../fixtures/expired.pem"), OTHER_KEY);
    let later: Shown = (include_bytes!("../fixtures/later.pem"), OTHER_KEY);
    let cases = [
        (USUAL, "vendor.test", "nobody who is trusted here", None),
        (
            USUAL,
            "other.test",
            "not for other.test, only for vendor.test",
            Some("the address"),
        ),
        (
            expired,
            "vendor.test",
            "has expired (2021-01-01)",
            Some("renewed"),
        ),
        (
            later,
            "vendor.test",
            "not valid yet (2100-01-01)",
            Some("the clock"),
        ),
        (
            authority,
            "vendor.test",
            "of an authority",
            Some("CA:FALSE"),
        ),
    ];
    for (shown, host, words, hint) in cases {
        let settings = ClientSettings {
            roots: match host {
                "other.test" => Roots::Only(CA.to_vec()),
                _ => Roots::BuiltIn,
            },
            ..ClientSettings::default()
        };
        let port = server_that_shows(shown, 1, hello());
        let client = client_with(settings);
        let asked = client.get(format!("https://{host}:{port}/").as_str());
        let error = asked.send().await.err().expect("an error");
        let Some(flaw) = error.source().map(ToString::to_string) else {
            panic!("{error:?}");
        };
        assert!(flaw.contains(words), "{flaw}");
        let told = error.hint();
        assert_eq!(told.is_some(), hint.is_some(), "{flaw}: {told:?}");
        assert!(told.unwrap_or_default().contains(hint.unwrap_or_default()));
        let of_certificate =
            matches!(&error, HttpError::Tls { flaw, .. } if flaw.is_of_certificate());
        assert!(of_certificate, "{error:?}");
    }
}

// PV-31
#[tokio::test]
async fn a_server_that_is_believed_in_its_own_way_vouches_for_no_other() {
    // The certificate is one for vendor.test.
    for (trust, host) in [
        (Trust::Also(CA.to_vec()), "vendor.test"),
        (Trust::Unchecked, "other.test"),
    ] {
        let (own, other) = (secure_server(1, hello()), secure_server(2, hello()));
        let origin = format!("https://{host}:{own}").parse().expect("an origin");
        let client = client_with(ClientSettings {
            trust: BTreeMap::from([(origin, trust)]),
            ..ClientSettings::default()
        });
        let get = async |host: &str, port: u16| {
            let url = format!("https://{host}:{port}/");
            let answer = client.get(url.as_str()).send().await?;
            answer.text(100).await
        };
        let spelled = host.to_uppercase();
        assert_eq!(get(&spelled, own).await.expect("an answer"), "hello");
        for host in [host, "vendor.test"] {
            let stranger = get(host, other).await;
            assert!(
                matches!(stranger, Err(HttpError::Tls { .. })),
                "{host}: {stranger:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_redirect_from_https_to_http_is_refused() {
    let plain = Server::start(|_| Reply::ok("plain")).await;
    let location = format!("http://vendor.test:{}/", plain.port);
    let answer = format!(
        "HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    let port = secure_server(1, answer);
    let settings = ClientSettings {
        roots: Roots::Only(CA.to_vec()),
        ..ClientSettings::default()
    };
    let error = client_with(settings)
        .get(format!("https://vendor.test:{port}/").as_str())
        .send()
        .await
        .err();
    assert!(
        matches!(
            error,
            Some(HttpError::Refused {
                refusal: Refusal::Downgrade,
                ..
            })
        ),
        "{error:?}"
    );
    assert!(plain.seen().is_empty());
}

#[tokio::test]
async fn a_bundle_without_certificates_is_an_error_when_the_client_is_built() {
    for pem in [
        &b""[..],
        b"not a certificate",
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ] {
        let of_all = ClientSettings {
            roots: Roots::Only(pem.to_vec()),
            ..ClientSettings::default()
        };
        let origin = "https://vendor.test".parse().expect("an origin");
        let of_one = ClientSettings {
            trust: BTreeMap::from([(origin, Trust::Also(pem.to_vec()))]),
            ..ClientSettings::default()
        };
        for settings in [of_all, of_one] {
            let error = ClientBuilder::new(settings, AddressPolicy::Any)
                .build()
                .err();
            assert!(matches!(error, Some(BuildError::CaBundle(_))), "{error:?}");
        }
    }
}

#[tokio::test]
async fn plain_text_on_a_secure_port_is_a_tls_error() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .expect("a write");
        let _ = stream.read(&mut [0; 4096]);
    });
    let error = client()
        .get(format!("https://127.0.0.1:{port}/").as_str())
        .send()
        .await
        .err();
    let error = error.expect("an error");
    let HttpError::Tls { flaw, .. } = &error else {
        panic!("{error:?}");
    };
    assert!(flaw.to_string().contains("does not speak TLS"), "{flaw}");
    assert!(!flaw.is_of_certificate());
    assert!(error.hint().is_some_and(|hint| hint.contains("http://")));
    server.join().expect("the server");
}
