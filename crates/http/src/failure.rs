//! Finding out what an error of the HTTP library means.

use std::error::Error;
use std::io;
use std::time::Duration;

use crate::resolve::LookupError;
use crate::{DisplayUrl, HttpError, Refusal, Stage};

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

/// Sorts an error by its causes. The library's own text is kept as cause without the URL it likes to quote.
pub(crate) fn classify(
    error: reqwest::Error,
    host: &str,
    url: DisplayUrl,
    connect: Duration,
) -> HttpError {
    let meaning = meaning(&error);
    let source = Box::new(error.without_url());
    match meaning {
        Meaning::Refused(refusal) => HttpError::Refused { url, refusal },
        Meaning::Dns => HttpError::Dns {
            host: host.to_owned(),
            source,
        },
        Meaning::Tls => HttpError::Tls { url, source },
        Meaning::ConnectTimeout => HttpError::Timeout {
            url,
            stage: Stage::Connect,
            after: connect,
        },
        Meaning::Connect => HttpError::Connect { url, source },
        Meaning::Request => HttpError::invalid_because("the request", source),
        Meaning::Broken => HttpError::Interrupted { url, source },
    }
}

enum Meaning {
    Refused(Refusal),
    Dns,
    Tls,
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
        if current.is::<rustls::Error>() || wrapped.is_some_and(|inner| inner.is::<rustls::Error>())
        {
            return Meaning::Tls;
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
