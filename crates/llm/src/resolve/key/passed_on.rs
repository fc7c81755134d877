//! What programs that print credentials get of the environment: everything but the keys that Hermes opens
//! other doors with.

use std::sync::Arc;

use hermes_config::{is_known_name, names_secret};

use crate::resolve::Request;
use crate::resolve::server::endpoints;

/// The variables for a program that belongs to whoever has this prefix, as `AWS_`.
pub(super) fn passed_on(request: &Request<'_>, own: Option<&str>) -> Arc<[(String, String)]> {
    let named: Vec<&str> = endpoints(request)
        .iter()
        .map(|entry| entry.values.key_env.as_str())
        .collect();
    // A file of the user's that cannot be read is met where its provider is asked for.
    let profiles = request.profiles.all().unwrap_or_default();
    let of_profile = |name: &str| {
        let mut keys = profiles.iter().flat_map(|profile| &profile.key_env);
        keys.any(|key| key == name)
    };
    let is_key = |name: &str| {
        name.ends_with("_API_KEY")
            || named.contains(&name)
            || of_profile(name)
            || names_secret(name) && (is_known_name(name) || request.dotenv.has(name))
    };
    request
        .environment
        .iter()
        .filter(|(name, _)| own.is_some_and(|own| name.starts_with(own)) || !is_key(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
