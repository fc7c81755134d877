//! Putting skills away in `HOME/skills/.archive`, and bringing them back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hermes_config::{create_directory, read_file, replace_file};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value as Json;

use super::{Curator, CuratorError};
use crate::catalog::CatalogEntry;
use crate::library::{Library, SKILL_FILE};
use crate::usage::{UsageError, UsageRecord, UsageState};

pub(crate) const ARCHIVE: &str = ".archive";
/// Skills of the program that are not to be brought in again.
const SUPPRESSED: &str = ".curator_suppressed";
/// Where a skill was, kept with its counts.
const FROM: &str = "archived_from";
/// What its directory in the archive is called, kept with its counts: an older one may have its name.
const AS: &str = "archived_as";
/// What took it in, kept with its counts.
pub(super) const INTO: &str = "absorbed_into";

/// A skill that was put away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Archived {
    pub name: String,
    pub archived_at: Option<String>,
    /// The skill that now says what it said.
    pub absorbed_into: Option<String>,
    pub path: PathBuf,
}

impl Library {
    /// Keeps with the counts of a skill that it was put away, where it was and what took it in.
    pub(crate) fn note_archived(
        &self,
        name: &str,
        was: &Path,
        place: &Path,
        absorbed_into: Option<&str>,
    ) -> Result<(), UsageError> {
        let called = place.file_name().unwrap_or_default();
        let called = called.to_string_lossy().into_owned();
        let from = was.strip_prefix(self.own()).unwrap_or(was);
        let (from, at) = (from.display().to_string(), self.clock().now().to_string());
        self.usage().change(|records| {
            let record = records.entry(name.to_owned()).or_default();
            record.state = UsageState::Archived;
            record.archived_at = Some(at);
            record.other.insert(FROM.to_owned(), Json::String(from));
            record.other.insert(AS.to_owned(), Json::String(called));
            match absorbed_into {
                Some(into) => record
                    .other
                    .insert(INTO.to_owned(), Json::String(into.to_owned())),
                None => record.other.remove(INTO),
            };
        })
    }
}

impl Curator {
    /// Puts a skill away by hand; answers with the name it is brought back by.
    pub fn archive(&self, name: &str) -> Result<String, CuratorError> {
        let entry = self.entry(name)?;
        if self.library.usage().record(&entry.name).pinned {
            return Err(CuratorError::Pinned { name: entry.name });
        }
        self.put_away(&entry)?;
        Ok(entry.name)
    }

    pub(super) fn put_away(&self, entry: &CatalogEntry) -> Result<(), CuratorError> {
        let name = entry.name.as_str();
        if !self.library.is_own(entry) {
            return Err(CuratorError::Foreign {
                name: name.to_owned(),
                why: "it lies in a directory that is not ours",
            });
        }
        let is_link = entry
            .directory
            .symlink_metadata()
            .is_ok_and(|meta| meta.is_symlink());
        if is_link {
            return Err(CuratorError::Foreign {
                name: name.to_owned(),
                why: "it is a link",
            });
        }
        let own = self.own();
        let place = free_place(&own.join(ARCHIVE), entry.directory_name());
        create_directory(&own.join(ARCHIVE))?;
        if self.library.is_shipped(name) {
            self.suppress(name, true)?;
        }
        fs::rename(&entry.directory, &place)
            .map_err(|source| CuratorError::io(&entry.directory, source))?;
        self.library
            .note_archived(name, &entry.directory, &place, None)?;
        self.library.forget();
        Ok(())
    }

    /// The skills that were put away, by name.
    pub fn archived(&self) -> Result<Vec<Archived>, CuratorError> {
        let archive = self.own().join(ARCHIVE);
        let records = self.library.usage().records();
        let entries = match fs::read_dir(&archive) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(CuratorError::io(&archive, error)),
        };
        let mut found: Vec<Archived> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.path().join(SKILL_FILE).is_file())
            .map(|entry| {
                let called = entry.file_name().to_string_lossy().into_owned();
                let (name, record) = known_as(&called, &records);
                let word = |key: &str| record?.other.get(key)?.as_str().map(str::to_owned);
                Archived {
                    archived_at: record.and_then(|record| record.archived_at.clone()),
                    absorbed_into: word(INTO),
                    path: entry.path(),
                    name: name.to_owned(),
                }
            })
            .collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// Brings a skill back to where it was.
    pub fn restore(&self, name: &str) -> Result<PathBuf, CuratorError> {
        // Of two with one name the one that was put away last is known better.
        let all = self.archived()?.into_iter();
        let called = all.filter(|archived| archived.name == name);
        let Some(archived) = called.max_by_key(|archived| archived.archived_at.is_some()) else {
            return Err(CuratorError::NotArchived {
                name: name.to_owned(),
            });
        };
        let own = self.own();
        let record = self.library.usage().record(name);
        let from = record
            .other
            .get(FROM)
            .and_then(Json::as_str)
            .unwrap_or(name);
        let back = match self.is_place(from) {
            true => own.join(from),
            false => own.join(name),
        };
        if back.join(SKILL_FILE).exists() {
            return Err(CuratorError::Taken {
                name: name.to_owned(),
            });
        }
        if back.exists() {
            return Err(CuratorError::InTheWay { path: back });
        }
        if let Some(above) = back.parent() {
            create_directory(above)?;
        }
        fs::rename(&archived.path, &back).map_err(|source| CuratorError::io(&back, source))?;
        self.suppress(name, false)?;
        let now = self.now().to_string();
        self.library.usage().change(|records| {
            let record = records.entry(name.to_owned()).or_default();
            record.state = UsageState::Active;
            record.archived_at = None;
            // Otherwise the next run would put it away again.
            record.last_used_at = Some(now);
            record.other.remove(FROM);
            record.other.remove(AS);
            record.other.remove(INTO);
        })?;
        self.library.forget();
        Ok(back)
    }

    /// Whether a skill may lie there: below our own directory, or below one the settings name. The words come from a
    /// file anybody may have edited.
    fn is_place(&self, from: &str) -> bool {
        let roots = self.library.roots();
        let outside = roots
            .iter()
            .find_map(|root| Path::new(from).strip_prefix(&root.path).ok());
        is_below(outside.unwrap_or(Path::new(from)))
    }

    /// Throws away what was put away longer ago than so many days; answers with the names.
    pub fn prune(&self, older_than_days: u32) -> Result<Vec<String>, CuratorError> {
        let limit = super::hours(f64::from(older_than_days) * 24.0);
        let mut gone = Vec::new();
        for archived in self.archived()? {
            let at: Option<Timestamp> = archived
                .archived_at
                .as_deref()
                .and_then(|text| text.parse().ok());
            if at.is_some_and(|at| self.now().duration_since(at) >= limit) {
                fs::remove_dir_all(&archived.path)
                    .map_err(|source| CuratorError::io(&archived.path, source))?;
                gone.push(archived.name);
            }
        }
        self.library.usage().change(|records| {
            records.retain(|name, record| {
                record.state != UsageState::Archived || !gone.contains(name)
            });
        })?;
        Ok(gone)
    }

    /// Whether a skill of the program is brought in again.
    fn suppress(&self, name: &str, suppressed: bool) -> Result<(), CuratorError> {
        let path = self.own().join(SUPPRESSED);
        let bytes = read_file(&path)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let mut names: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let before = names.len();
        names.retain(|line| *line != name);
        if suppressed {
            names.push(name);
        }
        if names.len() != before {
            let text: String = names.iter().map(|name| format!("{name}\n")).collect();
            replace_file(&path, text.as_bytes())?;
        }
        Ok(())
    }
}

/// The name and the counts of what a directory of the archive holds.
fn known_as<'a>(
    directory: &'a str,
    records: &'a BTreeMap<String, UsageRecord>,
) -> (&'a str, Option<&'a UsageRecord>) {
    let called = |record: &'a UsageRecord| record.other.get(AS).and_then(Json::as_str);
    let found = records
        .iter()
        .find(|(_, record)| called(record) == Some(directory));
    match found {
        Some((name, record)) => (name.as_str(), Some(record)),
        // Put away by an older version or by hand.
        None => {
            let record = records.get(directory);
            (directory, record.filter(|record| called(record).is_none()))
        }
    }
}

/// A path that leads nowhere but down.
fn is_below(path: &Path) -> bool {
    path.components()
        .all(|part| matches!(part, std::path::Component::Normal(_)))
}

/// A place in the archive that nothing is at.
pub(crate) fn free_place(archive: &Path, name: &str) -> PathBuf {
    let plain = archive.join(name);
    let mut others = (2..).map(|number| archive.join(format!("{name}-{number}")));
    match plain.exists() {
        false => plain,
        true => others.find(|place| !place.exists()).unwrap_or(plain),
    }
}
