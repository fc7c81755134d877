//! Which key opens a route. One order for every kind of provider: the flag, the variable that is named,
//! the key that is written down, the provider's own variables, the stored login.

mod aws;
mod entra;
mod google;
mod passed_on;
mod search;

use hermes_secrets::{Origin, Secret, SecretName};

use super::address::Base;
use super::error::ResolveError;
use super::server::{Kind, Server};
use super::wanted::Wanted;
use super::{Credential, KeySource, Request};
use crate::cloud::Mint;
use crate::profile::{AuthStyle, KeyNeed, Profile};
use crate::route::Auth;
pub(super) use google::file as google_file;
use search::{Found, Goes, find, usable};

/// A key, how it is sent and how that is explained.
pub(super) struct Opened {
    pub(super) credential: Credential,
    pub(super) auth: Auth,
    /// The masked key and its origin.
    pub(super) why: Option<(String, String)>,
}

/// What a key has to fit.
pub(super) struct Lock<'a> {
    pub(super) style: &'a AuthStyle,
    /// Variables of the provider that may hold a key.
    pub(super) variables: &'a [String],
}

/// Finds the key of a route and binds it to the route's origin.
pub(super) fn open(
    request: &Request<'_>,
    wanted: &Wanted,
    server: &Server<'_>,
    base: &Base,
    lock: &Lock<'_>,
) -> Result<Opened, ResolveError> {
    let profile = &server.profile;
    if server.id == AZURE && request.config.model.auth_mode == "entra_id" {
        return entra::open(request, server, base);
    }
    let header = match lock.style {
        AuthStyle::Bearer | AuthStyle::Aws => Auth::Bearer,
        AuthStyle::Google => return google::open(request, server, base),
        AuthStyle::Header(name) => match name.parse() {
            Ok(name) => Auth::Header(name),
            Err(_) => return Err(ResolveError::BadHeader { name: name.clone() }),
        },
        AuthStyle::None | AuthStyle::Embedded => return Ok(nothing()),
    };
    if let Some(found) = find(request, wanted, server, base, lock.variables)? {
        check(profile, server, base, &found)?;
        let secret = bind(&name_of(&found), found.value.clone(), base)?;
        return Ok(Opened {
            why: Some((hermes_secrets::mask(&found.value), found.from)),
            credential: Credential::Key {
                from: found.source,
                secret,
            },
            auth: header,
        });
    }
    if *lock.style == AuthStyle::Aws
        && let Some(opened) = aws::open(request, server, base)?
    {
        return Ok(opened);
    }
    if request.logins.contains(&server.id) && stored_fits(request, server, base)? {
        return Ok(Opened {
            why: Some(("signed in".to_owned(), "the stored login".to_owned())),
            credential: Credential::Login {
                provider: server.id.clone(),
            },
            auth: header,
        });
    }
    match (server.kind, profile.key) {
        (Kind::BuiltIn, KeyNeed::Login) => Err(ResolveError::MissingLogin {
            provider: server.id.clone(),
            name: server.name.clone(),
        }),
        (Kind::BuiltIn, KeyNeed::Required) => Err(missing(server, lock.variables.to_vec())),
        // An endpoint of the user's own may do without a key unless its host is known to want one.
        (Kind::Named, KeyNeed::Required) if !base.local() => {
            Err(missing(server, lock.variables.to_vec()))
        }
        (Kind::BuiltIn | Kind::Named | Kind::Plain, _) => Ok(nothing()),
    }
}

/// The provider with deployments in Azure, where Microsoft's sign-in may stand in for a key.
const AZURE: &str = "azure-foundry";

/// Where keys and logins are stored, for people.
const STORED: &str = "auth.json";

/// What is made for a while, and goes only where the user said that the provider is.
fn minted(
    mint: Mint,
    auth: Auth,
    from: &str,
    server: &Server<'_>,
    base: &Base,
) -> Result<Opened, ResolveError> {
    if !base.tied {
        return Err(foreign(from, server, base));
    }
    Ok(Opened {
        why: Some((mint.label().to_owned(), from.to_owned())),
        credential: Credential::Minted(Box::new(mint)),
        auth,
    })
}

/// Whether a key pair of AWS signs the requests. A token that opens them comes first.
pub(super) fn signs(
    request: &Request<'_>,
    wanted: &Wanted,
    server: &Server<'_>,
    base: &Base,
) -> bool {
    let pair = || aws::open(request, server, base).is_ok_and(|opened| opened.is_some());
    server.profile.auth == AuthStyle::Aws
        && value(request, wanted, server, base).is_none()
        && pair()
}

/// The key that is set for a provider, wherever it stands.
pub(super) fn value(
    request: &Request<'_>,
    wanted: &Wanted,
    server: &Server<'_>,
    base: &Base,
) -> Option<String> {
    let found = find(request, wanted, server, base, &server.profile.key_env);
    found.ok().flatten().map(|found| found.value)
}

fn nothing() -> Opened {
    Opened {
        credential: Credential::None,
        auth: Auth::None,
        why: None,
    }
}

fn missing(server: &Server<'_>, variables: Vec<String>) -> ResolveError {
    ResolveError::MissingKey {
        name: server.name.clone(),
        variables,
        signup: server.profile.signup.clone(),
    }
}

fn check(
    profile: &Profile,
    server: &Server<'_>,
    base: &Base,
    found: &Found,
) -> Result<(), ResolveError> {
    let refused = profile
        .refused_keys
        .iter()
        .find(|refused| found.value.starts_with(&refused.prefix));
    if let Some(refused) = refused {
        return Err(ResolveError::RefusedKey {
            from: found.from.clone(),
            why: refused.why.clone(),
            signup: profile.signup.clone(),
        });
    }
    match found.goes {
        Goes::Home if !base.tied => Err(foreign(&name_of(found), server, base)),
        Goes::Home | Goes::Here => Ok(()),
    }
}

/// Whether something that is stored for a provider may go to this address.
fn stored_fits(
    request: &Request<'_>,
    server: &Server<'_>,
    base: &Base,
) -> Result<bool, ResolveError> {
    if base.tied {
        return Ok(true);
    }
    let origin = Origin::of(&base.url).ok();
    let own = || {
        let all = request.stored.iter();
        all.filter(|stored| stored.provider == server.id)
    };
    if origin.is_some() && own().any(|stored| stored.only == origin) {
        return Ok(true);
    }
    // Endpoints of one's own have a key for each address, and may do without one at another.
    if server.kind == Kind::BuiltIn || own().any(|stored| stored.only.is_none()) {
        return Err(foreign(STORED, server, base));
    }
    Ok(false)
}

/// A key of the provider must not go to the address in force.
fn foreign(key: &str, server: &Server<'_>, base: &Base) -> ResolveError {
    if server.profile.expects(&base.url) {
        return unsafe_place(key, base);
    }
    ResolveError::ForeignKey {
        variable: key.to_owned(),
        provider: server.id.clone(),
        name: server.name.clone(),
        host: base.host(),
        from: base.from.clone(),
    }
}

/// A key must not go where others may read it.
fn unsafe_place(key: &str, base: &Base) -> ResolveError {
    ResolveError::UnsafePlace {
        variable: key.to_owned(),
        place: base.url.origin().ascii_serialization(),
        from: base.from.clone(),
    }
}

/// What speaks for choosing a provider by itself.
pub(super) fn presence(request: &Request<'_>, profile: &Profile) -> Option<String> {
    let has = |name: &str| {
        request
            .environment
            .get_named(name)
            .and_then(usable)
            .is_some()
    };
    let entry = request.config.providers.get(&profile.id);
    let written =
        entry.is_some_and(|entry| usable(entry.api_key.expose()).is_some() || has(&entry.key_env));
    if written {
        return Some(format!("the key of providers.{}", profile.id));
    }
    let variable = profile.key_env.iter().find(|name| has(name));
    if let Some(variable) = variable {
        return Some(request.variable_origin(variable));
    }
    let kept = request.logins.contains(&profile.id);
    kept.then(|| format!("the stored key of {}", profile.id))
}

/// What speaks for choosing a provider whose key pairs have other uses too.
pub(super) fn pair_presence(request: &Request<'_>, profile: &Profile) -> Option<String> {
    (profile.auth == AuthStyle::Aws).then(|| aws::presence(request))?
}

fn name_of(found: &Found) -> String {
    match &found.source {
        KeySource::Flag => "flag".to_owned(),
        KeySource::Variable(name) | KeySource::Setting(name) => name.clone(),
    }
}

fn bind(name: &str, value: String, base: &Base) -> Result<Secret, ResolveError> {
    let bad = |why| ResolveError::BadAddress {
        from: base.from.clone(),
        why,
    };
    let legal = |c: char| {
        if c.is_ascii_alphanumeric() || "_.:/@-".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(legal).take(128).collect();
    let origin = Origin::of(&base.url).map_err(|_| bad("it has no host"))?;
    // Both were made legal above: the name by its characters, the value by not being empty.
    let secret = SecretName::new(&name).and_then(|name| Secret::new(name, value, [origin.into()]));
    secret.map_err(|_| bad("its key cannot be used"))
}
