//! Which files the file tools may touch: the policy's rules for this home.

use std::path::{Path, PathBuf};

use hermes_config::Home;
use hermes_policy::FileRules;

/// The rules of one home.
pub(super) fn of(home: &Home, user_home: Option<PathBuf>, safe_roots: Vec<PathBuf>) -> FileRules {
    let root = home.root().to_owned();
    let named = home.profiles().unwrap_or_default();
    let profiles = named
        .into_iter()
        .map(|name| Home::of_profile(&root, name).path().to_owned());
    let named = FileRules {
        home: user_home.unwrap_or_else(|| PathBuf::from("/")),
        product_home: home.path().to_owned(),
        profiles: profiles.chain([root.clone()]).collect(),
        mirrors: vec![home.path().join("sandboxes")],
        safe_roots,
        linked: None,
    };
    let linked = followed(&named);
    FileRules {
        linked: Some(Box::new(linked)),
        ..named
    }
}

/// The same rules where links in the names of their places lead.
fn followed(named: &FileRules) -> FileRules {
    let all = |paths: &[PathBuf]| paths.iter().map(|path| real(path)).collect();
    FileRules {
        home: real(&named.home),
        product_home: real(&named.product_home),
        profiles: all(&named.profiles),
        mirrors: all(&named.mirrors),
        safe_roots: all(&named.safe_roots),
        linked: None,
    }
}

/// Where a path really is. What does not exist yet is where its parent leads.
fn real(path: &Path) -> PathBuf {
    let found = path.canonicalize().ok();
    let beside = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    found.or_else(beside).unwrap_or_else(|| path.to_owned())
}
