//! Requests through a proxy.

use std::net::{Ipv4Addr, TcpListener};

use hermes_http::{
    AddressPolicy, ClientBuilder, ClientSettings, HttpError, NoProxy, ProxyEndpoint, ProxySettings,
    Refusal,
};

use super::server::{Fixed, Reply, Server, client_with};

fn through(proxy: &Server, no_proxy: &str) -> ClientSettings {
    let endpoint: ProxyEndpoint = format!("http://me:p%40ss-word-1@proxy.test:{}", proxy.port)
        .parse()
        .expect("a proxy");
    let proxies = ProxySettings {
        no_proxy: NoProxy::parse(no_proxy),
        ..ProxySettings::all(endpoint)
    };
    ClientSettings {
        proxies,
        ..ClientSettings::default()
    }
}

#[tokio::test]
async fn plain_requests_go_to_the_proxy_in_absolute_form() {
    let proxy = Server::start(|_| Reply::ok("from the proxy")).await;
    let client = client_with(through(&proxy, ""));
    let answer = client
        .get("http://vendor.test/x?y=1")
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.text(100).await.expect("text"), "from the proxy");
    let [seen] = proxy.seen().try_into().expect("one request");
    assert_eq!(
        (seen.method.as_str(), seen.target.as_str()),
        ("GET", "http://vendor.test/x?y=1")
    );
    // base64 of me:p@ss-word-1
    assert_eq!(
        seen.headers["proxy-authorization"],
        "Basic bWU6cEBzcy13b3JkLTE="
    );
}

#[tokio::test]
async fn secure_requests_ask_the_proxy_for_a_tunnel() {
    let proxy = Server::start(|_| Reply::status("403 Forbidden", &[], "")).await;
    let error = client_with(through(&proxy, ""))
        .get("https://vendor.test/x")
        .send()
        .await
        .err()
        .expect("an error");
    let through = format!("through the proxy http://proxy.test:{}/", proxy.port);
    assert!(error.to_string().contains(&through), "{error}");
    assert!(!format!("{error:?}").contains("word-1"));
    let [seen] = proxy.seen().try_into().expect("one request");
    assert_eq!(
        (seen.method.as_str(), seen.target.as_str()),
        ("CONNECT", "vendor.test:443")
    );
}

// PV-31
#[tokio::test]
async fn a_proxy_that_cannot_be_reached_is_named_with_its_setting() {
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = nobody.local_addr().expect("an address").port();
    drop(nobody);
    let dead = format!("http://me:p%40ss-word-1@proxy.test:{port}");
    // To the second client no name is known.
    let here = || Fixed(vec![Ipv4Addr::LOCALHOST.into()]);
    for (resolver, url) in [
        (here(), "http://vendor.test/x"),
        (here(), "https://vendor.test/x"),
        (Fixed(Vec::new()), "https://vendor.test/x"),
    ] {
        let endpoint: ProxyEndpoint = dead.parse().expect("a proxy");
        let settings = ClientSettings {
            proxies: ProxySettings::all(endpoint.named_by("HTTPS_PROXY")),
            ..ClientSettings::default()
        };
        let client = ClientBuilder::new(settings, AddressPolicy::Any)
            .resolver(resolver)
            .build()
            .expect("a client");
        let error = client.get(url).send().await.err().expect("an error");
        let told = format!(
            "cannot connect to {url} through the proxy http://proxy.test:{port}/ of HTTPS_PROXY"
        );
        assert_eq!(error.to_string(), told);
        assert!(error.is_transient());
        let hint = error.hint().expect("a hint");
        for words in ["HTTPS_PROXY", "NO_PROXY"] {
            assert!(hint.contains(words), "{hint}");
        }
    }
}

#[tokio::test]
async fn exceptions_and_loopback_are_reached_directly() {
    let proxy = Server::start(|_| Reply::ok("proxy")).await;
    let server = Server::start(|_| Reply::ok("direct")).await;
    let port = server.port;
    let list = format!("internal.test, .corp.test, other.test:{port},10.0.0.0/8");
    for (host, expected) in [
        ("internal.test", "direct"),
        ("a.internal.test", "direct"),
        ("b.corp.test", "direct"),
        ("other.test", "direct"),
        ("127.0.0.1", "direct"),
        ("localhost", "direct"),
        ("notinternal.test", "proxy"),
        ("vendor.test", "proxy"),
        ("192.0.2.1", "proxy"),
    ] {
        let client = client_with(through(&proxy, &list));
        let answer = client
            .get(format!("http://{host}:{port}/").as_str())
            .send()
            .await
            .expect("an answer");
        assert_eq!(answer.text(100).await.expect("text"), expected, "{host}");
    }
}

#[tokio::test]
async fn a_proxy_on_this_machine_does_not_open_this_machine() {
    let proxy = Server::start(|_| Reply::ok("")).await;
    // To this client every name is this machine, the proxy's as well.
    let here = Fixed(vec![Ipv4Addr::LOCALHOST.into()]);
    let client = ClientBuilder::new(through(&proxy, ""), AddressPolicy::Public)
        .resolver(here)
        .build()
        .expect("a client");
    let error = client.get("http://rebind.test/").send().await.err();
    assert!(
        matches!(
            error,
            Some(HttpError::Refused {
                refusal: Refusal::Address { .. },
                ..
            })
        ),
        "{error:?}"
    );
    assert!(proxy.seen().is_empty());
    // Public addresses go through it, the neighbours of forbidden blocks included.
    for url in [
        "http://8.8.8.8/",
        "http://172.32.0.1/",
        "http://100.128.0.1/",
        "http://[2606:4700::1111]/",
        "http://[64:ff9b::808:808]/",
        "http://[2002:808:808::1]/",
    ] {
        client.get(url).send().await.expect(url);
    }
    assert_eq!(proxy.seen().len(), 6);
}

#[test]
fn settings_say_what_is_wrong_and_never_the_password() {
    for text in ["ftp://h.test", "http://", "quic://u:hunter2hunter2@h.test"] {
        let error = text.parse::<ProxyEndpoint>().expect_err("an error");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
    let shown = |text: &str| format!("{:?}", text.parse::<ProxyEndpoint>().expect("a proxy"));
    assert_eq!(shown("me:hunter2@h.test:3128"), "http://h.test:3128/");
    assert_eq!(
        shown("socks5h://me:hunter2@h.test"),
        "socks5h://h.test:1080"
    );
}
