//! Which addresses a client for untrusted URLs will not touch.

use std::net::IpAddr;

use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings, HttpError, Refusal};

use super::server::{Fixed, Reply, Server, generous};

async fn refusal(policy: AddressPolicy, url: &str, resolved: &[&str]) -> Option<Refusal> {
    let addresses: Vec<IpAddr> = resolved
        .iter()
        .map(|address| address.parse().expect("an address"))
        .collect();
    let settings = ClientSettings {
        timeouts: generous(),
        ..ClientSettings::default()
    };
    let client = ClientBuilder::new(settings, policy)
        .resolver(Fixed(addresses))
        .build()
        .expect("a client");
    match client.get(url).send().await {
        Err(HttpError::Refused { refusal, .. }) => Some(refusal),
        Err(HttpError::Invalid { .. }) => Some(Refusal::Scheme {
            scheme: "not a url".into(),
        }),
        Ok(_) | Err(_) => None,
    }
}

/// At a port where nobody listens, so that a broken policy fails the test without reaching a real service.
fn harmless(url: &str) -> String {
    let mut url: url::Url = url.parse().expect("a url");
    // Fails for URLs without a host, which reach nothing anyway.
    let _ = url.set_port(Some(9));
    url.into()
}

/// All of these point at this machine, its network or a metadata service.
const FORBIDDEN: &[&str] = &[
    "http://127.0.0.1:9/",
    "http://127.1:9/",
    "http://127.255.255.254:9/",
    "http://2130706433:9/",
    "http://0x7f000001:9/",
    "http://0x7f.0.0.1:9/",
    "http://0177.0.0.1:9/",
    "http://017700000001:9/",
    "http://127.0.0.1.:9/",
    "http://１２７.０.０.１:9/",
    "http://①②⑦.0.0.1:9/",
    "http://0.0.0.0:9/",
    "http://0/",
    "http://10.0.0.1/",
    "http://10.255.255.255/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://3232235777/",
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/v2/credentials",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://198.18.0.1/",
    "http://192.0.2.1/",
    "http://203.0.113.7/",
    "http://224.0.0.1/",
    "http://239.255.255.250/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://[::]/",
    "http://[::1]:9/",
    "http://[0:0:0:0:0:0:0:1]:9/",
    "http://[::ffff:127.0.0.1]:9/",
    "http://[::ffff:7f00:1]:9/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::127.0.0.1]:9/",
    "http://[::8.8.8.8]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b::169.254.169.254]/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:c0a8:101::1]/",
    "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    "http://[2606:4700::5efe:10.0.0.1]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fd20:ce::254]/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://[100::1]/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://METADATA.google.internal./",
    "http://metadata.goog/",
    "http://metadata/",
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://example.com/",
    "data:text/plain,x",
    "unix:/run/docker.sock",
];

// EX-60
#[tokio::test]
async fn urls_that_point_inside_are_refused() {
    assert!(FORBIDDEN.len() >= 40);
    for url in FORBIDDEN {
        assert!(
            refusal(AddressPolicy::Public, &harmless(url), &["127.0.0.1"])
                .await
                .is_some(),
            "{url}"
        );
    }
}

// EX-60
#[tokio::test]
async fn names_that_resolve_inside_are_refused() {
    for resolved in [
        &["127.0.0.1"][..],
        &["93.184.216.34", "127.0.0.1"],
        &["10.1.2.3"],
        &["169.254.169.254"],
        &["::1"],
        &["::ffff:192.168.0.1"],
        &["fd00:ec2::254"],
        &["64:ff9b::a00:1"],
    ] {
        assert!(
            refusal(AddressPolicy::Public, "http://innocent.test:9/", resolved)
                .await
                .is_some(),
            "{resolved:?}"
        );
    }
}

// EX-60
#[tokio::test]
async fn metadata_stays_forbidden_when_private_addresses_are_allowed() {
    let policy = AddressPolicy::PublicAndPrivate;
    for url in [
        "http://169.254.169.254/",
        "http://metadata.goog/",
        "http://METADATA.google.internal./",
        "http://[::ffff:a9fe:a9fe]/",
        "http://168.63.129.16/",
    ] {
        assert!(
            matches!(
                refusal(policy.clone(), &harmless(url), &["127.0.0.1"]).await,
                Some(Refusal::Metadata { .. })
            ),
            "{url}"
        );
    }
    let by_name = refusal(
        policy.clone(),
        "http://innocent.test:9/",
        &["169.254.169.254"],
    )
    .await;
    assert_eq!(
        by_name,
        Some(Refusal::Metadata {
            host: "innocent.test".into()
        })
    );
    assert_eq!(refusal(policy, "http://127.0.0.1:9/", &[]).await, None);
}

#[tokio::test]
async fn an_allow_list_lets_nothing_else_through() {
    let policy = || {
        let rules = ["api.test", "*.cdn.test", "127.0.0.2/31"];
        AddressPolicy::AllowList(
            rules
                .iter()
                .map(|rule| rule.parse().expect("a rule"))
                .collect(),
        )
    };
    for (url, resolved, allowed) in [
        ("http://api.test:9/", "127.0.0.1", true),
        ("http://a.cdn.test:9/", "127.0.0.1", true),
        ("http://127.0.0.2:9/", "127.0.0.1", true),
        ("http://other.test:9/", "127.0.0.3", true),
        ("http://cdn.test:9/", "127.0.0.1", false),
        ("http://other.test:9/", "127.0.0.1", false),
        ("http://127.0.0.1:9/", "127.0.0.1", false),
        ("http://api.test:9/", "169.254.169.254", false),
    ] {
        assert_eq!(
            refusal(policy(), url, &[resolved]).await.is_none(),
            allowed,
            "{url} at {resolved}"
        );
    }
}

// EX-60
#[tokio::test]
async fn each_redirect_is_checked_again() {
    let server =
        Server::start(|_| Reply::redirect("302 Found", "http://[::ffff:169.254.169.254]:9/latest"))
            .await;
    let policy = AddressPolicy::PublicAndPrivate;
    assert!(matches!(
        refusal(policy, &server.url("/"), &[]).await,
        Some(Refusal::Metadata { .. })
    ));
    assert_eq!(server.seen().len(), 1);
}
