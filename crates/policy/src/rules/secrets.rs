//! Programs that print secrets, and copies of everything a user has.

use crate::Surroundings;
use crate::places;
use crate::shell::Invocation;

/// Whether a program that keeps secrets is told to print them.
pub(super) fn shows_secret(one: &Invocation) -> bool {
    let words: Vec<&str> = one.words(&[]).take(3).collect();
    match (one.name.as_str(), words.as_slice()) {
        ("gpg" | "gpg2", _) => {
            one.has("--export-secret-keys") || one.has("--export-secret-subkeys")
        }
        ("gh", ["auth", "token", ..])
        | ("git", ["credential", "fill", ..])
        | ("aws", ["configure", "export-credentials", ..])
        | ("gcloud", ["auth", "print-access-token" | "print-identity-token", ..])
        | ("az", ["account", "get-access-token", ..])
        | ("pass", ["show", ..])
        | ("op", ["read", ..])
        | ("secret-tool", ["lookup", ..]) => true,
        ("aws", ["configure", "get", key]) => key.contains("secret") || key.contains("token"),
        ("kubectl", ["config", "view", ..]) => one.has("--raw"),
        _ => false,
    }
}

/// Whether a whole home is copied or packed, with every key that is in it.
pub(super) fn copies_home(one: &Invocation, around: &Surroundings) -> bool {
    let home = around.home.trim_end_matches('/');
    let holds_home = |path: &String| !home.is_empty() && places::is_under(home, path);
    copied(one).iter().any(holds_home)
}

/// Folders that a program copies or packs with all that is in them.
fn copied(one: &Invocation) -> Vec<String> {
    let recursive = one.short("rRa") || one.long("--recursive") || one.long("--archive");
    let mut sources: Vec<&str> = match one.name.as_str() {
        "tar" | "bsdtar" | "gtar" => return packed(one),
        "cp" | "gcp" | "rsync" | "scp" | "zip" if recursive => {
            one.operands().map(|field| field.text.as_str()).collect()
        }
        _ => return Vec::new(),
    };
    match one.name.as_str() {
        // The archive comes first.
        "zip" => drop((!sources.is_empty()).then(|| sources.remove(0))),
        "cp" | "gcp" if one.value(&["-t", "--target-directory"]).is_some() => {}
        _ => drop(sources.pop()),
    }
    let here = sources.into_iter().filter(|path| !path.contains(':'));
    here.map(|path| places::absolute(path, &one.cwd)).collect()
}

/// What an archive is made of.
fn packed(one: &Invocation) -> Vec<String> {
    const FOLDER: &[&str] = &["-C", "--directory"];
    // The letters may stand without a dash.
    let makes = one.short("cru")
        || one.long("--create")
        || one.long("--append")
        || one.argument(0).starts_with(['c', 'r', 'u']);
    if !makes {
        return Vec::new();
    }
    let folder = one.value(FOLDER);
    let folder = folder.map_or(one.cwd.to_string(), |field| {
        places::absolute(&field.text, &one.cwd)
    });
    let words = one.words(FOLDER);
    words.map(|path| places::absolute(path, &folder)).collect()
}
