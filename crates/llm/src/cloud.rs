//! Credentials that are made out of others and end soon: tokens of Google and Microsoft, key pairs of
//! AWS roles.
//!
//! A [`Mint`] says where such a credential comes from. It holds paths rather than what is in the files,
//! because those are replaced under way, by the platform or by signing in again. Nothing here keeps
//! what was made; the keyring does, and asks again before it ends.

pub(crate) mod aws;
pub(crate) mod entra;
mod exchange;
pub(crate) mod google;
pub(crate) mod program;

use std::fmt;
use std::path::PathBuf;

use hermes_http::HttpClient;
use hermes_secrets::Secret;
use jiff::Timestamp;

use crate::oauth::OAuthError;
use aws::AwsSource;
use entra::Entra;
use exchange::Exchange;
use google::Google;

/// Where credentials for a while come from.
#[derive(Debug, Clone)]
pub struct Mint {
    label: String,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    Google(Google),
    Entra(Entra),
    Aws(AwsSource),
}

/// A credential for a while. Nobody may be shown it until it is bound to an origin.
#[derive(Debug, Clone)]
pub(crate) struct Minted {
    pub(crate) secret: Secret,
    /// When it ends, if that is known.
    pub(crate) until: Option<Timestamp>,
    /// The project it belongs to, where only its maker knows.
    pub(crate) project: Option<String>,
}

/// Why there is no credential.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MintError {
    /// A file it is made from cannot be used.
    #[error("{}: {why}", file.display())]
    File { file: PathBuf, why: String },
    /// Whoever makes it did not.
    #[error(transparent)]
    Exchange(#[from] OAuthError),
    /// A service of the machine did not, which is the last place that was looked at.
    #[error("{looked}: {why}; {next}")]
    Machine {
        looked: String,
        why: OAuthError,
        next: &'static str,
    },
}

impl MintError {
    /// Says where was looked, and what to do when there is nothing to be found.
    pub(crate) fn of_machine(self, looked: impl Into<String>, next: &'static str) -> Self {
        match self {
            Self::Exchange(why) => Self::Machine {
                looked: looked.into(),
                why,
                next,
            },
            Self::File { .. } | Self::Machine { .. } => self,
        }
    }

    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::File { .. } => false,
            // A service that is not there will not come; one that is busy will answer.
            Self::Machine { why, .. } => {
                matches!(why, OAuthError::Refused { .. }) && why.is_transient()
            }
            Self::Exchange(error) => error.is_transient(),
        }
    }
}

impl Mint {
    pub(crate) fn google(account: Google) -> Self {
        Self {
            label: format!("google:{}", account.label()),
            source: Source::Google(account),
        }
    }

    pub(crate) fn entra(identity: Entra) -> Self {
        Self {
            label: format!("entra:{}", identity.label()),
            source: Source::Entra(identity),
        }
    }

    pub(crate) fn aws(source: AwsSource) -> Self {
        Self {
            label: format!("aws:{}", source.label()),
            source: Source::Aws(source),
        }
    }

    /// What people call the credential; two mints with the same label make the same.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Makes one.
    pub(crate) async fn make(
        &self,
        http: &HttpClient,
        now: Timestamp,
    ) -> Result<Minted, MintError> {
        let exchange = Exchange { http, now };
        match &self.source {
            Source::Google(account) => google::token(&exchange, account).await,
            Source::Entra(identity) => entra::token(&exchange, identity).await,
            Source::Aws(source) => aws::pair(&exchange, source).await?.minted(),
        }
    }
}

impl fmt::Display for Mint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}
