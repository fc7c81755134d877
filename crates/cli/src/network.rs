//! The HTTP client of this run, from the settings and the usual variables.

use hermes_config::{Either, Environment, Loaded, Variable};
use hermes_core::FailureKind;
use hermes_http::{
    AddressPolicy, ClientBuilder, ClientSettings, HttpClient, NoProxy, ProxyEndpoint,
    ProxySettings, Roots,
};
use hermes_secrets::RedactorHandle;

use crate::complaint::{Complaint, Outcome};

/// A client for endpoints that the user configured.
pub(crate) fn client(loaded: &Loaded, redactor: &RedactorHandle) -> Outcome<HttpClient> {
    ClientBuilder::new(settings(loaded)?, AddressPolicy::Any)
        .redactor(redactor.clone())
        .build()
        .map_err(|error| Complaint::caused(FailureKind::BadInput, error))
}

/// How addresses are reached, for clients that are made later or never: what is wrong with it is said now, and its
/// passwords are masked from now on.
pub(crate) fn announced(loaded: &Loaded, redactor: &RedactorHandle) -> Outcome<ClientSettings> {
    let settings = settings(loaded)?;
    settings
        .check()
        .map_err(|error| Complaint::caused(FailureKind::BadInput, error))?;
    settings.announce(redactor);
    Ok(settings)
}

/// How addresses are reached.
pub(crate) fn settings(loaded: &Loaded) -> Outcome<ClientSettings> {
    let trust = Trust::read(loaded)?;
    Ok(ClientSettings {
        proxies: proxies(&loaded.environment)?,
        roots: match trust.bundle {
            bundle if bundle.is_empty() => Roots::BuiltIn,
            bundle => Roots::BuiltInAnd(bundle),
        },
        insecure_hosts: trust.unchecked,
        force_ipv4: loaded.config.network.force_ipv4,
        ..ClientSettings::default()
    })
}

/// Whom the user trusts beside the usual authorities.
#[derive(Default)]
struct Trust {
    bundle: Vec<u8>,
    unchecked: Vec<String>,
}

impl Trust {
    /// A company's own authority from the environment, and what single endpoints say.
    fn read(loaded: &Loaded) -> Outcome<Self> {
        let mut trust = Self::default();
        let variables = [
            Variable::HERMES_CA_BUNDLE,
            Variable::SSL_CERT_FILE,
            Variable::REQUESTS_CA_BUNDLE,
        ];
        let set = variables
            .iter()
            .find_map(|variable| Some((variable.name, loaded.environment.filled(variable)?)));
        if let Some((name, path)) = set {
            trust.add(path, name)?;
        }
        let named = loaded.config.providers.values();
        for provider in named.chain(&loaded.config.custom_providers) {
            if !provider.ssl_ca_cert.is_empty() {
                trust.add(&provider.ssl_ca_cert, "ssl_ca_cert")?;
            }
            match &provider.ssl_verify {
                Either::First(true) => {}
                Either::First(false) => trust.unchecked.extend(host(&provider.base_url)),
                // The path of a bundle may stand in place of yes and no.
                Either::Second(path) => trust.add(path, "ssl_verify")?,
            }
        }
        Ok(trust)
    }

    fn add(&mut self, path: &str, from: &str) -> Outcome {
        match std::fs::read(path) {
            Ok(bundle) => {
                self.bundle.extend_from_slice(&bundle);
                self.bundle.push(b'\n');
                Ok(())
            }
            Err(error) => Err(
                Complaint::new(FailureKind::BadInput, format!("{path}: {error}"))
                    .hint(format!("mend or unset {from}")),
            ),
        }
    }
}

fn host(address: &str) -> Option<String> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    (!host.is_empty()).then(|| host.trim_matches(['[', ']']).to_owned())
}

fn proxies(environment: &Environment) -> Outcome<ProxySettings> {
    let read = |variables: [Variable; 2]| -> Outcome<Option<ProxyEndpoint>> {
        let Some((name, value)) = variables
            .iter()
            .find_map(|variable| Some((variable.name, environment.filled(variable)?)))
        else {
            return Ok(None);
        };
        let proxy = value.parse().map_err(|error| {
            Complaint::caused(FailureKind::BadInput, error).hint(format!("mend or unset {name}"))
        })?;
        Ok(Some(proxy))
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
