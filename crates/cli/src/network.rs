//! The HTTP client of this run, from the settings and the usual variables.

use std::collections::BTreeMap;

use hermes_config::{Either, Environment, Loaded, Provider, Variable};
use hermes_core::{FailureKind, causes};
use hermes_http::{
    AddressPolicy, ClientBuilder, ClientSettings, HttpClient, NoProxy, ProxyEndpoint,
    ProxySettings, Roots, Trust, check_bundle,
};
use hermes_llm::resolve::{Request, addresses};
use hermes_secrets::Origin;
use url::Url;

use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::own_profiles;

/// A client for endpoints that the user configured.
pub(crate) fn client(loaded: &Loaded, context: &Context) -> Outcome<HttpClient> {
    ClientBuilder::new(settings(loaded, context)?, AddressPolicy::Any)
        .redactor(context.redactor.clone())
        .build()
        .map_err(|error| Complaint::caused(FailureKind::BadInput, error))
}

/// How addresses are reached, for clients that are made later or never: what is wrong with it is said now, and its
/// passwords are masked from now on.
pub(crate) fn announced(loaded: &Loaded, context: &Context) -> Outcome<ClientSettings> {
    let settings = settings(loaded, context)?;
    settings.announce(&context.redactor);
    Ok(settings)
}

/// How addresses are reached.
pub(crate) fn settings(loaded: &Loaded, context: &Context) -> Outcome<ClientSettings> {
    Ok(ClientSettings {
        proxies: proxies(&loaded.environment)?,
        roots: roots(&loaded.environment)?,
        trust: trust(loaded, context)?,
        force_ipv4: loaded.config.network.force_ipv4,
        ..ClientSettings::default()
    })
}

/// The usual authorities, and a company's own from the environment, which are believed about every server.
fn roots(environment: &Environment) -> Outcome<Roots> {
    let variables = [
        Variable::HERMES_CA_BUNDLE,
        Variable::SSL_CERT_FILE,
        Variable::REQUESTS_CA_BUNDLE,
    ];
    let set = variables
        .iter()
        .find_map(|variable| Some((variable.name, environment.filled(variable)?)));
    Ok(match set {
        Some((name, path)) => Roots::BuiltInAnd(read(path, name)?),
        None => Roots::BuiltIn,
    })
}

/// What single endpoints say about their own servers. What several say of one server is put together.
fn trust(loaded: &Loaded, context: &Context) -> Outcome<BTreeMap<Origin, Trust>> {
    let named = loaded.config.providers.iter();
    let listed = loaded.config.custom_providers.iter();
    let entries = named
        .map(|(key, provider)| (key.as_str(), provider))
        .chain(listed.map(|provider| ("", provider)));
    let mut trust = BTreeMap::new();
    for (name, provider) in entries {
        let Some(own) = own_trust(provider)? else {
            continue;
        };
        for origin in origins(name, provider, loaded, context)? {
            let known = trust.remove(&origin);
            trust.insert(origin, together(known, own.clone()));
        }
    }
    Ok(trust)
}

/// Where an endpoint is, or the provider whose settings it changes.
fn origins(
    name: &str,
    provider: &Provider,
    loaded: &Loaded,
    context: &Context,
) -> Outcome<Vec<Origin>> {
    let urls = if provider.base_url.is_empty() {
        let profiles = own_profiles(context.home()?);
        addresses(&Request::new(loaded, &profiles), name)
    } else {
        // What is no address is told when somebody asks there.
        Url::parse(provider.base_url.trim()).into_iter().collect()
    };
    Ok(urls.iter().filter_map(|url| Origin::of(url).ok()).collect())
}

fn own_trust(provider: &Provider) -> Outcome<Option<Trust>> {
    let authority = match provider.ssl_ca_cert.as_str() {
        "" => None,
        path => Some(Trust::Also(read(path, "ssl_ca_cert")?)),
    };
    let verify = match &provider.ssl_verify {
        Either::First(true) => None,
        Either::First(false) => Some(Trust::Unchecked),
        // The path of a bundle may stand in place of yes and no.
        Either::Second(path) => Some(Trust::Also(read(path, "ssl_verify")?)),
    };
    Ok(match (authority, verify) {
        (None, only) | (only, None) => only,
        (known, Some(more)) => Some(together(known, more)),
    })
}

fn together(known: Option<Trust>, more: Trust) -> Trust {
    match (known, more) {
        (Some(Trust::Also(mut bundle)), Trust::Also(more)) => {
            bundle.extend(more);
            Trust::Also(bundle)
        }
        (Some(Trust::Unchecked), _) | (_, Trust::Unchecked) => Trust::Unchecked,
        (None, more) => more,
    }
}

/// A bundle that names an authority, with a break behind it, so that another may follow.
fn read(path: &str, from: &str) -> Outcome<Vec<u8>> {
    let bad = |error: &dyn std::error::Error| {
        let said = format!("{from}: {path}: {}", causes(error));
        Complaint::new(FailureKind::BadInput, said).hint(format!(
            "{from} takes a file with certificates of authorities (PEM); mend or unset it"
        ))
    };
    let mut bundle = std::fs::read(path).map_err(|error| bad(&error))?;
    check_bundle(&bundle).map_err(|error| bad(&error))?;
    bundle.push(b'\n');
    Ok(bundle)
}

fn proxies(environment: &Environment) -> Outcome<ProxySettings> {
    let read = |variables: [Variable; 2]| -> Outcome<Option<ProxyEndpoint>> {
        let Some((name, value)) = variables
            .iter()
            .find_map(|variable| Some((variable.name, environment.filled(variable)?)))
        else {
            return Ok(None);
        };
        let proxy: Result<ProxyEndpoint, _> = value.parse();
        let proxy = proxy.map_err(|error| {
            let said = format!("{name}: {error}");
            Complaint::new(FailureKind::BadInput, said).hint(format!("mend or unset {name}"))
        });
        Ok(Some(proxy?.named_by(name)))
    };
    let all = read([Variable::ALL_PROXY, Variable::LOWER_ALL_PROXY])?;
    let bypass = environment
        .filled(&Variable::NO_PROXY)
        .or_else(|| environment.filled(&Variable::LOWER_NO_PROXY));
    Ok(ProxySettings {
        http: read([Variable::LOWER_HTTP_PROXY, Variable::HTTP_PROXY])?.or_else(|| all.clone()),
        https: read([Variable::HTTPS_PROXY, Variable::LOWER_HTTPS_PROXY])?.or(all),
        no_proxy: bypass.map(NoProxy::parse).unwrap_or_default(),
    })
}
