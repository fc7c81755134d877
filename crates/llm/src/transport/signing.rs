//! Signing requests to AWS. The key signs, it is not sent; what is sent of it are its id and the token it
//! came with.

use hermes_http::HttpError;
use hermes_secrets::{Origin, Secret};
use jiff::Timestamp;
use url::Url;

use crate::error::ModelError;
use crate::wire::WireError;
use crate::wire::converse::sigv4::{self, Signer};

/// A request to Bedrock, before it is signed.
pub(crate) struct Unsigned<'a> {
    pub(crate) method: &'static str,
    pub(crate) url: &'a Url,
    /// Headers to sign beside the host.
    pub(crate) headers: &'a [(&'static str, &'static str)],
    pub(crate) body: &'a [u8],
}

impl Unsigned<'_> {
    /// The headers that make it a signed one. The secret must be bound to the origin.
    pub(crate) fn sign(
        &self,
        secret: &Secret,
        origin: &Origin,
        region: &str,
        now: Timestamp,
    ) -> Result<Vec<(&'static str, String)>, ModelError> {
        let value = secret
            .expose_for(origin)
            .map_err(|error| ModelError::Http(HttpError::from(error)))?;
        let mut parts = value.lines();
        let (Some(access_key), Some(secret_key)) = (parts.next(), parts.next()) else {
            let what = "the AWS credential has no secret key".to_owned();
            return Err(WireError::Malformed(what).into());
        };
        let signer = Signer {
            access_key,
            secret_key,
            session_token: parts.next(),
            region,
            service: "bedrock",
        };
        let host = match (self.url.host_str().unwrap_or_default(), self.url.port()) {
            (host, Some(port)) => format!("{host}:{port}"),
            (host, None) => host.to_owned(),
        };
        let query: Vec<(String, String)> = self.url.query_pairs().into_owned().collect();
        let query: Vec<(&str, &str)> = query
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let mut headers = vec![("host", host.as_str())];
        headers.extend(self.headers);
        let request = sigv4::Request {
            method: self.method,
            path: self.url.path(),
            query: &query,
            headers: &headers,
            body: self.body,
        };
        Ok(sigv4::sign(&signer, &request, now))
    }
}
