//! Pages read from a real server.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hermes_config::WebsiteBlocklist;
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_web::{PageError, PageReader, Sites};

/// A server with a few pages; counts what it is asked for.
struct Site {
    port: u16,
    asked: Arc<AtomicUsize>,
}

impl Site {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                counter.fetch_add(1, Ordering::SeqCst);
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let (status, headers, body) = page(&path);
                let head = format!(
                    "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                // A client that has read enough goes away.
                let _ = stream.write_all(head.as_bytes());
                let _ = stream.write_all(&body);
            }
        });
        Self { port, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

fn page(path: &str) -> (&'static str, &'static str, Vec<u8>) {
    match path {
        "/page" => (
            "200 OK",
            "content-type: text/html; charset=utf-8\r\n",
            b"<p>Some <i>words</i>.</p><script>steal()</script>".to_vec(),
        ),
        "/moved" => ("302 Found", "location: /page\r\n", Vec::new()),
        "/circle" => ("302 Found", "location: /circle\r\n", Vec::new()),
        "/away" => (
            "302 Found",
            "location: http://blocked.example/\r\n",
            Vec::new(),
        ),
        "/file" => ("302 Found", "location: file:///etc/passwd\r\n", Vec::new()),
        "/picture" => ("200 OK", "content-type: image/png\r\n", vec![0; 100]),
        "/huge" => (
            "200 OK",
            "content-type: text/plain\r\n",
            vec![b'a'; 6 * 1024 * 1024],
        ),
        _ => ("404 Not Found", "", Vec::new()),
    }
}

fn reader(addresses: AddressPolicy) -> PageReader {
    let http = ClientBuilder::new(ClientSettings::default(), addresses)
        .build()
        .unwrap();
    let list = WebsiteBlocklist {
        enabled: true,
        domains: vec!["blocked.example".to_owned()],
        ..WebsiteBlocklist::default()
    };
    PageReader::new(http, Sites::new(&list, std::path::Path::new("/nowhere")))
}

// AG-29
#[tokio::test]
async fn a_page_is_read_as_text_wherever_it_moved() {
    let site = Site::start();
    let reader = reader(AddressPolicy::PublicAndPrivate);
    for path in ["/page", "/moved"] {
        let text = reader.read(&site.url(path)).await.unwrap();
        assert_eq!(text.trim(), "Some words.", "{path}");
    }
}

// AG-29
#[tokio::test]
async fn what_cannot_be_read_says_why() {
    let site = Site::start();
    let reader = reader(AddressPolicy::PublicAndPrivate);
    let told = async |path: &str| reader.read(&site.url(path)).await.unwrap_err().to_string();
    assert!(told("/nothing").await.contains("HTTP 404"));
    assert!(told("/circle").await.contains("moved more than"));
    assert!(told("/picture").await.contains("image/png"));
    assert!(
        told("/file")
            .await
            .contains("file:///etc/passwd is not an address")
    );
    assert!(told("/away").await.contains("blocked.example"));
    assert!(told("/huge").await.contains("larger than 5242880 bytes"));
    let refused = reader.read("ftp://example.org/x").await.unwrap_err();
    assert!(matches!(refused, PageError::NotAnAddress(_)));
}

// AG-29
#[tokio::test]
async fn pages_of_this_machine_are_not_for_strangers() {
    let site = Site::start();
    let refused = reader(AddressPolicy::Public).read(&site.url("/page")).await;
    assert!(matches!(refused, Err(PageError::Http(_))), "{refused:?}");
    assert_eq!(site.asked.load(Ordering::SeqCst), 0);
}
