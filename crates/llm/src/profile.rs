//! Provider profiles: one YAML file per provider, built in or put into the home by the user.
//!
//! A profile is data only. What depends on the model or the address is said by rules, which are applied
//! in the order they stand in, each over the ones before it.

mod built_in;
mod error;
mod pattern;
mod reader;
mod registry;

use std::collections::BTreeMap;

use hermes_config::{Layer, Node};
use hermes_core::WireProtocol;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use url::Url;

use crate::oauth::Flow;
use crate::quirks::Quirks;

pub use error::ProfileError;
pub(crate) use pattern::matches as pattern_matches;
pub use registry::Profiles;

/// The provider whose sign-in is part of the program.
pub const NOUS: &str = "nous";

/// Everything about one provider.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// What settings and credentials call it.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// One line for lists.
    pub about: String,
    /// What models.dev calls it, where that is not its id.
    pub catalogue: Option<String>,
    /// Other names for it.
    pub aliases: Vec<String>,
    /// Addresses that single aliases stand for.
    pub places: BTreeMap<String, String>,
    /// Where it answers; `{region}` is put in. The user must say when absent.
    pub base_url: Option<String>,
    /// All its addresses, when which of them a key belongs to has to be found out; the usual one first.
    pub bases: Vec<String>,
    /// Variables that name another address, best first.
    pub base_url_env: Vec<String>,
    /// The path of an address on this machine that has none.
    pub default_path: Option<String>,
    /// Domains that belong to it, sub-domains included. Its keys go nowhere else unless the user says so.
    pub hosts: Vec<String>,
    /// How requests are authenticated.
    pub auth: AuthStyle,
    /// Whether a key is needed.
    pub key: KeyNeed,
    /// How to sign in, where the key comes from that; Nous has a way of its own.
    pub oauth: Option<Flow>,
    /// Variables that hold the key, best first.
    pub key_env: Vec<String>,
    /// Keys that look right but cannot be used.
    pub refused_keys: Vec<RefusedKey>,
    /// Where to get a key or the program.
    pub signup: Option<String>,
    /// Whether `auto` may choose it.
    pub auto: Choosable,
    /// The protocol; found out from address and model when absent.
    pub protocol: Option<WireProtocol>,
    /// What depends on model and address.
    pub rules: Vec<Rule>,
    /// How it differs from its protocol; the fields of [`Quirks`].
    pub quirks: Map<String, Json>,
    /// Headers of every request; never credentials.
    pub headers: BTreeMap<String, String>,
    /// Parameters of every request.
    pub query: BTreeMap<String, String>,
    /// Prefixes `vendor/` that its own model names do not have.
    pub vendors: Vec<String>,
    /// Models have names like `vendor/model` here.
    pub slugs: bool,
    /// Names of models that are at home here.
    pub serves: Vec<String>,
    /// The model when none is named.
    pub default_model: Option<String>,
    /// Models worth offering, best first.
    pub models: Vec<String>,
    /// Models that its list has and nobody is offered; who names one gets it.
    pub unlisted: Vec<String>,
    /// Whether anybody may ask which models there are, without a key.
    pub public_models: bool,
    /// The model for small tasks on the side.
    pub aux_model: Option<String>,
    /// The model that describes pictures.
    pub vision_model: Option<String>,
    /// Most tokens of an answer asked for when the user set nothing.
    pub max_tokens: Option<u32>,
    /// Sections of the settings that apply to it.
    pub features: Vec<Feature>,
}

/// How requests are authenticated.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthStyle {
    /// `Authorization: Bearer`.
    #[default]
    Bearer,
    /// A header of the provider's own.
    Header(String),
    /// A bearer token, or an AWS key pair and a signature.
    Aws,
    /// A token of Google Cloud, made out of a service account or a sign-in.
    Google,
    /// Nothing is sent.
    None,
    /// There is no wire: the model runs in this process.
    Embedded,
}

/// Whether a key is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyNeed {
    /// Nothing works without one.
    #[default]
    Required,
    /// Sent when there is one.
    Optional,
    /// Comes from signing in.
    Login,
}

/// Whether `auto` may choose a provider. Written as `true` or `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "bool")]
pub enum Choosable {
    /// When it has a key.
    #[default]
    Yes,
    /// Only by name.
    No,
}

impl From<bool> for Choosable {
    fn from(flag: bool) -> Self {
        if flag { Self::Yes } else { Self::No }
    }
}

/// A key that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedKey {
    /// How such keys begin.
    pub prefix: String,
    /// Why not; follows "the key cannot be used: ".
    pub why: String,
}

/// A section of the settings that applies to some providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// `provider_routing`, sent as `provider`.
    ProviderRouting,
    /// `openrouter.response_cache`, sent as headers.
    ResponseCache,
    /// `openrouter.min_coding_score`, for the model that picks models.
    CodingRouter,
    /// `bedrock.guardrail`.
    Guardrail,
    /// `agent.service_tier`, sent as `service_tier` where the protocol is one of OpenAI's.
    ServiceTier,
}

/// What holds for some models or addresses. Without a condition it always holds.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// Condition: the model's name, with `*` for anything; case does not matter.
    pub models: Vec<String>,
    /// Condition: how the path of the address ends.
    pub path_ends: Vec<String>,
    /// Condition: the domain of the address, sub-domains included.
    pub hosts: Vec<String>,
    /// Condition: the protocol that was decided on.
    pub protocol_is: Option<WireProtocol>,
    /// Condition on another protocol: requests are signed with a key pair of AWS, and no guardrail is set, which
    /// Converse alone reports on.
    pub signed: bool,
    /// Another protocol.
    pub protocol: Option<WireProtocol>,
    /// Another way to authenticate.
    pub auth: Option<AuthStyle>,
    /// Other variables that hold the key, for addresses that the usual key must not go to.
    pub key_env: Vec<String>,
    /// Quirks put over the ones so far.
    pub quirks: Map<String, Json>,
    /// Further headers.
    pub headers: BTreeMap<String, String>,
    /// Further parameters.
    pub query: BTreeMap<String, String>,
    /// Another limit of the answer.
    pub max_tokens: Option<u32>,
}

impl Rule {
    /// Whether the conditions on model and address hold.
    pub(crate) fn holds(&self, model: &str, url: &Url) -> bool {
        let path = url.path().trim_end_matches('/');
        let any = |wanted: &[String], test: &dyn Fn(&str) -> bool| {
            wanted.is_empty() || wanted.iter().any(|wanted| test(wanted))
        };
        any(&self.models, &|pattern| pattern_matches(pattern, model))
            && any(&self.path_ends, &|end| path.ends_with(end))
            && self.is_on(url.host_str().unwrap_or_default())
    }

    /// Whether the condition on the host holds.
    pub(crate) fn is_on(&self, host: &str) -> bool {
        self.hosts.is_empty() || self.hosts.iter().any(|own| within(host, own))
    }
}

/// Whether a host is this domain or below it.
fn within(host: &str, domain: &str) -> bool {
    let host = host.to_ascii_lowercase();
    host.strip_suffix(domain)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

impl Profile {
    /// What models.dev calls it.
    pub(crate) fn catalogue_id(&self) -> &str {
        self.catalogue.as_deref().unwrap_or(&self.id)
    }

    /// Reads a profile; `place` is the file's name for messages.
    pub fn parse(text: &str, place: &str) -> Result<Self, ProfileError> {
        let node =
            hermes_config::parse(text, Layer::File).map_err(|source| ProfileError::Yaml {
                file: place.to_owned(),
                source,
            })?;
        let profile = Self::deserialize(reader::NodeReader::new(&node))
            .map_err(|fault| ProfileError::unreadable(place, fault))?;
        profile.check_quirks(&node, place)?;
        profile.check_login(place)?;
        for (key, value) in [("id", &profile.id), ("name", &profile.name)] {
            if value.is_empty() {
                return Err(ProfileError::Missing {
                    file: place.to_owned(),
                    key,
                });
            }
        }
        Ok(profile)
    }

    /// Signing in somewhere else would give a token that belongs to others.
    fn check_login(&self, place: &str) -> Result<(), ProfileError> {
        let signs_in = self.key == KeyNeed::Login;
        match (&self.oauth, signs_in) {
            (None, true) if self.id != NOUS => Err(ProfileError::NoFlow {
                file: place.to_owned(),
            }),
            (Some(_), false) => Err(ProfileError::UnusedFlow {
                file: place.to_owned(),
            }),
            (None, _) | (Some(_), true) => Ok(()),
        }
    }

    /// Quirks are kept untyped to be put over each other, so each set is tried by itself once.
    fn check_quirks(&self, node: &Node, place: &str) -> Result<(), ProfileError> {
        let rules = node.child("rules");
        let of_rules = (0..self.rules.len())
            .filter_map(|index| rules?.child(&index.to_string())?.child("quirks"));
        for quirks in node.child("quirks").into_iter().chain(of_rules) {
            Quirks::deserialize(reader::NodeReader::new(quirks))
                .map_err(|fault| ProfileError::unreadable(place, fault.inside("quirks")))?;
        }
        Ok(())
    }

    /// Whether a host is one of its own.
    pub fn owns(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| within(host, own))
    }

    /// Whether keys of its variables may go to a host, because it is its own or a rule names the variable
    /// for it.
    pub(crate) fn trusts(&self, host: &str) -> bool {
        let named = |rule: &Rule| !rule.key_env.is_empty() && rule.is_on(host);
        self.owns(host) || self.rules.iter().any(named)
    }

    /// Whether a model of its list is one to choose.
    pub fn offers(&self, model: &str) -> bool {
        let mut patterns = self.unlisted.iter();
        !patterns.any(|pattern| pattern_matches(pattern, model))
    }

    /// Whether a model is at home here, by its name.
    pub fn serves(&self, model: &str) -> bool {
        self.serves
            .iter()
            .any(|pattern| pattern_matches(pattern, model))
            || self
                .models
                .iter()
                .any(|known| known.eq_ignore_ascii_case(model))
    }
}
