//! What a confined process may touch.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// How much a command may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Nothing but a temporary directory of its own.
    ReadOnly,
    /// The workspace and the temporary directories.
    WorkspaceWrite,
    /// No confinement.
    Full,
}

impl std::fmt::Display for Mode {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::Full => "full",
        })
    }
}

/// The directory of the profiles inside the root of our homes.
pub(crate) const PROFILES: &str = "profiles";

/// Which network a command may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// None.
    Off,
    /// These hosts only, through a proxy of ours.
    Only(Vec<String>),
    /// All of it.
    On,
}

/// What a confined process may touch. Paths are absolute; of two that contain each other the deeper one
/// counts, and those that do not exist are passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// How much it may change.
    pub mode: Mode,
    /// Directories it may write.
    pub writable: Vec<PathBuf>,
    /// Paths below the writable ones that stay as they are, such as a repository's hooks.
    pub protected: Vec<PathBuf>,
    /// Directories below the writable ones in which nothing new is made, though what is there may be written: a
    /// file that is missing cannot be protected.
    #[serde(default)]
    pub sealed: Vec<PathBuf>,
    /// Directories programs share for temporary files: sockets in them that lead out of a sandbox are hidden,
    /// whether anything may be written there or not.
    #[serde(default)]
    pub temporary: Vec<PathBuf>,
    /// Paths it must not see: credentials and our own home.
    pub hidden: Vec<PathBuf>,
    /// Paths below the hidden ones that it may read all the same, such as skills.
    pub exposed: Vec<PathBuf>,
    /// Its network.
    pub network: Network,
}

/// The directories a confinement is made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Where the work is.
    pub workspace: PathBuf,
    /// The directory of our own that belongs to the session; writable in every mode.
    pub scratch: PathBuf,
    /// Directories programs share for temporary files.
    pub temporary: Vec<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Our own home: settings, keys, conversations. The home of a profile lies in the root of all profiles, which
    /// is hidden with it.
    pub product_home: PathBuf,
    /// What the user lets commands write besides.
    pub writable: Vec<PathBuf>,
    /// What the user hides besides.
    pub hidden: Vec<PathBuf>,
}

impl Confinement {
    /// The confinement of commands in a workspace.
    pub fn for_workspace(mode: Mode, surroundings: &Surroundings, network: Network) -> Self {
        let Surroundings {
            workspace,
            scratch,
            temporary,
            home,
            product_home,
            writable: granted,
            hidden: also_hidden,
        } = surroundings;
        let mut writable = vec![scratch.clone()];
        if mode != Mode::ReadOnly {
            writable.push(workspace.clone());
            writable.extend(temporary.iter().cloned());
            writable.extend(below(home.as_deref(), BUILD_CACHES));
            writable.extend(granted.iter().cloned());
        }
        let open = |path: &PathBuf| writable.iter().any(|root| path.starts_with(root));
        let mut protected: Vec<PathBuf> = below(Some(workspace), RUN_BY_OTHERS).collect();
        protected.extend(below(home.as_deref(), RUN_AT_LOGIN).filter(open));
        let holding = below(home.as_deref(), HOLD_WHAT_RUNS).chain(hold_caches(home.as_deref()));
        let sealed: BTreeSet<PathBuf> = home.iter().cloned().chain(holding).collect();
        let sealed = sealed.into_iter().filter(open).collect();
        let mut hidden: Vec<PathBuf> = home.iter().flat_map(|home| credentials(home)).collect();
        hidden.extend(CONTROL_SOCKETS.iter().map(PathBuf::from));
        hidden.extend(also_hidden.iter().cloned());
        if network != Network::On {
            hidden.extend(LOOK_UP_NAMES.iter().map(PathBuf::from));
        }
        hidden.extend(homes(product_home).map(Path::to_owned));
        Self {
            mode,
            writable,
            protected,
            sealed,
            temporary: temporary.clone(),
            hidden,
            exposed: below(Some(product_home), READ_BY_SKILLS).collect(),
            network,
        }
    }
}

impl Confinement {
    /// The confinement that file tools keep to. What of the home in use they may touch is a rule of theirs, so it is
    /// not hidden altogether; where it lies in a place that is writable, changing it still needs a person: hooks and
    /// journals in it are believed. The homes of other profiles, and the root in which all of them lie, are as hidden
    /// as from commands.
    pub fn for_files(mode: Mode, surroundings: &Surroundings) -> Self {
        let own = &surroundings.product_home;
        let mut made = Self::for_workspace(mode, surroundings, Network::Off);
        made.hidden.retain(|place| place != own);
        made.hidden.push(own.join(PROFILES));
        made.exposed.push(own.clone());
        for home in homes(own) {
            if made.writable.iter().any(|root| home.starts_with(root)) {
                made.protected.push(home.to_owned());
            }
        }
        made
    }

    /// The same places and those of another one, such as the places that links lead to.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.writable.extend(other.writable);
        self.protected.extend(other.protected);
        self.sealed.extend(other.sealed);
        self.temporary.extend(other.temporary);
        self.hidden.extend(other.hidden);
        self.exposed.extend(other.exposed);
        self
    }
}

/// What holds keys, passwords, cookies or what was typed, in the home directory of a user.
pub fn credentials(home: &Path) -> Vec<PathBuf> {
    below(Some(home), CREDENTIALS).collect()
}

fn below<'a>(
    root: Option<&'a Path>,
    names: &'static [&'static str],
) -> impl Iterator<Item = PathBuf> + 'a {
    root.into_iter()
        .flat_map(move |root| names.iter().map(move |name| root.join(name)))
}

/// A home of ours, and where it is that of a profile, the root in which all of them lie.
fn homes(product_home: &Path) -> impl Iterator<Item = &Path> {
    let root = product_home
        .parent()
        .filter(|above| above.ends_with(PROFILES));
    let root = root.and_then(Path::parent);
    std::iter::once(product_home).chain(root)
}

/// The directories between a home and the caches in it. A link in them would say where the next session writes.
fn hold_caches(home: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    below(home, BUILD_CACHES).flat_map(move |cache| {
        let above = cache.ancestors().skip(1);
        let inside = above.take_while(|path| Some(*path) != home);
        inside.map(Path::to_owned).collect::<Vec<_>>()
    })
}

/// Beginnings of the names under which programs put sockets into temporary directories that lead out of a
/// sandbox: agents with keys, terminal multiplexers, displays, buses, editors, and what other sessions of ours hold
/// open. The proxy of the session itself is named to it and stays.
pub const TEMPORARY_SOCKETS: &[&str] = &[
    ".ICE-unix",
    ".X11-unix",
    "agent.",
    "containerd",
    "dbus-",
    "docker",
    "gpg-",
    "hermes-proxy-",
    "hermes-ssh-",
    "keyring-",
    "kitty",
    "podman",
    "screen",
    "ssh-",
    "tmux-",
    "uscreens",
    "vscode-",
    "wezterm",
];

/// What holds keys, passwords, cookies or what was typed, below a home directory.
const CREDENTIALS: &[&str] = &[
    ".1password",
    ".age",
    ".aws",
    ".azure",
    ".bash_history",
    ".bitwarden-ssh-agent.sock",
    ".boto",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".colima",
    ".config/BraveSoftware",
    ".config/chromium",
    ".config/doctl",
    ".config/gcloud",
    ".config/gh",
    ".config/github-copilot",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/hub",
    ".config/microsoft-edge",
    ".config/op",
    ".config/opera",
    ".config/rclone",
    ".config/sops",
    ".config/vivaldi",
    ".docker/config.json",
    ".docker/run",
    ".gem/credentials",
    ".git-credentials",
    ".config/git/credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".modal.toml",
    ".mozilla",
    ".netrc",
    ".npmrc",
    ".oci",
    ".password-store",
    ".local/share/password-store",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".snap/auth.json",
    ".ssh",
    ".subversion/auth",
    ".terraform.d/credentials.tfrc.json",
    ".thunderbird",
    ".vault-token",
    ".yarnrc.yml",
    ".zsh_history",
    "snap/chromium",
    "snap/firefox",
];

/// Doors to services that would act outside for whoever asks, the password database, and the machine's own keys.
const CONTROL_SOCKETS: &[&str] = &[
    "/etc/gshadow",
    "/etc/krb5.keytab",
    "/etc/shadow",
    "/etc/ssh/ssh_host_dsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/run/buildkit",
    "/run/containerd",
    "/run/crio",
    "/run/dbus",
    "/run/docker",
    "/run/docker.sock",
    "/run/incus",
    "/run/k3s",
    "/run/libvirt",
    "/run/podman",
    "/run/snapd.socket",
    "/run/systemd/private",
    "/run/user",
    "/var/lib/incus/unix.socket",
    "/var/lib/lxd/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
];

/// Services that look names up for whoever asks, and so carry data out where the network is off.
const LOOK_UP_NAMES: &[&str] = &[
    "/run/avahi-daemon",
    "/run/nscd",
    "/run/systemd/resolve/io.systemd.Resolve",
    "/run/systemd/resolve/io.systemd.Resolve.Monitor",
    "/run/unscd",
];

/// Where package managers keep downloads; without them a build starts from nothing or fails.
const BUILD_CACHES: &[&str] = &[
    ".bun/install/cache",
    ".cache",
    ".cargo/git",
    ".cargo/registry",
    ".gradle/caches",
    ".ivy2/cache",
    ".local/share/pnpm/store",
    ".m2/repository",
    ".npm",
    ".nuget/packages",
    ".yarn/berry",
    "go/pkg",
];

/// What programs outside the sandbox run or believe when they come by, below a workspace.
const RUN_BY_OTHERS: &[&str] = &[".git/config", ".git/hooks", ".hermes"];

/// What the user's shells, sessions and tools run or believe without being asked, below a home directory.
const RUN_AT_LOGIN: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cargo/bin",
    ".cargo/config.toml",
    ".cargo/env",
    ".config/autostart",
    ".config/environment.d",
    ".config/fish",
    ".config/git",
    ".config/nvim",
    ".config/systemd",
    ".cshrc",
    ".emacs",
    ".emacs.d",
    ".gitconfig",
    ".inputrc",
    ".kshrc",
    ".local/bin",
    ".local/share/applications",
    ".oh-my-zsh",
    ".pam_environment",
    ".profile",
    ".tcshrc",
    ".tmux.conf",
    ".vim",
    ".vimrc",
    ".xinitrc",
    ".xprofile",
    ".xsessionrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "bin",
    "go/bin",
];

/// Directories of a home, besides itself, that such things lie in.
const HOLD_WHAT_RUNS: &[&str] = &[".config", ".local"];

/// What skills and sessions need of our own home: not the output of other sessions' processes, nor requests on file.
const READ_BY_SKILLS: &[&str] = &[
    "cache/audio",
    "cache/delegation",
    "cache/documents",
    "cache/images",
    "cache/screenshots",
    "cache/tool-results",
    "cache/videos",
    "cache/web",
    "skills",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings() -> Surroundings {
        Surroundings {
            workspace: "/home/ada/work".into(),
            scratch: "/tmp/own".into(),
            temporary: vec!["/tmp".into()],
            home: Some("/home/ada".into()),
            product_home: "/home/ada/.hermes".into(),
            writable: vec!["/srv/shared".into()],
            hidden: vec!["/srv/secret".into()],
        }
    }

    #[test]
    fn a_workspace_is_writable_with_caches_and_what_was_granted() {
        let made = Confinement::for_workspace(Mode::WorkspaceWrite, &surroundings(), Network::On);
        for path in [
            "/home/ada/work",
            "/tmp",
            "/tmp/own",
            "/srv/shared",
            "/home/ada/.cache",
        ] {
            assert!(made.writable.contains(&path.into()), "{path}");
        }
        for path in ["/home/ada/work/.git/hooks", "/home/ada/work/.git/config"] {
            assert!(made.protected.contains(&path.into()), "{path}");
        }
    }

    // EX-68: other profiles are as hidden as the own one.
    #[test]
    fn the_home_of_a_profile_is_hidden_with_the_root_of_all() {
        let around = Surroundings {
            product_home: "/home/ada/.hermes/profiles/work".into(),
            ..surroundings()
        };
        let made = Confinement::for_workspace(Mode::WorkspaceWrite, &around, Network::On);
        assert!(made.hidden.contains(&"/home/ada/.hermes".into()));
        let skills = "/home/ada/.hermes/profiles/work/skills";
        assert!(made.exposed.contains(&skills.into()));
        assert!(!made.exposed.contains(&"/home/ada/.hermes/skills".into()));
    }

    // EX-68: where the next session would write through a link, none is made.
    #[test]
    fn a_home_that_is_the_workspace_keeps_the_way_to_its_caches() {
        let around = Surroundings {
            workspace: "/home/ada".into(),
            ..surroundings()
        };
        let made = Confinement::for_workspace(Mode::WorkspaceWrite, &around, Network::On);
        for path in [
            "/home/ada",
            "/home/ada/.cargo",
            "/home/ada/.local/share/pnpm",
        ] {
            assert!(made.sealed.contains(&path.into()), "{path}");
        }
        for path in ["/home", "/home/ada/.cache", "/home/ada/.cargo/git"] {
            assert!(!made.sealed.contains(&path.into()), "{path}");
        }
        let around = surroundings();
        let made = Confinement::for_workspace(Mode::WorkspaceWrite, &around, Network::On);
        assert_eq!(made.sealed, Vec::<PathBuf>::new());
    }

    #[test]
    fn reading_only_leaves_nothing_but_the_own_directory() {
        let made = Confinement::for_workspace(Mode::ReadOnly, &surroundings(), Network::Off);
        assert_eq!(made.writable, [PathBuf::from("/tmp/own")]);
    }

    #[test]
    fn credentials_and_the_own_home_are_hidden_but_for_skills() {
        let made = Confinement::for_workspace(Mode::WorkspaceWrite, &surroundings(), Network::On);
        for path in [
            "/home/ada/.ssh",
            "/home/ada/.netrc",
            "/home/ada/.hermes",
            "/run/docker.sock",
            "/srv/secret",
        ] {
            assert!(made.hidden.contains(&path.into()), "{path}");
        }
        assert!(made.exposed.contains(&"/home/ada/.hermes/skills".into()));
        assert!(!made.hidden.contains(&"/run/nscd".into()));
        let off = Confinement::for_workspace(Mode::ReadOnly, &surroundings(), Network::Off);
        assert!(off.hidden.contains(&"/run/nscd".into()));
        let requests = Path::new("/home/ada/.hermes/cache/requests");
        assert!(!made.exposed.iter().any(|place| requests.starts_with(place)));
    }
}
