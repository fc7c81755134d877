//! What a wiring is made from besides the entries of servers.

use hermes_config::{Config, Either, Loaded, Variable};

/// The variables that decide how servers and the list of malicious packages are reached.
const VARIABLES: &[Variable] = &[
    Variable::OSV_ENDPOINT,
    Variable::HERMES_CA_BUNDLE,
    Variable::SSL_CERT_FILE,
    Variable::REQUESTS_CA_BUNDLE,
    Variable::HTTP_PROXY,
    Variable::LOWER_HTTP_PROXY,
    Variable::HTTPS_PROXY,
    Variable::LOWER_HTTPS_PROXY,
    Variable::ALL_PROXY,
    Variable::LOWER_ALL_PROXY,
    Variable::NO_PROXY,
    Variable::LOWER_NO_PROXY,
];

/// Settings that hold for all servers. When one of them changes, all are connected anew.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grounds {
    blocked: Vec<String>,
    force_ipv4: bool,
    sandbox: hermes_config::Value,
    /// What single endpoints say about certificates.
    trust: Vec<(String, String, Either<bool, String>)>,
    variables: Vec<Option<String>>,
}

impl Grounds {
    pub(super) fn of(loaded: &Loaded) -> Self {
        let config = &loaded.config;
        let variable = |variable: &Variable| loaded.environment.filled(variable).map(str::to_owned);
        Self {
            blocked: config.mcp.blocked_strings.clone(),
            force_ipv4: config.network.force_ipv4,
            sandbox: hermes_config::Setting::to_value(&config.terminal.sandbox),
            trust: trust(config),
            variables: VARIABLES.iter().map(variable).collect(),
        }
    }
}

fn trust(config: &Config) -> Vec<(String, String, Either<bool, String>)> {
    let endpoints = config.providers.values().chain(&config.custom_providers);
    let said = endpoints.map(|provider| {
        (
            provider.base_url.clone(),
            provider.ssl_ca_cert.clone(),
            provider.ssl_verify.clone(),
        )
    });
    said.collect()
}
