//! Key pairs of AWS that end: of a role, of a sign-in, of a program, of the container or the machine.

pub(crate) mod files;
mod lent;
mod sts;

use std::path::PathBuf;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use hermes_http::BaseUrl;
use hermes_secrets::Secret;
use jiff::Timestamp;
use url::Url;

use super::exchange::{Exchange, secret};
use super::program::Program;
use super::{MintError, Minted};
use crate::oauth::OAuthError;

/// Where a key pair comes from.
#[derive(Debug, Clone)]
pub(crate) enum AwsSource {
    /// It is there, one part on a line: id, secret, perhaps a token. Bound to whom it signs for.
    Keys(Secret),
    /// A role that is taken on with another key pair.
    Role(Box<Role>),
    /// A role that is taken on with a token of the platform.
    WebIdentity {
        sts: BaseUrl,
        arn: String,
        session: String,
        token: PathBuf,
    },
    /// A role of somebody who signed in with `aws sso login`.
    SingleSignOn {
        portal: BaseUrl,
        /// Where the sign-in is kept.
        kept: PathBuf,
        account: String,
        role: String,
    },
    /// What a program prints that a profile names.
    Program(Program),
    /// The role of a container.
    Container { url: Url, token: ContainerToken },
    /// The role of a machine.
    Instance { service: BaseUrl },
}

/// A role, and who takes it on.
#[derive(Debug, Clone)]
pub(crate) struct Role {
    pub(crate) sts: BaseUrl,
    /// The region that is signed for.
    pub(crate) region: String,
    pub(crate) arn: String,
    pub(crate) session: String,
    pub(crate) external_id: Option<String>,
    pub(crate) seconds: Option<u32>,
    pub(crate) with: AwsSource,
}

/// What a container proves itself with.
#[derive(Debug, Clone)]
pub(crate) enum ContainerToken {
    None,
    Value(Secret),
    File(PathBuf),
}

/// A key pair.
pub(super) struct Pair {
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) session: Option<String>,
    pub(super) until: Option<Timestamp>,
}

impl AwsSource {
    pub(super) fn label(&self) -> String {
        match self {
            Self::Keys(_) => "key pair".to_owned(),
            Self::Role(role) => role.arn.clone(),
            Self::WebIdentity { arn, .. } => arn.clone(),
            Self::SingleSignOn { account, role, .. } => format!("{role} of {account}"),
            Self::Program(program) => program.file().display().to_string(),
            Self::Container { .. } => "role of the container".to_owned(),
            Self::Instance { .. } => "role of the machine".to_owned(),
        }
    }
}

impl Pair {
    /// The form that signatures are made from.
    pub(super) fn minted(self) -> Result<Minted, MintError> {
        let mut value = format!("{}\n{}", self.id, self.secret);
        if let Some(session) = &self.session {
            value.push('\n');
            value.push_str(session);
        }
        Ok(Minted {
            secret: secret("aws_key_pair", value, None)?,
            until: self.until,
            project: None,
        })
    }

    fn of_keys(keys: &Secret) -> Option<Self> {
        let mut parts = keys.expose_for_storage("a signature").lines();
        Some(Self {
            id: parts.next()?.to_owned(),
            secret: parts.next()?.to_owned(),
            session: parts.next().map(str::to_owned),
            until: None,
        })
    }
}

/// A key pair from its source. Roles that are taken on with roles are few: whoever made the source
/// limited them.
pub(super) fn pair<'a>(
    exchange: &'a Exchange<'a>,
    source: &'a AwsSource,
) -> BoxFuture<'a, Result<Pair, MintError>> {
    async move {
        match source {
            AwsSource::Keys(keys) => {
                Pair::of_keys(keys).ok_or(OAuthError::BadAnswer("secret key").into())
            }
            AwsSource::Role(role) => {
                let with = pair(exchange, &role.with).await?;
                sts::assume(exchange, role, &with).await
            }
            AwsSource::WebIdentity {
                sts,
                arn,
                session,
                token,
            } => sts::with_token(exchange, sts, arn, session, token).await,
            AwsSource::SingleSignOn {
                portal,
                kept,
                account,
                role,
            } => lent::signed_in(exchange, portal, kept, account, role).await,
            AwsSource::Program(program) => lent::printed(exchange, program).await,
            AwsSource::Container { url, token } => lent::container(exchange, url, token).await,
            AwsSource::Instance { service } => lent::instance(exchange, service).await,
        }
    }
    .boxed()
}

/// The text of the first element of this name. Enough for answers whose values hold no markup.
pub(super) fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (value, _) = rest.split_once(&format!("</{name}>"))?;
    Some(value.trim())
}
