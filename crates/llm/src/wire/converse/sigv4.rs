//! Amazon's request signature, version 4. Pure: time and keys are handed in.

use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const HEX: &[u8; 16] = b"0123456789abcdef";
const UPPER_HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Who signs, and for which service. Not printable, because it holds the key.
#[derive(Clone, Copy)]
pub struct Signer<'a> {
    /// The id of the key.
    pub access_key: &'a str,
    /// The key.
    pub secret_key: &'a str,
    /// Goes with keys that expire.
    pub session_token: Option<&'a str>,
    /// Such as `us-east-1`.
    pub region: &'a str,
    /// Such as `bedrock`.
    pub service: &'a str,
}

/// What is signed.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Such as `POST`.
    pub method: &'a str,
    /// The path as it is sent, percent-encoded.
    pub path: &'a str,
    /// Names and values of the query, not encoded.
    pub query: &'a [(&'a str, &'a str)],
    /// The headers to sign. `host` must be among them.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body.
    pub body: &'a [u8],
}

/// The headers that make `request` a signed one at `now`.
pub fn sign(
    signer: &Signer<'_>,
    request: &Request<'_>,
    now: Timestamp,
) -> Vec<(&'static str, String)> {
    let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let day = now.strftime("%Y%m%d").to_string();
    let mut added = vec![("x-amz-date", time.clone())];
    if let Some(token) = signer.session_token {
        added.push(("x-amz-security-token", token.to_owned()));
    }

    let own = added.iter().map(|(name, value)| (*name, value.as_str()));
    let headers = canonical_headers(request.headers.iter().copied().chain(own));
    let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(";");
    let lines: String = headers
        .iter()
        .map(|(name, value)| format!("{name}:{value}\n"))
        .collect();
    let canonical = format!(
        "{}\n{}\n{}\n{lines}\n{names}\n{}",
        request.method,
        encoded(request.path, "/"),
        canonical_query(request.query),
        hex(&Sha256::digest(request.body)),
    );

    let scope = format!("{day}/{}/{}/aws4_request", signer.region, signer.service);
    let statement = format!(
        "{ALGORITHM}\n{time}\n{scope}\n{}",
        hex(&Sha256::digest(canonical.as_bytes()))
    );
    let first = format!("AWS4{}", signer.secret_key);
    let key = [&day, signer.region, signer.service, "aws4_request"]
        .into_iter()
        .fold(first.into_bytes(), |key, part| keyed(&key, part));
    let signature = hex(&keyed(&key, &statement));
    added.push((
        "authorization",
        format!(
            "{ALGORITHM} Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
            signer.access_key
        ),
    ));
    added
}

/// Names in lower case and sorted, values without surplus spaces.
fn canonical_headers<'a>(
    headers: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = headers
        .map(|(name, value)| {
            let words: Vec<&str> = value.split_ascii_whitespace().collect();
            (name.to_ascii_lowercase(), words.join(" "))
        })
        .collect();
    headers.sort();
    headers
}

fn canonical_query(query: &[(&str, &str)]) -> String {
    let mut pairs: Vec<(String, String)> = query
        .iter()
        .map(|(name, value)| (encoded(name, ""), encoded(value, "")))
        .collect();
    pairs.sort();
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join("&")
}

/// Percent-encodes all but letters, digits, `-._~` and what is in `kept`. A path that is already encoded
/// is encoded once more: the service wants it so.
fn encoded(text: &str, kept: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let character = char::from(byte);
        if byte.is_ascii_alphanumeric() || "-._~".contains(character) || kept.contains(character) {
            out.push(character);
        } else {
            out.push('%');
            push_byte(&mut out, byte, UPPER_HEX);
        }
    }
    out
}

fn keyed(key: &[u8], text: &str) -> Vec<u8> {
    // A key of any length is taken, so there is no other arm.
    let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        push_byte(&mut out, *byte, HEX);
    }
    out
}

fn push_byte(out: &mut String, byte: u8, digits: &[u8; 16]) {
    for half in [byte >> 4, byte & 15] {
        out.extend(digits.get(usize::from(half)).copied().map(char::from));
    }
}
