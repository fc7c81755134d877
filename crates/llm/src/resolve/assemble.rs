//! From what is wanted to the whole route.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_config::{Either, ProviderModel};
use hermes_core::WireProtocol;
use hermes_http::BaseUrl;
use url::Url;

use super::address::{self, Base};
use super::error::ResolveError;
use super::server::{self, Entry, Kind, Server};
use super::wanted::{Said, Wanted};
use super::{Credential, Request, Resolved, dress, key, naming, protocol};
use crate::embedded;
use crate::metadata::{self, WindowQuery};
use crate::profile::AuthStyle;
use crate::quirks::Quirks;
use crate::route::{
    Address, Endpoint, Limits, Route, SetPatience, UNHEEDED, Why, WindowSource, readable,
};

/// Why a protocol that is set does not count.
const NAMELESS_RESPONSES: &str = "an address without a name is asked so only where the address shows it; \
     to have it count, name the endpoint under `providers`";

/// Builds the route.
pub(super) fn build(request: &Request<'_>, wanted: Wanted) -> Result<Resolved, ResolveError> {
    let server = serving(request, &wanted)?;
    let said = model(&wanted, &server)?;
    let spelled = naming::spell(&server, &said.value);
    let named = Named {
        why: vec![
            explain("provider", &server.id, &server.from),
            explain("model", &spelled, &said.from),
        ],
        model: spelled,
        server,
    };
    if named.server.profile.auth == AuthStyle::Embedded {
        return of_file(request, &wanted, named);
    }
    of_address(request, &wanted, named)
}

/// Who is asked, for which model, and why.
struct Named<'a> {
    server: Server<'a>,
    model: String,
    why: Vec<Why>,
}

fn of_address(
    request: &Request<'_>,
    wanted: &Wanted,
    mut named: Named<'_>,
) -> Result<Resolved, ResolveError> {
    let mut base = address::find(request, wanted, &named.server)?;
    let signed = !dress::guarded(request) && key::signs(request, wanted, &named.server, &base);
    let choice = protocol::choose(wanted, &named.server, &base, &named.model, signed)?;
    named.model = naming::finish(named.model, choice.protocol);
    let query = base.take_query();
    let dressed = dress::dress(
        request,
        wanted,
        &named.server,
        &named.model,
        &base.url,
        choice.protocol,
    )?;
    let lock = key::Lock {
        style: &dressed.auth,
        variables: &dressed.key_env,
    };
    let opened = key::open(request, wanted, &named.server, &base, &lock)?;
    let limits = limits(request, wanted, &named, Some(&base), dressed.max_tokens);
    let Named {
        server,
        model,
        mut why,
    } = named;
    why.push(explain("address", &shown(&base.url), &base.from));
    why.push(explain("protocol", word(choice.protocol), &choice.from));
    if let Some(from) = &choice.unheeded {
        let from = format!("{from}; {NAMELESS_RESPONSES}");
        why.push(explain(UNHEEDED, "api_mode codex_responses", &from));
    }
    if let Some((masked, from)) = &opened.why {
        why.push(explain("key", masked, from));
    }
    why.push(window_line(&limits));
    let (local, tied) = (base.local(), base.tied);
    let asked_at = shown(&base.url);
    let mut route = Route {
        provider: server.id.clone(),
        provider_name: server.name.clone(),
        patience: patience(&server, &model),
        model,
        endpoint: Endpoint::Http(Address {
            base: BaseUrl::from(base.url),
            query: query.into_iter().chain(dressed.query).collect(),
            headers: dressed.headers,
            protocol: choice.protocol,
            auth: opened.auth,
            local,
            tied,
        }),
        limits,
        price: None,
        quirks: Arc::new(dressed.quirks),
        why,
    };
    consult(request, &asked_at, &mut route);
    Ok(Resolved {
        route,
        key: opened.credential,
    })
}

fn serving<'a>(request: &Request<'a>, wanted: &Wanted) -> Result<Server<'a>, ResolveError> {
    let Some(said) = &wanted.provider else {
        return server::automatic(request, wanted);
    };
    let found = server::by_name(request, said)?;
    let has_address = wanted.base_url.is_some()
        || found.place.is_some()
        || found.settings.is_some()
        || found
            .profile
            .base_url_env
            .iter()
            .any(|name| request.named_variable(name).is_some());
    // `custom` alone means the only endpoint there is.
    if found.kind == Kind::Plain && !has_address {
        let own = server::endpoints(request);
        if let [only] = own.as_slice() {
            let name = Said::new(format!("custom:{}", only.key), said.from.as_str());
            return server::by_name(request, &name);
        }
    }
    Ok(found)
}

/// The model: as asked, the endpoint's own, the provider's usual one.
fn model(wanted: &Wanted, server: &Server<'_>) -> Result<Said, ResolveError> {
    if let Some(model) = &wanted.model {
        return Ok(model.clone());
    }
    if let Some(entry) = &server.settings {
        let values = entry.values;
        for (text, key) in [
            (&values.model, "model"),
            (&values.default_model, "default_model"),
        ] {
            if let Some(said) = Said::filled(text, || format!("{}.{key}", entry.path)) {
                return Ok(said);
            }
        }
        if let Some(only) = only_model(entry) {
            return Ok(Said::new(
                only,
                format!("the only one of {}.models", entry.path),
            ));
        }
    }
    let own = server.profile.default_model.as_ref();
    own.filter(|_| server.kind == Kind::BuiltIn)
        .map(|model| Said::new(model.as_str(), "the provider's usual one"))
        .ok_or_else(|| ResolveError::NoModel {
            name: server.name.clone(),
        })
}

fn only_model(entry: &Entry<'_>) -> Option<String> {
    match &entry.values.models {
        Either::First(map) if map.len() == 1 => map.keys().next().cloned(),
        Either::Second(list) => match list.as_slice() {
            [only] => only.as_text().map(ToOwned::to_owned),
            _ => None,
        },
        Either::First(_) => None,
    }
}

/// What the settings say about one model.
pub(super) fn about_model<'a>(entry: &Entry<'a>, model: &str) -> Option<&'a ProviderModel> {
    match &entry.values.models {
        Either::First(map) => map.get(model),
        Either::Second(_) => None,
    }
}

/// The file that a model's name is the path of.
fn model_file(request: &Request<'_>, model: &str) -> Result<Option<PathBuf>, ResolveError> {
    if !server::is_model_file(model) {
        return Ok(None);
    }
    let file = match model.strip_prefix("~/") {
        Some(rest) => request.below_home(rest),
        None => Some(PathBuf::from(model)),
    };
    let file = file.unwrap_or_else(|| PathBuf::from(model));
    match file.is_file() {
        true => Ok(Some(file)),
        false => Err(ResolveError::MissingModelFile { file }),
    }
}

fn of_file(
    request: &Request<'_>,
    wanted: &Wanted,
    named: Named<'_>,
) -> Result<Resolved, ResolveError> {
    let (file, from, usual_output) = match model_file(request, &named.model)? {
        Some(file) => (file, "the model's name", None),
        None => {
            let pulled = request.embedded.ok_or(ResolveError::NoModelFile)?;
            // The small model seldom finds an end by itself; what others can say is for them to know.
            (
                pulled.to_owned(),
                "the home",
                named.server.profile.max_tokens,
            )
        }
    };
    let mut limits = limits(request, wanted, &named, None, usual_output);
    let Named {
        server,
        model,
        mut why,
    } = named;
    // Whatever the settings say: the engine holds no more than this.
    if let Some(window) = embedded::window_of(&file)
        && (limits.window_from > WindowSource::File || limits.window > window)
    {
        limits.window = window;
        limits.window_from = WindowSource::File;
    }
    why.push(explain("address", &file.display().to_string(), from));
    why.push(window_line(&limits));
    let route = Route {
        provider: server.id,
        provider_name: server.name,
        model,
        endpoint: Endpoint::Embedded { file },
        limits,
        price: None,
        quirks: Arc::new(Quirks::default()),
        patience: SetPatience::default(),
        why,
    };
    Ok(Resolved {
        route,
        key: Credential::None,
    })
}

/// Puts in what the provider's own list says about the model. A server nearby may have another window today, and
/// is asked itself.
fn consult(request: &Request<'_>, asked_at: &str, route: &mut Route) {
    let Some(lists) = request.lists else {
        return;
    };
    let Some(facts) = lists.facts(&route.provider, asked_at, &route.model) else {
        return;
    };
    route.price = facts.price;
    if let Some(window) = facts.window
        && route.limits.window_from > WindowSource::Endpoint
        && !route.is_local()
    {
        route.set_window(window, WindowSource::Endpoint);
    }
}

fn limits(
    request: &Request<'_>,
    wanted: &Wanted,
    named: &Named<'_>,
    base: Option<&Base>,
    usual_output: Option<u32>,
) -> Limits {
    let (server, model) = (&named.server, named.model.as_str());
    let entry = server.settings.as_ref();
    let of_model = entry
        .and_then(|entry| about_model(entry, model))
        .and_then(|about| about.context_length);
    let of_endpoint = entry.and_then(|entry| entry.values.context_length);
    let (window, window_from) = metadata::window(&WindowQuery {
        model,
        base: base.map(|base| &base.url),
        configured: wanted
            .window
            .as_ref()
            .map(|(window, _)| *window)
            .or(of_model)
            .or(of_endpoint)
            .or(wanted.num_ctx),
        learned: request.learned,
        provider: server.profile.catalogue_id(),
        catalogue: request.catalogue,
    });
    let set = wanted.max_tokens.or_else(|| {
        let values = entry?.values;
        values.max_output_tokens.or(values.max_tokens)
    });
    // Aggregators cut Claude off early unless told its real limit.
    let claude = || {
        let aggregated = server.profile.slugs && model.contains("claude");
        aggregated.then(|| metadata::output(model)).flatten()
    };
    Limits {
        window,
        window_from,
        output: set
            .or(usual_output)
            .or_else(claude)
            .map(|output| output.min(window)),
    }
}

fn patience(server: &Server<'_>, model: &str) -> SetPatience {
    let Some(entry) = &server.settings else {
        return SetPatience::default();
    };
    let about = about_model(entry, model);
    let of_model = |time: fn(&ProviderModel) -> Option<Duration>| about.and_then(time);
    SetPatience {
        total: of_model(|about| about.timeout_seconds).or(entry.values.request_timeout_seconds),
        stale: of_model(|about| about.stale_timeout_seconds).or(entry.values.stale_timeout_seconds),
    }
}

fn explain(part: &'static str, value: &str, from: &str) -> Why {
    Why {
        part,
        value: value.to_owned(),
        from: from.to_owned(),
    }
}

fn window_line(limits: &Limits) -> Why {
    explain(
        "window",
        &limits.window.to_string(),
        &limits.window_from.to_string(),
    )
}

/// The address without what may be secret in it.
fn shown(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}"));
    readable(&format!(
        "{}://{}{}{}",
        url.scheme(),
        url.host_str().unwrap_or_default(),
        port.unwrap_or_default(),
        url.path().trim_end_matches('/')
    ))
}

fn word(protocol: WireProtocol) -> &'static str {
    match protocol {
        WireProtocol::ChatCompletions => "chat completions",
        WireProtocol::Responses => "responses",
        WireProtocol::Anthropic => "anthropic messages",
        WireProtocol::Gemini => "gemini",
        WireProtocol::Converse => "bedrock converse",
    }
}
