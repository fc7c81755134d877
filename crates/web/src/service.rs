//! The services that can be asked, and which of them is.

use hermes_config::Web;
use hermes_http::BaseUrl;
use hermes_secrets::{Secret, SecretName};

/// A service that searches, reads pages, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    Tavily,
    Exa,
    Parallel,
    Firecrawl,
    /// Firecrawl through the vendor's gateway.
    Gateway,
    SearXng,
    Brave,
    DuckDuckGo,
    Xai,
    /// No service: we fetch pages ourselves.
    Direct,
}

/// What a service is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    Search,
    Extract,
}

/// A service with what it takes to ask it.
#[derive(Debug, Clone)]
pub struct Account {
    pub(crate) service: Service,
    pub(crate) base: BaseUrl,
    pub(crate) key: Option<Secret>,
    /// How thoroughly Parallel searches.
    pub(crate) mode: Option<String>,
}

impl Account {
    /// The service.
    pub fn service(&self) -> Service {
        self.service
    }
}

/// Why no service can be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// The settings name one that is not known.
    #[error("{setting} is {named}, which is no web service; known are {}", known(.job))]
    Unknown {
        setting: &'static str,
        named: String,
        job: Job,
    },
    /// The settings name one that needs something.
    #[error("{setting} is {named}, but {missing} is not set")]
    NotSet {
        setting: &'static str,
        named: String,
        missing: &'static str,
    },
    /// The address of one is no address.
    #[error("{variable} is not an address that begins with http:// or https://")]
    Address { variable: &'static str },
}

/// The order in which services are tried when none is named. X's is only used by name: it costs most.
const IN_ORDER: [Service; 8] = [
    Service::Tavily,
    Service::Exa,
    Service::Parallel,
    Service::Firecrawl,
    Service::Gateway,
    Service::SearXng,
    Service::Brave,
    Service::DuckDuckGo,
];
const ALL: [Service; 10] = [
    Service::Tavily,
    Service::Exa,
    Service::Parallel,
    Service::Firecrawl,
    Service::Gateway,
    Service::SearXng,
    Service::Brave,
    Service::DuckDuckGo,
    Service::Xai,
    Service::Direct,
];

impl Service {
    /// What the settings call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tavily => "tavily",
            Self::Exa => "exa",
            Self::Parallel => "parallel",
            Self::Firecrawl => "firecrawl",
            Self::Gateway => "gateway",
            Self::SearXng => "searxng",
            Self::Brave => "brave-free",
            Self::DuckDuckGo => "ddgs",
            Self::Xai => "xai",
            Self::Direct => "direct",
        }
    }

    fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        let name = match name.as_str() {
            "brave" => "brave-free",
            "duckduckgo" => "ddgs",
            other => other,
        };
        ALL.into_iter().find(|service| service.name() == name)
    }

    fn does(self, job: Job) -> bool {
        match (self, job) {
            (Self::Tavily | Self::Exa | Self::Parallel | Self::Firecrawl | Self::Gateway, _) => {
                true
            }
            (Self::SearXng | Self::Brave | Self::DuckDuckGo | Self::Xai, job) => job == Job::Search,
            (Self::Direct, job) => job == Job::Extract,
        }
    }

    /// The variable of its key, the variable of its address, and the address it has otherwise.
    fn facts(self) -> Facts {
        let (key, address, built_in) = match self {
            Self::Tavily => (
                Some("TAVILY_API_KEY"),
                "TAVILY_BASE_URL",
                "https://api.tavily.com",
            ),
            Self::Exa => (Some("EXA_API_KEY"), "EXA_BASE_URL", "https://api.exa.ai"),
            Self::Parallel => (
                Some("PARALLEL_API_KEY"),
                "PARALLEL_BASE_URL",
                "https://api.parallel.ai",
            ),
            Self::Firecrawl => (
                Some("FIRECRAWL_API_KEY"),
                "FIRECRAWL_API_URL",
                "https://api.firecrawl.dev",
            ),
            Self::Gateway => (
                Some("TOOL_GATEWAY_USER_TOKEN"),
                "FIRECRAWL_GATEWAY_URL",
                "https://firecrawl-gateway.nousresearch.com",
            ),
            Self::SearXng => (None, "SEARXNG_URL", ""),
            Self::Brave => (
                Some("BRAVE_SEARCH_API_KEY"),
                "BRAVE_SEARCH_BASE_URL",
                "https://api.search.brave.com",
            ),
            Self::DuckDuckGo => (None, "DDGS_BASE_URL", "https://html.duckduckgo.com"),
            Self::Xai => (Some("XAI_API_KEY"), "XAI_BASE_URL", "https://api.x.ai/v1"),
            Self::Direct => (None, "", "http://localhost"),
        };
        Facts {
            key,
            address,
            built_in,
        }
    }
}

struct Facts {
    key: Option<&'static str>,
    address: &'static str,
    built_in: &'static str,
}

fn known(job: &Job) -> String {
    let names = ALL.into_iter().filter(|service| service.does(*job));
    names.map(Service::name).collect::<Vec<_>>().join(", ")
}

/// The service for a job: the one the settings name, else the first that can be used. `variable` is the environment
/// with the secrets of the home in it.
pub fn choose(
    settings: &Web,
    job: Job,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Account, ServiceError> {
    let (setting, own) = match job {
        Job::Search => ("web.search_backend", &settings.search_backend),
        Job::Extract => ("web.extract_backend", &settings.extract_backend),
    };
    let unknown = |setting, named: &str| ServiceError::Unknown {
        setting,
        named: named.to_owned(),
        job,
    };
    if !own.is_empty() {
        let service = Service::named(own).filter(|service| service.does(job));
        return named(
            setting,
            service.ok_or_else(|| unknown(setting, own))?,
            variable,
        );
    }
    if !settings.backend.is_empty() {
        let service = Service::named(&settings.backend)
            .ok_or_else(|| unknown("web.backend", &settings.backend))?;
        // One that only searches leaves reading to us.
        if service.does(job) {
            return named("web.backend", service, variable);
        }
        if job == Job::Search {
            return Err(unknown("web.backend", &settings.backend));
        }
    }
    for service in IN_ORDER.into_iter().filter(|service| service.does(job)) {
        if let Ok(account) = account(service, variable)? {
            return Ok(account);
        }
    }
    match account(Service::Direct, variable)? {
        Ok(direct) if job == Job::Extract => Ok(direct),
        Ok(_) | Err(_) => Err(ServiceError::NotSet {
            setting,
            named: Service::DuckDuckGo.name().to_owned(),
            missing: Service::DuckDuckGo.facts().address,
        }),
    }
}

fn named(
    setting: &'static str,
    service: Service,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Account, ServiceError> {
    account(service, variable)?.map_err(|missing| ServiceError::NotSet {
        setting,
        named: service.name().to_owned(),
        missing,
    })
}

/// A service with its key, or the variable that is missing.
fn account(
    service: Service,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Result<Account, &'static str>, ServiceError> {
    let facts = service.facts();
    let wrong = ServiceError::Address {
        variable: facts.address,
    };
    let set = variable(facts.address).filter(|_| !facts.address.is_empty());
    let address = set.as_deref().unwrap_or(facts.built_in);
    if address.is_empty() {
        return Ok(Err(facts.address));
    }
    if !address.starts_with("http://") && !address.starts_with("https://") {
        return Err(wrong);
    }
    let Ok(base) = address.parse::<BaseUrl>() else {
        return Err(wrong);
    };
    let key = facts
        .key
        .and_then(|name| Some((name, variable(name)?)))
        .and_then(|(name, value)| {
            let origin = base.origin().ok()?;
            Secret::new(SecretName::new(name).ok()?, value, [origin.into()]).ok()
        });
    // A Firecrawl of the user's own may do without a key.
    let without = service == Service::Firecrawl && set.is_some();
    match facts.key {
        Some(name) if key.is_none() && !without => Ok(Err(name)),
        Some(_) | None => Ok(Ok(Account {
            service,
            base,
            key,
            mode: variable("PARALLEL_SEARCH_MODE").filter(|_| service == Service::Parallel),
        })),
    }
}

#[cfg(test)]
#[path = "service_tests.rs"]
mod tests;
