//! Which files the file tools may read and write.
//!
//! A file has several names: the one asked for, those its links lead over, and the real one. The caller
//! hands all of them in, and a rule that any of them breaks refuses the file.

use std::path::{Path, PathBuf};

use crate::places::{self, PRODUCT_SECRET_FOLDERS, PRODUCT_SECRETS};
use crate::{Isolation, Mode, Surroundings};

/// Every name of one file.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    /// The real path: absolute, without links.
    pub real: &'a Path,
    /// The path asked for and each link's target on the way, absolute.
    pub hops: &'a [PathBuf],
}

/// Where things are.
#[derive(Debug, Clone, Default)]
pub struct FileRules {
    /// The user's home directory.
    pub home: PathBuf,
    /// The home of the active profile.
    pub product_home: PathBuf,
    /// The homes of all profiles, the active one among them.
    pub profiles: Vec<PathBuf>,
    /// Directories where sandboxes keep copies of our home.
    pub mirrors: Vec<PathBuf>,
    /// When not empty, the only places that may be written.
    pub safe_roots: Vec<PathBuf>,
    /// The same places where links in their names lead elsewhere; both count.
    pub linked: Option<Box<FileRules>>,
}

impl FileRules {
    /// The rules under every name of their places.
    fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |rules| rules.linked.as_deref())
    }
}

/// Whether another profile's files may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrossProfile {
    /// They may not.
    Refuse,
    /// The call asked for it.
    Allow,
}

/// Why a file is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathRefusal {
    /// Reading it never ends, or shows a process's memory or environment.
    #[error("{0} is a device or a view into a process, not a file to read")]
    Device(PathBuf),
    /// It holds secrets.
    #[error("{0} holds secrets and is not shown; ask the user for what you need to know about it")]
    Secret(PathBuf),
    /// It belongs to the system.
    #[error("{0} belongs to the system; the user has to change it")]
    System(PathBuf),
    /// It is the door to a container engine.
    #[error("{0} is the socket of a container engine")]
    EngineSocket(PathBuf),
    /// It holds keys or passwords, or says how they are used.
    #[error("{0} holds credentials or their settings; the user has to change it")]
    Credential(PathBuf),
    /// It is the active configuration.
    #[error("{0} is the active configuration; use `hermes config set`")]
    Configuration(PathBuf),
    /// It is our own state.
    #[error("{0} is Hermes' own state and is changed by its commands only")]
    State(PathBuf),
    /// It lies outside the places that may be written.
    #[error("{0} lies outside the directories that may be written (HERMES_WRITE_SAFE_ROOT)")]
    OutsideSafeRoots(PathBuf),
    /// It belongs to another profile.
    #[error("{0} belongs to another profile; set cross_profile if that is meant")]
    OtherProfile(PathBuf),
    /// It is a sandbox's copy of our home.
    #[error("{0} is a sandbox's copy of the Hermes home; set cross_profile if that is meant")]
    Mirror(PathBuf),
    /// The sandbox of commands hides it.
    #[error(
        "{0} is hidden by the sandbox (terminal.sandbox.mode: {1}), like everything that holds credentials; ask the \
         user for what you need to know about it"
    )]
    Hidden(PathBuf, Mode),
    /// The sandbox lets nothing be written.
    #[error(
        "{0} was not written: the sandbox is read-only. The user can allow changes with \
         `hermes config set terminal.sandbox.mode workspace-write`"
    )]
    ReadOnly(PathBuf),
}

/// Whether a file may be read.
pub fn may_read(names: Names<'_>, rules: &FileRules) -> Result<(), PathRefusal> {
    rules.all().try_for_each(|rules| readable(names, rules))
}

fn readable(names: Names<'_>, rules: &FileRules) -> Result<(), PathRefusal> {
    each(names, |path, text| {
        if is_device(text) {
            return Err(PathRefusal::Device(path.to_owned()));
        }
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        // Keys written into the settings of another profile are known only there.
        let settings_of_another = name == "config.yaml"
            && path.parent() != Some(&rules.product_home)
            && rules
                .profiles
                .iter()
                .any(|home| path.parent() == Some(home));
        let secret = places::is_dotenv(name) || below_any(text, rules).any(is_secret);
        if secret || settings_of_another {
            return Err(PathRefusal::Secret(path.to_owned()));
        }
        Ok(())
    })
}

/// Every file and folder with secrets of ours, in the homes of all profiles, under every name of theirs.
pub fn secrets(rules: &FileRules) -> impl Iterator<Item = PathBuf> {
    let homes = rules.all().flat_map(|rules| {
        let own = std::iter::once(&rules.product_home);
        rules.profiles.iter().chain(own)
    });
    homes.flat_map(|home| {
        let names = PRODUCT_SECRETS.iter().chain(&PRODUCT_SECRET_FOLDERS);
        names.map(move |name| home.join(name))
    })
}

/// Whether a file may be written.
pub fn may_write(
    names: Names<'_>,
    rules: &FileRules,
    cross: CrossProfile,
) -> Result<(), PathRefusal> {
    rules
        .all()
        .try_for_each(|rules| writable(names, rules, cross))?;
    let safe = |root: &PathBuf| names.real.starts_with(root);
    let mut roots = rules.all().flat_map(|rules| &rules.safe_roots).peekable();
    if roots.peek().is_none() || roots.any(safe) {
        return Ok(());
    }
    Err(PathRefusal::OutsideSafeRoots(names.real.to_owned()))
}

fn writable(names: Names<'_>, rules: &FileRules, cross: CrossProfile) -> Result<(), PathRefusal> {
    each(names, |path, text| {
        let owned = || path.to_owned();
        if is_device(text) || places::is_disk(text) {
            return Err(PathRefusal::Device(owned()));
        }
        if is_engine_socket(text) {
            return Err(PathRefusal::EngineSocket(owned()));
        }
        if is_system(text) {
            return Err(PathRefusal::System(owned()));
        }
        if is_guarded_credential(text, rules) {
            return Err(PathRefusal::Credential(owned()));
        }
        if path == rules.product_home.join("config.yaml") {
            return Err(PathRefusal::Configuration(owned()));
        }
        if below_any(text, rules).any(|below| is_secret(below) || is_state(below)) {
            return Err(PathRefusal::State(owned()));
        }
        if cross == CrossProfile::Refuse {
            profile_guard(path, rules)?;
        }
        Ok(())
    })
}

/// Applies a check to every name of a file.
pub(crate) fn each<E>(
    names: Names<'_>,
    check: impl Fn(&Path, &str) -> Result<(), E>,
) -> Result<(), E> {
    let all = std::iter::once(names.real).chain(names.hops.iter().map(PathBuf::as_path));
    for path in all {
        // `..` and doubled slashes must not hide a name.
        let text = places::absolute(&path.to_string_lossy(), "/");
        check(Path::new(&text), &text)?;
    }
    Ok(())
}

fn is_device(path: &str) -> bool {
    const DEVICES: [&str; 9] = [
        "zero", "random", "urandom", "full", "stdin", "stdout", "stderr", "tty", "console",
    ];
    const VIEWS: [&str; 9] = [
        "environ",
        "cmdline",
        "maps",
        "smaps",
        "smaps_rollup",
        "numa_maps",
        "mem",
        "auxv",
        "pagemap",
    ];
    let standard = |descriptor: &str| matches!(descriptor, "0" | "1" | "2");
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match parts.as_slice() {
        ["dev", name] => DEVICES.contains(name),
        ["dev", "fd", descriptor] => standard(descriptor),
        ["proc", _, "fd", descriptor] | ["proc", _, "task", _, "fd", descriptor] => {
            standard(descriptor)
        }
        ["proc", _, view] | ["proc", _, "task", _, view] => VIEWS.contains(view),
        ["proc", "kcore" | "kmem" | "kmsg"] => true,
        _ => false,
    }
}

fn is_engine_socket(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    matches!(
        name,
        "docker.sock" | "podman.sock" | "containerd.sock" | "crio.sock"
    )
}

fn is_system(path: &str) -> bool {
    const PREFIXES: [&str; 5] = [
        "/etc",
        "/boot",
        "/usr/lib/systemd",
        "/private/etc",
        "/private/var",
    ];
    // Temporary directories of macOS lie below a system directory.
    let temporary = places::is_under(path, "/private/var/folders")
        || places::is_under(path, "/private/var/tmp");
    !temporary && PREFIXES.iter().any(|prefix| places::is_under(path, prefix))
}

/// Where things are, as the rules about commands want to know it.
pub(crate) fn surroundings(rules: &FileRules) -> Surroundings {
    Surroundings {
        home: rules.home.to_string_lossy().into_owned(),
        product_home: String::new(),
        cwd: "/".to_owned(),
        own_pid: None,
        isolation: Isolation::None,
    }
}

fn is_guarded_credential(path: &str, rules: &FileRules) -> bool {
    let around = surroundings(rules);
    let below = places::below_home(path, &around);
    let ssh = below.is_some_and(|below| places::is_under(below, ".ssh"));
    // A project's own `.env` may be written by its agent; those of a home may not.
    let name = path.rsplit('/').next().unwrap_or_default();
    ssh || !places::is_dotenv(name) && below.is_some() && places::is_credential(path, &around)
}

/// The path below each profile's home that holds it.
fn below_any<'p>(path: &'p str, rules: &'p FileRules) -> impl Iterator<Item = &'p str> {
    let homes = rules
        .profiles
        .iter()
        .chain(std::iter::once(&rules.product_home));
    homes.filter_map(|home| {
        let home = home.to_str().filter(|home| !home.is_empty())?;
        path.strip_prefix(home)?.strip_prefix('/')
    })
}

fn is_secret(below: &str) -> bool {
    PRODUCT_SECRETS.contains(&below)
        || PRODUCT_SECRET_FOLDERS
            .iter()
            .any(|folder| places::is_under(below, folder))
}

fn is_state(below: &str) -> bool {
    const DATABASES: [&str; 2] = ["state.db", "hermes.db"];
    let base = below.trim_end_matches("-wal").trim_end_matches("-shm");
    DATABASES.contains(&base)
        || ["sessions", "pairing", "auth"]
            .iter()
            .any(|directory| places::is_under(below, directory))
}

fn profile_guard(path: &Path, rules: &FileRules) -> Result<(), PathRefusal> {
    if rules.mirrors.iter().any(|mirror| path.starts_with(mirror)) {
        return Err(PathRefusal::Mirror(path.to_owned()));
    }
    // Profiles may lie inside one another; the innermost owns the file.
    let owner = rules
        .profiles
        .iter()
        .filter(|home| path.starts_with(home))
        .max_by_key(|home| home.components().count());
    let Some(owner) = owner.filter(|owner| **owner != rules.product_home) else {
        return Ok(());
    };
    let below = path.strip_prefix(owner).unwrap_or(path);
    let first = below
        .components()
        .next()
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    let guarded = matches!(
        first.as_deref(),
        Some("skills" | "plugins" | "cron" | "memories" | "config.yaml")
    );
    if guarded {
        return Err(PathRefusal::OtherProfile(path.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
