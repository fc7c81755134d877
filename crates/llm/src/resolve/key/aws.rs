//! Key pairs of AWS: from variables, or from a profile of the file that its own programs keep.

use super::search::usable;
use super::{Opened, bind};
use crate::resolve::address::{Base, region};
use crate::resolve::error::ResolveError;
use crate::resolve::server::Server;
use crate::resolve::{Credential, KeySource, Request};
use crate::route::Auth;

/// The halves of a key pair, and the token of a temporary one.
pub(super) const ID: &str = "AWS_ACCESS_KEY_ID";
pub(super) const SECRET: &str = "AWS_SECRET_ACCESS_KEY";
const SESSION: &str = "AWS_SESSION_TOKEN";

/// The variable that names a profile.
const PROFILE: &str = "AWS_PROFILE";
/// The profile that is meant when none is named.
const USUAL: &str = "default";

/// A key pair and where it stands.
struct Pair {
    id: String,
    secret: String,
    session: Option<String>,
    source: KeySource,
    from: String,
}

/// The key pair that signs for a route, if there is one.
pub(super) fn open(
    request: &Request<'_>,
    server: &Server<'_>,
    base: &Base,
) -> Result<Option<Opened>, ResolveError> {
    let pair = match in_variables(request) {
        Some(pair) => pair,
        None => match in_file(request)? {
            Some(pair) => pair,
            None => return Ok(None),
        },
    };
    if !base.tied {
        return Err(ResolveError::ForeignKey {
            variable: pair.from,
            provider: server.id.clone(),
            name: server.name.clone(),
            host: base.host(),
            from: base.from.clone(),
        });
    }
    let mut value = format!("{}\n{}", pair.id, pair.secret);
    if let Some(token) = &pair.session {
        value.push('\n');
        value.push_str(token);
    }
    Ok(Some(Opened {
        why: Some((hermes_secrets::mask(&pair.secret), pair.from)),
        credential: Credential::Key {
            from: pair.source,
            secret: bind(SECRET, value, base)?,
        },
        auth: Auth::SigV4 {
            region: region(request),
        },
    }))
}

fn in_variables(request: &Request<'_>) -> Option<Pair> {
    let value = |name: &str| {
        let value = request.environment.get(name).and_then(usable);
        value.map(str::to_owned)
    };
    Some(Pair {
        id: value(ID)?,
        secret: value(SECRET)?,
        session: value(SESSION),
        source: KeySource::Variable(SECRET.to_owned()),
        from: request.variable_origin(SECRET),
    })
}

/// A profile that was named and has no key pair is a mistake; the usual one need not be there.
fn in_file(request: &Request<'_>) -> Result<Option<Pair>, ResolveError> {
    let named = request.variable(PROFILE);
    let profile = named.unwrap_or(USUAL);
    let Some(path) = request.aws_credentials else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let value = |key| {
        entry(&text, profile, key)
            .and_then(usable)
            .map(str::to_owned)
    };
    let pair = value("aws_access_key_id").zip(value("aws_secret_access_key"));
    match (pair, named) {
        (Some((id, secret)), _) => Ok(Some(Pair {
            id,
            secret,
            session: value("aws_session_token"),
            source: KeySource::Setting(format!("aws:{profile}")),
            from: format!("{}: [{profile}]", path.display()),
        })),
        (None, Some(named)) => Err(ResolveError::NoAwsKeys {
            profile: named.to_owned(),
            file: path.to_owned(),
        }),
        (None, None) => Ok(None),
    }
}

/// The value of a key in a section of the file.
fn entry<'t>(text: &'t str, section: &str, key: &str) -> Option<&'t str> {
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            inside = name.trim() == section;
        } else if inside
            && let Some((name, value)) = line.split_once('=')
            && name.trim() == key
        {
            return Some(value.trim());
        }
    }
    None
}
