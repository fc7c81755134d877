//! Asking token endpoints.

use hermes_core::Clock;
use hermes_http::{AuthScheme, HttpClient};
use hermes_secrets::Origin;
use serde_json::Value as Json;
use url::Url;
use url::form_urlencoded::byte_serialize;

use super::assertion::assertion;
use super::client::Client;
use super::discover::issuer_metadata;
use super::error::OAuthError;
use super::metadata::Metadata;
use super::settings::{IdentityProvider, Method, OAuthSettings};
use super::tokens::secret;
use super::wire::{Reach, answer, ask_for_tokens};

const JWT_CLIENT: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const JWT_GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// What is needed to ask for tokens.
pub(super) struct Desk<'a> {
    pub(super) http: &'a HttpClient,
    pub(super) settings: &'a OAuthSettings,
    pub(super) metadata: &'a Metadata,
    pub(super) clock: &'a dyn Clock,
}

/// What a browser brought back, and what proves that it was sent by us.
pub(super) struct Code<'a> {
    pub(super) code: String,
    pub(super) verifier: String,
    pub(super) redirect: &'a str,
}

impl Desk<'_> {
    /// Turns what the browser brought into tokens.
    pub(super) async fn exchange(
        &self,
        client: &Client,
        code: Code<'_>,
    ) -> Result<Json, OAuthError> {
        let fields = [
            ("grant_type", "authorization_code"),
            ("redirect_uri", code.redirect),
        ];
        let secrets = vec![("code", code.code), ("code_verifier", code.verifier)];
        self.ask(client, &fields, secrets).await
    }

    /// Turns a refresh token into new tokens.
    pub(super) async fn refresh(&self, client: &Client, token: &str) -> Result<Json, OAuthError> {
        let fields = [("grant_type", "refresh_token")];
        self.ask(client, &fields, vec![("refresh_token", token.to_owned())])
            .await
    }

    /// Asks for tokens in the client's own name.
    pub(super) async fn own(
        &self,
        client: &Client,
        scope: Option<&str>,
    ) -> Result<Json, OAuthError> {
        let mut fields = vec![("grant_type", "client_credentials")];
        fields.extend(scope.map(|scope| ("scope", scope)));
        self.ask(client, &fields, Vec::new()).await
    }

    /// Asks the person's identity provider to vouch for them, and shows its word to the server's
    /// authorization server.
    pub(super) async fn vouched(
        &self,
        client: &Client,
        idp: &IdentityProvider,
        scope: Option<&str>,
    ) -> Result<Json, OAuthError> {
        let audience = match self.metadata.issuer() {
            Some(issuer) => issuer.to_owned(),
            None => self.metadata.token_endpoint()?.to_string(),
        };
        let endpoint = match (&idp.token_endpoint, &idp.issuer) {
            (Some(endpoint), _) => Reach::of(endpoint).allowed(endpoint.as_str())?,
            (None, Some(issuer)) => issuer_metadata(self.http, issuer).await?.token_endpoint()?,
            (None, None) => return Err(OAuthError::Settings("oauth.idp names no provider")),
        };
        let there = Client {
            id: idp.client_id.clone(),
            secret: Some(idp.client_secret.expose().to_owned()).filter(|text| !text.is_empty()),
            method: if idp.client_secret.is_empty() {
                Method::Public
            } else {
                Method::SecretPost
            },
            registration: None,
        };
        let mut fields = vec![
            ("grant_type", EXCHANGE),
            ("requested_token_type", ID_JAG),
            ("subject_token_type", ID_TOKEN),
            ("audience", audience.as_str()),
        ];
        fields.extend(scope.map(|scope| ("scope", scope)));
        let subject = vec![("subject_token", idp.id_token.expose().to_owned())];
        let word = self.ask_at(&endpoint, &there, &fields, subject).await?;
        let word = word.get("access_token").and_then(Json::as_str);
        let word = word.ok_or(OAuthError::BadAnswer("access_token"))?;
        let mut fields = vec![("grant_type", JWT_GRANT)];
        fields.extend(scope.map(|scope| ("scope", scope)));
        self.ask(client, &fields, vec![("assertion", word.to_owned())])
            .await
    }

    async fn ask(
        &self,
        client: &Client,
        fields: &[(&str, &str)],
        secrets: Vec<(&'static str, String)>,
    ) -> Result<Json, OAuthError> {
        let endpoint = self.metadata.token_endpoint()?;
        self.ask_at(&endpoint, client, fields, secrets).await
    }

    async fn ask_at(
        &self,
        endpoint: &Url,
        client: &Client,
        fields: &[(&str, &str)],
        mut secrets: Vec<(&'static str, String)>,
    ) -> Result<Json, OAuthError> {
        let origin = Origin::of(endpoint).map_err(|_| OAuthError::BadAnswer("token_endpoint"))?;
        let mut fields = fields.to_vec();
        fields.extend(
            self.metadata
                .resource()
                .map(|resource| ("resource", resource)),
        );
        let own = client.secret.clone();
        let without = || OAuthError::Settings("the client has no secret to show");
        let mut header = None;
        match client.method {
            Method::Public => fields.push(("client_id", &client.id)),
            Method::SecretPost => {
                fields.push(("client_id", &client.id));
                secrets.push(("client_secret", own.ok_or_else(without)?));
            }
            Method::SecretBasic => {
                let username = encoded(&client.id);
                let password = encoded(&own.ok_or_else(without)?);
                header = Some((password, AuthScheme::Basic { username }));
            }
            Method::Signed => {
                fields.push(("client_id", &client.id));
                fields.push(("client_assertion_type", JWT_CLIENT));
                secrets.push(("client_assertion", self.signed(&client.id, endpoint).await?));
            }
        }
        let mut request = ask_for_tokens(self.http, endpoint).form(fields);
        for (name, value) in secrets {
            let scheme = AuthScheme::FormField(name.to_owned());
            request = request.auth(&secret(name, value, &origin)?, scheme);
        }
        if let Some((value, scheme)) = header {
            request = request.auth(&secret("client_secret", value, &origin)?, scheme);
        }
        answer(request).await
    }

    async fn signed(&self, client: &str, endpoint: &Url) -> Result<String, OAuthError> {
        let key = self.settings.key.clone();
        let key = key.ok_or(OAuthError::Settings("oauth.private_key_path is not set"))?;
        let audience = self.metadata.issuer().unwrap_or(endpoint.as_str());
        let (client, audience) = (client.to_owned(), audience.to_owned());
        let now = self.clock.now();
        blocking(move || assertion(&key, &client, &audience, now)).await
    }
}

/// Does something that waits for files, away from the threads that must not.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, OAuthError> + Send + 'static,
) -> Result<T, OAuthError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(OAuthError::CutOff(error.to_string())),
    }
}

fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}
