//! What programs that print credentials get of the environment: everything but the keys that Hermes opens
//! other doors with.

use std::sync::Arc;

use hermes_config::{is_known_name, names_secret};

use crate::resolve::Request;

/// The variables for a program that belongs to whoever has this prefix, as `AWS_`.
pub(super) fn passed_on(request: &Request<'_>, own: Option<&str>) -> Arc<[(String, String)]> {
    let of_profiles = request.profiles.key_names();
    let is_key = |name: &str| {
        name.ends_with("_API_KEY")
            || request.key_names.contains(name)
            || of_profiles.contains(name)
            || names_secret(name) && (is_known_name(name) || request.dotenv.has(name))
    };
    request
        .environment
        .iter()
        .filter(|(name, _)| own.is_some_and(|own| name.starts_with(own)) || !is_key(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
