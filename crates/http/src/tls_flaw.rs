//! Why a connection that should be secure is not, in words of our own: those of the libraries are for programmers.

use std::time::Duration;

use jiff::Timestamp;
use rustls::{CertificateError, InvalidMessage};

use crate::error::Cause;

/// Names of a certificate that are shown.
const MOST_NAMES: usize = 3;

/// What is wrong with a connection that should be secure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsFlaw {
    /// No authority that is trusted has signed the certificate.
    #[error("nobody who is trusted here has signed the server's certificate")]
    UnknownIssuer,
    /// The certificate is another server's.
    #[error("the server's certificate is not for {asked}{}", only_for(.named))]
    OtherName {
        /// The name in the address.
        asked: String,
        /// The first of those in the certificate.
        named: Vec<String>,
    },
    /// The certificate is too old.
    #[error("the server's certificate has expired{}", at(*.since))]
    Expired {
        /// Since when, where that is known.
        since: Option<Timestamp>,
    },
    /// The certificate is for later.
    #[error("the server's certificate is not valid yet{}", at(*.until))]
    NotYetValid {
        /// From when on it is, where that is known.
        until: Option<Timestamp>,
    },
    /// What the server shows is made for signing others.
    #[error("the server shows the certificate of an authority in place of one of its own")]
    Authority,
    /// Something else is wrong with the certificate.
    #[error("the server's certificate cannot be used: {0}")]
    Unusable(&'static str),
    /// What answers does not encrypt.
    #[error("what answers there does not speak TLS")]
    NotTls,
    /// Both sides could not agree.
    #[error("the TLS handshake failed")]
    Handshake(#[source] Cause),
}

impl TlsFlaw {
    /// Finds out what an error of the TLS library means; `source` is the same with everything around it.
    pub(crate) fn new(error: &rustls::Error, source: Cause) -> Self {
        tracing::debug!("no trusted connection: {error:?}");
        match error {
            rustls::Error::InvalidCertificate(error) => Self::of_certificate(error),
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => Self::NotTls,
            _ => Self::Handshake(source),
        }
    }

    fn of_certificate(error: &CertificateError) -> Self {
        match error {
            CertificateError::UnknownIssuer => Self::UnknownIssuer,
            CertificateError::NotValidForName => Self::OtherName {
                asked: "the name in the address".to_owned(),
                named: Vec::new(),
            },
            CertificateError::NotValidForNameContext {
                expected,
                presented,
            } => Self::OtherName {
                asked: expected.to_str().into_owned(),
                named: presented
                    .iter()
                    .take(MOST_NAMES)
                    .map(|name| bare(name))
                    .collect(),
            },
            CertificateError::Expired => Self::Expired { since: None },
            CertificateError::ExpiredContext { not_after, .. } => Self::Expired {
                since: moment(not_after.as_secs()),
            },
            CertificateError::NotValidYet => Self::NotYetValid { until: None },
            CertificateError::NotValidYetContext { not_before, .. } => Self::NotYetValid {
                until: moment(not_before.as_secs()),
            },
            CertificateError::Other(other)
                if other.0.downcast_ref() == Some(&webpki::Error::CaUsedAsEndEntity) =>
            {
                Self::Authority
            }
            CertificateError::Revoked => Self::Unusable("it was revoked"),
            CertificateError::BadSignature => Self::Unusable("its signature is wrong"),
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
                Self::Unusable("it is not made for servers")
            }
            CertificateError::BadEncoding => Self::Unusable("it cannot be read"),
            _ => Self::Unusable("it is of a kind that cannot be checked"),
        }
    }

    /// Whether the certificate is to blame, so that asking again gives the same.
    pub fn is_of_certificate(&self) -> bool {
        match self {
            Self::UnknownIssuer
            | Self::OtherName { .. }
            | Self::Expired { .. }
            | Self::NotYetValid { .. }
            | Self::Authority
            | Self::Unusable(_) => true,
            Self::NotTls | Self::Handshake(_) => false,
        }
    }

    /// What to do about it, where that does not depend on who asked.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::OtherName { .. } => Some("write the address with a name the certificate is for"),
            Self::Expired { .. } => {
                Some("have the server's certificate renewed, or set the clock of this machine")
            }
            Self::NotYetValid { .. } => Some("set the clock of this machine"),
            Self::Authority => Some(
                "give the server a certificate with CA:FALSE, signed by that authority, and trust the authority",
            ),
            Self::Unusable(_) => Some("give the server another certificate"),
            Self::NotTls => {
                Some("see whether the address begins with http:// in place of https://")
            }
            Self::UnknownIssuer | Self::Handshake(_) => None,
        }
    }
}

fn only_for(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!(", only for {}", names.join(", ")),
    }
}

fn at(moment: Option<Timestamp>) -> String {
    let said = moment.map(|moment| format!(" ({})", moment.strftime("%Y-%m-%d")));
    said.unwrap_or_default()
}

fn moment(seconds: u64) -> Option<Timestamp> {
    Timestamp::UNIX_EPOCH
        .checked_add(Duration::from_secs(seconds))
        .ok()
}

/// A name without what the library says of its kind: `vendor.test` of `DnsName("vendor.test")`.
fn bare(name: &str) -> String {
    let inner = name.split_once('(').map_or(name, |(_, inner)| inner);
    inner.trim_end_matches(')').trim_matches('"').to_owned()
}
