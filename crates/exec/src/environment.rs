//! The environment commands get: what the user has, without what only Hermes should know.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hermes_config::{HomeMode, is_known_name};

/// Names the table of providers and services has but commands need: how AWS tools find their account, and
/// the login of a coding agent the user runs by hand.
const KEPT: [&str; 3] = ["AWS_PROFILE", "AWS_REGION", "CLAUDE_CODE_OAUTH_TOKEN"];
/// Credentials of sandboxes and of our own services, besides those in the table.
const HELD_BACK: [&str; 4] = [
    "DAYTONA_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "HERMES_DASHBOARD_SESSION_TOKEN",
    "HERMES_DASHBOARD_TOKEN",
];
const HELD_BACK_PREFIXES: [&str; 3] = ["GATEWAY_RELAY_", "GITHUB_APP_", "MODAL_TOKEN_"];
/// Helper models of any name.
const AUXILIARY: (&str, [&str; 2]) = ("AUXILIARY_", ["_API_KEY", "_BASE_URL"]);
/// Belong to the environment Hermes was started from, not to the user's projects.
const OURS: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];
/// Hands a command what it would not get otherwise.
const FORCE: &str = "_HERMES_FORCE_";
/// Belongs to the session Hermes was started from, not to the one a command runs in.
const SESSION: &str = "HERMES_SESSION_";
const REAL_HOME: &str = "HERMES_REAL_HOME";
/// Looked through last, so that a short PATH still finds the system's programs.
const SYSTEM_PATH: [&str; 8] = [
    "/opt/homebrew/bin",
    "/opt/homebrew/sbin",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
];

/// What the environment of a command is made from.
#[derive(Debug, Clone)]
pub struct ChildEnvironment<'a> {
    /// Our own environment.
    pub ours: &'a [(String, String)],
    /// Names of variables that hold keys of the user's own providers.
    pub keys: &'a BTreeSet<String>,
    /// What `HOME` is.
    pub home_mode: HomeMode,
    /// The home directory of Hermes.
    pub hermes_home: &'a Path,
    /// Whether we run in a container ourselves.
    pub in_container: bool,
    /// Where our own program is, so that commands find it.
    pub program_folder: Option<&'a Path>,
}

impl ChildEnvironment<'_> {
    /// The whole environment of a command on this machine, in the order of its names.
    pub fn build(&self) -> Vec<(String, String)> {
        let mut child: BTreeMap<String, String> = self
            .ours
            .iter()
            .filter(|(name, _)| !is_held_back(name) && !self.keys.contains(name))
            .filter(|(name, _)| !OURS.contains(&name.as_str()))
            .filter(|(name, _)| !name.starts_with(SESSION) && !name.starts_with(FORCE))
            .cloned()
            .collect();
        for (name, value) in self.ours {
            if let Some(name) = name.strip_prefix(FORCE).filter(|name| !name.is_empty()) {
                child.insert(name.to_owned(), value.clone());
            }
        }
        let path = self.path(child.get("PATH").map_or("", String::as_str));
        child.insert("PATH".to_owned(), path);
        if let Some(real) = child.get("HOME").cloned() {
            child.entry(REAL_HOME.to_owned()).or_insert(real);
        }
        if let Some(home) = self.profile_home() {
            child.insert("HOME".to_owned(), home.display().to_string());
        }
        child.into_iter().collect()
    }

    fn path(&self, given: &str) -> String {
        let mut folders: Vec<&str> = Vec::new();
        let own = self.program_folder.and_then(Path::to_str);
        for folder in own.into_iter().chain(given.split(':')).chain(SYSTEM_PATH) {
            if !folder.is_empty() && !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders.join(":")
    }

    fn profile_home(&self) -> Option<PathBuf> {
        let profile = match self.home_mode {
            HomeMode::Auto => self.in_container,
            HomeMode::Real => false,
            HomeMode::Profile => true,
        };
        profile.then(|| self.hermes_home.join("home"))
    }
}

/// Whether a variable is never handed to a command, whoever asks for it.
pub(crate) fn is_held_back(name: &str) -> bool {
    let (prefix, endings) = AUXILIARY;
    if KEPT.contains(&name) {
        return false;
    }
    is_known_name(name)
        || HELD_BACK.contains(&name)
        || HELD_BACK_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
        || (name.starts_with(prefix) && endings.iter().any(|ending| name.ends_with(ending)))
}

/// What of our environment goes to a place that has its own: the names the configuration and the skills of
/// this session ask for, except what is held back and the keys of the user's own providers.
pub fn passed_through(
    ours: &[(String, String)],
    names: &[String],
    keys: &BTreeSet<String>,
) -> Vec<(String, String)> {
    ours.iter()
        .filter(|(name, _)| {
            names.contains(name)
                && !is_held_back(name)
                && !keys.contains(name)
                && !name.starts_with(SESSION)
        })
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn build(ours: &[(&str, &str)], mode: HomeMode) -> BTreeMap<String, String> {
        let environment = ChildEnvironment {
            ours: &pairs(ours),
            keys: &BTreeSet::from(["MY_LLM_KEY".to_owned()]),
            home_mode: mode,
            hermes_home: Path::new("/h"),
            in_container: false,
            program_folder: Some(Path::new("/opt/hermes")),
        };
        environment.build().into_iter().collect()
    }

    // EX-12
    #[test]
    fn what_only_hermes_should_know_stays_with_hermes() {
        let secrets = [
            "OPENROUTER_API_KEY",
            "OPENAI_BASE_URL",
            "TELEGRAM_BOT_TOKEN",
            "GH_TOKEN",
            "GITHUB_APP_PRIVATE_KEY",
            "MODAL_TOKEN_SECRET",
            "DAYTONA_API_KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "VERTEX_CREDENTIALS_PATH",
            "AWS_BEARER_TOKEN_BEDROCK",
            "GATEWAY_RELAY_EU_SECRET",
            "AUXILIARY_VISION_API_KEY",
            "AUXILIARY_VISION_BASE_URL",
            "SUDO_PASSWORD",
            "HERMES_SESSION_ID",
            "MY_LLM_KEY",
            "VIRTUAL_ENV",
            "CONDA_PREFIX",
        ];
        let kept = [
            "AWS_PROFILE",
            "AWS_SECRET_ACCESS_KEY",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "EDITOR",
            "AUXILIARY_NAME",
        ];
        let ours: Vec<(&str, &str)> = secrets
            .iter()
            .chain(&kept)
            .map(|name| (*name, "x"))
            .chain([("HOME", "/u")])
            .collect();
        let child = build(&ours, HomeMode::Auto);
        for name in secrets {
            assert!(!child.contains_key(name), "{name}");
        }
        for name in kept {
            assert!(child.contains_key(name), "{name}");
        }
        let names: Vec<String> = secrets.iter().map(|name| (*name).to_owned()).collect();
        let keys = BTreeSet::from(["MY_LLM_KEY".to_owned()]);
        let reopened: Vec<String> = passed_through(&pairs(&ours), &names, &keys)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(reopened, ["VIRTUAL_ENV", "CONDA_PREFIX"]);
    }

    #[test]
    fn a_forced_name_is_handed_over() {
        let child = build(&[("_HERMES_FORCE_GH_TOKEN", "t")], HomeMode::Auto);
        assert_eq!(child["GH_TOKEN"], "t");
        assert!(!child.contains_key("_HERMES_FORCE_GH_TOKEN"));
    }

    #[test]
    fn the_path_is_clean_and_complete() {
        let child = build(&[("PATH", "/a::/usr/bin:/a:")], HomeMode::Auto);
        assert_eq!(
            child["PATH"],
            "/opt/hermes:/a:/usr/bin:/opt/homebrew/bin:/opt/homebrew/sbin:/usr/local/sbin:\
             /usr/local/bin:/usr/sbin:/sbin:/bin"
        );
    }

    #[test]
    fn the_home_follows_its_setting() {
        let homes = |mode| {
            let child = build(&[("HOME", "/u")], mode);
            (child["HOME"].clone(), child["HERMES_REAL_HOME"].clone())
        };
        assert_eq!(homes(HomeMode::Auto), ("/u".into(), "/u".into()));
        assert_eq!(homes(HomeMode::Real), ("/u".into(), "/u".into()));
        assert_eq!(homes(HomeMode::Profile), ("/h/home".into(), "/u".into()));
    }
}
