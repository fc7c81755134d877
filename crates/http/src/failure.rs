//! Finding out what an error of the HTTP library means.

use std::error::Error;
use std::io;
use std::time::Duration;

use crate::resolve::LookupError;
use crate::{DisplayUrl, HttpError, ProxyEndpoint, Refusal, Stage, TlsFlaw};

/// Turns a lookup's failure into ours.
pub(crate) fn from_lookup(error: LookupError, host: &str, url: DisplayUrl) -> HttpError {
    match error {
        LookupError::Refused(refusal) => HttpError::Refused { url, refusal },
        error @ (LookupError::Failed(_) | LookupError::Empty) => HttpError::Dns {
            host: host.to_owned(),
            source: Box::new(error),
        },
    }
}

/// Where a request was going.
pub(crate) struct Target<'a> {
    pub(crate) host: &'a str,
    pub(crate) url: DisplayUrl,
    /// How long connecting may take.
    pub(crate) connect: Duration,
    pub(crate) proxy: Option<&'a ProxyEndpoint>,
}

/// Sorts an error by its causes. The library's own text is kept as cause without the URL it likes to quote.
pub(crate) fn classify(error: reqwest::Error, target: Target<'_>) -> HttpError {
    let Target {
        host,
        url,
        connect,
        proxy,
    } = target;
    let meaning = meaning(&error);
    let source = Box::new(error.without_url());
    match (meaning, proxy) {
        (Meaning::Refused(refusal), _) => HttpError::Refused { url, refusal },
        // The name that was looked up, and the address that was waited for, are the proxy's.
        (Meaning::Dns | Meaning::ConnectTimeout | Meaning::Connect, Some(proxy)) => {
            HttpError::Connect {
                url,
                proxy: Some(proxy.name()),
                source,
            }
        }
        (Meaning::Dns, None) => HttpError::Dns {
            host: host.to_owned(),
            source,
        },
        (Meaning::Tls(error), _) => HttpError::Tls {
            url,
            flaw: TlsFlaw::new(&error, source),
        },
        (Meaning::ConnectTimeout, None) => HttpError::Timeout {
            url,
            stage: Stage::Connect,
            after: connect,
        },
        (Meaning::Connect, None) => HttpError::Connect {
            url,
            proxy: None,
            source,
        },
        (Meaning::Request, _) => HttpError::invalid_because("the request", source),
        (Meaning::Broken, _) => HttpError::Interrupted { url, source },
    }
}

enum Meaning {
    Refused(Refusal),
    Dns,
    Tls(rustls::Error),
    ConnectTimeout,
    Connect,
    Request,
    Broken,
}

fn meaning(error: &reqwest::Error) -> Meaning {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(current) = cause {
        match current.downcast_ref::<LookupError>() {
            Some(LookupError::Refused(refusal)) => return Meaning::Refused(refusal.clone()),
            Some(LookupError::Failed(_) | LookupError::Empty) => return Meaning::Dns,
            None => {}
        }
        // An io error hides the error it was made of from `source`.
        let wrapped = current
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        let tls = wrapped.and_then(|inner| inner.downcast_ref());
        if let Some(error) = tls.or_else(|| current.downcast_ref::<rustls::Error>()) {
            return Meaning::Tls(error.clone());
        }
        cause = match wrapped {
            Some(inner) => Some(inner),
            None => current.source(),
        };
    }
    if error.is_connect() && error.is_timeout() {
        Meaning::ConnectTimeout
    } else if error.is_connect() {
        Meaning::Connect
    } else if error.is_builder() {
        Meaning::Request
    } else {
        Meaning::Broken
    }
}
