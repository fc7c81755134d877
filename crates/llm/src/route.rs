//! A route: everything that is needed to reach one model. Immutable; a switch replaces it whole, so
//! that no address, key or protocol of the one before can be left behind.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::WireProtocol;
use hermes_http::BaseUrl;
use http::HeaderName;

use crate::metadata::Price;
use crate::quirks::Quirks;

/// How to reach one model.
#[derive(Debug, Clone)]
pub struct Route {
    /// The provider's id, such as `deepseek`, `ollama` or `custom:lab`. Credentials belong to it.
    pub provider: String,
    /// The provider's name for people.
    pub provider_name: String,
    /// The model's name at the provider.
    pub model: String,
    /// Where the model answers.
    pub endpoint: Endpoint,
    /// What it can take in and give out.
    pub limits: Limits,
    /// What it costs, as far as its provider's own list says.
    pub price: Option<Price>,
    /// How it differs from its protocol.
    pub quirks: Arc<Quirks>,
    /// Waiting times the user set; they beat every built-in one.
    pub patience: SetPatience,
    /// Where each part of the route came from, for `model --why`.
    pub why: Vec<Why>,
}

/// Where a model answers.
#[derive(Debug, Clone)]
pub enum Endpoint {
    /// At an address.
    Http(Address),
    /// Inside this process, from a model file.
    Embedded {
        /// The GGUF file.
        file: std::path::PathBuf,
    },
}

/// An address and how to speak to it.
#[derive(Debug, Clone)]
pub struct Address {
    /// The base of all paths.
    pub base: BaseUrl,
    /// Parameters of every request.
    pub query: Vec<(String, String)>,
    /// Headers of every request; never credentials.
    pub headers: Vec<(HeaderName, String)>,
    /// The protocol.
    pub protocol: WireProtocol,
    /// How requests are authenticated.
    pub auth: Auth,
    /// Whether it is on this machine or its network, where a model may take minutes to load.
    pub local: bool,
    /// Whether it is where the provider is, by its profile or by what the user said. A credential that is kept for
    /// the provider goes nowhere else.
    pub tied: bool,
}

/// How requests are authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// Not at all.
    None,
    /// `Authorization: Bearer`.
    Bearer,
    /// A header of the provider's own.
    Header(HeaderName),
    /// AWS signature version 4. The secret holds the key's id, the key and perhaps a session token, a
    /// line each.
    SigV4 {
        /// The region that is signed for.
        region: String,
    },
}

/// What a model can take in and give out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The context window in tokens.
    pub window: u32,
    /// Where that number came from.
    pub window_from: WindowSource,
    /// Most tokens of one answer that may be asked for; the provider's own limit when absent.
    pub output: Option<u32>,
}

/// Where the size of a context window is known from, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WindowSource {
    /// The user set it.
    Configured,
    /// A failed request named it.
    Learned,
    /// The server says so.
    Endpoint,
    /// The model's file says so.
    File,
    /// A public list of models says so.
    Catalogue,
    /// The table of model families.
    Family,
    /// Nothing is known: a careful guess.
    Guess,
}

impl fmt::Display for WindowSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Configured => "set in the configuration",
            Self::Learned => "learned from a refusal",
            Self::Endpoint => "reported by the server",
            Self::File => "read from the model's file",
            Self::Catalogue => "listed by models.dev",
            Self::Family => "known for this family of models",
            Self::Guess => "a careful guess",
        })
    }
}

/// Waiting times the user set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SetPatience {
    /// For the whole call.
    pub total: Option<Duration>,
    /// For a stream that has gone silent.
    pub stale: Option<Duration>,
}

/// One line of the explanation of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// Which part: `provider`, `model`, `address`, `protocol`, `key`, `window`, or `not used`.
    pub part: &'static str,
    /// Its value; keys are masked.
    pub value: String,
    /// Where it came from, such as `config.yaml: model.provider`.
    pub from: String,
}

/// The part of an explanation that is about a setting without effect.
pub(crate) const UNHEEDED: &str = "not used";

/// What stands in an address for a project that is not known yet.
pub(crate) const PROJECT: &str = "%7Bproject%7D";

/// An address for people, who are told whose project it will be.
pub(crate) fn readable(address: &str) -> String {
    address.replace(PROJECT, "(project of this machine)")
}

impl Route {
    /// Puts the project into the address, where one is missing.
    pub(crate) fn set_project(&mut self, project: &str) {
        if let Endpoint::Http(address) = &mut self.endpoint {
            let url = address.base.join("");
            let filled = url.as_str().replace(PROJECT, project);
            if let Ok(filled) = url::Url::parse(&filled) {
                address.base = filled.into();
            }
        }
    }

    /// A setting of its own that has no effect, and why, in one line.
    pub fn unheeded(&self) -> Option<String> {
        let why = self.why.iter().find(|why| why.part == UNHEEDED)?;
        Some(format!("{} is {UNHEEDED}: {}", why.value, why.from))
    }

    /// `provider/model`, for messages.
    pub fn label(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }

    /// The service tier that every request asks for, where one is set and the provider has any.
    pub fn service_tier(&self) -> Option<&str> {
        self.quirks.extra_body.get("service_tier")?.as_str()
    }

    /// Whether it leads to the same model at the same address.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.provider == other.provider
            && self.model == other.model
            && self.address_text() == other.address_text()
    }

    /// Puts in a window that is known better now, in the explanation too.
    pub(crate) fn set_window(&mut self, window: u32, from: WindowSource) {
        self.limits.window = window;
        self.limits.window_from = from;
        self.limits.output = self.limits.output.map(|output| output.min(window));
        if let Some(why) = self.why.iter_mut().find(|why| why.part == "window") {
            why.value = window.to_string();
            why.from = from.to_string();
        }
    }

    /// The address without user and query, for the ledger.
    pub fn address_text(&self) -> String {
        match &self.endpoint {
            Endpoint::Http(address) => readable(&format!("{:?}", address.base)),
            Endpoint::Embedded { .. } => String::new(),
        }
    }

    /// The protocol, when there is a wire.
    pub fn protocol(&self) -> Option<WireProtocol> {
        match &self.endpoint {
            Endpoint::Http(address) => Some(address.protocol),
            Endpoint::Embedded { .. } => None,
        }
    }

    /// Whether Amazon Bedrock serves it, whichever protocol is spoken.
    pub fn is_at_bedrock(&self) -> bool {
        self.quirks.invoke || self.protocol() == Some(WireProtocol::Converse)
    }

    /// Whether the model runs inside this process.
    pub fn is_embedded(&self) -> bool {
        matches!(self.endpoint, Endpoint::Embedded { .. })
    }

    /// Whether the model runs here or nearby.
    pub fn is_local(&self) -> bool {
        match &self.endpoint {
            Endpoint::Http(address) => address.local,
            Endpoint::Embedded { .. } => true,
        }
    }
}
