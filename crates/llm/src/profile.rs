//! Provider profiles: one YAML file per provider, built in or put into the home by the user.
//!
//! A profile is data only. What depends on the model or the address is said by rules, which are applied
//! in the order they stand in, each over the ones before it.

mod built_in;
mod error;
mod pattern;
mod reader;
mod registry;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use hermes_config::{Layer, Node};
use hermes_core::WireProtocol;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use url::{Host, Url};

use crate::oauth::Flow;
use crate::quirks::Quirks;
use crate::resolve::is_local;

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
    /// Addresses that single aliases stand for; each is a provider of its own.
    pub places: BTreeMap<String, String>,
    /// Where it answers; `{region}` is put in. The user must say when absent.
    pub base_url: Option<String>,
    /// All its addresses, when which of them a key belongs to has to be found out; the usual one first.
    pub bases: Vec<String>,
    /// Variables that name another address, best first.
    pub base_url_env: Vec<String>,
    /// The path of an address on this machine that has none.
    pub default_path: Option<String>,
    /// Domains that belong to it, sub-domains included; `{region}` stands for a region of AWS. Its keys go nowhere
    /// else unless the user says so, and there by https at the usual port only.
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
    /// Condition: whether the address is on this machine or in a network of the user's own.
    pub near: Option<bool>,
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
            && self.near.is_none_or(|near| near == is_local(url))
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
    let Some((service, rest)) = domain.split_once(REGION) else {
        return is_below(&host, domain);
    };
    let Some((front, region)) = host
        .strip_suffix(rest)
        .and_then(|front| front.rsplit_once('.'))
    else {
        return false;
    };
    is_region(region) && is_below(front, service.trim_end_matches('.'))
}

/// Stands for a region in the domains of AWS, where names next to those of regions can be had by anybody.
const REGION: &str = "{region}";

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Whether a name is one of a region, such as `eu-west-1` or `us-gov-west-1`.
fn is_region(name: &str) -> bool {
    let labels: Vec<&str> = name.split('-').collect();
    let [area, middle @ .., number] = labels.as_slice() else {
        return false;
    };
    let letters = |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_lowercase());
    area.len() == 2
        && letters(area)
        && !middle.is_empty()
        && middle.iter().all(|label| letters(label))
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
}

/// The parts of an address's path.
fn steps(url: &Url) -> Vec<&str> {
    let steps = url.path().split('/');
    steps.filter(|step| !step.is_empty()).collect()
}

/// Whether nobody on the way can read what is sent there, and whoever listens is who the name says: https at its
/// usual port. On this machine it does not matter.
fn is_safe(url: &Url) -> bool {
    let loopback = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(_)) | None => false,
    };
    loopback || (url.scheme() == "https" && url.port_or_known_default() == Some(443))
}

impl Profile {
    /// What settings, routes and credentials call it when it goes by this name. A place is a provider of its own: what
    /// belongs to one says nothing about another.
    pub fn id_of<'a>(&'a self, name: &'a str) -> &'a str {
        match self.places.contains_key(name) {
            true => name,
            false => &self.id,
        }
    }

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

    /// How close an address is to this provider's own, to choose among several that the host belongs to: of nested
    /// domains the inner one counts, then the longer beginning of a path, then the shorter path.
    pub(crate) fn closeness(&self, url: &Url) -> (usize, usize, Reverse<usize>) {
        let host = url.host_str().unwrap_or_default();
        let domains = self.hosts.iter().filter(|own| within(host, own));
        let domain = domains.map(String::len).max().unwrap_or_default();
        let (shared, own) = (self.bases.iter().chain(&self.base_url))
            .filter_map(|base| Url::parse(base).ok())
            .map(|base| {
                let (theirs, ours) = (steps(url), steps(&base));
                let pairs = theirs.iter().zip(&ours);
                let shared = pairs.take_while(|(their, our)| their == our).count();
                (shared, Reverse(ours.len()))
            })
            .max()
            .unwrap_or((0, Reverse(usize::MAX)));
        (domain, shared, own)
    }

    /// Whether an address is on a host that keys of its variables are for, because it is its own or a rule names the
    /// variable for it.
    pub(crate) fn expects(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let named = |rule: &Rule| !rule.key_env.is_empty() && rule.is_on(host);
        self.owns(host) || self.rules.iter().any(named)
    }

    /// Whether keys of its variables may go to an address.
    pub(crate) fn trusts(&self, url: &Url) -> bool {
        is_safe(url) && self.expects(url)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn trusts(hosts: &[&str], url: &str) -> bool {
        let profile = Profile {
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            ..Profile::default()
        };
        profile.trusts(&Url::parse(url).unwrap())
    }

    // PV-3
    #[test]
    fn keys_are_for_an_origin_not_for_a_host() {
        for (url, trusted) in [
            ("https://acme.test/v1", true),
            ("https://API.acme.test:443/v1", true),
            ("http://acme.test/v1", false),
            ("http://api.acme.test:443/v1", false),
            ("https://acme.test:8443/v1", false),
            ("https://notacme.test/v1", false),
            ("https://acme.test.evil.test/v1", false),
        ] {
            assert_eq!(trusts(&["acme.test"], url), trusted, "{url}");
        }
        assert!(trusts(&["127.0.0.1"], "http://127.0.0.1:8000/v1"));
    }

    // PV-3
    #[test]
    fn only_the_endpoints_of_bedrock_are_bedrock() {
        let profile = include_str!("../profiles/bedrock.yaml");
        let profile = Profile::parse(profile, "bedrock.yaml").unwrap();
        for (host, trusted) in [
            ("bedrock-runtime.us-east-1.amazonaws.com", true),
            ("bedrock-runtime-fips.us-gov-west-1.amazonaws.com", true),
            ("bedrock-runtime.ap-southeast-2.api.aws", true),
            ("bedrock.eu-central-1.amazonaws.com", true),
            (
                "vpce-0a-1b.bedrock-runtime.eu-west-1.vpce.amazonaws.com",
                true,
            ),
            ("amazonaws.com", false),
            ("bedrock-runtime.amazonaws.com", false),
            ("bedrock-runtime.s3.amazonaws.com", false),
            ("bedrock-runtime.s3-us-west-2.amazonaws.com", false),
            ("bedrock-runtime.s3.us-west-2.amazonaws.com", false),
            ("ec2-1-2-3-4.compute.amazonaws.com", false),
            ("abc.execute-api.us-east-1.amazonaws.com", false),
            ("evil-bedrock-runtime.us-east-1.amazonaws.com", false),
            ("bedrock-runtime.us-east-1.amazonaws.com.evil.test", false),
        ] {
            let url = Url::parse(&format!("https://{host}")).unwrap();
            assert_eq!(profile.trusts(&url), trusted, "{host}");
        }
    }
}
