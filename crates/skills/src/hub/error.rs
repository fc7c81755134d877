//! What can go wrong, named by what the user can do about it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use hermes_config::FileError;
use hermes_http::HttpError;

use super::file_path::PathFault;
use super::identifier::Identifier;
use super::sources::SourceName;
use crate::guard::{ScanError, Trust, Verdict};

/// Why a place could not be asked or did not give what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("{what} is not there")]
    NotFound { what: String },
    #[error("it asks to wait{}", wait.map(|wait| format!(" {} s", wait.as_secs())).unwrap_or_default())]
    RateLimited { wait: Option<Duration> },
    #[error("{host} is on your list of blocked websites")]
    Blocked { host: String },
    #[error("it redirects more than {most} times")]
    TooManyRedirects { most: usize },
    #[error("{url} is no address that begins with http:// or https://")]
    NotAnAddress { url: String },
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("{what} is larger than {limit} bytes")]
    TooLarge { what: String, limit: usize },
    #[error("more than {limit} files")]
    TooManyFiles { limit: usize },
    #[error("the archive is damaged or was cut off")]
    Archive(#[source] Option<zip::result::ZipError>),
    #[error("the archive is refused: {entry} {fault}")]
    HostileArchive { entry: String, fault: PathFault },
    #[error("{entry} is refused: {fault}")]
    BadPath { entry: String, fault: PathFault },
    #[error("it answered with something that is not {expected}")]
    Unexpected {
        expected: &'static str,
        #[source]
        source: Option<serde_json::Error>,
    },
    #[error("{what} changed while it was read")]
    Changed { what: String },
    #[error("no answer within {} s", .0.as_secs())]
    Late(Duration),
    #[error("the key of the GitHub App cannot be used: {0}")]
    AppKey(&'static str),
    #[error("it is switched off in the settings")]
    Off,
    #[error(transparent)]
    Cache(#[from] FileError),
}

impl SourceError {
    /// What the user can do about it.
    pub fn hint(&self, source: SourceName) -> String {
        if let Self::Http(error) = self
            && let Some(hint) = error.hint()
        {
            return hint;
        }
        match self {
            Self::NotFound { .. } if source == SourceName::Folder => {
                "name a folder with a SKILL.md in it, or a .zip of one".to_owned()
            }
            Self::NotFound { .. } => "hermes skills search WORDS finds names".to_owned(),
            Self::RateLimited { .. } if source.is_github() => {
                "set GITHUB_TOKEN in .env, or try again later".to_owned()
            }
            Self::RateLimited { .. } | Self::Late(_) | Self::Changed { .. } => {
                "try again later".to_owned()
            }
            Self::Blocked { .. } => "it is in security.website_blocklist".to_owned(),
            Self::Http(error) if error.is_transient() => {
                "look at the network, or try again later".to_owned()
            }
            Self::Http(HttpError::Refused { .. }) => {
                "security.allow_private_urls lets addresses in your own network be used".to_owned()
            }
            Self::Http(_) | Self::Unexpected { .. } | Self::Archive(_) => {
                format!("nothing was installed; the trouble is with {source}")
            }
            Self::TooLarge { .. }
            | Self::TooManyFiles { .. }
            | Self::HostileArchive { .. }
            | Self::BadPath { .. }
            | Self::TooManyRedirects { .. } => {
                "nothing was installed; this is not a skill to trust".to_owned()
            }
            Self::NotAnAddress { .. } => "give a whole address".to_owned(),
            Self::AppKey(_) => "mend or unset GITHUB_APP_PRIVATE_KEY_PATH".to_owned(),
            Self::Off => format!("set the address of {source} below skills.hub"),
            Self::Cache(error) => error.hint().to_owned(),
        }
    }
}

/// What is wrong with the head of a `SKILL.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeadFault {
    #[error("has no fields between two lines of --- at its head")]
    Absent,
    #[error("has fields at its head that are not YAML")]
    NotYaml,
    #[error("does not give its {0}")]
    Missing(&'static str),
    #[error("gives its name in a way that cannot be replaced by another")]
    StubbornName,
}

/// Why the hub did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    #[error("{source_name} cannot give {identifier}")]
    Source {
        source_name: SourceName,
        identifier: String,
        #[source]
        source: SourceError,
    },
    #[error("{text} names no skill")]
    BadIdentifier { text: String },
    #[error("{text} names no repository")]
    BadRepository { text: String },
    #[error("{name} cannot be the name of a skill")]
    BadName { name: String },
    #[error("{name} cannot be a category")]
    BadCategory { name: String },
    #[error("{what} could be several skills: {}", candidates.join(", "))]
    Ambiguous {
        what: String,
        candidates: Vec<String>,
    },
    #[error("no place knows a skill called {name}")]
    Unknown { name: String },
    #[error("{identifier} has no SKILL.md with a text")]
    NotASkill { identifier: String },
    #[error("{identifier} brings another skill along, {path}")]
    SecondSkill { identifier: String, path: String },
    #[error("the SKILL.md of {identifier} {fault}")]
    BadHead {
        identifier: String,
        fault: HeadFault,
    },
    #[error("{name} is installed already, from {identifier}")]
    Installed { name: String, identifier: String },
    #[error("a skill called {name} is there already, in {}", path.display())]
    NameTaken { name: String, path: PathBuf },
    #[error("{name} was not installed from a hub")]
    NotInstalled { name: String },
    #[error("{name} is {verdict}, and skills of the kind {trust} may not be that")]
    Blocked {
        name: String,
        trust: Trust,
        verdict: Verdict,
        overridable: bool,
    },
    #[error("{} is a link; it is left alone", path.display())]
    Link { path: PathBuf },
    #[error("{} changed in the meantime", path.display())]
    Raced { path: PathBuf },
    #[error("{} is not a file of the hub that can be read", path.display())]
    BadState {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error("another program keeps {} locked", path.display())]
    Busy { path: PathBuf },
    #[error("{setting} is not an address")]
    BadSetting { setting: &'static str },
    #[error("{} cannot be {doing}", path.display())]
    Io {
        path: PathBuf,
        doing: &'static str,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Scan(#[from] ScanError),
    #[error("publishing needs {variable} in .env")]
    NeedsKey { variable: &'static str },
    #[error("{source_name} did not take {name}")]
    NotTaken {
        source_name: SourceName,
        name: String,
        #[source]
        source: SourceError,
    },
}

impl HubError {
    pub(super) fn of_source(
        source_name: SourceName,
        identifier: &Identifier,
    ) -> impl FnOnce(SourceError) -> Self {
        let identifier = identifier.to_string();
        move |source| Self::Source {
            source_name,
            identifier,
            source,
        }
    }

    pub(super) fn io(
        path: impl Into<PathBuf>,
        doing: &'static str,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            path,
            doing,
            source,
        }
    }

    /// What the user can do about it.
    #[expect(
        clippy::too_many_lines,
        reason = "a table: one step for each failure, and nothing else"
    )]
    pub fn hint(&self) -> String {
        match self {
            Self::Source {
                source_name,
                source,
                ..
            } => source.hint(*source_name),
            Self::BadIdentifier { .. } => {
                "owner/repository/skill, a web address, a folder, or a name that hermes skills search shows"
                    .to_owned()
            }
            Self::BadRepository { .. } => "write owner/repository".to_owned(),
            Self::BadName { .. } | Self::BadCategory { .. } => {
                "use lower-case letters, digits, - . _ and at most 64 of them, and no name under which nobody looks for skills, such as venv".to_owned()
            }
            Self::Ambiguous { .. } => "name one of them".to_owned(),
            Self::Unknown { .. } => "hermes skills search WORDS finds names".to_owned(),
            Self::NotASkill { .. } => "nothing was installed".to_owned(),
            Self::SecondSkill { .. } => {
                "nothing was installed; a skill is installed under its own name, so its author has to offer them one by one"
                    .to_owned()
            }
            Self::BadHead {
                fault: HeadFault::StubbornName,
                ..
            } => {
                "nothing was installed; the name has to stand on one line of its own as name: NAME, which its author can mend"
                    .to_owned()
            }
            Self::BadHead { .. } => {
                "a SKILL.md begins with its name and description as YAML, between two lines of ---; its author can mend it"
                    .to_owned()
            }
            Self::Installed { name, .. } => format!("hermes skills update {name}"),
            Self::NameTaken { .. } => "choose another name with --name".to_owned(),
            Self::NotInstalled { .. } => "hermes skills list --source hub".to_owned(),
            Self::Blocked {
                overridable: true, ..
            } => "read the findings; --force accepts them".to_owned(),
            Self::Blocked {
                overridable: false, ..
            } => "nothing was installed, and nothing overrides this".to_owned(),
            Self::Link { .. } => "remove the link yourself if you do not need it".to_owned(),
            Self::Raced { .. } | Self::Busy { .. } => "try again".to_owned(),
            Self::BadState { path, .. } => {
                format!("move {} away to begin anew", path.display())
            }
            Self::BadSetting { setting } => format!("hermes config unset {setting}"),
            Self::Io { .. } => "check the disk and who owns the directory".to_owned(),
            Self::File(error) => error.hint().to_owned(),
            Self::Scan(_) => "look at the files of the skill".to_owned(),
            Self::NeedsKey { variable } => format!("hermes config set {variable} keeps one there"),
            Self::NotTaken {
                source_name,
                source,
                ..
            } => match source {
                SourceError::NotFound { .. } => {
                    "check the name of the repository, and what your key may see".to_owned()
                }
                SourceError::Http(HttpError::Status(_)) | SourceError::Unexpected { .. } => {
                    format!("nothing was published; check what your key may do at {source_name}")
                }
                other => other.hint(*source_name),
            },
        }
    }
}
