//! Who serves: a provider with a profile, or an endpoint of the user's own.

use std::sync::Arc;

use hermes_config::Provider;
use url::Url;

use super::error::ResolveError;
use super::wanted::{Said, Wanted};
use super::{Request, key};
use crate::alias;
use crate::profile::{AuthStyle, Choosable, KeyNeed, Profile, ProfileError};

/// Whoever serves a model.
pub(super) struct Server<'a> {
    /// `deepseek`, `custom`, `ollama` or `custom:lab`.
    pub(super) id: String,
    /// The name for people.
    pub(super) name: String,
    /// Its data; of an endpoint, that of the provider its host belongs to.
    pub(super) profile: Arc<Profile>,
    /// Its entry in the settings.
    pub(super) settings: Option<Entry<'a>>,
    /// Whether it is an endpoint of the user's own.
    pub(super) kind: Kind,
    /// The address the alias stands for.
    pub(super) place: Option<String>,
    /// Why it was chosen.
    pub(super) from: String,
}

/// What kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// With a profile of its own.
    BuiltIn,
    /// Named in the settings.
    Named,
    /// An address without a name.
    Plain,
}

/// An entry of `providers` or `custom_providers`.
#[derive(Clone)]
pub(super) struct Entry<'a> {
    /// The setting's path, such as `providers.lab`.
    pub(super) path: String,
    /// What the user calls it.
    pub(super) key: String,
    pub(super) values: &'a Provider,
}

/// Every endpoint of the user's own.
pub(super) fn endpoints<'a>(request: &Request<'a>) -> Vec<Entry<'a>> {
    let config = request.config;
    let map = config.providers.iter().map(|(key, values)| Entry {
        path: format!("providers.{key}"),
        key: alias::normal(key),
        values,
    });
    let list = config
        .custom_providers
        .iter()
        .enumerate()
        .map(|(index, values)| Entry {
            path: format!("custom_providers.{index}"),
            key: alias::normal(&values.name),
            values,
        });
    map.chain(list)
        .filter(|entry| !entry.values.base_url.is_empty())
        .collect()
}

fn endpoint<'a>(request: &Request<'a>, name: &str) -> Option<Entry<'a>> {
    let all = endpoints(request);
    let by_key = all.iter().find(|entry| entry.key == name);
    by_key
        .or_else(|| {
            all.iter()
                .find(|entry| alias::normal(&entry.values.name) == name)
        })
        .cloned()
}

/// Whether a name is one of a provider or endpoint.
pub(super) fn is_name(request: &Request<'_>, name: &str) -> Result<bool, ProfileError> {
    Ok(match name.strip_prefix("custom:") {
        Some(own) => endpoint(request, own).is_some(),
        None => {
            endpoint(request, name).is_some()
                || request.profiles.find(name)?.is_some()
                || alias::left_out(name).is_some()
        }
    })
}

/// The server of a name: an id, an endpoint of the user's own, an alias, in this order.
pub(super) fn by_name<'a>(request: &Request<'a>, said: &Said) -> Result<Server<'a>, ResolveError> {
    let name = said.value.as_str();
    let own = name.strip_prefix("custom:");
    let exact = match own {
        Some(_) => None,
        None => request.profiles.get(name)?,
    };
    let found = endpoint(request, own.unwrap_or(name));
    let server = match (exact, found) {
        // The embedded model gives way: `local` was a free name before there was one.
        (Some(profile), Some(entry)) if profile.auth == AuthStyle::Embedded => {
            of_endpoint(request, entry)?
        }
        (Some(profile), _) => of_profile(request, profile, name),
        (None, Some(entry)) => of_endpoint(request, entry)?,
        (None, None) => match (own, request.profiles.find(name)?) {
            (None, Some(profile)) => of_profile(request, profile, name),
            _ => return Err(unknown(request, name)?),
        },
    };
    if let Some(entry) = server
        .settings
        .as_ref()
        .filter(|entry| !entry.values.enabled)
    {
        return Err(ResolveError::Disabled {
            provider: server.id,
            setting: format!("{}.enabled", entry.path),
        });
    }
    Ok(Server {
        from: said.from.clone(),
        ..server
    })
}

fn unknown(request: &Request<'_>, name: &str) -> Result<ResolveError, ProfileError> {
    if let Some(why) = alias::left_out(name) {
        return Ok(ResolveError::LeftOut {
            name: name.to_owned(),
            why,
        });
    }
    let own: Vec<_> = endpoints(request)
        .into_iter()
        .map(|entry| entry.key)
        .collect();
    let bare = name.strip_prefix("custom:").unwrap_or(name);
    Ok(ResolveError::UnknownProvider {
        name: name.to_owned(),
        suggestion: alias::nearest(bare, request.profiles, &own)?,
    })
}

fn of_profile<'a>(request: &Request<'a>, profile: Arc<Profile>, name: &str) -> Server<'a> {
    let id = profile.id_of(name).to_owned();
    let settings = request.config.providers.get(&id).map(|values| Entry {
        path: format!("providers.{id}"),
        key: id.clone(),
        values,
    });
    let kind = if profile.id == "custom" {
        Kind::Plain
    } else {
        Kind::BuiltIn
    };
    Server {
        id,
        name: profile.name.clone(),
        place: profile.places.get(name).cloned(),
        profile,
        settings,
        kind,
        from: String::new(),
    }
}

fn of_endpoint<'a>(request: &Request<'a>, entry: Entry<'a>) -> Result<Server<'a>, ResolveError> {
    let profile = match owner_of(request, &entry.values.base_url)? {
        Some(profile) => profile,
        None => custom(request)?,
    };
    let name = match entry.values.name.as_str() {
        "" => entry.key.clone(),
        name => name.to_owned(),
    };
    Ok(Server {
        id: format!("custom:{}", entry.key),
        name,
        profile,
        settings: Some(entry),
        kind: Kind::Named,
        place: None,
        from: String::new(),
    })
}

/// The profile of endpoints that belong to nobody known.
pub(super) fn custom(request: &Request<'_>) -> Result<Arc<Profile>, ResolveError> {
    request
        .profiles
        .get("custom")?
        .ok_or_else(|| ResolveError::UnknownProvider {
            name: "custom".to_owned(),
            suggestion: None,
        })
}

/// The provider that a URL's host belongs to.
pub(super) fn owner_of(
    request: &Request<'_>,
    url: &str,
) -> Result<Option<Arc<Profile>>, ResolveError> {
    let Ok(url) = Url::parse(url) else {
        return Ok(None);
    };
    let Some(host) = url.host_str() else {
        return Ok(None);
    };
    let near = request.profiles.near(host)?;
    let owners = near.into_iter().filter(|profile| profile.owns(host));
    Ok(owners.max_by_key(|profile| profile.closeness(&url)))
}

/// Whether a model's name is the path of a file with a model in it.
pub(super) fn is_model_file(model: &str) -> bool {
    model.contains('/') && model.to_ascii_lowercase().ends_with(".gguf")
}

/// The server when nobody is named: by address, by key, by login, the only endpoint, a key pair of AWS, the model
/// inside.
pub(super) fn automatic<'a>(
    request: &Request<'a>,
    wanted: &Wanted,
) -> Result<Server<'a>, ResolveError> {
    let chosen = |(profile, from): Candidate| Server {
        from,
        ..of_profile(request, profile.clone(), &profile.id)
    };
    if let Some(said) = by_what_is_said(request, wanted)? {
        return Ok(chosen(said));
    }
    let logins = logins(request)?;
    let mut candidates = with_key(request)?;
    if let Some(index) = best(&candidates, wanted.model.as_ref()) {
        let (profile, from) = candidates.swap_remove(index);
        let login = logins.iter().find(|login| login.key == KeyNeed::Login);
        let from = match login {
            Some(login) => before_login(&profile, &from, login),
            None => from,
        };
        return Ok(chosen((profile, from)));
    }
    if let Some(login) = logins.into_iter().next() {
        let from = format!("the stored login of {}", login.id);
        return Ok(chosen((login, from)));
    }
    let mut own = endpoints(request);
    own.retain(|entry| entry.values.enabled);
    if let ([_], Some(entry)) = (own.as_slice(), own.first().cloned()) {
        let from = format!("the only endpoint: {}", entry.path);
        return Ok(Server {
            from,
            ..of_endpoint(request, entry)?
        });
    }
    if let Some(found) = with_pair(request)?.into_iter().next() {
        return Ok(chosen(found));
    }
    if request.embedded.is_some()
        && let Some(profile) = request.profiles.get("local")?
    {
        return Ok(chosen((profile, "nothing else is set up".to_owned())));
    }
    Err(ResolveError::NoProvider)
}

/// The provider that an address, a file or a key on the command line belongs to.
fn by_what_is_said(
    request: &Request<'_>,
    wanted: &Wanted,
) -> Result<Option<Candidate>, ResolveError> {
    if let Some(url) = &wanted.base_url {
        let profile = match owner_of(request, &url.value)? {
            Some(profile) => profile,
            None => custom(request)?,
        };
        return Ok(Some((profile, format!("the address from {}", url.from))));
    }
    let model = wanted.model.as_ref();
    if model.is_some_and(|model| is_model_file(&model.value))
        && let Some(profile) = request.profiles.get("local")?
    {
        return Ok(Some((profile, "the model is a file".to_owned())));
    }
    if wanted.flag_key.is_some()
        && let Some(profile) = request.profiles.get("openrouter")?
    {
        return Ok(Some((profile, "the key on the command line".to_owned())));
    }
    Ok(None)
}

/// The providers of stored logins that can be used, the active one first.
fn logins(request: &Request<'_>) -> Result<Vec<Arc<Profile>>, ProfileError> {
    let mut found = Vec::new();
    for login in request.logins {
        let profile = request.profiles.get(login)?;
        found.extend(profile.filter(|profile| enabled(request, profile)));
    }
    Ok(found)
}

/// Who has signed in somewhere may not expect a key to count before that.
fn before_login(profile: &Profile, from: &str, login: &Profile) -> String {
    let (chosen, signed_in) = (&profile.id, &login.id);
    tracing::warn!(
        target: "hermes::llm",
        "{chosen} answers because of a key ({from}), which counts before the login of {signed_in}"
    );
    format!("{from}, which counts before the login of {signed_in}")
}

/// A provider that `auto` may choose, and what speaks for it.
type Candidate = (Arc<Profile>, String);

/// Providers that `auto` may choose and that have a key, with what speaks for each.
pub(super) fn with_key(request: &Request<'_>) -> Result<Vec<Candidate>, ProfileError> {
    choosable(request, key::presence)
}

/// The same for key pairs, which are often there for other programs and so come last.
pub(super) fn with_pair(request: &Request<'_>) -> Result<Vec<Candidate>, ProfileError> {
    choosable(request, key::pair_presence)
}

fn choosable(
    request: &Request<'_>,
    presence: impl Fn(&Request<'_>, &Profile) -> Option<String>,
) -> Result<Vec<Candidate>, ProfileError> {
    let mut found = Vec::new();
    for profile in request.profiles.all()? {
        if profile.auto == Choosable::No
            || profile.key != KeyNeed::Required
            || !enabled(request, &profile)
            || !has_address(request, &profile)
        {
            continue;
        }
        if let Some(from) = presence(request, &profile) {
            found.push((profile, from));
        }
    }
    Ok(found)
}

fn enabled(request: &Request<'_>, profile: &Profile) -> bool {
    let entry = request.config.providers.get(&profile.id);
    entry.is_none_or(|entry| entry.enabled)
}

fn has_address(request: &Request<'_>, profile: &Profile) -> bool {
    let entry = request.config.providers.get(&profile.id);
    profile.base_url.is_some()
        || entry.is_some_and(|entry| !entry.base_url.is_empty())
        || profile
            .base_url_env
            .iter()
            .any(|name| request.named_variable(name).is_some())
}

/// The first candidate at which the model is at home, else the first of all.
fn best(candidates: &[Candidate], model: Option<&Said>) -> Option<usize> {
    let fits = |profile: &Profile| {
        model.is_none_or(|model| match model.value.split_once('/') {
            Some((vendor, _)) => profile.slugs || profile.vendors.iter().any(|own| own == vendor),
            None => profile.serves(&model.value) || alias::expand(&model.value, profile).is_some(),
        })
    };
    candidates
        .iter()
        .position(|(profile, _)| fits(profile))
        .or((!candidates.is_empty()).then_some(0))
}
