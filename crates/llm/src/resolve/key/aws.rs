//! Key pairs of AWS. In this order: variables, a web identity, a profile (a role, a sign-in, keys, a program), the
//! container, the machine.

mod chain;

use hermes_config::Variable;

use super::search::usable;
use super::{Opened, bind, foreign, minted};
use crate::cloud::Mint;
use crate::resolve::address::{Base, region};
use crate::resolve::error::ResolveError;
use crate::resolve::server::Server;
use crate::resolve::{Credential, KeySource, Request};
use crate::route::Auth;
use chain::{Chain, Way};

/// The halves of a key pair, and the token of a temporary one.
const ID: Variable = Variable::AWS_ACCESS_KEY_ID;
const SECRET: Variable = Variable::AWS_SECRET_ACCESS_KEY;
const SESSION: Variable = Variable::AWS_SESSION_TOKEN;

/// A key pair and where it stands.
struct Pair {
    id: String,
    secret: String,
    session: Option<String>,
    source: KeySource,
    from: String,
}

impl Pair {
    /// One part on a line.
    fn value(&self) -> String {
        let mut value = format!("{}\n{}", self.id, self.secret);
        if let Some(token) = &self.session {
            value.push('\n');
            value.push_str(token);
        }
        value
    }
}

/// The key pair that signs for a route, or where one is made, if there is such a thing.
pub(super) fn open(
    request: &Request<'_>,
    server: &Server<'_>,
    base: &Base,
) -> Result<Option<Opened>, ResolveError> {
    let auth = Auth::SigV4 {
        region: region(request),
    };
    let way = match in_variables(request) {
        Some(pair) => Some(Way::Pair(pair)),
        None => Chain::new(request).find()?,
    };
    match way {
        Some(Way::Pair(pair)) if base.tied => Ok(Some(Opened {
            why: Some((hermes_secrets::mask(&pair.secret), pair.from.clone())),
            credential: Credential::Key {
                from: pair.source.clone(),
                secret: bind(SECRET.name, pair.value(), base)?,
            },
            auth,
        })),
        Some(Way::Pair(pair)) => Err(foreign(&pair.from, server, base)),
        Some(Way::Made { source, from }) => {
            minted(Mint::aws(source), auth, &from, server, base).map(Some)
        }
        None => Ok(None),
    }
}

/// What speaks for choosing AWS without being asked to. The role of the machine does not: what it may do is not
/// known before somebody asks.
pub(super) fn presence(request: &Request<'_>) -> Option<String> {
    if in_variables(request).is_some() {
        return Some(request.variable_origin(ID.name));
    }
    // Something of AWS that cannot be used is a matter for those who want AWS.
    match Chain::new(request).set_up().ok().flatten()? {
        Way::Pair(pair) => Some(pair.from),
        Way::Made { from, .. } => Some(from),
    }
}

fn in_variables(request: &Request<'_>) -> Option<Pair> {
    let value = |variable: &Variable| {
        let value = request.environment.get(variable).and_then(usable);
        value.map(str::to_owned)
    };
    Some(Pair {
        id: value(&ID)?,
        secret: value(&SECRET)?,
        session: value(&SESSION),
        source: KeySource::Variable(SECRET.name.to_owned()),
        from: request.variable_origin(SECRET.name),
    })
}
