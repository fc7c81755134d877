//! A name whose answer changes between check and connection gains nothing.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings, HttpError, Refusal, Resolver};

use super::server::{Reply, Server, generous};

/// Answers with each address in turn, then with the last one for ever.
#[derive(Clone)]
struct Rebinding {
    answers: Vec<IpAddr>,
    asked: Arc<AtomicUsize>,
}

impl Resolver for Rebinding {
    async fn resolve(&self, _host: &str) -> io::Result<Vec<IpAddr>> {
        let turn = self
            .asked
            .fetch_add(1, Ordering::SeqCst)
            .min(self.answers.len() - 1);
        Ok(vec![self.answers[turn]])
    }
}

fn rebinding(answers: &[&str]) -> Rebinding {
    let answers = answers
        .iter()
        .map(|answer| answer.parse().expect("an address"))
        .collect();
    Rebinding {
        answers,
        asked: Arc::default(),
    }
}

fn builder(policy: AddressPolicy, resolver: Rebinding) -> ClientBuilder {
    let settings = ClientSettings {
        timeouts: generous(),
        ..ClientSettings::default()
    };
    ClientBuilder::new(settings, policy).resolver(resolver)
}

/// Stands for the public internet: the tests must not leave this machine, so one loopback address is the allowed
/// outside and all others are the forbidden inside.
fn outside_only() -> AddressPolicy {
    AddressPolicy::AllowList(vec!["127.0.0.1".parse().expect("a rule")])
}

// EX-60
#[tokio::test]
async fn the_checked_answer_is_the_one_connected_to() {
    let outside = Server::start(|_| Reply::ok("outside")).await;
    let inside = Server::start_at(Ipv4Addr::new(127, 0, 0, 2), outside.port, |_| {
        Reply::ok("inside")
    })
    .await;
    let resolver = rebinding(&["127.0.0.1", "127.0.0.2"]);
    let client = builder(outside_only(), resolver.clone())
        .build()
        .expect("a client");
    let answer = client
        .get(format!("http://rebind.test:{}/", outside.port).as_str())
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.text(100).await.expect("text"), "outside");
    assert_eq!(
        resolver.asked.load(Ordering::SeqCst),
        1,
        "one lookup serves both check and connection"
    );
    assert!(inside.seen().is_empty());
}

// EX-60
#[tokio::test]
async fn a_public_policy_looks_up_once_and_refuses_what_it_got() {
    let inside = Server::start(|_| Reply::ok("inside")).await;
    let resolver = rebinding(&["127.0.0.1", "8.8.8.8"]);
    let client = builder(AddressPolicy::Public, resolver.clone())
        .build()
        .expect("a client");
    let error = client
        .get(format!("http://rebind.test:{}/", inside.port).as_str())
        .send()
        .await
        .err();
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
    assert_eq!(resolver.asked.load(Ordering::SeqCst), 1);
    assert!(inside.seen().is_empty());
}

// EX-60
#[tokio::test]
async fn a_new_connection_is_checked_again() {
    let server = Server::start(|_| Reply::ok("")).await;
    let client = builder(outside_only(), rebinding(&["127.0.0.1", "127.0.0.2"]))
        .build()
        .expect("a client");
    let url = format!("http://rebind.test:{}/", server.port);
    client.get(url.as_str()).send().await.expect("an answer");
    let error = client.get(url.as_str()).send().await.err();
    assert!(
        matches!(
            error,
            Some(HttpError::Refused {
                refusal: Refusal::NotListed { .. },
                ..
            })
        ),
        "{error:?}"
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn forcing_ipv4_leaves_other_answers_out() {
    let settings = ClientSettings {
        force_ipv4: true,
        ..ClientSettings::default()
    };
    let resolver = rebinding(&["2606:4700::1111"]);
    let client = ClientBuilder::new(settings, AddressPolicy::Any)
        .resolver(resolver)
        .build()
        .expect("a client");
    let error = client.get("http://six.test/").send().await.err();
    assert!(matches!(error, Some(HttpError::Dns { host, .. }) if host == "six.test"));
}
