//! Whether everything a skill needs is there.

use std::path::{Component, Path};

use crate::conditions::{Conditions, System};
use crate::skill::{CredentialFile, RequiredVariable, Skill};

/// What is missing before a skill works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readiness {
    pub status: Status,
    /// Variables that are not set and not optional.
    pub variables: Vec<RequiredVariable>,
    pub files: Vec<CredentialFile>,
    /// Programs that are not found; advice only.
    pub commands: Vec<String>,
}

/// Whether a skill can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Available,
    /// Something has to be set up first.
    SetupNeeded,
    /// It is for another system.
    Unsupported,
}

impl Status {
    /// Its word in results.
    pub fn word(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::SetupNeeded => "setup_needed",
            Self::Unsupported => "unsupported",
        }
    }
}

impl Readiness {
    /// `is_set` knows variables, `is_there` programs; credential files lie below `home`.
    pub fn of(
        skill: &Skill,
        system: System,
        home: &Path,
        is_set: impl Fn(&str) -> bool,
        is_there: impl Fn(&str) -> bool,
    ) -> Self {
        let variables: Vec<RequiredVariable> = skill
            .required_variables
            .iter()
            .filter(|variable| !variable.optional && !is_set(variable.name.as_str()))
            .cloned()
            .collect();
        let files: Vec<CredentialFile> = skill
            .credential_files
            .iter()
            .filter(|file| !is_there_below(home, &file.path))
            .cloned()
            .collect();
        let commands = skill
            .commands
            .iter()
            .filter(|command| !is_there(command))
            .cloned()
            .collect();
        let status = if !Conditions::of(skill).fits(system) {
            Status::Unsupported
        } else if variables.is_empty() && files.is_empty() {
            Status::Available
        } else {
            Status::SetupNeeded
        };
        Self {
            status,
            variables,
            files,
            commands,
        }
    }

    /// The same where no file with credentials reaches the commands of a skill.
    #[must_use]
    pub fn without_files(self, skill: &Skill) -> Self {
        let files = skill.credential_files.clone();
        let status = match self.status {
            Status::Available if !files.is_empty() => Status::SetupNeeded,
            other => other,
        };
        Self {
            status,
            files,
            ..self
        }
    }

    /// What is missing, in a sentence; nothing when all is there.
    pub fn note(&self) -> Option<String> {
        let names: Vec<&str> = self
            .variables
            .iter()
            .map(|variable| variable.name.as_str())
            .chain(self.files.iter().map(|file| file.path.as_str()))
            .collect();
        match self.status {
            Status::Unsupported => Some("this skill is for another system".to_owned()),
            Status::Available | Status::SetupNeeded if names.is_empty() => None,
            Status::Available | Status::SetupNeeded => Some(format!(
                "{} {} missing; parts of the skill may not work without",
                names.join(", "),
                if names.len() == 1 { "is" } else { "are" }
            )),
        }
    }
}

fn is_there_below(home: &Path, path: &str) -> bool {
    let mut parts = Path::new(path).components();
    parts.all(|part| matches!(part, Component::Normal(_))) && home.join(path).is_file()
}
