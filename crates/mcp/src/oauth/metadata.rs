//! What an authorization server says about itself.

use serde_json::{Map, Value as Json, json};
use url::Url;

use super::error::OAuthError;
use super::settings::Method;
use super::wire::Reach;

/// Where we keep, beside what the server said, what we asked it about.
pub(super) const RESOURCE: &str = "resource";
/// And the rights that were asked for after a login.
const WANTED: &str = "wanted_scope";

/// The description of an authorization server, as found or as kept.
#[derive(Debug, Clone)]
pub(super) struct Metadata {
    fields: Map<String, Json>,
    reach: Reach,
}

impl Metadata {
    pub(super) fn new(fields: Map<String, Json>, reach: Reach) -> Self {
        Self { fields, reach }
    }

    /// What servers of the first protocol version offer without describing it.
    pub(super) fn assumed(origin: &Url, reach: Reach) -> Self {
        let at = |path: &str| {
            let mut url = origin.clone();
            url.set_path(path);
            url.set_query(None);
            url.set_fragment(None);
            json!(url.as_str())
        };
        let fields = [
            ("authorization_endpoint", at("/authorize")),
            ("token_endpoint", at("/token")),
            ("registration_endpoint", at("/register")),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        Self::new(fields.into_iter().collect(), reach)
    }

    pub(super) fn fields(&self) -> &Map<String, Json> {
        &self.fields
    }

    pub(super) fn issuer(&self) -> Option<&str> {
        self.text("issuer")
    }

    pub(super) fn authorization_endpoint(&self) -> Result<Url, OAuthError> {
        self.endpoint("authorization_endpoint")?
            .ok_or(OAuthError::BadAnswer("authorization_endpoint"))
    }

    pub(super) fn token_endpoint(&self) -> Result<Url, OAuthError> {
        self.endpoint("token_endpoint")?
            .ok_or(OAuthError::BadAnswer("token_endpoint"))
    }

    pub(super) fn registration_endpoint(&self) -> Result<Option<Url>, OAuthError> {
        self.endpoint("registration_endpoint")
    }

    /// Whether it says that it cannot do PKCE as we do. Many say nothing and can.
    pub(super) fn lacks_pkce(&self) -> bool {
        let methods = self.list("code_challenge_methods_supported");
        methods.is_some_and(|methods| !methods.contains(&"S256"))
    }

    /// Whether the address of a client's description may stand for its id.
    pub(super) fn takes_metadata_documents(&self) -> bool {
        self.flag("client_id_metadata_document_supported")
    }

    /// Whether the browser must bring back who sent it.
    pub(super) fn promises_issuer(&self) -> bool {
        self.flag("authorization_response_iss_parameter_supported")
    }

    /// Whether it gives tokens that outlive the person's visit only when asked.
    pub(super) fn offers_offline_access(&self) -> bool {
        let scopes = self.list("scopes_supported");
        scopes.is_some_and(|scopes| scopes.contains(&"offline_access"))
    }

    /// How clients may show who they are; `None` when it does not say.
    pub(super) fn methods(&self) -> Option<Vec<Method>> {
        let words = self.list("token_endpoint_auth_methods_supported")?;
        Some(words.into_iter().filter_map(Method::read).collect())
    }

    /// What the tokens are for: kept here for renewals, which ask nobody.
    pub(super) fn resource(&self) -> Option<&str> {
        self.text(RESOURCE)
    }

    pub(super) fn set_resource(&mut self, resource: &str) {
        self.fields.insert(RESOURCE.to_owned(), json!(resource));
    }

    /// The rights a server asked for when the ones of the token were too few.
    pub(super) fn wanted(&self) -> Option<&str> {
        self.text(WANTED)
    }

    pub(super) fn set_wanted(&mut self, scope: &str) {
        self.fields.insert(WANTED.to_owned(), json!(scope));
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.fields
            .get(name)
            .and_then(Json::as_str)
            .filter(|text| !text.is_empty())
    }

    fn flag(&self, name: &str) -> bool {
        self.fields.get(name) == Some(&Json::Bool(true))
    }

    fn list(&self, name: &str) -> Option<Vec<&str>> {
        let list = self.fields.get(name)?.as_array()?;
        Some(list.iter().filter_map(Json::as_str).collect())
    }

    fn endpoint(&self, name: &str) -> Result<Option<Url>, OAuthError> {
        self.text(name)
            .map(|text| self.reach.allowed(text))
            .transpose()
    }
}

/// The rights of both texts, each once.
pub(super) fn joined_scopes(one: Option<&str>, other: Option<&str>) -> Option<String> {
    let mut words: Vec<&str> = Vec::new();
    for word in [one, other]
        .into_iter()
        .flatten()
        .flat_map(str::split_whitespace)
    {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    (!words.is_empty()).then(|| words.join(" "))
}
