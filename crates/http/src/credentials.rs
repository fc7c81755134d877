//! Putting a secret into a request.

use hermes_secrets::{Origin, Secret};
use http::{HeaderName, HeaderValue, header};
use url::Url;

use crate::HttpError;

/// What stands in a URL's path where [`AuthScheme::Path`] puts the secret.
pub const SECRET_MARK: &str = "~secret~";

/// Where a secret goes in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthScheme {
    /// `Authorization: Bearer …`
    Bearer,
    /// `Authorization: WORD …`, for vendors with a word of their own such as `Bot` or `Key`.
    Authorization(&'static str),
    /// `Authorization: Basic …` with the secret as password.
    Basic {
        /// The user.
        username: String,
    },
    /// A header of the vendor's own.
    Header(HeaderName),
    /// A query parameter.
    Query(String),
    /// A field of the form body.
    FormField(String),
    /// The place of [`SECRET_MARK`] in the path, as Telegram wants it.
    Path,
}

/// A request under construction for one hop.
pub(crate) struct Draft {
    pub(crate) url: Url,
    pub(crate) headers: http::HeaderMap,
    pub(crate) form: Option<Vec<(String, String)>>,
    pub(crate) basic: Option<(String, String)>,
}

/// Adds the secret, if the draft's origin may see it.
pub(crate) fn attach(
    draft: &mut Draft,
    secret: &Secret,
    scheme: &AuthScheme,
    origin: &Origin,
) -> Result<(), HttpError> {
    let value = secret.expose_for(origin)?;
    match scheme {
        AuthScheme::Bearer => {
            set_header(draft, &header::AUTHORIZATION, &format!("Bearer {value}"))?
        }
        AuthScheme::Authorization(word) => {
            set_header(draft, &header::AUTHORIZATION, &format!("{word} {value}"))?
        }
        AuthScheme::Header(name) => set_header(draft, name, value)?,
        AuthScheme::Basic { username } => draft.basic = Some((username.clone(), value.to_owned())),
        AuthScheme::Query(name) => {
            // A redirect within the origin may have kept our parameter already.
            if !draft
                .url
                .query_pairs()
                .any(|(known, _)| known == name.as_str())
            {
                draft.url.query_pairs_mut().append_pair(name, value);
            }
        }
        AuthScheme::FormField(name) => {
            draft
                .form
                .get_or_insert_default()
                .push((name.clone(), value.to_owned()));
        }
        AuthScheme::Path => {
            let path = draft.url.path().replace(SECRET_MARK, value);
            draft.url.set_path(&path);
        }
    }
    Ok(())
}

fn set_header(draft: &mut Draft, name: &HeaderName, text: &str) -> Result<(), HttpError> {
    // The library's error is left out: it would not say more, and must not quote the value.
    let mut value =
        HeaderValue::from_str(text).map_err(|_| HttpError::invalid("the credential"))?;
    value.set_sensitive(true);
    draft.headers.insert(name.clone(), value);
    Ok(())
}
