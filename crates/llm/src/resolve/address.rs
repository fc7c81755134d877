//! Where requests go: the base URL in its usual form, and whether it is nearby.

use std::net::{IpAddr, Ipv4Addr};

use hermes_config::Variable;
use hermes_secrets::Origin;
use url::{Host, Url};

use super::error::ResolveError;
use super::server::{self, Kind, Server};
use super::wanted::{Said, Wanted};
use super::{Request, key};
use crate::alias;
use crate::cloud::google;
use crate::keys::key_hash;
use crate::profile::{AuthStyle, Profile};
use crate::route::PROJECT;

/// Where an address comes from that nobody set.
pub const OWN_ADDRESS: &str = "the profile";

/// Names of machines that containers and virtual machines run on.
const NEARBY: [&str; 3] = [".docker.internal", ".containers.internal", ".lima.internal"];

/// An address before the protocol is known.
pub(super) struct Base {
    pub(super) url: Url,
    pub(super) from: String,
    /// Whether the user tied this address to this provider, so that its keys may go there.
    pub(super) tied: bool,
}

impl Base {
    pub(super) fn host(&self) -> String {
        self.url.host_str().unwrap_or_default().to_owned()
    }

    pub(super) fn local(&self) -> bool {
        is_local(&self.url)
    }

    /// Takes the query out, to be sent along with every request.
    pub(super) fn take_query(&mut self) -> Vec<(String, String)> {
        let pairs = self
            .url
            .query_pairs()
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        self.url.set_query(None);
        pairs
    }
}

/// The address in force: asked for, set for the provider, from its variables, its own.
pub(super) fn find(
    request: &Request<'_>,
    wanted: &Wanted,
    server: &Server<'_>,
) -> Result<Base, ResolveError> {
    let profile = &server.profile;
    let (said, tied) = match (&wanted.base_url, usual(request, wanted, server)) {
        (Some(asked), usual) => {
            let same = usual.is_some_and(|usual| is_one_origin(asked, &usual));
            (asked.clone(), same)
        }
        (None, Some(usual)) => (usual, true),
        (None, None) => {
            return Err(ResolveError::MissingAddress {
                provider: server.id.clone(),
                name: server.name.clone(),
                variables: profile.base_url_env.clone(),
            });
        }
    };
    let mut url = read(&said)?;
    if let Some(path) = &profile.default_path
        && url.path() == "/"
        && is_local(&url)
    {
        url.set_path(path);
    }
    if profile.auth == AuthStyle::Google
        && url.path().contains(PROJECT)
        && let Some(project) = vertex_project(request)
    {
        let path = url.path().replace(PROJECT, &project);
        url.set_path(&path);
    }
    let tied = tied || profile.trusts(&url);
    Ok(Base {
        url,
        from: said.from,
        tied,
    })
}

/// Wherever a provider may be reached: where the conversation's model is, by its variables, at its own places. Nowhere
/// when there is none of this name, or it is switched off.
pub fn addresses(request: &Request<'_>, name: &str) -> Vec<Url> {
    let by_name = |name: &str| server::by_name(request, &Said::new(alias::normal(name), "")).ok();
    let Some(server) = by_name(name) else {
        return Vec::new();
    };
    let model = &request.config.model;
    let is_main = by_name(&model.provider).is_some_and(|main| main.id == server.id);
    let of_model = Some(&model.base_url).filter(|_| is_main);
    let written = server.profile.bases.iter().chain(of_model);
    let written = written.map(|url| Said::new(url.as_str(), ""));
    written
        .chain(usual(request, &Wanted::default(), &server))
        .filter_map(|said| read(&said).ok())
        .collect()
}

/// Where the provider is: as set for it, by its variables, its own place.
fn usual(request: &Request<'_>, wanted: &Wanted, server: &Server<'_>) -> Option<Said> {
    let profile = &server.profile;
    let of_settings = server.settings.as_ref().and_then(|it| {
        let setting = format!("{}.base_url", it.path);
        Said::filled(&it.values.base_url, || request.origin(&setting))
    });
    let of_variable = || {
        let mut names = profile.base_url_env.iter();
        names.find_map(|name| {
            let value = request.named_variable(name)?;
            Some(Said::new(value, request.variable_origin(name)))
        })
    };
    let place = || {
        let place = server.place.as_ref()?;
        Some(Said::new(place.as_str(), "the usual place"))
    };
    let own = || {
        let url = profile.base_url.as_ref()?;
        let url = filled(request, profile, url);
        Some(found(request, wanted, server, &url).unwrap_or_else(|| Said::new(url, OWN_ADDRESS)))
    };
    let variables = match server.kind {
        Kind::Named => None,
        Kind::BuiltIn | Kind::Plain => of_variable(),
    };
    of_settings.or(variables).or_else(place).or_else(own)
}

/// Whether two addresses lead to the same server. What is said twice, as older homes do it, is said all the same.
fn is_one_origin(one: &Said, other: &Said) -> bool {
    let origin = |said| Origin::of(&read(said).ok()?).ok();
    origin(one).is_some_and(|one| Some(one) == origin(other))
}

/// The address that the key in use was accepted at. It must be one of the provider's own: the file is not
/// asked where keys may go.
fn found(request: &Request<'_>, wanted: &Wanted, server: &Server<'_>, usual: &str) -> Option<Said> {
    let profile = &server.profile;
    let place = request
        .places
        .iter()
        .find(|place| place.provider == server.id && profile.bases.contains(&place.base_url))?;
    let base = Base {
        url: Url::parse(usual).ok()?,
        from: String::new(),
        tied: true,
    };
    let fits = match key::value(request, wanted, server, &base) {
        Some(value) => key_hash(&value) == place.key_hash,
        None => place.kept_key,
    };
    fits.then(|| Said::new(place.base_url.as_str(), "found out for this key"))
}

/// An address of a profile with the places put in that are there.
fn filled(request: &Request<'_>, profile: &Profile, url: &str) -> String {
    if profile.auth != AuthStyle::Google {
        return url.replace("{region}", &region(request));
    }
    let region = vertex_region(request);
    // One place stands for all of them and is not part of the host.
    let prefix = match region {
        "global" => String::new(),
        region => format!("{region}-"),
    };
    url.replace("{region-}", &prefix)
        .replace("{region}", region)
}

/// The region of Google Cloud.
fn vertex_region<'a>(request: &Request<'a>) -> &'a str {
    let set = request.config.vertex.region.trim();
    request
        .variable(&Variable::VERTEX_REGION)
        .unwrap_or(if set.is_empty() { "global" } else { set })
}

/// The project of Google Cloud: as set, else the one that the credentials belong to.
fn vertex_project(request: &Request<'_>) -> Option<String> {
    let set = Some(request.config.vertex.project_id.trim()).filter(|set| !set.is_empty());
    request
        .variable(&Variable::VERTEX_PROJECT_ID)
        .or(set)
        .or_else(|| request.variable(&Variable::GOOGLE_CLOUD_PROJECT))
        .map(str::to_owned)
        .or_else(|| google::project(&key::google_file(request)?.0))
}

/// The AWS region.
pub(super) fn region(request: &Request<'_>) -> String {
    Some(request.config.bedrock.region.trim())
        .filter(|region| !region.is_empty())
        .or_else(|| request.variable(&Variable::AWS_REGION))
        .or_else(|| request.variable(&Variable::AWS_DEFAULT_REGION))
        .unwrap_or("us-east-1")
        .to_owned()
}

fn read(said: &Said) -> Result<Url, ResolveError> {
    let bad = |why| ResolveError::BadAddress {
        from: said.from.clone(),
        why,
    };
    let mut url = Url::parse(said.value.trim()).map_err(|_| bad("it is not a URL"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("it does not begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("it holds a user or password"));
    }
    if url.scheme() == "http" && url.host_str() == Some("localhost") {
        // Looking the name up may try IPv6 first, where most local servers do not listen. A certificate is for a
        // name, so that one stays.
        url.set_host(Some("127.0.0.1"))
            .map_err(|_| bad("it has no host"))?;
    }
    url.set_fragment(None);
    Ok(url)
}

/// Whether a URL leads to this machine or its own network.
pub fn is_local(url: &Url) -> bool {
    match url.host() {
        None => false,
        Some(Host::Ipv4(address)) => near_v4(address),
        Some(Host::Ipv6(address)) => {
            let [first, ..] = address.segments();
            address.to_ipv4_mapped().is_some_and(near_v4)
                || IpAddr::V6(address).is_loopback()
                || (first & 0xfe00) == 0xfc00
                || (first & 0xffc0) == 0xfe80
        }
        Some(Host::Domain(name)) => {
            !name.contains('.')
                || name.ends_with(".localhost")
                || NEARBY.iter().any(|end| name.ends_with(end))
        }
    }
}

fn near_v4(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_unspecified()
        || (a == 100 && (64..128).contains(&b))
}
