//! Tokens as they are given and as they are kept.

use std::fmt;
use std::time::Duration;

use hermes_secrets::{Origin, Secret, SecretName};
use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};

use super::error::OAuthError;

/// A token that ends this soon is renewed first.
const MARGIN: f64 = 30.0;

/// The tokens of one server, with whatever else the authorization server said.
#[derive(Clone, PartialEq)]
pub(super) struct Tokens(Map<String, Json>);

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[tokens]")
    }
}

impl Tokens {
    /// Reads the answer of a token endpoint. What it leaves out is taken from the tokens before: most
    /// servers let the refresh token live on, and repeat the rights only when they differ.
    pub(super) fn given(
        answer: Json,
        now: Timestamp,
        before: Option<&Self>,
    ) -> Result<Self, OAuthError> {
        let Json::Object(mut fields) = answer else {
            return Err(OAuthError::BadAnswer("fields"));
        };
        if text(&fields, "access_token").is_none() {
            return Err(OAuthError::BadAnswer("access_token"));
        }
        if !text(&fields, "token_type").is_none_or(|kind| kind.eq_ignore_ascii_case("bearer")) {
            return Err(OAuthError::BadAnswer("token_type"));
        }
        fields.entry("token_type").or_insert(json!("Bearer"));
        fields.shift_remove("expires_at");
        match fields.get("expires_in").and_then(number) {
            Some(seconds) => {
                fields.insert("expires_in".to_owned(), json!(seconds.floor() as i64));
                fields.insert("expires_at".to_owned(), json!(unix(now) + seconds));
            }
            None => {
                fields.shift_remove("expires_in");
            }
        }
        for kept in ["refresh_token", "scope"] {
            let old = before.and_then(|before| text(&before.0, kept));
            if text(&fields, kept).is_none() {
                fields.shift_remove(kept);
                if let Some(old) = old {
                    fields.insert(kept.to_owned(), json!(old));
                }
            }
        }
        Ok(Self(fields))
    }

    /// Reads a file. Old ones do not say when the token ends; it began when the file was written.
    pub(super) fn kept(bytes: &[u8], written: Option<Duration>) -> Option<Self> {
        let Ok(Json::Object(mut fields)) = serde_json::from_slice(bytes) else {
            return None;
        };
        text(&fields, "access_token")?;
        let known = fields.get("expires_at").and_then(number).is_some();
        if let (false, Some(life), Some(written)) =
            (known, fields.get("expires_in").and_then(number), written)
        {
            fields.insert("expires_at".to_owned(), json!(written.as_secs_f64() + life));
        }
        Some(Self(fields))
    }

    /// The text of the file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        format!("{:#}\n", Json::Object(self.0.clone())).into_bytes()
    }

    pub(super) fn access(&self) -> &str {
        text(&self.0, "access_token").unwrap_or_default()
    }

    pub(super) fn refresh(&self) -> Option<&str> {
        text(&self.0, "refresh_token")
    }

    pub(super) fn scope(&self) -> Option<&str> {
        text(&self.0, "scope")
    }

    /// The rights that were asked for are those that were given, unless the server says otherwise.
    pub(super) fn assume_scope(&mut self, asked: Option<&str>) {
        if let (None, Some(asked)) = (self.scope(), asked) {
            self.0.insert("scope".to_owned(), json!(asked));
        }
    }

    /// The same tokens as a token endpoint would give them.
    pub(super) fn as_answer(&self, now: Timestamp) -> Json {
        let mut fields = self.0.clone();
        if let Some(left) = self.left(now) {
            fields.insert("expires_in".to_owned(), json!(left));
        }
        Json::Object(fields)
    }

    /// How many seconds the token has left; `None` when nobody knows.
    pub(super) fn left(&self, now: Timestamp) -> Option<f64> {
        Some(self.0.get("expires_at").and_then(number)? - unix(now))
    }

    /// Whether it is too late, or nearly, to use the token.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.left(now).is_some_and(|left| left <= MARGIN)
    }

    /// The access token for the server it is meant for.
    pub(super) fn bearer(&self, server: &Origin) -> Result<Secret, OAuthError> {
        secret("mcp_access_token", self.access().to_owned(), server)
    }
}

/// A secret for one origin.
pub(super) fn secret(name: &str, value: String, origin: &Origin) -> Result<Secret, OAuthError> {
    SecretName::new(name)
        .and_then(|name| Secret::new(name, value, [origin.clone().into()]))
        .map_err(|_| OAuthError::BadAnswer("secret"))
}

fn text<'j>(fields: &'j Map<String, Json>, name: &str) -> Option<&'j str> {
    fields
        .get(name)
        .and_then(Json::as_str)
        .filter(|text| !text.is_empty())
}

/// A number, also when it is written as text.
fn number(value: &Json) -> Option<f64> {
    let number = match value {
        Json::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    number.filter(|number: &f64| number.is_finite())
}

fn unix(time: Timestamp) -> f64 {
    time.as_millisecond() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn what_an_answer_leaves_out_stays() {
        let answer = json!({ "access_token": "a", "expires_in": "60", "refresh_token": "r", "scope": "s", "x": 1 });
        let first = Tokens::given(answer, at(1000), None).unwrap();
        assert_eq!(first.left(at(1010)), Some(50.0));
        assert!(!first.is_due(at(1010)) && first.is_due(at(1031)));
        let next = Tokens::given(json!({ "access_token": "b" }), at(2000), Some(&first)).unwrap();
        assert_eq!((next.refresh(), next.scope()), (Some("r"), Some("s")));
        assert_eq!(next.left(at(0)), None);
        let rotated = json!({ "access_token": "c", "refresh_token": "r2" });
        let rotated = Tokens::given(rotated, at(0), Some(&first)).unwrap();
        assert_eq!(rotated.refresh(), Some("r2"));
        assert!(Tokens::given(json!({ "access_token": "" }), at(0), None).is_err());
        let other = json!({ "access_token": "a", "token_type": "mac" });
        assert!(Tokens::given(other, at(0), None).is_err());
        assert_eq!(format!("{first:?}"), "[tokens]");
    }

    #[test]
    fn old_files_begin_when_they_were_written() {
        let old = br#"{"access_token":"a","expires_in":100}"#;
        let kept = Tokens::kept(old, Some(Duration::from_secs(500))).unwrap();
        assert_eq!(kept.left(at(550)), Some(50.0));
        let new = br#"{"access_token":"a","expires_in":100,"expires_at":700.5}"#;
        let kept = Tokens::kept(new, Some(Duration::from_secs(500))).unwrap();
        assert_eq!(kept.left(at(700)), Some(0.5));
        assert!(Tokens::kept(b"{", None).is_none() && Tokens::kept(b"{}", None).is_none());
    }
}
