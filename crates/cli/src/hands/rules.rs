//! Which files the file tools may touch: the policy's rules for this home.

use std::path::PathBuf;

use hermes_config::Home;
use hermes_policy::FileRules;

/// The rules of one home.
pub(super) fn of(home: &Home, user_home: Option<PathBuf>, safe_roots: Vec<PathBuf>) -> FileRules {
    let root = home.root().to_owned();
    let named = home.profiles().unwrap_or_default();
    let profiles = named
        .into_iter()
        .map(|name| Home::of_profile(&root, name).path().to_owned());
    FileRules {
        home: user_home.unwrap_or_else(|| PathBuf::from("/")),
        product_home: home.path().to_owned(),
        profiles: profiles.chain([root.clone()]).collect(),
        mirrors: vec![home.path().join("sandboxes")],
        safe_roots,
    }
}
