//! Files of our home that commands elsewhere may use: skills, fetched and made media, and the credential
//! files the user named. Containers see them read-only; to other machines they are sent.

use std::path::{Component, Path, PathBuf};

use hermes_config::{Config, Home};
use hermes_exec::{Offer, Source, SourceKind};
use hermes_policy::{FileRules, Names, may_read};

/// Where our home is in a container.
const HOME_IN_CONTAINERS: &str = concat!("/root", "/.hermes");
/// Parts of the cache that are worth having elsewhere.
const CACHES: [&str; 7] = [
    "documents",
    "images",
    "audio",
    "videos",
    "screenshots",
    "web",
    "delegation",
];

/// All of them, by where they go below the home there.
pub(super) fn of(config: &Config, home: &Home, rules: &FileRules) -> Vec<Source> {
    let shared = |from: PathBuf, to: String| Source {
        from,
        to,
        kind: SourceKind::Shared,
    };
    let mut sources = vec![shared(home.path().join("skills"), "skills".to_owned())];
    for (number, folder) in config.skills.external_dirs.iter().enumerate() {
        let from = super::kits::expanded(folder, Some(&rules.home));
        sources.push(shared(from, format!("external-skills/{number}")));
    }
    for name in CACHES {
        let to = format!("cache/{name}");
        sources.push(shared(home.path().join(&to), to));
    }
    for name in &config.terminal.credential_files {
        match credential(name, home, rules) {
            Some(from) => sources.push(Source {
                from,
                to: name.clone(),
                kind: SourceKind::Credential,
            }),
            None => tracing::warn!(
                file = name,
                "terminal.credential_files: only files below the home that hold no master keys are handed on"
            ),
        }
    }
    sources
}

/// A credential file that may be handed on.
pub(super) fn credential(name: &str, home: &Home, rules: &FileRules) -> Option<PathBuf> {
    let plain = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || !plain {
        return None;
    }
    let path = home.path().join(name);
    // Behind a link may be anything.
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    let names = Names {
        real: &real,
        hops: std::slice::from_ref(&path),
    };
    let inside = home.path().canonicalize().ok()?;
    (real.starts_with(inside) && may_read(names, rules).is_ok()).then_some(path)
}

/// Where a file or directory of the home is in a container.
pub(super) fn offered(from: &Path, to: &str) -> Offer {
    Offer {
        from: from.to_owned(),
        to: format!("{HOME_IN_CONTAINERS}/{to}"),
    }
}

/// The same for containers. Directories are made when they are missing, so that what a container was made
/// with does not depend on when it was made.
pub(super) fn mounted(sources: &[Source]) -> Vec<Offer> {
    let mut offers = Vec::new();
    for source in sources {
        if source.kind == SourceKind::Shared
            && let Err(error) = std::fs::create_dir_all(&source.from)
        {
            tracing::warn!(%error, "{} is not handed on", source.from.display());
        }
        if source.from.exists() {
            offers.push(offered(&source.from, &source.to));
        }
    }
    offers
}
