//! Programs that print secrets, and copies of everything a user has.

use crate::Surroundings;
use crate::places;
use crate::shell::Invocation;

/// Options of such programs that take a value.
const VALUED: &[&str] = &[
    "-n",
    "--namespace",
    "--context",
    "--profile",
    "--region",
    "--project",
];

/// Words behind which a program that keeps secrets prints one.
const PRINT: &[(&str, &[&str])] = &[
    ("aws", &["configure", "export-credentials"]),
    ("aws", &["secretsmanager", "get-secret-value"]),
    ("az", &["account", "get-access-token"]),
    ("az", &["keyvault", "secret", "show"]),
    ("bw", &["get"]),
    ("doppler", &["secrets"]),
    ("fly", &["auth", "token"]),
    ("gcloud", &["auth", "print-access-token"]),
    ("gcloud", &["auth", "print-identity-token"]),
    ("gcloud", &["secrets", "versions", "access"]),
    ("gh", &["auth", "token"]),
    ("git", &["credential", "fill"]),
    ("heroku", &["auth:token"]),
    ("keyring", &["get"]),
    ("lpass", &["show"]),
    ("op", &["item", "get"]),
    ("op", &["read"]),
    ("pass", &["show"]),
    ("secret-tool", &["lookup"]),
    ("vault", &["kv", "get"]),
    ("vault", &["read"]),
];

/// Whether a program that keeps secrets is told to print them.
pub(super) fn shows_secret(one: &Invocation) -> bool {
    let words: Vec<&str> = one.words(VALUED).take(3).collect();
    let prints = |(name, verbs): &(&str, &[&str])| *name == one.name && words.starts_with(verbs);
    let printed = match (one.name.as_str(), words.as_slice()) {
        ("gpg" | "gpg2", _) => {
            one.has("--export-secret-keys") || one.has("--export-secret-subkeys")
        }
        ("aws", ["configure", "get", key]) => key.contains("secret") || key.contains("token"),
        ("kubectl" | "oc", ["config", "view", ..]) => one.has("--raw"),
        ("kubectl" | "oc", ["get", kind, ..]) => is_kind_of_secret(kind) && shows_values(one),
        ("security", ["find-generic-password" | "find-internet-password", ..]) => one.short("wg"),
        _ => false,
    };
    printed || PRINT.iter().any(prints)
}

fn is_kind_of_secret(kind: &str) -> bool {
    let kind = kind.split('/').next().unwrap_or_default();
    matches!(kind, "secret" | "secrets")
}

/// Whether `kubectl get` prints more than a table.
fn shows_values(one: &Invocation) -> bool {
    let formats = one.values(&["-o", "--output"]);
    let mut formats = formats.iter().map(|field| field.text.as_str());
    formats.any(|format| !matches!(format, "name" | "wide"))
}

/// Whether a file with secrets is read as a script, which makes variables of them. Projects do that with theirs.
pub(super) fn sources_secret(one: &Invocation, around: &Surroundings) -> bool {
    let path = places::absolute(one.argument(0), &one.cwd);
    let is_own = places::below_product(&path, around).is_some();
    one.is(&["source", "."])
        && places::is_credential(&path, around)
        && (is_own || !places::is_dotenv(places::file_name(&path)))
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
