//! Which redirects are followed, and how.

use hermes_http::{HttpError, RedirectRule, Refusal};
use http::{Method, header};

use super::server::{Reply, Server, client};

#[tokio::test]
async fn method_and_body_follow_the_status() {
    for (status, method, expected, body) in [
        ("301 Moved", Method::POST, "GET", ""),
        ("302 Found", Method::POST, "GET", ""),
        ("303 See Other", Method::PUT, "GET", ""),
        ("307 Temporary", Method::POST, "POST", "payload"),
        ("308 Permanent", Method::PUT, "PUT", "payload"),
        ("302 Found", Method::HEAD, "HEAD", ""),
    ] {
        let server = Server::start(move |seen| match seen.target.as_str() {
            "/from" => Reply::redirect(status, "/to"),
            _ => Reply::ok(""),
        })
        .await;
        let request = client()
            .request(method, server.url("/from").as_str())
            .header(header::CONTENT_TYPE, "text/plain");
        request.body("payload").send().await.expect("an answer");
        let last = server.seen().pop().expect("a request");
        assert_eq!(
            (last.method.as_str(), last.body.as_str()),
            (expected, body),
            "{status}"
        );
        assert_eq!(
            last.headers.contains_key("content-type"),
            !body.is_empty(),
            "{status}"
        );
    }
}

#[tokio::test]
async fn a_loop_ends_after_ten_redirects() {
    let server =
        Server::start(|_| Reply::redirect("302 Found", "/again?token=secret-value-1")).await;
    let error = client()
        .get(server.url("/").as_str())
        .send()
        .await
        .err()
        .expect("an error");
    assert_eq!(
        error.to_string(),
        format!(
            "{}?… was reached after 10 redirects, which is too many",
            server.url("/again")
        )
    );
    assert_eq!(server.seen().len(), 11);
}

#[tokio::test]
async fn other_schemes_are_not_followed() {
    for location in [
        "file:///etc/passwd",
        "ftp://example.com/x",
        "gopher://127.0.0.1:70/x",
        "javascript:alert(1)",
    ] {
        let server = Server::start(move |_| Reply::redirect("302 Found", location)).await;
        let error = client().get(server.url("/").as_str()).send().await.err();
        assert!(
            matches!(
                error,
                Some(HttpError::Refused {
                    refusal: Refusal::Scheme { .. },
                    ..
                })
            ),
            "{location}"
        );
    }
}

#[tokio::test]
async fn the_rule_can_forbid_leaving_or_following() {
    let server =
        Server::start(|_| Reply::redirect("307 Temporary", "http://elsewhere.test/")).await;
    let request = || client().post(server.url("/").as_str()).body("confidential");
    let error = request()
        .redirects(RedirectRule::SameOrigin)
        .send()
        .await
        .err();
    assert!(matches!(
        error,
        Some(HttpError::Refused {
            refusal: Refusal::LeavesOrigin,
            ..
        })
    ));
    let answer = request()
        .redirects(RedirectRule::Stop)
        .send()
        .await
        .expect("the redirect itself");
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["location"]),
        (307, &"http://elsewhere.test/".parse().unwrap())
    );
}

#[tokio::test]
async fn a_user_in_a_location_is_dropped() {
    let target = Server::start(|_| Reply::ok("")).await;
    let location = format!("http://bob:hunter2@127.0.0.1:{}/x", target.port);
    let server = Server::start(move |_| Reply::redirect("302 Found", &location)).await;
    client()
        .get(server.url("/").as_str())
        .send()
        .await
        .expect("an answer");
    let [seen] = target.seen().try_into().expect("one request");
    assert!(!seen.headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_redirect_without_a_usable_location_is_an_answer() {
    let server = Server::start(|_| Reply::status("302 Found", &[], "nowhere")).await;
    let answer = client()
        .get(server.url("/").as_str())
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.text(100).await.expect("text"), "nowhere");
}
