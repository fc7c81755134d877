//! The work behind `hermes config set`, `unset` and `get`.

mod secret;
mod server;
mod several;
mod target;

use std::path::{Path, PathBuf};

pub use several::Edit;
pub use target::UnknownKey;

use crate::dotenv::{EnvFile, EnvName, EnvNameError};
use crate::environment::Variable;
use crate::files::{self, FileError};
use crate::home::{Home, HomeError};
use crate::legacy;
use crate::load::Loaded;
use crate::managed::{ManagedScope, Owner};
use crate::root::Config;
use crate::setting::Setting;
use crate::source::{self, ReadError};
use crate::value::{KeyPath, Map, Node, Value};
use crate::yaml::{Document, EditError};
use secret::is_secret;
use target::Target;

/// The settings files of a home, and who may change them.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    pub home: &'a Home,
    pub owner: &'a Owner,
    pub managed: &'a ManagedScope,
}

/// What a command changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub file: PathBuf,
    /// The key as it is called today, or the name of the variable.
    pub key: String,
    pub old: Shown,
    pub new: Shown,
    /// The variable in `.env` that was changed along with it.
    pub also: Option<&'static str>,
}

/// A value as it may be shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    Absent,
    /// A secret.
    Masked,
    Value(Value),
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    #[error("the settings are managed by {owner}")]
    Owned { owner: Owner },
    #[error("{key} is fixed by the administrator")]
    Pinned { key: String },
    #[error("{key:?} is not a setting's name")]
    BadKey { key: String },
    #[error("{key} is not a known setting")]
    UnknownKey {
        key: KeyPath,
        suggestion: Option<String>,
    },
    #[error("{key} must be {expected}, not {found}")]
    NotAccepted {
        key: KeyPath,
        expected: String,
        found: String,
    },
    #[error("mcp_servers.{server} is not saved, its entry is suspicious: {}", reasons.join("; "))]
    Suspicious {
        server: String,
        reasons: Vec<String>,
    },
    #[error(transparent)]
    EnvName(#[from] EnvNameError),
    #[error("{} is in an encoding that cannot be written", path.display())]
    Encoding { path: PathBuf },
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
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    File(#[from] FileError),
}

impl SetError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Owned { owner } => owner.hint(),
            Self::Pinned { .. } => "ask who administers this machine".to_owned(),
            Self::BadKey { .. } => "write it like display.skin".to_owned(),
            Self::UnknownKey {
                suggestion: Some(name),
                ..
            } => format!("did you mean {name}? --force writes the key anyway"),
            Self::UnknownKey { .. } => "--force writes the key anyway".to_owned(),
            Self::NotAccepted { key, .. } => match Config::shape().example_in(key) {
                Some(inner) => format!("set one of its keys: hermes config set {inner} VALUE"),
                None => format!("hermes config get {key} shows what is set"),
            },
            Self::Suspicious { .. } => {
                "start the server's own program directly, without a shell around it".to_owned()
            }
            Self::EnvName(error) => error.hint().to_owned(),
            Self::Encoding { .. } => "save the file as UTF-8".to_owned(),
            Self::Unparsable { source, .. } => source.hint().to_owned(),
            Self::Edit { source, .. } => source.hint(),
            Self::Home(error) => error.hint(),
            Self::File(error) => error.hint().to_owned(),
        }
    }
}

impl Settings<'_> {
    /// Sets one key from the text of a command line.
    ///
    /// Secrets go to `.env`, everything else to `config.yaml`. Where `.env` already has a line that fills
    /// in the same setting, that line is brought up to date; a new one is not made, because the file wins.
    pub fn set(&self, key: &str, raw: &str, unknown: UnknownKey) -> Result<Change, SetError> {
        self.check_owner()?;
        let _lock = self.lock()?;
        match Target::of(key)? {
            Target::Variable(name) => self.write_variable(&name, Some(raw)),
            Target::Setting(key) => {
                let key = target::with_model_name(key, raw);
                self.check_pin(&key)?;
                let value = target::value_for(&key, raw, unknown)?;
                let change = self.edit(&key, |document| put(document, &key, &value))?;
                self.mirror(change, &key, &value)
            }
        }
    }

    /// Writes a variable of any name to `.env`. `set` takes only names that look like those of secrets.
    pub fn set_variable(&self, name: &EnvName, value: &str) -> Result<Change, SetError> {
        self.check_owner()?;
        let _lock = self.lock()?;
        self.write_variable(name.as_str(), Some(value))
    }

    /// Removes one key, under whatever name it stands in the file.
    pub fn unset(&self, key: &str) -> Result<Change, SetError> {
        self.check_owner()?;
        let _lock = self.lock()?;
        match Target::of(key)? {
            Target::Variable(name) => self.write_variable(&name, None),
            Target::Setting(key) => {
                self.check_pin(&key)?;
                self.edit(&key, |document| take_out(document, &key))
            }
        }
    }

    /// The value in force and where it came from; `None` when there is no such key.
    pub fn get<'l>(loaded: &'l Loaded, key: &str) -> Option<&'l Node> {
        let key = KeyPath::parse(key)?;
        loaded
            .tree
            .at(&key)
            .or_else(|| loaded.tree.at(&legacy::canonical(&key)))
    }

    /// What to try instead of a key that is not in the file.
    pub fn hint_for_absent(key: &str) -> String {
        let known = KeyPath::parse(key)
            .map(|key| legacy::canonical(&key))
            .filter(|_| target::is_setting(key));
        let Some(known) = known else {
            return "hermes config env-path says where the file is".to_owned();
        };
        match target::suggestion(&known) {
            Some(name) if name != known.to_string() => format!("did you mean {name}?"),
            Some(_) if target::is_declared(&known) => {
                format!("hermes config get {known} shows what is in effect")
            }
            Some(_) if known.len() > 1 => {
                let above = known.prefix(known.len() - 1);
                format!("hermes config get {above} shows what is there")
            }
            Some(_) | None => "hermes config show lists what is set".to_owned(),
        }
    }

    fn lock(&self) -> Result<files::FileLock, SetError> {
        self.home.create(self.home.path())?;
        Ok(files::lock(self.home.path())?)
    }

    fn check_owner(&self) -> Result<(), SetError> {
        if self.owner.allows_writing() {
            return Ok(());
        }
        Err(SetError::Owned {
            owner: self.owner.clone(),
        })
    }

    fn check_pin(&self, key: &KeyPath) -> Result<(), SetError> {
        if !self.managed.pins(key) {
            return Ok(());
        }
        Err(SetError::Pinned {
            key: key.to_string(),
        })
    }

    /// Changes one key of `config.yaml`, or leaves the file byte for byte as it was.
    fn edit(
        &self,
        key: &KeyPath,
        change: impl FnOnce(&mut Document) -> Result<(), EditError>,
    ) -> Result<Change, SetError> {
        let mut changes = self.rewrite(std::slice::from_ref(key), change)?;
        // There is one for each key.
        Ok(changes.swap_remove(0))
    }

    /// Changes these keys of `config.yaml` in one write, or leaves the file byte for byte as it was.
    fn rewrite(
        &self,
        keys: &[KeyPath],
        change: impl FnOnce(&mut Document) -> Result<(), EditError>,
    ) -> Result<Vec<Change>, SetError> {
        let path = self.home.config_file();
        let before = files::read(&path)?.unwrap_or_default();
        let text = source::text_of(before).map_err(|source| SetError::Unparsable {
            path: path.clone(),
            source,
        })?;
        let failed = |source| SetError::Edit {
            path: path.clone(),
            source,
        };
        let mut document = Document::new(text.clone()).map_err(failed)?;
        let values = |document: &Document| -> Result<Vec<Shown>, EditError> {
            let values = keys.iter();
            values
                .map(|key| Ok(shown(key, value_at(document, key)?)))
                .collect()
        };
        let old = values(&document).map_err(failed)?;
        change(&mut document).map_err(failed)?;
        let new = values(&document).map_err(failed)?;
        for key in keys {
            target::check_types(&document, key).map_err(|error| *error)?;
            server::check(&document, key).map_err(|error| *error)?;
        }
        if document.text() != text {
            self.home.create(self.home.path())?;
            files::replace(&path, document.text().as_bytes())?;
        }
        let changes = keys.iter().zip(old.into_iter().zip(new));
        Ok(changes
            .map(|(key, (old, new))| Change {
                file: path.clone(),
                key: key.to_string(),
                old,
                new,
                also: None,
            })
            .collect())
    }

    fn write_variable(&self, name: &str, value: Option<&str>) -> Result<Change, SetError> {
        let variable = EnvName::new(name)?;
        if self.managed.pins_variable(name) {
            return Err(SetError::Pinned {
                key: name.to_owned(),
            });
        }
        let path = self.home.env_file();
        let mut file = read_env(&path)?;
        let masked = |is_there| {
            if is_there {
                Shown::Masked
            } else {
                Shown::Absent
            }
        };
        let old = masked(file.has(&variable));
        match value {
            Some(value) => file.set(&variable, value),
            None => {
                file.remove(&variable);
            }
        }
        let new = masked(file.has(&variable));
        if (&old, &new) != (&Shown::Absent, &Shown::Absent) {
            self.home.create(self.home.path())?;
            file.write(&path)?;
        }
        Ok(Change {
            file: path,
            key: name.to_owned(),
            old,
            new,
            also: None,
        })
    }

    /// Brings a line of `.env` that fills in the same setting up to date.
    fn mirror(&self, change: Change, key: &KeyPath, value: &Value) -> Result<Change, SetError> {
        let Some(variable) = Variable::filling(key) else {
            return Ok(change);
        };
        let path = self.home.env_file();
        let mut file = read_env(&path)?;
        let name = EnvName::new(variable.name)?;
        if !file.has(&name) {
            return Ok(change);
        }
        let text = match value {
            Value::List(_) | Value::Map(_) => value.to_json().to_string(),
            scalar => Node::from(scalar.clone()).text().unwrap_or_default(),
        };
        file.set(&name, &text);
        file.write(&path)?;
        Ok(Change {
            also: Some(variable.name),
            ..change
        })
    }
}

fn put(document: &mut Document, key: &KeyPath, value: &Value) -> Result<(), EditError> {
    open_model(document, key)?;
    target::check_items(document, key)?;
    document.set(key, value)
}

fn take_out(document: &mut Document, key: &KeyPath) -> Result<(), EditError> {
    let is_short = *key == KeyPath::of(["model", "default"])
        && document
            .value()?
            .child("model")
            .is_some_and(|model| model.text().is_some());
    if is_short {
        document.remove(&KeyPath::of(["model"]))?;
    }
    for spelling in legacy::spellings(key) {
        document.remove(&spelling)?;
    }
    Ok(())
}

/// `model: name` becomes a map before a key is put into it.
fn open_model(document: &mut Document, key: &KeyPath) -> Result<(), EditError> {
    let model = KeyPath::of(["model"]);
    if key.len() < 2 || key.prefix(1) != model {
        return Ok(());
    }
    let name = document.value()?.at(&model).and_then(Node::text);
    if let Some(name) = name {
        let mut map = Map::new();
        map.insert("default", Value::Text(name).into());
        document.set(&model, &Value::Map(map))?;
    }
    Ok(())
}

fn value_at(document: &Document, key: &KeyPath) -> Result<Option<Value>, EditError> {
    Ok(document.value()?.at(key).map(|node| node.value.clone()))
}

fn read_env(path: &Path) -> Result<EnvFile, SetError> {
    EnvFile::read(path)?.ok_or_else(|| SetError::Encoding {
        path: path.to_owned(),
    })
}

fn shown(key: &KeyPath, value: Option<Value>) -> Shown {
    match value {
        None => Shown::Absent,
        Some(_) if is_secret(key) => Shown::Masked,
        Some(value) => Shown::Value(value),
    }
}
