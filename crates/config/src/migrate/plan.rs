//! Working out what a migration writes, and writing it.

use std::fmt;
use std::path::PathBuf;
use std::time::SystemTime;

use super::difference::difference;
use super::{CURRENT_VERSION, VERSION_KEY, Version, plugins, rewrite, servers, steps};
use crate::dotenv::{EnvFile, EnvName};
use crate::environment::{Environment, Variable};
use crate::files::{self, FileError};
use crate::home::Home;
use crate::legacy;
use crate::source::{self, ReadError};
use crate::value::{KeyPath, Layer, Map, Node, Value};
use crate::yaml::{Document, EditError};

/// Variables that older versions wrote and that would mislead today's.
const STALE: [(u32, &str); 3] = [
    (9, "ANTHROPIC_TOKEN"),
    (13, "LLM_MODEL"),
    (13, "OPENAI_MODEL"),
];

/// What a migration would write. Nothing has been written yet.
#[derive(Debug)]
pub struct Plan {
    pub from: Version,
    /// What changes, in words.
    pub steps: Vec<&'static str>,
    /// The keys of `config.yaml` that change.
    pub keys: Vec<KeyPath>,
    pub env: Vec<EnvChange>,
    pub warnings: Vec<Warning>,
    config: Option<NewText>,
    secrets: Option<EnvFile>,
}

struct NewText {
    before: Vec<u8>,
    after: String,
}

/// Shows nothing of the text, in which keys may stand.
impl fmt::Debug for NewText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewText").finish_non_exhaustive()
    }
}

/// A change of `.env`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvChange {
    /// The variable keeps its line but loses its value.
    Cleared { name: &'static str },
    /// Assignments glued to one line were put on lines of their own.
    Separated,
}

/// Something the user should look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// The file is from a newer version and is left alone.
    Newer { version: u32 },
    /// An MCP server that runs a suspicious command was switched off.
    ServerSwitchedOff { name: String },
    /// A list entry without a usable address was not taken over.
    ProviderLeftOut { name: String },
    /// `.env` is in an encoding that is not read.
    EnvEncoding,
}

/// What was written.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Files that changed.
    pub written: Vec<PathBuf>,
    /// Copies of what they were before.
    pub backups: Vec<PathBuf>,
}

/// Why nothing was migrated.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    #[error("{}: {source}", path.display())]
    Unparsable {
        path: PathBuf,
        #[source]
        source: ReadError,
    },
    #[error("{}: {source}", path.display())]
    Edit {
        path: PathBuf,
        #[source]
        source: EditError,
    },
    #[error("{} changed while it was being migrated", path.display())]
    Changed { path: PathBuf },
    #[error(transparent)]
    File(#[from] FileError),
}

impl MigrateError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unparsable { source, .. } => source.hint().to_owned(),
            Self::Edit { source, .. } => source.hint(),
            Self::Changed { .. } => "run it again".to_owned(),
            Self::File(error) => error.hint().to_owned(),
        }
    }
}

/// Works out what a migration of this home would write.
pub fn pending(home: &Home, environment: &Environment) -> Result<Plan, MigrateError> {
    let path = home.config_file();
    let before = files::read(&path)?.unwrap_or_default();
    let text = source::text_of(before.clone()).map_err(|source| MigrateError::Unparsable {
        path: path.clone(),
        source,
    })?;
    let failed = |source| MigrateError::Edit {
        path: path.clone(),
        source,
    };
    let mut document = Document::new(text).map_err(failed)?;
    let old = document.value().map_err(failed)?;
    let from = Version::of(&old);
    let mut plan = Plan {
        from,
        steps: Vec::new(),
        keys: Vec::new(),
        env: Vec::new(),
        warnings: Vec::new(),
        config: None,
        secrets: None,
    };
    if from.number() > CURRENT_VERSION {
        plan.warnings.push(Warning::Newer {
            version: from.number(),
        });
        return Ok(plan);
    }
    plan_variables(&mut plan, home)?;
    if let Some(settings) = old.value.as_map() {
        let new = plan_settings(&mut plan, &old, home, environment)?;
        let edits = difference(settings, &new);
        plan.keys = edits.iter().map(|edit| edit.key().clone()).collect();
        rewrite::rewrite(&mut document, &old, &new, edits).map_err(failed)?;
        if !plan.keys.is_empty() {
            plan.config = Some(NewText {
                before,
                after: document.into_text(),
            });
        }
    }
    Ok(plan)
}

fn plan_settings(
    plan: &mut Plan,
    old: &Node,
    home: &Home,
    environment: &Environment,
) -> Result<Map, MigrateError> {
    let version = plan.from.number();
    let mut new = old.clone();
    if version < 12 {
        let items = match old.child("custom_providers").map(|node| &node.value) {
            Some(Value::List(items)) => items.as_slice(),
            Some(_) | None => &[],
        };
        let found = legacy::providers_from_list(items, &Map::new());
        if !found.entries.is_empty() {
            plan.warnings.extend(found.unusable.iter().map(|entry| {
                let name = entry.child("name").unwrap_or(entry).text();
                Warning::ProviderLeftOut {
                    name: name.unwrap_or_default(),
                }
            }));
        }
    }
    if version < 5 {
        from_variables(&mut new, environment, version);
    }
    for step in steps::ALL.iter().filter(|step| version < step.version) {
        plan.steps.extend((step.run)(&mut new));
    }
    if version < 21 && plugins::allow_installed(&mut new, &home.plugins_dir())? {
        plan.steps
            .push("plugins.enabled lists the plugins that may load");
    }
    let suspicious = servers::switch_off_suspicious(&mut new);
    plan.warnings.extend(
        suspicious
            .into_iter()
            .map(|name| Warning::ServerSwitchedOff { name }),
    );
    legacy::rename(&mut new);
    let stamp = Value::Int(i64::from(CURRENT_VERSION));
    if new.child(VERSION_KEY).map(|node| &node.value) != Some(&stamp) {
        new.map_mut()
            .insert(VERSION_KEY, Node::new(stamp, Layer::File));
    }
    Ok(std::mem::take(new.map_mut()))
}

/// Versions before 5 kept two settings in the environment.
fn from_variables(tree: &mut Node, environment: &Environment, version: u32) {
    let mut fill = |key: KeyPath, value: &str| {
        let sections = key
            .split_last()
            .map(|(parent, _)| parent)
            .unwrap_or_default();
        let free = tree.at(&key).is_none()
            && tree
                .at(&sections)
                .is_none_or(|node| node.value.as_map().is_some());
        if free {
            let _ = tree.set(&key, Node::new(Value::Text(value.to_owned()), Layer::File));
        }
    };
    if version < 4 {
        let word = |name| {
            environment
                .get(name)
                .unwrap_or_default()
                .trim()
                .to_lowercase()
        };
        let off =
            ["false", "0", "no", "off"].contains(&word(&Variable::HERMES_TOOL_PROGRESS).as_str());
        let mode = word(&Variable::HERMES_TOOL_PROGRESS_MODE);
        let key = KeyPath::of(["display", "tool_progress"]);
        match mode.as_str() {
            _ if off => fill(key, "off"),
            "off" | "new" | "verbose" => fill(key, &mode),
            _ => {}
        }
    }
    if let Some(zone) = environment.filled(&Variable::HERMES_TIMEZONE) {
        fill(KeyPath::of(["timezone"]), zone.trim());
    }
}

fn plan_variables(plan: &mut Plan, home: &Home) -> Result<(), MigrateError> {
    let Some(mut file) = EnvFile::read(&home.env_file())? else {
        plan.warnings.push(Warning::EnvEncoding);
        return Ok(());
    };
    if file.repair() {
        plan.env.push(EnvChange::Separated);
    }
    for (version, name) in STALE {
        if plan.from.number() < version
            && let Ok(variable) = EnvName::new(name)
            && file.is_filled(&variable)
        {
            file.set(&variable, "");
            plan.env.push(EnvChange::Cleared { name });
        }
    }
    if !plan.env.is_empty() {
        plan.secrets = Some(file);
    }
    Ok(())
}

impl Plan {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.config.is_none() && self.secrets.is_none()
    }

    /// The text `config.yaml` would have.
    pub fn config_text(&self) -> Option<&str> {
        self.config.as_ref().map(|config| config.after.as_str())
    }

    /// Writes it all: copies first, `.env` next, and `config.yaml` with the new version last, so that a
    /// failure leaves a file that can be migrated again.
    pub fn apply(self, home: &Home, now: SystemTime) -> Result<Report, MigrateError> {
        let mut report = Report::default();
        let config_file = home.config_file();
        if let Some(config) = &self.config {
            if files::read(&config_file)?.unwrap_or_default() != config.before {
                return Err(MigrateError::Changed { path: config_file });
            }
            report
                .backups
                .push(files::keep_copy(&config_file, now, &config.before)?);
        }
        if let Some(secrets) = &self.secrets {
            let path = home.env_file();
            let before = files::read(&path)?.unwrap_or_default();
            report.backups.push(files::keep_copy(&path, now, &before)?);
            secrets.write(&path)?;
            report.written.push(path);
        }
        if let Some(config) = &self.config {
            files::replace(&config_file, config.after.as_bytes())?;
            report.written.push(config_file);
        }
        Ok(report)
    }
}
