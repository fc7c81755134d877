//! What is asked for, before anything is known about who serves it.

use std::collections::BTreeMap;

use hermes_config::{ApiMode, Fallback, Model, ModelAlias, SecretText, Value};
use serde_json::{Map, Value as Json};

use super::error::ResolveError;
use super::{Request, server};
use crate::alias::{self, Spoken};

/// What `model.openai_runtime` says to have models run through the `codex` program.
const CODEX_PROGRAM: &str = "codex_app_server";

/// An address without a name.
const CUSTOM: &str = "custom";

/// A value and where it was said.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) value: String,
    pub(super) from: String,
}

impl Said {
    pub(super) fn new(value: impl Into<String>, from: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            from: from.into(),
        }
    }

    /// `None` for text that says nothing.
    pub(super) fn filled(value: &str, from: impl FnOnce() -> String) -> Option<Self> {
        let value = value.trim();
        (!value.is_empty()).then(|| Self::new(value, from()))
    }
}

/// A key that stands in a setting.
#[derive(Clone)]
pub(super) struct Written {
    pub(super) value: String,
    /// The setting's path.
    pub(super) setting: String,
}

impl Written {
    /// `None` when there is none.
    pub(super) fn filled(key: &SecretText, setting: &str) -> Option<Self> {
        let value = key.expose().trim();
        (!value.is_empty()).then(|| Self {
            value: value.to_owned(),
            setting: setting.to_owned(),
        })
    }
}

/// What is asked for; absent parts are found by the resolver.
#[derive(Default)]
pub(super) struct Wanted {
    /// Who serves; anybody with a key when absent.
    pub(super) provider: Option<Said>,
    pub(super) model: Option<Said>,
    pub(super) base_url: Option<Said>,
    pub(super) flag_key: Option<String>,
    /// The variable that holds the key.
    pub(super) key_env: Option<Said>,
    pub(super) api_key: Option<Written>,
    pub(super) api_mode: Option<(ApiMode, String)>,
    pub(super) max_tokens: Option<u32>,
    pub(super) window: Option<(u32, String)>,
    /// Headers that give way to those of the provider.
    pub(super) default_headers: BTreeMap<String, String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) extra_body: Map<String, Json>,
    pub(super) vision: Option<bool>,
    /// The window asked of Ollama.
    pub(super) num_ctx: Option<u32>,
    /// Whether OpenAI's models are to run through the `codex` program.
    pub(super) codex_program: bool,
}

impl Wanted {
    /// The model of the conversation: flags over settings.
    pub(super) fn main(request: &Request<'_>) -> Result<Self, ResolveError> {
        let flags = &request.flags;
        let typed = flags.model.map(|text| meaning(request, text)).transpose()?;
        let settings = &request.config.model;
        let configured =
            named(&settings.provider).map(|name| Said::new(name, request.origin("model.provider")));

        let typed = typed.unwrap_or_default();
        let flag = flags
            .provider
            .and_then(named)
            .map(|name| Said::new(name, "the command line: --provider"));
        let switched = flag.or(typed.provider);
        let base_url = flags
            .base_url
            .and_then(|url| Said::filled(url, || "the command line: --base-url".to_owned()));
        // An address alone says who serves: whoever was set before serves elsewhere.
        let configured = configured.filter(|_| switched.is_some() || base_url.is_none());
        let base_url = base_url.or(typed.base_url);
        let elsewhere = base_url
            .as_ref()
            .is_some_and(|url| url.value != settings.base_url.trim());
        let keeps = match (&switched, &configured) {
            // What was set for one address, a key above all, is not for another.
            _ if elsewhere => Keeps::Model,
            (None, _) => Keeps::All,
            (Some(wanted), Some(configured)) if same(request, wanted, configured)? => Keeps::All,
            (Some(_), Some(_)) => Keeps::Nothing,
            (Some(_), None) => Keeps::Model,
        };
        let mut wanted = Self {
            provider: switched.or(configured),
            base_url,
            flag_key: flags.api_key.map(ToOwned::to_owned),
            max_tokens: settings.max_tokens,
            vision: settings.supports_vision,
            ..Self::default()
        };
        if keeps == Keeps::All {
            wanted.take_settings(request, settings);
        }
        match typed.model {
            Some(model) => {
                // Where the settings name no model, what they say of it is about any.
                let same_model = ["", &model.value].contains(&settings.default.trim());
                wanted.window = wanted.window.filter(|_| same_model);
                wanted.vision = wanted.vision.filter(|_| same_model);
                wanted.model = Some(model);
            }
            None if keeps != Keeps::Nothing => wanted.take_default(request, settings)?,
            None => {}
        }
        Ok(wanted)
    }

    /// An entry of a chain, which stands at this path of the settings.
    pub(super) fn fallback(request: &Request<'_>, path: &str, entry: &Fallback) -> Self {
        let slot = Slot {
            provider: &entry.provider,
            model: &entry.model,
            base_url: &entry.base_url,
            api_key: &entry.api_key,
            key_env: &entry.key_env,
            api_mode: entry.api_mode,
        };
        let mut wanted = Self::of(request, path, &slot);
        wanted.max_tokens = entry.max_tokens;
        wanted.headers.extend(entry.extra_headers.clone());
        wanted
    }

    /// An entry of the settings that can name everything.
    pub(super) fn of(request: &Request<'_>, path: &str, slot: &Slot<'_>) -> Self {
        let place = |key: &str| request.origin(&format!("{path}.{key}"));
        let said = |value: &str, key: &str| Said::filled(value, || place(key));
        let mut wanted = Self {
            provider: named(slot.provider).map(|name| Said::new(name, place("provider"))),
            model: said(&alias::plain(slot.model), "model"),
            base_url: said(slot.base_url, "base_url"),
            api_key: Written::filled(slot.api_key, &format!("{path}.api_key")),
            key_env: said(slot.key_env, "key_env"),
            api_mode: mode(slot.api_mode, || place("api_mode")),
            ..Self::default()
        };
        let nameless = wanted
            .provider
            .as_ref()
            .is_some_and(|it| it.value == CUSTOM);
        if nameless && wanted.base_url.is_none() {
            wanted.take_address(request, &request.config.model);
        }
        wanted
    }

    /// The address of the conversation's model where that has no name either, and what opens it.
    fn take_address(&mut self, request: &Request<'_>, settings: &Model) {
        let url = Said::filled(&settings.base_url, || request.origin("model.base_url"));
        if named(&settings.provider).is_none_or(|name| name != CUSTOM) || url.is_none() {
            return;
        }
        self.base_url = url;
        if self.key_env.is_none() && self.api_key.is_none() {
            self.api_key = Written::filled(&settings.api_key, "model.api_key");
        }
        let own = || mode(settings.api_mode, || request.origin("model.api_mode"));
        self.api_mode = self.api_mode.take().or_else(own);
        self.default_headers = settings.default_headers.clone();
        self.headers = settings.extra_headers.clone();
    }

    fn take_settings(&mut self, request: &Request<'_>, settings: &Model) {
        let said = |value: &str, key: &str| Said::filled(value, || request.origin(key));
        if self.base_url.is_none() {
            self.base_url = said(&settings.base_url, "model.base_url");
        }
        self.api_key = Written::filled(&settings.api_key, "model.api_key");
        self.api_mode = mode(settings.api_mode, || request.origin("model.api_mode"));
        self.window = settings
            .context_length
            .map(|window| (window, request.origin("model.context_length")));
        self.default_headers = settings.default_headers.clone();
        self.headers = settings.extra_headers.clone();
        self.num_ctx = settings.ollama_num_ctx;
        self.codex_program = settings.openai_runtime.trim() == CODEX_PROGRAM;
    }

    /// The model of the settings, which may be a short name or have its provider in front.
    fn take_default(
        &mut self,
        request: &Request<'_>,
        settings: &Model,
    ) -> Result<(), ResolveError> {
        let Some(text) = Said::filled(&settings.default, || request.origin("model.default")) else {
            return Ok(());
        };
        let meant = meaning(request, &text.value)?;
        if self.provider.is_none() {
            self.provider = meant.provider;
        } else if meant.provider.is_some() {
            // A provider set beside the model is the later word: the text is a name with a colon in it.
            self.model = Some(Said::new(alias::plain(&text.value), text.from));
            return Ok(());
        }
        if self.base_url.is_none() {
            self.base_url = meant.base_url;
        }
        self.model = meant.model.map(|model| Said::new(model.value, text.from));
        Ok(())
    }
}

/// The keys that fallbacks and helper tasks have in common.
pub(super) struct Slot<'s> {
    pub(super) provider: &'s str,
    pub(super) model: &'s str,
    pub(super) base_url: &'s str,
    pub(super) api_key: &'s SecretText,
    pub(super) key_env: &'s str,
    pub(super) api_mode: ApiMode,
}

/// What of the `model` section still counts.
#[derive(PartialEq, Eq)]
enum Keeps {
    All,
    /// Only the model's name: the section names no provider it could belong to.
    Model,
    Nothing,
}

/// A provider's name, unless it says that anybody will do.
fn named(name: &str) -> Option<String> {
    let name = alias::normal(name);
    (!name.is_empty() && name != "auto").then_some(name)
}

fn mode(mode: ApiMode, from: impl FnOnce() -> String) -> Option<(ApiMode, String)> {
    (mode != ApiMode::Unset).then(|| (mode, from()))
}

fn same(request: &Request<'_>, one: &Said, other: &Said) -> Result<bool, ResolveError> {
    if one.value == other.value {
        return Ok(true);
    }
    let one = server::by_name(request, one)?;
    // What is configured may be wrong; the flag is there to get around it.
    Ok(server::by_name(request, other).is_ok_and(|other| one.id == other.id))
}

/// What a typed model means.
#[derive(Default)]
struct Meaning {
    provider: Option<Said>,
    model: Option<Said>,
    base_url: Option<Said>,
}

/// The user's own short names first, then `provider:model`.
fn meaning(request: &Request<'_>, text: &str) -> Result<Meaning, ResolveError> {
    let text = alias::plain(text);
    if let Some((alias, from)) = own_alias(request, &text) {
        return Ok(Meaning {
            provider: named(&alias.provider).map(|name| Said::new(name, from.clone())),
            model: Said::filled(&alias.model, || from.clone()),
            base_url: Said::filled(&alias.base_url, || from.clone()),
        });
    }
    let Spoken { provider, model } = alias::parse(&text, |name| server::is_name(request, name))?;
    let from = || format!("the name `{text}`");
    // A provider alone, as in `custom:lab` or `deepseek:`.
    Ok(Meaning {
        provider: provider.map(|name| Said::new(name, from())),
        model: model.map(|model| Said::new(model, from())),
        base_url: None,
    })
}

/// A short name from `model_aliases` or `model.aliases`.
fn own_alias(request: &Request<'_>, name: &str) -> Option<(ModelAlias, String)> {
    let wanted = name.to_lowercase();
    let listed = request.config.model_aliases.iter();
    if let Some((key, alias)) = listed
        .into_iter()
        .find(|(key, _)| key.to_lowercase() == wanted)
    {
        return Some((
            alias.clone(),
            request.origin(&format!("model_aliases.{key}")),
        ));
    }
    let inner = &request.config.model.aliases;
    let (key, value) = inner.iter().find(|(key, _)| key.to_lowercase() == wanted)?;
    let from = request.origin(&format!("model.aliases.{key}"));
    let word = |key: &str| {
        let node = value.as_map().and_then(|map| map.get(key));
        node.and_then(hermes_config::Node::text).unwrap_or_default()
    };
    let alias = match value {
        Value::Text(text) => {
            let spoken = alias::parse(text, |name| server::is_name(request, name)).ok()?;
            ModelAlias {
                model: spoken.model.unwrap_or_default(),
                provider: spoken.provider.unwrap_or_default(),
                base_url: String::new(),
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::List(_)
        | Value::Map(_) => ModelAlias {
            model: word("model"),
            provider: word("provider"),
            base_url: word("base_url"),
        },
    };
    Some((alias, from))
}
