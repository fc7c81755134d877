//! What a conversation and those who speak in it are called at Honcho.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::super::provider::Scene;
use super::settings::{Settings, Strategy};

/// Most characters of a session's id.
const LONGEST: usize = 100;

/// The session of a conversation, by the user's own names or by the chosen way of naming.
pub(super) fn session(settings: &Settings, scene: &Scene) -> String {
    let directory = scene.directory.display().to_string();
    if let Some(named) = settings.sessions.get(&directory) {
        return fitting(named);
    }
    let name = match settings.strategy {
        Strategy::Directory => last(&scene.directory),
        Strategy::Repository => last(repository(&scene.directory)),
        Strategy::Session => scene.session.clone(),
        Strategy::Global => settings.workspace.clone(),
    };
    match settings.prefixed {
        true => fitting(&format!("{}-{name}", user(settings, scene))),
        false => fitting(&name),
    }
}

/// Whether others may be in a session whom whoever speaks here has no business with.
pub(super) fn has_others(settings: &Settings, scene: &Scene) -> bool {
    scene.user.is_some() && !settings.pinned
}

/// The peer of whoever speaks: the one of the settings where a surface serves one person or all are to be one.
pub(super) fn user(settings: &Settings, scene: &Scene) -> String {
    let Some(id) = scene.user.as_deref().filter(|_| !settings.pinned) else {
        return settings.user.clone();
    };
    match settings.aliases.get(id) {
        Some(alias) => fitting(alias),
        None => by_id(&settings.user_prefix, id),
    }
}

/// Names that whoever speaks would have under other settings. The one of the settings is not among them: it may be
/// somebody else.
pub(super) fn before(settings: &Settings, scene: &Scene) -> Vec<String> {
    let id = scene.user.as_deref();
    let names = id.map(|id| by_id(&settings.user_prefix, id)).into_iter();
    names
        .filter(|name| *name != user(settings, scene))
        .collect()
}

/// A name made of an id. Two people never share one: an id that Honcho does not take as it is gets a hash.
fn by_id(prefix: &str, id: &str) -> String {
    let whole = format!("{prefix}{id}");
    let plain = fitting(&whole);
    // One that is cut has its hash already.
    match plain == whole || whole.chars().count() > LONGEST {
        true => plain,
        false => fitting(&format!("{plain}-{}", hash(&whole))),
    }
}

fn last(directory: &Path) -> String {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    match name.is_empty() {
        true => "root".to_owned(),
        false => name.into_owned(),
    }
}

/// The directory of the repository a directory is in; itself when it is in none.
fn repository(directory: &Path) -> &Path {
    directory
        .ancestors()
        .find(|above| above.join(".git").exists())
        .unwrap_or(directory)
}

/// A name as Honcho takes it. One that has to be cut ends in a hash of the whole.
pub(super) fn fitting(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| match c {
            c if c.is_ascii_alphanumeric() => c,
            '_' | '-' => c,
            _ => '-',
        })
        .collect();
    if plain.len() <= LONGEST {
        return plain;
    }
    let kept: String = plain.chars().take(LONGEST - 9).collect();
    format!("{kept}-{}", hash(name))
}

fn hash(name: &str) -> String {
    let hash = Sha256::digest(name.as_bytes());
    let first = hash.iter().take(4);
    first.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // LN-38
    #[test]
    fn long_names_are_cut_with_a_hash_of_the_whole() {
        assert_eq!(fitting("my project/ü"), "my-project--");
        let (one, other) = (fitting(&"a".repeat(120)), fitting(&"a".repeat(121)));
        assert_eq!((one.len(), other.len()), (100, 100));
        assert_ne!(one, other);
        assert_eq!(one.get(91..92), Some("-"));
        assert_eq!(fitting(&"a".repeat(100)), "a".repeat(100));
    }

    // LN-38
    #[test]
    fn ids_of_any_length_stay_two_people() {
        for length in [1, 90, 99, 100, 101, 200] {
            let id = |odd: char| format!("{}{odd}", "a".repeat(length - 1));
            assert_ne!(by_id("", &id('.')), by_id("", &id(':')), "{length}");
        }
    }
}
