//! From settings, environment and flags to a route: who serves the model, where, how and with which key.
//!
//! Everything goes one way: what is *wanted* (flags over settings, or an entry of a chain) decides who
//! *serves*; that gives the address, the protocol, the key and the limits. Fallbacks and helper models
//! are built by the same steps, so that nothing of one route is left behind in another.

mod address;
mod assemble;
mod auxiliary;
mod dress;
mod error;
mod key;
mod naming;
mod protocol;
mod server;
mod wanted;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hermes_config::{
    Config, DotEnv, Environment, KeyPath, Layer, Loaded, Node, Role, VARIABLES, Variable,
};
use hermes_secrets::Secret;

use crate::cloud::Mint;
use crate::keys::{FoundPlace, StoredKey};
use crate::metadata::{Catalogue, KeptLists, Learned};
use crate::profile::Profiles;
use crate::route::Route;

pub use address::{OWN_ADDRESS, addresses, is_local};
pub use auxiliary::{Auxiliary, auxiliary};
pub use error::ResolveError;
pub use protocol::of_address as protocol_of_address;

use wanted::Wanted;

/// Everything a resolution looks at.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The settings.
    pub config: &'a Config,
    /// The same with the origin of each value, for explanations.
    pub said: &'a Node,
    /// Variables that hold keys, as the settings say.
    pub key_names: &'a BTreeSet<String>,
    /// The environment, with the values of `.env` on top.
    pub environment: &'a Environment,
    /// The values of `.env`, to tell where a key came from.
    pub dotenv: &'a DotEnv,
    /// The known providers.
    pub profiles: &'a Profiles,
    /// What was said on the command line or for this session.
    pub flags: Flags<'a>,
    /// Providers with a stored login, the active one first.
    pub logins: &'a [String],
    /// What is stored for them, and where it may go.
    pub stored: &'a [StoredKey],
    /// The file of the embedded model, when it was downloaded.
    pub embedded: Option<&'a Path>,
    /// Addresses at which keys were accepted.
    pub places: &'a [FoundPlace],
    /// Windows learned from refusals.
    pub learned: Option<&'a Learned>,
    /// A public list of models.
    pub catalogue: Option<&'a Catalogue>,
    /// What providers' own lists say, as they last gave them.
    pub lists: Option<&'a KeptLists>,
    /// The cloud this machine belongs to, which may lend it a role.
    pub machine: Option<CloudMachine>,
}

/// A cloud that lends roles and identities to its machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloudMachine {
    /// Amazon's.
    Amazon,
    /// Google's.
    Google,
    /// Microsoft's.
    Azure,
}

/// What was said for one run or session; beats every setting.
#[derive(Clone, Copy, Default)]
pub struct Flags<'a> {
    /// The model, possibly as `provider:model`.
    pub model: Option<&'a str>,
    /// The provider.
    pub provider: Option<&'a str>,
    /// The address.
    pub base_url: Option<&'a str>,
    /// The key.
    pub api_key: Option<&'a str>,
}

/// A route and the key for it.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The route.
    pub route: Route,
    /// What opens it.
    pub key: Credential,
}

/// What a request is authenticated with.
#[derive(Debug, Clone)]
pub enum Credential {
    /// Nothing is sent.
    None,
    /// A key, bound to the origin of the route. An AWS key pair is one too: its id, its secret half and,
    /// for a temporary pair, its token, each on a line of its own.
    Key {
        /// Where it was found.
        from: KeySource,
        /// The key.
        secret: Secret,
    },
    /// Something that is made for a while; the credential store makes it.
    Minted(Box<Mint>),
    /// A stored login; the credential store hands out the token.
    Login {
        /// Whose.
        provider: String,
    },
}

/// Where a key was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// On the command line.
    Flag,
    /// In a variable of the environment or `.env`.
    Variable(String),
    /// In a setting.
    Setting(String),
}

impl<'a> Request<'a> {
    /// A request without flags, logins or an embedded model.
    pub fn new(loaded: &'a Loaded, profiles: &'a Profiles) -> Self {
        Self {
            config: &loaded.config,
            said: &loaded.tree,
            key_names: &loaded.key_names,
            environment: &loaded.environment,
            dotenv: &loaded.secrets,
            profiles,
            flags: Flags::default(),
            logins: &[],
            stored: &[],
            embedded: None,
            places: &[],
            learned: None,
            catalogue: None,
            lists: None,
            machine: None,
        }
    }

    /// Where a setting was said, for people.
    fn origin(&self, key: &str) -> String {
        let node = KeyPath::parse(key).and_then(|path| self.said.at(&path));
        let Some(node) = node else {
            return key.to_owned();
        };
        let variable = || {
            VARIABLES
                .iter()
                .find(|variable| match variable.role {
                    Role::Override(setting) | Role::Fallback(setting) => {
                        setting == key && self.environment.filled(variable).is_some()
                    }
                    Role::Process | Role::Kept => false,
                })
                .map_or(key, |variable| variable.name)
        };
        match node.origin.layer {
            Layer::File => format!("config.yaml, line {}: {key}", node.origin.line),
            Layer::Project => format!(".hermes/config.yaml, line {}: {key}", node.origin.line),
            Layer::Managed => format!("the administrator: {key}"),
            Layer::Flag => format!("the command line: {key}"),
            Layer::Environment | Layer::EnvironmentDefault => {
                format!("environment: {}", variable())
            }
            Layer::Default => format!("default of {key}"),
        }
    }

    /// A variable that says something.
    fn variable(&self, variable: &Variable) -> Option<&'a str> {
        self.named_variable(variable.name)
    }

    /// The same by a name that a provider's description or the settings say.
    fn named_variable(&self, name: &str) -> Option<&'a str> {
        let value = self.environment.filled_named(name)?.trim();
        (!value.is_empty()).then_some(value)
    }

    /// A file below the person's own directory, or where a variable says it is.
    fn own_file(&self, variable: &Variable, usual: &str) -> Option<PathBuf> {
        let named = self.variable(variable).map(PathBuf::from);
        named.or_else(|| self.below_home(usual))
    }

    /// A file below the person's own directory.
    fn below_home(&self, path: &str) -> Option<PathBuf> {
        let home = self.variable(&Variable::HOME)?;
        Some(Path::new(home).join(path))
    }

    /// Where a variable was set, for people.
    fn variable_origin(&self, name: &str) -> String {
        if self.dotenv.has(name) {
            format!(".env: {name}")
        } else {
            format!("environment: {name}")
        }
    }
}

/// The route of the conversation's model.
pub fn resolve(request: &Request<'_>) -> Result<Resolved, ResolveError> {
    assemble::build(request, Wanted::main(request)?)
}

/// The models to turn to after the first, in order; one that cannot be reached says why.
pub fn fallbacks(request: &Request<'_>) -> Vec<Result<Resolved, ResolveError>> {
    let main = resolve(request).ok();
    let config = request.config;
    let sections = [
        ("fallback_providers", &config.fallback_providers),
        ("fallback_model", &config.fallback_model),
    ];
    let entries = sections.into_iter().flat_map(|(section, entries)| {
        let numbered = entries.iter().enumerate();
        numbered.map(move |(index, entry)| (format!("{section}.{index}"), entry))
    });
    let mut chain: Vec<Result<Resolved, ResolveError>> = Vec::new();
    for (path, entry) in entries {
        let next = assemble::build(request, Wanted::fallback(request, &path, entry));
        let known = next.as_ref().is_ok_and(|next| {
            let seen = chain.iter().flatten().chain(&main);
            seen.map(|seen| &seen.route)
                .any(|seen| same(seen, &next.route))
        });
        if !known {
            chain.push(next);
        }
    }
    chain
}

/// Whether two routes lead to the same model at the same place.
fn same(one: &Route, other: &Route) -> bool {
    use crate::route::Endpoint;
    let place = match (&one.endpoint, &other.endpoint) {
        (Endpoint::Http(one), Endpoint::Http(other)) => one.base == other.base,
        (Endpoint::Embedded { file: one }, Endpoint::Embedded { file: other }) => one == other,
        (Endpoint::Http(_), Endpoint::Embedded { .. })
        | (Endpoint::Embedded { .. }, Endpoint::Http(_)) => false,
    };
    place && one.provider == other.provider && one.model == other.model
}
