//! The models of one provider: from the provider, as it last answered, or as we know them.

use std::sync::Arc;
use std::time::Duration;

use hermes_llm::keys::fingerprint;
use hermes_llm::metadata::KeptList;
use hermes_llm::resolve::{self, Credential, Flags, Request, ResolveError, Resolved};
use hermes_llm::{Auth, Endpoint, Route};
use jiff::Timestamp;

use super::{list, live, why};
use crate::commands::endpoints;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::models::{Chosen, Models};

/// As long an answer is taken for what the provider would say.
const LIFE: Duration = Duration::from_secs(3_600);

/// Which answer of an earlier time will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// None: the provider is asked.
    Nothing,
    /// One from the last hour.
    Fresh,
    /// Any: nobody waits for a network that may not be there.
    Any,
}

/// Where a list comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Live,
    /// An answer of so many seconds ago.
    Kept {
        age: i64,
    },
    BuiltIn,
}

impl Source {
    pub(super) fn words(self) -> String {
        match self {
            Self::Live => "the provider".to_owned(),
            Self::Kept { age } => format!("its last answer, {} old", span(age)),
            Self::BuiltIn => "the built-in list".to_owned(),
        }
    }

    pub(super) fn age(self) -> Option<i64> {
        match self {
            Self::Kept { age } => Some(age),
            Self::Live | Self::BuiltIn => None,
        }
    }
}

/// A list, and what stood in the way of a better one.
#[derive(Clone)]
pub(super) struct Listed {
    pub(super) models: Vec<String>,
    pub(super) source: Source,
    pub(super) note: Option<String>,
}

impl Listed {
    /// What somebody has just said.
    pub(super) fn live(models: Vec<String>) -> Self {
        Self {
            models,
            source: Source::Live,
            note: None,
        }
    }
}

/// Whose models are asked for; what is said here counts before what is set.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Whose<'w> {
    pub(super) provider: &'w str,
    pub(super) base_url: Option<&'w str>,
    pub(super) api_key: Option<&'w str>,
}

/// Finds the models of a provider. A provider that does not answer is not an error as long as there is
/// something to show.
pub(super) fn find(
    models: &Models,
    whose: Whose<'_>,
    keep: Keep,
    context: &Context,
) -> Outcome<Listed> {
    let known = known_models(models, whose.provider)?;
    let nothing = Chosen::default();
    let request = Request {
        flags: Flags {
            model: Some(known.first().map_or("any", String::as_str)),
            provider: Some(whose.provider),
            base_url: whose.base_url,
            api_key: whose.api_key,
        },
        ..models.request(&nothing)
    };
    let built_in = |note| Listed {
        models: known.clone(),
        source: Source::BuiltIn,
        note: Some(note),
    };
    let endpoint = endpoints::find(&models.loaded.config, whose.provider);
    if endpoint.is_some_and(|endpoint| endpoint.entry.discover_models == Some(false)) {
        return Ok(built_in(
            "discover_models is off for this endpoint".to_owned(),
        ));
    }
    let (route, credential) = match resolve::resolve(&request) {
        Ok(resolved) => {
            let credential = credential(models, &resolved)?;
            (models.known(resolved), credential)
        }
        Err(ResolveError::MissingKey { .. }) if is_public(models, whose.provider) => {
            (without_key(&request)?, String::new())
        }
        Err(error @ (ResolveError::MissingKey { .. } | ResolveError::MissingLogin { .. })) => {
            return Ok(built_in(format!("{error}; {}", error.hint())));
        }
        Err(error) => return Err(error.into()),
    };
    let query = Query {
        models,
        address: why::address(&route),
        route,
        credential,
        now: context.clock().now(),
    };
    let kept = match query.kept(keep) {
        Some((true, listed)) => return Ok(listed),
        Some((false, listed)) => Some(listed),
        None => None,
    };
    Ok(match (query.ask(whose.api_key)?, kept) {
        (Ok(names), _) => Listed::live(names),
        (Err(why), Some(kept)) => Listed {
            note: Some(why),
            ..kept
        },
        (Err(why), None) => built_in(why),
    })
}

/// A list that a provider is asked for.
struct Query<'m> {
    models: &'m Models,
    route: Arc<Route>,
    address: String,
    /// What tells the credential from others.
    credential: String,
    now: Timestamp,
}

impl Query<'_> {
    /// What the provider answered last, and whether that will do.
    fn kept(&self, keep: Keep) -> Option<(bool, Listed)> {
        let life = match self.route.is_at_bedrock() {
            true => {
                let bedrock = &self.models.loaded.config.bedrock;
                bedrock.discovery.refresh_interval
            }
            false => LIFE,
        };
        let last = self.models.lists.get(&self.route.provider, &self.address)?;
        let age = (self.now.as_second() - last.fetched_at).max(0);
        // What another account may use is at most better than nothing.
        let same = last.credential == self.credential;
        let will_do = match keep {
            Keep::Nothing => false,
            Keep::Fresh => same && last.is_fresh(self.now, life),
            Keep::Any => same,
        };
        let listed = Listed {
            models: last.models.clone(),
            source: Source::Kept { age },
            note: None,
        };
        Some((will_do, listed))
    }

    /// Asks, and keeps the answer; or why there is none.
    fn ask(&self, api_key: Option<&str>) -> Outcome<Result<Vec<String>, String>> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let asking = live::ask(self.models, &self.route, api_key, self.now);
        let live::Answer { names, facts } = match runtime.block_on(asking) {
            Ok(answer) => answer,
            Err(why) => return Ok(Err(why)),
        };
        let listing = KeptList {
            address: self.address.clone(),
            credential: self.credential.clone(),
            fetched_at: self.now.as_second(),
            models: names,
            facts,
        };
        self.models.lists.keep(&self.route.provider, &listing);
        Ok(Ok(listing.models))
    }
}

/// What tells the credential of a route from others.
fn credential(models: &Models, resolved: &Resolved) -> Outcome<String> {
    Ok(match &resolved.key {
        Credential::None => String::new(),
        Credential::Key { secret, .. } => fingerprint(secret.expose_for_storage("a fingerprint")),
        Credential::Minted(mint) => mint.label().to_owned(),
        Credential::Login { .. } => {
            let next = why::next_credential(models, &resolved.route)?;
            next.map(|entry| entry.fingerprint).unwrap_or_default()
        }
    })
}

/// Whether anybody may ask a provider which models it has.
fn is_public(models: &Models, provider: &str) -> bool {
    let profile = models.profiles.find(provider).ok().flatten();
    profile.is_some_and(|profile| profile.public_models)
}

/// The route to a list that is there for everybody.
fn without_key(request: &Request<'_>) -> Outcome<Arc<Route>> {
    let request = Request {
        flags: Flags {
            // Stands in for a key and is sent to nobody: what is asked for needs none.
            api_key: Some("nobody-is-shown-this"),
            ..request.flags
        },
        ..*request
    };
    let mut route = resolve::resolve(&request)?.route;
    if let Endpoint::Http(address) = &mut route.endpoint {
        address.auth = Auth::None;
    }
    Ok(Arc::new(route))
}

fn known_models(models: &Models, provider: &str) -> Outcome<Vec<String>> {
    if let Some(profile) = models.profiles.find(provider).map_err(ResolveError::from)? {
        return Ok(profile.models.clone());
    }
    let found = endpoints::find(&models.loaded.config, provider);
    Ok(found
        .map(|endpoint| list::models_of(endpoint.entry))
        .unwrap_or_default())
}

/// Seconds in the largest unit that fits.
fn span(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}
