//! Signatures, against published ones.

use hermes_llm::wire::converse::sigv4::{self, Signer};

const SIGNER: Signer<'_> = Signer {
    access_key: "AKIDEXAMPLE",
    secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    session_token: None,
    region: "us-east-1",
    service: "service",
};

fn signed(signer: &Signer<'_>, request: &sigv4::Request<'_>) -> Vec<(&'static str, String)> {
    sigv4::sign(signer, request, "2015-08-30T12:36:00Z".parse().unwrap())
}

fn signature(signer: &Signer<'_>, request: &sigv4::Request<'_>) -> String {
    let headers = signed(signer, request);
    let (_, value) = headers
        .iter()
        .find(|(name, _)| *name == "authorization")
        .unwrap();
    value.rsplit_once("Signature=").unwrap().1.to_owned()
}

// PV-10: the vectors Amazon publishes for version 4.
#[test]
fn the_published_requests_get_the_published_signatures() {
    let host = ("Host", "example.amazonaws.com");
    let plain = sigv4::Request {
        method: "GET",
        path: "/",
        query: &[],
        headers: &[host],
        body: b"",
    };
    assert_eq!(
        signed(&SIGNER, &plain),
        [
            ("x-amz-date", "20150830T123600Z".to_owned()),
            (
                "authorization",
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                 SignedHeaders=host;x-amz-date, \
                 Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
                    .to_owned()
            ),
        ]
    );
    let post = sigv4::Request {
        method: "POST",
        ..plain
    };
    let order = sigv4::Request {
        query: &[("Param2", "value2"), ("Param1", "value1")],
        ..plain
    };
    let form = sigv4::Request {
        headers: &[host, ("Content-Type", "application/x-www-form-urlencoded")],
        body: b"Param1=value1",
        ..post
    };
    let trimmed = sigv4::Request {
        headers: &[
            host,
            ("My-Header1", " value1"),
            ("My-Header2", " \"a   b   c\""),
        ],
        ..plain
    };
    for (request, expected) in [
        (
            post,
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
        ),
        (
            order,
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
        (
            form,
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        ),
        (
            trimmed,
            "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
        ),
    ] {
        assert_eq!(signature(&SIGNER, &request), expected, "{request:?}");
    }
    let users = sigv4::Request {
        query: &[("Action", "ListUsers"), ("Version", "2010-05-08")],
        headers: &[
            ("host", "iam.amazonaws.com"),
            (
                "content-type",
                "application/x-www-form-urlencoded; charset=utf-8",
            ),
        ],
        ..plain
    };
    let identity = Signer {
        service: "iam",
        ..SIGNER
    };
    assert_eq!(
        signature(&identity, &users),
        "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    );
}

// PV-10
#[test]
fn a_session_token_is_sent_and_signed() {
    let token = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";
    let signer = Signer {
        session_token: Some(token),
        ..SIGNER
    };
    let request = sigv4::Request {
        method: "POST",
        path: "/",
        query: &[],
        headers: &[("host", "example.amazonaws.com")],
        body: b"",
    };
    assert_eq!(
        signature(&signer, &request),
        "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"
    );
    let headers = signed(&signer, &request);
    assert!(headers.contains(&("x-amz-security-token", token.to_owned())));
}

// PV-10: a model's name holds a colon; the path is encoded once to be sent and once more to be signed.
#[test]
fn the_path_of_a_model_is_encoded_twice() {
    let request = sigv4::Request {
        method: "POST",
        path: "/model/vendor.model-v1%3A0/converse-stream",
        query: &[],
        headers: &[
            ("host", "bedrock-runtime.us-east-1.amazonaws.com"),
            ("content-type", "application/json"),
        ],
        body: b"{}",
    };
    let signer = Signer {
        service: "bedrock",
        ..SIGNER
    };
    assert_eq!(
        signature(&signer, &request),
        "906792a7fc590345490c38af22a729575030d1d3382ca160718a137ef47d85a3"
    );
}
