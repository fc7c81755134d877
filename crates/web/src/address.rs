//! Addresses that must not be fetched, whoever would fetch them.

use hermes_secrets::{RedactorHandle, Scope};
use url::Url;

/// Names of parameters that hold credentials.
const CREDENTIALS: &[&str] = &[
    "access_token",
    "api_key",
    "apikey",
    "auth",
    "auth_token",
    "client_secret",
    "credential",
    "credentials",
    "id_token",
    "jwt",
    "passwd",
    "password",
    "private_key",
    "refresh_token",
    "secret",
    "session_token",
    "sig",
    "signature",
    "token",
];
/// The same of signed links.
const SIGNED: &[&str] = &["x-amz-", "x-goog-"];

/// Whether an address carries something that only its owner should see.
pub(crate) fn bears_secret(url: &Url, redactor: &RedactorHandle) -> bool {
    let named = url.query_pairs().any(|(name, value)| {
        let name = name.to_ascii_lowercase().replace('-', "_");
        let signed = SIGNED
            .iter()
            .any(|start| name.starts_with(&start.replace('-', "_")));
        !value.is_empty() && (signed || CREDENTIALS.contains(&name.as_str()))
    });
    let text = url.as_str();
    named
        || !url.username().is_empty()
        || url.password().is_some()
        || redactor.snapshot().redact_in(Scope::Code, text) != text
}

#[cfg(test)]
mod tests {
    use super::*;

    // IN-3
    #[test]
    fn keys_in_addresses_are_seen_and_ordinary_words_are_not() {
        let bears = |text: &str| {
            let url = Url::parse(text).unwrap();
            bears_secret(&url, &RedactorHandle::default())
        };
        for bad in [
            "https://a.example/?token=abc",
            "https://a.example/x?API-Key=1&b=2",
            "https://a.example/x?X-Amz-Signature=ff",
            "https://user:pw@a.example/",
            "https://a.example/sk-proj-abcdefghijklmnopqrstuvwxyz0123456789",
        ] {
            assert!(bears(bad), "{bad}");
        }
        for good in [
            "https://a.example/?q=token",
            "https://a.example/auth/signature?page=2",
            "https://a.example/?token=",
        ] {
            assert!(!bears(good), "{good}");
        }
    }
}
