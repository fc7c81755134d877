//! Looking for a key in all the places one may stand, in one order.

use url::Host;

use super::{missing, name_of, unsafe_place};
use crate::resolve::address::Base;
use crate::resolve::error::ResolveError;
use crate::resolve::server::{self, Kind, Server};
use crate::resolve::wanted::{Said, Wanted, Written};
use crate::resolve::{KeySource, Request};

/// Shorter values are leftovers.
const SHORTEST: usize = 4;

/// Words that stand where a key should be.
const PLACEHOLDERS: &[&str] = &[
    "your_api_key",
    "your-api-key",
    "your_api_key_here",
    "your-api-key-here",
    "your_key_here",
    "your-key-here",
    "api_key",
    "changeme",
    "change-me",
    "change_me",
    "placeholder",
    "none",
    "null",
    "undefined",
    "todo",
    "example",
    "xxxx",
    "sk-...",
    "no-key",
    "no-key-required",
];

/// Labels in front of a host that say nothing about whose it is.
const PREFIXES: [&str; 2] = ["api", "www"];

/// A key that was found.
pub(super) struct Found {
    pub(super) value: String,
    pub(super) source: KeySource,
    pub(super) from: String,
    pub(super) goes: Goes,
}

/// Where a key may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goes {
    /// To the address in force: it was said beside it, or was chosen by its host.
    Here,
    /// Where its provider is.
    Home,
}

/// The one order: the flag, the variable that is named, the key that is written down, the variables of
/// the provider.
pub(super) fn find(
    request: &Request<'_>,
    wanted: &Wanted,
    server: &Server<'_>,
    base: &Base,
    variables: &[String],
) -> Result<Option<Found>, ResolveError> {
    if let Some(value) = &wanted.flag_key {
        return Ok(Some(Found {
            value: value.clone(),
            source: KeySource::Flag,
            from: "the command line: --api-key".to_owned(),
            goes: Goes::Here,
        }));
    }
    let named = named_variables(request, wanted, server);
    let found = named
        .iter()
        .find_map(|(said, goes)| in_named_variable(request, said, *goes))
        .or_else(|| in_settings(request, wanted, server));
    if found.is_some() {
        return Ok(found);
    }
    if !named.is_empty() {
        // A variable that was named and is not there is a mistake, not a reason to take another key.
        let names = named.into_iter().map(|(said, _)| said.value).collect();
        return Err(missing(server, names));
    }
    scoped(request, server, base, variables)
}

/// The variables that settings name.
fn named_variables(
    request: &Request<'_>,
    wanted: &Wanted,
    server: &Server<'_>,
) -> Vec<(Said, Goes)> {
    let entry = server.settings.as_ref();
    let of_entry = |value: &str, key: &str| {
        let setting = format!("{}.{key}", entry?.path);
        Said::filled(value, || request.origin(&setting))
    };
    // The other spelling is left where the settings were not read from a file.
    let other = entry.and_then(|it| it.values.rest.get("api_key_env")?.as_text());
    let of_entry = [
        entry.and_then(|it| of_entry(&it.values.key_env, "key_env")),
        other.and_then(|name| of_entry(name, "api_key_env")),
    ];
    let beside = wanted.key_env.clone().map(|said| (said, Goes::Here));
    let of_entry = of_entry.into_iter().flatten();
    beside
        .into_iter()
        .chain(of_entry.map(|said| (said, Goes::Home)))
        .collect()
}

fn in_named_variable(request: &Request<'_>, said: &Said, goes: Goes) -> Option<Found> {
    let value = usable(request.environment.get_named(&said.value)?)?;
    let variable = request.variable_origin(&said.value);
    Some(Found {
        value: value.to_owned(),
        source: KeySource::Variable(said.value.clone()),
        from: format!("{variable}, named by {}", said.from),
        goes,
    })
}

fn in_settings(request: &Request<'_>, wanted: &Wanted, server: &Server<'_>) -> Option<Found> {
    let of_entry = server.settings.as_ref().and_then(|entry| {
        Written::filled(&entry.values.api_key, &format!("{}.api_key", entry.path))
    });
    let beside = wanted.api_key.clone().map(|key| (key, Goes::Here));
    let of_entry = of_entry.map(|key| (key, Goes::Home));
    beside.into_iter().chain(of_entry).find_map(|(key, goes)| {
        Some(Found {
            value: usable(&key.value)?.to_owned(),
            from: request.origin(&key.setting),
            source: KeySource::Setting(key.setting),
            goes,
        })
    })
}

/// Variables that belong to the provider, or to the host of the address.
fn scoped(
    request: &Request<'_>,
    server: &Server<'_>,
    base: &Base,
    variables: &[String],
) -> Result<Option<Found>, ResolveError> {
    let (names, goes, safe) = match server.kind {
        Kind::BuiltIn => (variables.to_vec(), Goes::Home, true),
        Kind::Named | Kind::Plain => match server::owner_of(request, base.url.as_str())? {
            Some(owner) => (owner.key_env.clone(), Goes::Here, owner.trusts(&base.url)),
            None => {
                let hidden = base.url.scheme() == "https" || base.local();
                (
                    host_variable(base).into_iter().collect(),
                    Goes::Here,
                    hidden,
                )
            }
        },
    };
    let found = names.into_iter().find_map(|name| {
        let value = usable(request.environment.get_named(&name)?)?;
        Some(Found {
            value: value.to_owned(),
            from: request.variable_origin(&name),
            source: KeySource::Variable(name),
            goes,
        })
    });
    match found {
        // Nobody said that this key is for this address: it was found by the name of the host.
        Some(found) if !safe => Err(unsafe_place(&name_of(&found), base)),
        found => Ok(found),
    }
}

/// `GROQ_API_KEY` for `api.groq.com`; nothing for addresses in numbers.
fn host_variable(base: &Base) -> Option<String> {
    let Some(Host::Domain(host)) = base.url.host() else {
        return None;
    };
    let labels: Vec<_> = host
        .split('.')
        .skip_while(|label| PREFIXES.contains(label))
        .collect();
    // `example.co.uk` belongs to `example`.
    let vendor = match labels.as_slice() {
        [.., vendor, second, country] if country.len() == 2 && second.len() <= 3 => vendor,
        [.., vendor, _] => vendor,
        _ => return None,
    };
    let vendor = vendor.to_uppercase().replace('-', "_");
    Some(format!("{vendor}_API_KEY"))
}

/// A value that can be a key.
pub(super) fn usable(value: &str) -> Option<&str> {
    let value = value.trim();
    let word = value.to_lowercase();
    let filler = value.chars().count() < SHORTEST || PLACEHOLDERS.contains(&word.as_str());
    (!filler).then_some(value)
}
