//! Which kinds of files there are, by path alone.
//!
//! Used for paths in commands, where nothing may be looked up, and by the rules for the file tools. A path
//! may hold patterns and unknown parts.

use crate::Surroundings;
use crate::confine::PROFILES;
use crate::shell::HOLE;
use crate::wildcard;

/// Directories a system does not live without.
const VITAL: [&str; 27] = [
    "etc",
    "usr",
    "bin",
    "sbin",
    "lib",
    "lib32",
    "lib64",
    "boot",
    "var",
    "sys",
    "proc",
    "dev",
    "root",
    "home",
    "opt",
    "srv",
    "run",
    "system",
    "library",
    "applications",
    "users",
    "private",
    "volumes",
    "windows",
    "cores",
    "nix",
    "snap",
];

/// Those one level deeper.
const VITAL_BELOW: [&str; 15] = [
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/lib64",
    "/usr/share",
    "/usr/local",
    "/usr/include",
    "/var/lib",
    "/var/log",
    "/var/www",
    "/var/spool",
    "/private/etc",
    "/private/var",
    "/etc/ssl",
    "/etc/ssh",
];

/// An absolute path without `.`, `..` and doubled slashes. Links are not followed.
pub(crate) fn absolute(path: &str, cwd: &str) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let joined = if path.starts_with('/') {
        path.to_owned()
    } else if is_windows(path) {
        return path.replace('\\', "/").to_ascii_lowercase();
    } else {
        format!("{cwd}/{path}")
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    // A process's view of the root is the root.
    if let ["proc", _, "root", ..] = parts.as_slice() {
        parts.drain(..3);
    }
    let rooted = joined.starts_with('/') || !joined.starts_with(HOLE);
    let text = parts.join("/");
    if rooted { format!("/{text}") } else { text }
}

fn is_windows(path: &str) -> bool {
    let mut letters = path.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.next() == Some(':')
        && letters.next().is_none_or(|c| matches!(c, '\\' | '/'))
}

/// Whether a path is the root, a directory of the system, or a home; or everything inside one.
pub(crate) fn is_vital(path: &str, around: &Surroundings) -> bool {
    if is_windows(path) {
        let rest = path
            .get(2..)
            .unwrap_or_default()
            .trim_matches(['/', '*', '.']);
        return matches!(
            rest,
            "" | "windows" | "users" | "program files" | "windows/system32"
        );
    }
    let mut path = path;
    while let Some((above, last)) = path.rsplit_once('/') {
        let everything = !last.is_empty()
            && last
                .chars()
                .all(|c| matches!(c, '*' | '.' | '?' | '[' | ']' | '!'));
        let everything = everything && last.contains('*');
        if !everything {
            break;
        }
        path = above;
    }
    if path.is_empty() || path == "/" {
        return true;
    }
    if path == around.home.trim_end_matches('/') {
        return true;
    }
    let mut parts = path.trim_start_matches('/').split('/');
    let (Some(first), second, third) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    if !path.starts_with('/') || first.contains(HOLE) {
        return false;
    }
    let lower = first.to_ascii_lowercase();
    match (second, third) {
        (None, _) => VITAL.iter().any(|vital| wildcard::matches(&lower, vital)),
        (Some(user), None) if matches!(lower.as_str(), "home" | "users") => !user.contains(HOLE),
        (Some(_), None) => VITAL_BELOW
            .iter()
            .any(|vital| wildcard::matches(path, vital)),
        (Some(_), Some(_)) => false,
    }
}

/// Whether a path is a disk or a part of one, or the memory of the machine.
pub(crate) fn is_disk(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else {
        return false;
    };
    const DISKS: [&str; 13] = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "md", "dm-", "loop",
        "zd",
    ];
    matches!(name, "mem" | "kmem" | "port") || DISKS.iter().any(|disk| name.starts_with(disk))
}

/// Whether a path is below a directory, or the directory itself.
pub(crate) fn is_under(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path below the home, if it is there. Any user's home counts.
pub(crate) fn below_home<'p>(path: &'p str, around: &Surroundings) -> Option<&'p str> {
    let home = around.home.trim_end_matches('/');
    let own = path.strip_prefix(home).filter(|_| !home.is_empty());
    if let Some(rest) = own.and_then(|rest| rest.strip_prefix('/')) {
        return Some(rest);
    }
    let rest = path
        .strip_prefix("/home/")
        .or_else(|| path.strip_prefix("/Users/"));
    match rest {
        Some(rest) => rest.split_once('/').map(|(_, below)| below),
        None => path
            .strip_prefix("/root")
            .and_then(|rest| rest.strip_prefix('/')),
    }
}

const CREDENTIAL_FILES: [&str; 14] = [
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".my.cnf",
    ".vault-token",
    ".terraformrc",
    ".config/rclone/rclone.conf",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".claude.json",
    ".boto",
];

const CREDENTIAL_DIRECTORIES: [&str; 13] = [
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".config/gh",
    ".config/gcloud",
    ".config/op",
    ".password-store",
    ".local/share/keyrings",
    ".mozilla/firefox",
    ".config/google-chrome",
    "Library/Keychains",
];

const MACHINE_SECRETS: [&str; 4] = [
    "/etc/gshadow",
    "/etc/krb5.keytab",
    "/etc/shadow",
    "/etc/sudoers",
];

/// Names under our own home that hold secrets.
pub(crate) const PRODUCT_SECRETS: [&str; 6] = [
    "auth.json",
    "auth.lock",
    ".anthropic_oauth.json",
    ".env",
    "webhook_subscriptions.json",
    "cache/bws_cache.json",
];

/// Folders there that hold nothing else.
pub(crate) const PRODUCT_SECRET_FOLDERS: [&str; 3] = ["auth", "mcp-tokens", "skills/.hub"];

/// What the files with a project's secrets are called.
pub const DOTENV_NAMES: [&str; 8] = [
    ".env",
    ".env.local",
    ".env.development",
    ".env.production",
    ".env.test",
    ".env.staging",
    ".envrc",
    ".env.prod",
];

/// Whether a name is that of a project's secrets.
pub(crate) fn is_dotenv(name: &str) -> bool {
    DOTENV_NAMES.contains(&name)
}

pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a path holds passwords, tokens or keys.
pub(crate) fn is_credential(path: &str, around: &Surroundings) -> bool {
    let name = file_name(path);
    if may_become_credential(path, around) {
        return true;
    }
    if let Some(below) = below_home(path, around) {
        let public =
            name.ends_with(".pub") || matches!(name, "known_hosts" | "config" | "authorized_keys");
        // Whoever reads the whole folder reads the keys in it.
        if is_under(below, ".ssh") && !public {
            return below == ".ssh"
                || name.starts_with("id_")
                || name.contains(['*', '?'])
                || name.ends_with(".pem")
                || name.ends_with("_rsa")
                || name.ends_with("_ed25519");
        }
        let in_directory = CREDENTIAL_DIRECTORIES
            .iter()
            .any(|directory| is_under(below, directory));
        if in_directory {
            return true;
        }
        if CREDENTIAL_FILES.contains(&below) || wildcard_names(below) {
            return true;
        }
    }
    if let Some(below) = below_product(path, around) {
        let mut folders = PRODUCT_SECRET_FOLDERS.iter();
        let directory = folders.any(|folder| is_under(below, folder));
        if directory || PRODUCT_SECRETS.contains(&below) || wildcard::matches(below, "auth.json") {
            return true;
        }
    }
    let own = MACHINE_SECRETS.contains(&path);
    let keys = is_under(path, "/etc/ssl/private")
        || path.starts_with("/etc/ssh/ssh_host_") && !name.ends_with(".pub");
    let process = path.starts_with("/proc/") && name == "environ";
    own || keys
        || process
        || is_dotenv(name)
        || matches!(
            name,
            "id_rsa"
                | "id_ed25519"
                | "id_ecdsa"
                | "id_dsa"
                | ".git-credentials"
                | "credentials.json"
                | "service-account.json"
        )
}

/// Whether a pattern is made for a path that holds such things.
fn may_become_credential(path: &str, around: &Surroundings) -> bool {
    if !path.contains(['*', '?', '[']) {
        return false;
    }
    let name = file_name(path);
    let public = name.ends_with(".pub") || matches!(name, "known_hosts" | "config");
    let below = below_home(path, around).filter(|_| !public);
    let in_home = below.is_some_and(|below| {
        let mut folders = CREDENTIAL_DIRECTORIES.iter().chain(&[".ssh"]);
        folders.any(|folder| becomes(below, folder) == Some(Reach::Below))
            || CREDENTIAL_FILES
                .iter()
                .any(|file| becomes(below, file) == Some(Reach::Itself))
    });
    let mut dotenv = DOTENV_NAMES.iter();
    in_home
        || dotenv.any(|dotenv| becomes(name, dotenv).is_some())
        || MACHINE_SECRETS
            .iter()
            .any(|file| becomes(path, file) == Some(Reach::Itself))
}

/// What a pattern may come to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Itself,
    Below,
}

/// Whether a pattern can stand for a path or for what is below it, as the shell reads patterns, and says a letter of
/// each part.
fn becomes(pattern: &str, path: &str) -> Option<Reach> {
    let mut parts = pattern.split('/');
    for wanted in path.split('/') {
        let part = parts.next()?;
        let says = part.contains(|c: char| c.is_ascii_alphanumeric());
        let hidden = wanted.starts_with('.') && !part.starts_with('.');
        if part != wanted && (!says || hidden || !wildcard::matches(part, wanted)) {
            return None;
        }
    }
    Some(match parts.next() {
        Some(_) => Reach::Below,
        None => Reach::Itself,
    })
}

fn wildcard_names(below: &str) -> bool {
    below.contains(['*', '?'])
        && CREDENTIAL_FILES
            .iter()
            .any(|file| wildcard::matches(below, file))
        && !below.starts_with('*')
}

/// The path below our own home, if it is there. The homes of all profiles are ours, whichever is in use.
pub(crate) fn below_product<'p>(path: &'p str, around: &Surroundings) -> Option<&'p str> {
    let home = around.product_home.trim_end_matches('/');
    if home.is_empty() {
        return None;
    }
    let root = home
        .rsplit_once('/')
        .and_then(|(above, _)| above.strip_suffix(PROFILES)?.strip_suffix('/'))
        .unwrap_or(home);
    let below = path.strip_prefix(root)?.strip_prefix('/')?;
    let profile = below
        .strip_prefix(PROFILES)
        .and_then(|rest| rest.strip_prefix('/')?.split_once('/'));
    Some(profile.map_or(below, |(_, below)| below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::tests::around;

    // EX-53
    #[test]
    fn the_homes_of_all_profiles_are_ours() {
        for home in ["/home/ada/.hermes", "/home/ada/.hermes/profiles/work"] {
            let around = Surroundings {
                product_home: home.to_owned(),
                ..around()
            };
            for (path, below) in [
                ("/home/ada/.hermes/auth.json", Some("auth.json")),
                ("/home/ada/.hermes/profiles/work/.env", Some(".env")),
                (
                    "/home/ada/.hermes/profiles/other/auth.json",
                    Some("auth.json"),
                ),
                ("/home/ada/.hermes/profiles", Some("profiles")),
                ("/home/ada/.hermes", None),
                ("/home/ada/other/auth.json", None),
            ] {
                assert_eq!(below_product(path, &around), below, "{home} {path}");
            }
        }
    }
}
