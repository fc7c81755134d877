//! A key stays home.

use hermes_http::{AuthScheme, HttpError, SECRET_MARK};
use http::{HeaderName, header};

use super::server::{KEY, Reply, Server, client, key_for};

#[tokio::test]
async fn every_scheme_puts_the_key_where_it_belongs() {
    let server = Server::start(|_| Reply::ok("")).await;
    let key = key_for(&[&server.url("")]);
    let send = async |scheme| {
        let url = server.url(&format!("/bot{SECRET_MARK}/x?a=1"));
        client()
            .post(url.as_str())
            .form([("a", "b")])
            .auth(&key, scheme)
            .send()
            .await
            .expect("an answer");
        server.seen().pop().expect("a request")
    };
    assert_eq!(
        send(AuthScheme::Bearer).await.headers["authorization"],
        format!("Bearer {KEY}")
    );
    assert_eq!(
        send(AuthScheme::Authorization("Bot")).await.headers["authorization"],
        format!("Bot {KEY}")
    );
    let basic = AuthScheme::Basic {
        username: "me".into(),
    };
    assert_eq!(
        send(basic).await.headers["authorization"],
        "Basic bWU6Y2FuYXJ5LTAxMjM0NTY3ODkta2V5"
    );
    let named = AuthScheme::Header(HeaderName::from_static("x-api-key"));
    assert_eq!(send(named).await.headers["x-api-key"], KEY);
    assert_eq!(
        send(AuthScheme::Query("key".into())).await.target,
        format!("/bot{SECRET_MARK}/x?a=1&key={KEY}")
    );
    assert_eq!(
        send(AuthScheme::FormField("refresh_token".into()))
            .await
            .body,
        format!("a=b&refresh_token={KEY}")
    );
    assert_eq!(
        send(AuthScheme::Path).await.target,
        format!("/bot{KEY}/x?a=1")
    );
}

#[tokio::test]
async fn a_key_for_another_origin_is_not_sent() {
    let server = Server::start(|_| Reply::ok("")).await;
    let key = key_for(&["https://api.example.com"]);
    let refused = client()
        .get(server.url("/").as_str())
        .auth(&key, AuthScheme::Bearer)
        .send()
        .await
        .err();
    assert!(
        matches!(refused, Some(HttpError::WrongOrigin(wrong)) if wrong.name.as_str() == "CANARY")
    );
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_redirect_to_another_origin_carries_nothing_private() {
    for status in [
        "301 Moved",
        "302 Found",
        "303 See Other",
        "307 Temporary",
        "308 Permanent",
    ] {
        let thief = Server::start(|_| Reply::ok("loot")).await;
        let target = thief.url("/loot");
        let home = Server::start(move |_| Reply::redirect(status, &target)).await;
        // Even a key that may go to both is dropped: nobody asked for it to be sent there.
        let key = key_for(&[&home.url(""), &thief.url("")]);
        let query = AuthScheme::Query("key".into());
        let answer = client()
            .post(home.url("/").as_str())
            .form([("a", "b")])
            .auth(&key, AuthScheme::Bearer)
            .auth(&key, query)
            .auth(&key, AuthScheme::FormField("refresh_token".into()))
            .header(header::COOKIE, "session=1234567890")
            .header(HeaderName::from_static("x-private"), "yes")
            .header(header::ACCEPT, "text/plain")
            .send()
            .await
            .expect("an answer");
        assert_eq!(answer.url().as_str(), thief.url("/loot"));
        let [at_home] = home.seen().try_into().expect("one request");
        assert!(
            format!("{at_home:?}").matches(KEY).count() == 3,
            "{at_home:?}"
        );
        let [stolen] = thief.seen().try_into().expect("one request");
        assert!(!format!("{stolen:?}").contains(KEY), "{status}: {stolen:?}");
        assert!(
            !stolen.headers.contains_key("cookie") && !stolen.headers.contains_key("x-private")
        );
        assert_eq!(stolen.headers["accept"], "text/plain");
        assert!(!stolen.headers.contains_key("referer"));
    }
}

#[tokio::test]
async fn coming_back_does_not_bring_the_key_back() {
    let home = Server::start(|seen| {
        if seen.target.starts_with("/start") {
            return Reply::redirect(
                "302 Found",
                &seen.target.replacen("/start?", "http://127.0.0.1:", 1),
            );
        }
        Reply::ok("")
    })
    .await;
    let back = home.url("/end");
    let other = Server::start(move |_| Reply::redirect("302 Found", &back)).await;
    let key = key_for(&[&home.url("")]);
    let start = home.url(&format!("/start?{}/hop", other.port));
    client()
        .get(start.as_str())
        .auth(&key, AuthScheme::Bearer)
        .send()
        .await
        .expect("an answer");
    let [first, last] = home.seen().try_into().expect("two requests");
    assert!(
        first.headers.contains_key("authorization") && !last.headers.contains_key("authorization")
    );
    assert_eq!(last.target, "/end");
}

#[tokio::test]
async fn a_redirect_within_the_origin_keeps_the_key() {
    let server = Server::start(|seen| match seen.target.as_str() {
        "/old" => Reply::redirect("308 Permanent", "new"),
        _ => Reply::ok(""),
    })
    .await;
    let key = key_for(&[&server.url("")]);
    client()
        .get(server.url("/old").as_str())
        .auth(&key, AuthScheme::Bearer)
        .send()
        .await
        .expect("an answer");
    let [_, second] = server.seen().try_into().expect("two requests");
    assert_eq!(
        (
            second.target.as_str(),
            second.headers.contains_key("authorization")
        ),
        ("/new", true)
    );
}

#[tokio::test]
async fn a_url_with_a_user_in_it_is_refused() {
    let error = client()
        .get("http://bob:hunter2hunter2@127.0.0.1:9/x")
        .send()
        .await
        .err()
        .expect("an error");
    assert_eq!(
        error.to_string(),
        "refused http://127.0.0.1:9/x: the url holds a user or password"
    );
}
